//! Variances against two passes whose sums never round, and against exact integers.

use half::{bf16, f16};
use proptest::prelude::*;

use super::{Deviation, Spread, Variance};
use crate::element::Element;
use crate::kernel::tests::ways::Ways;
use crate::kernel::tests::{POLICIES, bits, fsum, is_nan, shape, trim};
use crate::kernel::{At, Kernel, Setup};
use crate::op::NanPolicy;
use crate::scalar::Scalar;

/// The variance of floats: the mean as two floats that no addition rounded, then the squares.
fn variance_of_floats(values: &[f64], ddof: u32) -> f64 {
    let count = values.len() as f64;
    let high = fsum(values) / count;
    // The remainder of the sum; the product is two floats too.
    let product = high * count;
    let mut parts = values.to_vec();
    parts.extend([-product, -high.mul_add(count, -product)]);
    let low = fsum(&parts) / count;
    let square = |&value: &f64| {
        let far = value - high;
        let seen = far + high;
        let lost = (value - seen) - (high - (seen - far));
        let distance = far + (lost - low);
        distance * distance
    };
    fsum(&values.iter().map(square).collect::<Vec<_>>()) / (count - f64::from(ddof))
}

/// The variance of integers: `count * value - sum` is exact.
fn variance_of_integers(values: &[i128], ddof: u32) -> f64 {
    let count = values.len() as i128;
    let sum: i128 = values.iter().sum();
    let square = |&value: &i128| {
        let distance = (value * count - sum) as f64 / count as f64;
        distance * distance
    };
    fsum(&values.iter().map(square).collect::<Vec<_>>()) / (count - i128::from(ddof)) as f64
}

/// As NumPy, but null for no elements and NaN for an infinity.
fn wanted<T: Copy>(
    column: &[T],
    nan: NanPolicy,
    ddof: u32,
    value: impl Fn(T) -> f64,
    of: impl Fn(&[T], u32) -> f64,
) -> Option<f64> {
    let skips = nan == NanPolicy::Skip;
    let kept: Vec<T> = column.iter().copied().filter(|&e| !(skips && value(e).is_nan())).collect();
    match kept.len() {
        0 => None,
        _ if kept.iter().any(|&e| !value(e).is_finite()) => Some(f64::NAN),
        // Distances by 0: no number, or infinitely many.
        count if count <= ddof as usize => {
            let spread = of(&kept, 0);
            Some(if spread == 0.0 { f64::NAN } else { f64::INFINITY })
        }
        _ => Some(of(&kept, ddof)),
    }
}

fn assert_near(found: Scalar, wanted: Option<f64>, error_max: f64) {
    let Some(wanted) = wanted else {
        return assert_eq!(found, Scalar::Null);
    };
    let value = found.to_f64().unwrap_or_else(|| panic!("{found:?}, not {wanted:e}"));
    let same = value == wanted || value.is_nan() && wanted.is_nan();
    // Squares near the smallest float are lost on both sides, and so are their roots.
    let close = (value - wanted).abs() <= wanted.abs() * error_max + 1e-150;
    assert!(same || close, "{value:e}, not {wanted:e}: {:e}", (value - wanted).abs() / wanted);
}

fn check<T: Spread>(
    lanes: usize,
    cut: usize,
    elements: &[T],
    value: fn(T) -> f64,
    of: impl Fn(&[T], u32) -> f64,
    error_max: f64,
) {
    let ways = Ways { lanes, elements, cut };
    for (nan, ddof) in POLICIES.into_iter().zip([0, 2]) {
        let setup = Setup { nan, ddof, ..Setup::default() };
        ways.check::<T::Spread<Variance>>(&setup, |column, found| {
            assert_near(found, wanted(column, nan, ddof, value, &of), error_max);
        });
    }
    let setup = Setup::default();
    ways.check::<T::Spread<Deviation>>(&setup, |column, found| {
        let wanted = wanted(column, setup.nan, 0, value, &of).map(f64::sqrt);
        assert_near(found, wanted, error_max);
    });
}

fn check_floats<T: Spread + Into<f64>>(lanes: usize, cut: usize, elements: Vec<T>) {
    let elements = trim(lanes, elements);
    let of = |column: &[T], ddof| {
        variance_of_floats(&column.iter().map(|&e| e.into()).collect::<Vec<_>>(), ddof)
    };
    check(lanes, cut, &elements, Into::into, of, 1e-12);
}

fn check_integers<T: Spread + Into<i128>>(
    lanes: usize,
    cut: usize,
    elements: Vec<T>,
    error_max: f64,
) {
    let elements = trim(lanes, elements);
    let of = |column: &[T], ddof| {
        variance_of_integers(&column.iter().map(|&e| e.into()).collect::<Vec<_>>(), ddof)
    };
    check(lanes, cut, &elements, |_| 0.0, of, error_max);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn variances_of_any_floats_are_right(
        (lanes, cut) in shape(), bits32 in bits(32, 8), bits16 in bits(16, 5), bits_b16 in bits(16, 8),
        bits64 in bits(64, 11),
    ) {
        check_floats(lanes, cut, bits32.iter().map(|&b| f32::from_bits(b as u32)).collect());
        check_floats(lanes, cut, bits16.iter().map(|&b| f16::from_bits(b as u16)).collect());
        check_floats(lanes, cut, bits_b16.iter().map(|&b| bf16::from_bits(b as u16)).collect());
        // Squares must stay in range; the largest and smallest have a test of their own.
        let in_range = |v: &f64| {
            (1e-140..1e140).contains(&v.abs()) || *v == 0.0 || !v.is_finite()
        };
        let elements = bits64.iter().map(|&b| f64::from_bits(b)).filter(in_range);
        check_floats(lanes, cut, elements.collect());
    }

    #[test]
    fn variances_of_any_integers_are_right(
        (lanes, cut) in shape(),
        bits in prop::collection::vec(prop_oneof![any::<u64>(), Just(0), Just(u64::MAX),
            Just(1 << 63), Just(0x8080_8080_8080_8080), Just(0x7f7f_7f7f_7f7f_7f7f)], 0..3000),
    ) {
        macro_rules! each {
            ($($type:ty: $error_max:literal),+) => {$(
                let elements: Vec<$type> = bits.iter().map(|&b| b as $type).collect();
                check_integers(lanes, cut, elements, $error_max);
            )+};
        }
        each!(i8: 1e-15, u8: 1e-15, i16: 1e-15, u16: 1e-15);
        each!(i32: 1e-12, u32: 1e-12, i64: 1e-12, u64: 1e-12);
    }

    #[test]
    fn close_values_far_from_zero_keep_their_variance(
        (lanes, cut) in shape(), far in 0_u32..62, spread in 1_i64..1000,
        steps in prop::collection::vec(0.0..1.0_f64, 1..3000),
        drift in prop_oneof![Just(0.0), 0.0..100.0],
    ) {
        let step = |(nth, &step): (usize, &f64)| {
            ((step * spread as f64) + nth as f64 * drift) as i64
        };
        let steps: Vec<i64> = steps.iter().enumerate().map(step).collect();
        let base = 1_i64 << far;
        check_integers(lanes, cut, steps.iter().map(|s| base + s).collect::<Vec<i64>>(), 1e-12);
        check_integers(lanes, cut, steps.iter().map(|s| -base - s).collect::<Vec<i64>>(), 1e-12);
        let unsigned = |s: &i64| u64::MAX - (base + s) as u64;
        check_integers(lanes, cut, steps.iter().map(unsigned).collect::<Vec<u64>>(), 1e-12);
        let small = |s: &i64| (1_i32 << (far % 31)).wrapping_add(*s as i32);
        check_integers(lanes, cut, steps.iter().map(small).collect::<Vec<i32>>(), 1e-12);
        let base = 2.0_f64.powi(far as i32);
        let float = |s: &i64| base + *s as f64 * 1e-3;
        check_floats(lanes, cut, steps.iter().map(float).collect::<Vec<f64>>());
        check_floats(lanes, cut, steps.iter().map(|s| float(s) as f32).collect::<Vec<f32>>());
    }
}

fn finished<T: Spread>(setup: &Setup, parts: &[&[T]]) -> Option<Scalar> {
    let fold = |part: &&[T]| {
        let mut kernel: T::Spread<Variance> = Kernel::<T>::new(1, setup);
        kernel.fold_run(At::default(), part);
        kernel
    };
    let mut states = parts.iter().map(fold);
    let mut first = states.next().unwrap();
    states.for_each(|later| first.merge(later));
    first.finish().unwrap().get(0)
}

#[test]
fn a_million_values_near_a_billion_keep_twelve_digits() {
    let mut seed = 1_u64;
    let mut uniform = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / 9_007_199_254_740_992.0
    };
    let normal = |_| 1e9 + (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
    let values: Vec<f64> = (0..1_000_000).map(normal).collect();
    let parts: Vec<&[f64]> = values.chunks(1 << 16).collect();
    let found = finished(&Setup::default(), &parts).unwrap();
    assert_near(found, Some(variance_of_floats(&values, 0)), 1e-12);
    // As lanes, one row at a time.
    let mut kernel: <f64 as Spread>::Spread<Variance> = Kernel::<f64>::new(5, &Setup::default());
    for row in values.chunks(5) {
        let lanes = crate::kernel::Lanes { count: 5, rows: 1, distance: 5, index: 1 };
        kernel.fold_lanes(At::default(), lanes, row);
    }
    let found = Kernel::<f64>::finish(kernel).unwrap();
    for lane in 0..5 {
        let column: Vec<f64> = values.iter().skip(lane).step_by(5).copied().collect();
        assert_near(found.get(lane).unwrap(), Some(variance_of_floats(&column, 0)), 1e-12);
    }
}

#[test]
fn constants_vary_by_nothing() {
    fn check<T: Element + Spread>(value: T) {
        for lanes in [1, 7, 300] {
            let elements = vec![value; 5000 / lanes * lanes];
            let ways = Ways { lanes, elements: &elements, cut: 9 };
            ways.check::<T::Spread<Variance>>(&Setup::default(), |column, found| {
                let wanted = if is_nan(column[0]) { f64::NAN } else { 0.0 };
                assert_near(found, Some(wanted), 0.0);
            });
        }
    }
    for value in [0.1, 1e308, -1e308, f64::MAX, 5e-324, -0.0, f64::NAN, 1e-310] {
        check(value);
    }
    for value in [0.1, f32::MAX, f32::MIN, 1e-45, f32::NAN] {
        check(value);
    }
    [i64::MIN, i64::MAX, (1 << 53) + 1].into_iter().for_each(check);
    [u64::MAX, u64::MAX - 1, 0].into_iter().for_each(check);
    [i16::MIN, i16::MAX].into_iter().for_each(check);
    check(u32::MAX);
}

#[test]
fn past_the_largest_float_is_infinite_and_never_nan() {
    let max = f64::MAX;
    for values in [vec![max, -max], vec![1e200, 0.0, -1e200, 5.0], vec![1e160, 0.0]] {
        let elements = values.repeat(30);
        for lanes in [1, values.len(), 2 * values.len() - 1] {
            let elements = trim(lanes, elements.clone());
            let ways = Ways { lanes, elements: &elements, cut: 7 };
            ways.check::<<f64 as Spread>::Spread<Variance>>(&Setup::default(), |column, found| {
                let constant = column.iter().all(|&value| value == column[0]);
                assert_near(found, Some(if constant { 0.0 } else { f64::INFINITY }), 0.0);
            });
        }
    }
}

#[test]
fn few_elements_are_null_or_nan() {
    let (nan, infinity) = (f64::NAN, f64::INFINITY);
    for (policy, ddof, values, wanted) in [
        (NanPolicy::Propagate, 0, &[][..], None),
        (NanPolicy::Propagate, 1, &[], None),
        (NanPolicy::Propagate, 0, &[5.0], Some(0.0)),
        (NanPolicy::Propagate, 1, &[5.0], Some(nan)),
        (NanPolicy::Propagate, 2, &[5.0, 6.0], Some(infinity)),
        (NanPolicy::Propagate, 7, &[5.0, 6.0], Some(infinity)),
        (NanPolicy::Propagate, 1, &[5.0, 7.0], Some(2.0)),
        (NanPolicy::Propagate, 0, &[5.0, nan], Some(nan)),
        (NanPolicy::Skip, 0, &[5.0, nan], Some(0.0)),
        (NanPolicy::Skip, 1, &[5.0, nan], Some(nan)),
        (NanPolicy::Skip, 0, &[nan, nan], None),
        (NanPolicy::Skip, 0, &[nan, infinity], Some(nan)),
        (NanPolicy::Propagate, 0, &[infinity, infinity], Some(nan)),
    ] {
        let setup = Setup { nan: policy, ddof, ..Setup::default() };
        assert_near(finished(&setup, &[values]).unwrap(), wanted, 0.0);
        let singles: Vec<f32> = values.iter().map(|&value| value as f32).collect();
        assert_near(finished(&setup, &[&singles[..]]).unwrap(), wanted, 0.0);
    }
    let setup = Setup { ddof: 1, ..Setup::default() };
    assert_eq!(finished::<i8>(&setup, &[&[]]), Some(Scalar::Null));
    assert_near(finished::<i8>(&setup, &[&[3]]).unwrap(), Some(f64::NAN), 0.0);
    assert_near(finished::<i64>(&setup, &[&[3]]).unwrap(), Some(f64::NAN), 0.0);
    assert_near(finished::<u16>(&setup, &[&[3], &[5]]).unwrap(), Some(2.0), 0.0);
}

#[test]
fn one_far_value_spoils_no_block() {
    // The pivot starts halfway to it.
    let mut values = vec![0.0; 4096];
    (0..4096).for_each(|at| values[at] = (at % 7) as f64);
    (values[0], values[1023], values[2048]) = (1e12, -1e12, 1e15);
    let found = finished(&Setup::default(), &[&values[..]]).unwrap();
    assert_near(found, Some(variance_of_floats(&values, 0)), 1e-13);
}
