//! Products against magnitudes of 128 bits, and against pairs of floats with the exponent apart.

use half::{bf16, f16};
use proptest::prelude::*;

use super::Multiplied;
use crate::error::Error;
use crate::kernel::tests::ways::Ways;
use crate::kernel::tests::{POLICIES, bits, shape, trim};
use crate::kernel::{At, Kernel, Setup};
use crate::op::NanPolicy;
use crate::scalar::Scalar;

/// The exact product; `None` when it does not fit.
fn product_of_integers(values: &[i128]) -> Option<i128> {
    if values.contains(&0) {
        return Some(0);
    }
    let negative = values.iter().filter(|&&value| value < 0).count() % 2 == 1;
    let magnitudes = values.iter().map(|value| value.unsigned_abs());
    let mut product = 1_u128;
    for magnitude in magnitudes {
        product = product.checked_mul(magnitude)?;
    }
    match (i128::try_from(product), negative) {
        (Ok(product), true) => Some(-product),
        (Ok(product), false) => Some(product),
        (Err(_), true) if product == 1 << 127 => Some(i128::MIN),
        _ => None,
    }
}

fn check_integers<T: Multiplied + Into<i128>>(lanes: usize, cut: usize, elements: Vec<T>) {
    let elements = trim(lanes, elements);
    let ways = Ways { lanes, elements: &elements, cut };
    let exact =
        |column: &[T]| product_of_integers(&column.iter().map(|&e| e.into()).collect::<Vec<_>>());
    let column = |lane| elements.iter().copied().skip(lane).step_by(lanes).collect::<Vec<T>>();
    let fits = (0..lanes).all(|lane| exact(&column(lane)).is_some());
    let setup = Setup::default();
    assert_eq!(ways.overflows::<T::Product>(&setup), !fits);
    if fits {
        ways.check::<T::Product>(&setup, |column, found| {
            assert_eq!(found, Scalar::Int(exact(column).unwrap()));
        });
    }
}

/// The product as two floats below 2 and an exponent, so that only the end rounds visibly.
fn product_of_floats(values: &[f64], nan: NanPolicy) -> f64 {
    let (mut high, mut low, mut exponent) = (1.0_f64, 0.0_f64, 0_i64);
    let (mut zero, mut infinite) = (false, false);
    for &value in values {
        if value.is_nan() {
            match nan {
                NanPolicy::Propagate => return f64::NAN,
                NanPolicy::Skip => continue,
            }
        }
        zero |= value == 0.0;
        infinite |= value.is_infinite();
        let mut factor = value;
        if value == 0.0 || value.is_infinite() {
            factor = 1.0_f64.copysign(value);
        }
        while factor.abs() >= 2.0 {
            let step = if factor.abs() >= 2.0_f64.powi(64) { 64 } else { 1 };
            factor *= 2.0_f64.powi(-step);
            exponent += i64::from(step);
        }
        while factor.abs() < 1.0 {
            let step = if factor.abs() < 2.0_f64.powi(-64) { 64 } else { 1 };
            factor *= 2.0_f64.powi(step);
            exponent -= i64::from(step);
        }
        let product = high * factor;
        let rest = high.mul_add(factor, -product) + low * factor;
        (high, low) = (product + rest, rest - ((product + rest) - product));
        if high.abs() >= 2.0 {
            (high, low, exponent) = (high / 2.0, low / 2.0, exponent + 1);
        }
    }
    let sign = 1.0_f64.copysign(high);
    match (zero, infinite) {
        (true, true) => f64::NAN,
        (true, false) => sign * 0.0,
        (false, true) => sign * f64::INFINITY,
        _ if exponent > 1100 => sign * f64::INFINITY,
        _ if exponent < -1200 => sign * 0.0,
        _ => {
            let half = exponent as i32 / 2;
            high * 2.0_f64.powi(half) * 2.0_f64.powi(exponent as i32 - half)
        }
    }
}

fn assert_near(found: f64, wanted: f64, error_max: f64) {
    let same = found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan();
    let close = (found - wanted).abs() <= wanted.abs() * error_max + f64::from_bits(2)
        && found.is_sign_negative() == wanted.is_sign_negative();
    // Rounding may fall on either side of the largest float.
    let edge = wanted.is_infinite() && found.abs() > 1.79e308 && found.signum() == wanted.signum();
    assert!(same || close || edge, "{found:e}, not {wanted:e}");
}

fn check_floats<T: Multiplied + Into<f64>>(lanes: usize, cut: usize, elements: Vec<T>) {
    let elements = trim(lanes, elements);
    let ways = Ways { lanes, elements: &elements, cut };
    for nan in POLICIES {
        ways.check::<T::Product>(&Setup { nan, ..Setup::default() }, |column, found| {
            let values: Vec<f64> = column.iter().map(|&e| e.into()).collect();
            let error_max = (column.len() + 1) as f64 * 2.0 * f64::EPSILON;
            let wanted = product_of_floats(&values, nan);
            assert_near(found.to_f64().unwrap(), wanted, error_max);
        });
    }
}

/// Floats whose product stays near 1 for long, however far they are from it.
fn balanced() -> impl Strategy<Value = Vec<f64>> {
    let pair = (1.0..2.0_f64, -1020..1020_i32, any::<bool>());
    prop::collection::vec(pair, 0..800).prop_map(|pairs| {
        let value = |(mantissa, exponent, negative): &(f64, i32, bool)| {
            let sign = if *negative { -1.0 } else { 1.0 };
            [sign * mantissa * 2.0_f64.powi(*exponent), 2.0_f64.powi(-exponent) / mantissa]
        };
        let mut values: Vec<f64> = pairs.iter().flat_map(value).collect();
        values.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        values
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn products_of_any_floats_are_right(
        (lanes, cut) in shape(), bits32 in bits(32, 8), bits16 in bits(16, 5), bits_b16 in bits(16, 8),
        bits64 in bits(64, 11), balanced in balanced(),
    ) {
        check_floats(lanes, cut, bits32.iter().map(|&b| f32::from_bits(b as u32)).collect());
        check_floats(lanes, cut, bits16.iter().map(|&b| f16::from_bits(b as u16)).collect());
        check_floats(lanes, cut, bits_b16.iter().map(|&b| bf16::from_bits(b as u16)).collect());
        check_floats(lanes, cut, bits64.iter().map(|&b| f64::from_bits(b)).collect());
        check_floats(1, cut, balanced.clone());
        check_floats(lanes, cut, balanced);
    }

    #[test]
    fn products_of_integers_are_exact_or_refused(
        (lanes, cut) in shape(), ones in 0_usize..1200,
        mut few in prop::collection::vec(any::<u64>(), 0..6),
        mut small in prop::collection::vec(2..1000_u64, 0..12),
        order in any::<u64>(),
    ) {
        let mut bits = vec![1; ones];
        bits.extend(vec![u64::MAX; ones / 3]);
        bits.append(&mut if order & 1 == 0 { few.split_off(few.len() / 2) } else { few });
        bits.append(&mut small);
        // Some order, the same for the same input.
        bits.sort_by_key(|bits| bits.wrapping_mul(order | 1).rotate_left(17).wrapping_mul(order));
        macro_rules! each {
            ($($type:ty),+) => {$(
                check_integers(lanes, cut, bits.iter().map(|&b| b as $type).collect::<Vec<$type>>());
            )+};
        }
        each!(i8, u8, i16, u16, i32, u32, i64, u64);
    }
}

#[test]
fn the_ends_of_128_bits_are_reached_and_not_passed() {
    let (min, max) = (i64::MIN, i64::MAX);
    for (values, wanted) in [
        (&[][..], Some(1)),
        (&[max, max], Some(i128::from(max) * i128::from(max))),
        (&[min, min], Some(1 << 126)),
        (&[min, min, 2], None),
        (&[min, min, -2], Some(i128::MIN)),
        (&[2, min, min, -1], Some(i128::MIN)),
        (&[min, min, -2, -1], None),
        (&[min, min, min, min, 0], Some(0)),
        (&[0, min, min, min, min], Some(0)),
    ] {
        let mut kernel: <i64 as Multiplied>::Product = Kernel::<i64>::new(1, &Setup::default());
        kernel.fold_run(At::default(), values);
        match (Kernel::<i64>::finish(kernel), wanted) {
            (Ok(values), Some(wanted)) => assert_eq!(values.get(0), Some(Scalar::Int(wanted))),
            (Err(error), None) => {
                assert!(matches!(error, Error::Overflow { op: "product" }));
                assert_eq!(error.kind(), crate::Kind::Limit);
            }
            (found, wanted) => panic!("{found:?}, not {wanted:?}"),
        }
        check_integers(1, 2, values.to_vec());
    }
}

#[test]
fn floats_follow_ieee_where_no_order_matters() {
    let (nan, infinity, least) = (f64::NAN, f64::INFINITY, f64::from_bits(1));
    for (values, wanted) in [
        (&[][..], 1.0),
        (&[1e300, 1e300, 1e-300, 1e-300, 3.0], 3.0),
        (&[1e-300, 1e-300, 1e300, 1e300, -3.0], -3.0),
        (&[1e300, 1e300], infinity),
        (&[-1e300, 1e300, 5.0], -infinity),
        (&[1e-300, 1e-300], 0.0),
        (&[-1e-300, 1e-300], -0.0),
        (&[0.0, -5.0], -0.0),
        (&[0.0, infinity], nan),
        (&[-infinity, -2.0], infinity),
        (&[-infinity, infinity], -infinity),
        (&[nan, 0.0], nan),
        (&[least, 2.0_f64.powi(1000)], least * 2.0_f64.powi(1000)),
        (&[least, 0.75], least),
        (&[f64::MIN_POSITIVE, 0.5], f64::MIN_POSITIVE / 2.0),
        (&[f64::MAX, 1.0], f64::MAX),
    ] {
        let ways = Ways { lanes: 1, elements: values, cut: 1 };
        ways.check::<<f64 as Multiplied>::Product>(&Setup::default(), |_, found| {
            assert_near(found.to_f64().unwrap(), wanted, 1e-15);
        });
    }
}
