//! Norms against sums that never round: squares as two floats each, integers in pieces.

use half::{bf16, f16};
use proptest::prelude::*;

use super::{Magnitude, MagnitudeSum, Normed};
use crate::element::Element;
use crate::kernel::sum::Summed;
use crate::kernel::tests::ways::Ways;
use crate::kernel::tests::{POLICIES, bits, each_extremes, fsum, shape, trim};
use crate::kernel::{At, Kernel, Setup};
use crate::op::NanPolicy;
use crate::scalar::Scalar;

/// Norm of NaN and infinities; `None` when the finite elements decide.
fn special(values: &[f64], nan: NanPolicy) -> Option<f64> {
    if nan == NanPolicy::Propagate && values.iter().any(|value| value.is_nan()) {
        return Some(f64::NAN);
    }
    values.iter().any(|value| value.is_infinite()).then_some(f64::INFINITY)
}

/// The root of the sum of squares, in units of the power of two below the largest magnitude.
fn root_of_squares(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    let unit = 2.0_f64.powi((largest.log2().floor() as i32).clamp(-1000, 1000));
    let mut parts = Vec::new();
    for value in values {
        let scaled = value / unit;
        let square = scaled * scaled;
        parts.extend([square, scaled.mul_add(scaled, -square)]);
    }
    fsum(&parts).sqrt() * unit
}

fn float(found: Scalar) -> f64 {
    found.to_f64().expect("a norm is never null")
}

fn assert_near(found: f64, wanted: f64, error_max: f64) {
    let same = found == wanted || found.is_nan() && wanted.is_nan();
    let close = (found - wanted).abs() <= wanted.abs() * error_max + f64::from_bits(2);
    assert!(same || close, "{found:e}, not {wanted:e}");
}

type WholeNorm<T> = MagnitudeSum<T, <<T as Magnitude>::Magnitude as Summed>::Whole>;
type KeptNorm<T> = MagnitudeSum<T, <<T as Magnitude>::Magnitude as Summed>::PerCell>;

/// The sum of magnitudes of a whole selection may be so far off.
fn check_floats<T>(lanes: usize, cut: usize, elements: Vec<T>, whole_error_max: f64)
where
    T: Magnitude + Normed + Into<f64>,
{
    let elements = trim(lanes, elements);
    let ways = Ways { lanes, elements: &elements, cut };
    let wide = |column: &[T]| column.iter().map(|&e| e.into()).collect::<Vec<f64>>();
    let finite = |values: &[f64]| {
        values.iter().copied().filter(|value| value.is_finite()).collect::<Vec<f64>>()
    };
    for nan in POLICIES {
        let setup = Setup { nan, ..Setup::default() };
        let sum = |column: &[T]| {
            let values = wide(column);
            let magnitudes: Vec<f64> = finite(&values).iter().map(|value| value.abs()).collect();
            special(&values, nan).unwrap_or_else(|| fsum(&magnitudes))
        };
        ways.check::<WholeNorm<T>>(&setup, |column, found| {
            assert_near(float(found), sum(column), whole_error_max);
        });
        ways.check::<KeptNorm<T>>(&setup, |column, found| {
            assert_near(float(found), sum(column), f64::EPSILON + 0.5_f64.powi(46));
        });
        ways.check::<T::Norm>(&setup, |column, found| {
            let values = wide(column);
            let root = special(&values, nan).unwrap_or_else(|| root_of_squares(&finite(&values)));
            assert_near(float(found), root, 1e-14);
        });
    }
}

/// Exact sums of exact terms, in pieces that floats hold.
fn exact_sum(terms: impl Iterator<Item = u128>) -> f64 {
    let mut parts = Vec::new();
    for term in terms {
        for piece in 0..4 {
            let bits = (term >> (32 * piece)) & 0xffff_ffff;
            parts.push(bits as f64 * 2.0_f64.powi(32 * piece));
        }
    }
    fsum(&parts)
}

fn check_integers<T>(lanes: usize, cut: usize, elements: Vec<T>)
where
    T: Magnitude + Normed + Into<i128>,
{
    let elements = trim(lanes, elements);
    let ways = Ways { lanes, elements: &elements, cut };
    let magnitude = |&element: &T| element.into().unsigned_abs();
    let setup = Setup::default();
    ways.check::<WholeNorm<T>>(&setup, |column, found| {
        assert_eq!(float(found), exact_sum(column.iter().map(magnitude)));
    });
    ways.check::<T::Norm>(&setup, |column, found| {
        let squares = column.iter().map(|element| magnitude(element) * magnitude(element));
        // Squares of 8 and 16 bits add without rounding.
        let error_max = if size_of::<T>() <= 2 { 0.0 } else { 1e-14 };
        assert_near(float(found), exact_sum(squares).sqrt(), error_max);
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn norms_of_any_floats_are_right(
        (lanes, cut) in shape(), bits32 in bits(32, 8), bits16 in bits(16, 5), bits_b16 in bits(16, 8),
        bits64 in bits(64, 11),
    ) {
        let exact = 0.0;
        check_floats(lanes, cut, bits32.iter().map(|&b| f32::from_bits(b as u32)).collect(), exact);
        check_floats(lanes, cut, bits16.iter().map(|&b| f16::from_bits(b as u16)).collect(), exact);
        check_floats(lanes, cut, bits_b16.iter().map(|&b| bf16::from_bits(b as u16)).collect(), exact);
        // Sums of magnitudes must stay in range.
        let in_range = |v: &f64| v.abs() < 1e300 || !v.is_finite();
        let elements = bits64.iter().map(|&b| f64::from_bits(b)).filter(in_range);
        check_floats(lanes, cut, elements.collect(), 1e-15);
    }

    #[test]
    fn norms_of_any_integers_are_right(
        (lanes, cut) in shape(),
        bits in prop::collection::vec(prop_oneof![any::<u64>(), Just(0), Just(u64::MAX),
            Just(1 << 63), Just(0x8080_8080_8080_8080), Just(0x7f7f_7f7f_7f7f_7f7f)], 0..3000),
    ) {
        macro_rules! each {
            ($($type:ty),+) => {$(
                check_integers(lanes, cut, bits.iter().map(|&b| b as $type).collect::<Vec<$type>>());
            )+};
        }
        each!(i8, u8, i16, u16, i32, u32, i64, u64);
    }
}

fn norm<T: Normed>(parts: &[&[T]]) -> f64 {
    let fold = |part: &&[T]| {
        let mut kernel: T::Norm = Kernel::<T>::new(1, &Setup::default());
        kernel.fold_run(At::default(), part);
        kernel
    };
    let mut states = parts.iter().map(fold);
    let mut first = states.next().unwrap();
    states.for_each(|later| first.merge(later));
    float(first.finish().unwrap().get(0).unwrap())
}

#[test]
fn no_float_is_too_large_or_too_small_to_be_squared() {
    let (max, least) = (f64::MAX, f64::from_bits(1));
    for (values, wanted) in [
        (&[][..], 0.0),
        (&[-0.0, 0.0], 0.0),
        (&[max], max),
        (&[-max, 0.0], max),
        (&[max, max], f64::INFINITY),
        (&[3e200, 4e200], 5e200),
        (&[3e-200, 4e-200, 0.0], 5e-200),
        (&[least * 300.0, least * 400.0], least * 500.0),
        (&[3e200, 4e200, 1.0, 1e-300], 5e200),
        (&[3.0, 1e-200, 4.0], 5.0),
        (&[f64::NEG_INFINITY, 1.0], f64::INFINITY),
        (&[f64::INFINITY, f64::NAN], f64::NAN),
        // On both sides of where scaling starts.
        (&[2.0_f64.powi(450) * 3.0, 2.0_f64.powi(450) * 4.0], 2.0_f64.powi(450) * 5.0),
        (&[2.0_f64.powi(-451) * 3.0, 2.0_f64.powi(-451) * 4.0], 2.0_f64.powi(-451) * 5.0),
    ] {
        assert_near(norm(&[values]), wanted, 4e-16);
        let cut: Vec<&[f64]> = values.chunks(1).collect();
        if !cut.is_empty() {
            assert_near(norm(&cut), wanted, 4e-16);
        }
    }
}

#[test]
fn extreme_integers_never_overflow() {
    fn check<T: Magnitude + Normed + Into<i128>>(extremes: [T; 2]) {
        for extreme in extremes {
            check_integers(1, 70_000, vec![extreme; 140_000]);
            check_integers(40, 300, vec![extreme; 40_000]);
        }
    }
    each_extremes!(check);
}

#[test]
fn an_empty_norm_is_zero() {
    fn check<T: Element + Normed + Magnitude>() {
        assert_eq!(norm::<T>(&[&[]]), 0.0);
        let sum: WholeNorm<T> = Kernel::<T>::new(1, &Setup::default());
        assert_eq!(sum.finish().unwrap().get(0), Some(Scalar::Float64(0.0)));
    }
    check::<i8>();
    check::<u64>();
    check::<f16>();
    check::<f64>();
}
