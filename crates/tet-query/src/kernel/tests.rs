//! Every kernel against arithmetic that is exact in its own words: i128, and partials that never
//! round (Shewchuk), over every exponent, with NaN, infinities and both zeros.

pub(super) mod ways;

use std::fmt::Debug;

use half::{bf16, f16};
use proptest::prelude::*;

use super::count::Count;
use super::extrema::{Max, Min};
use super::mean::Mean;
use super::sum::Summed;
use super::{At, Kernel, Lanes, Setup};
use crate::element::{Element, Single};
use crate::exact_sum::ExactSum;
use crate::kernel::extrema::Ordered;
use crate::op::NanPolicy;
use crate::op::NanPolicy::{Propagate, Skip};
use crate::scalar::Scalar;

pub(super) const POLICIES: [NanPolicy; 2] = [Propagate, Skip];

/// The correctly rounded sum of finite values whose partial sums stay in range.
pub(super) fn fsum(values: &[f64]) -> f64 {
    let mut partials: Vec<f64> = Vec::new();
    for &value in values {
        let mut x = value;
        let mut kept = 0;
        for i in 0..partials.len() {
            let (a, b) =
                if x.abs() < partials[i].abs() { (partials[i], x) } else { (x, partials[i]) };
            let high = a + b;
            let low = b - (high - a);
            if low != 0.0 {
                partials[kept] = low;
                kept += 1;
            }
            x = high;
        }
        partials.truncate(kept);
        partials.push(x);
    }
    let Some(mut high) = partials.pop() else { return 0.0 };
    while let Some(y) = partials.pop() {
        let before = high;
        high = before + y;
        let low = y - (high - before);
        if low != 0.0 {
            // Halfway, with a rest on the same side: one more step is nearer.
            let next = partials.last().copied().unwrap_or(0.0);
            let doubled = low * 2.0;
            if low.signum() == next.signum() && next != 0.0 && (high + doubled) - high == doubled {
                high += doubled;
            }
            break;
        }
    }
    high
}

/// IEEE sum of all values, given the sum of the finite ones.
fn with_specials(values: &[f64], nan: NanPolicy, finite_sum: f64) -> f64 {
    let has = |special: f64| values.contains(&special);
    let nans = values.iter().any(|v| v.is_nan());
    match (has(f64::INFINITY), has(f64::NEG_INFINITY)) {
        _ if nans && nan == Propagate => f64::NAN,
        (true, true) => f64::NAN,
        (true, false) => f64::INFINITY,
        (false, true) => f64::NEG_INFINITY,
        (false, false) => finite_sum,
    }
}

fn finite(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|v| v.is_finite()).collect()
}

fn same(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan()
}

/// Folds of the same elements in many ways: each gives one column of cells.
struct Folds<T> {
    lanes: usize,
    elements: Vec<T>,
}

impl<T: Element> Folds<T> {
    fn rows(&self) -> usize {
        self.elements.len() / self.lanes
    }

    fn column(&self, lane: usize) -> Vec<T> {
        self.elements.iter().skip(lane).step_by(self.lanes).copied().collect()
    }

    /// Cells from runs and from lanes, whole and cut in two states that merge.
    fn fold<K: Kernel<T>>(&self, nan: NanPolicy, cut: usize) -> Vec<(K, Option<u64>)> {
        let (lanes, rows) = (self.lanes, self.rows());
        let cut = cut.min(rows);
        let setup = Setup { nan, ..Setup::default() };
        let at = |cell| At { cell, index: 0 };
        let all = Lanes { count: lanes, rows, distance: lanes, index: 1 };
        let mut by_runs = K::new(lanes, &setup);
        let mut first_runs = K::new(lanes, &setup);
        let mut last_runs = K::new(lanes, &setup);
        for lane in 0..lanes {
            let column = self.column(lane);
            by_runs.fold_run(at(lane), &column);
            first_runs.fold_run(at(lane), &column[..cut]);
            last_runs.fold_run(at(lane), &column[cut..]);
        }
        first_runs.merge(last_runs);
        let mut by_lanes = K::new(lanes, &setup);
        by_lanes.fold_lanes(at(0), all, &self.elements);
        let mut first_lanes = K::new(lanes, &setup);
        let mut last_lanes = K::new(lanes, &setup);
        first_lanes.fold_lanes(at(0), Lanes { rows: cut, ..all }, &self.elements);
        let rest = Lanes { rows: rows - cut, ..all };
        last_lanes.fold_lanes(at(0), rest, &self.elements[cut * lanes..]);
        first_lanes.merge(last_lanes);
        let mut taken = K::new(lanes, &setup);
        for lane in 0..lanes {
            taken.take(lane, &by_runs, lane);
        }
        let folds = [by_runs, first_runs, by_lanes, first_lanes, taken];
        folds
            .into_iter()
            .map(|kernel| {
                let nans = kernel.nan_count();
                (kernel, nans)
            })
            .collect()
    }

    fn check<K: Kernel<T>>(&self, nan: NanPolicy, cut: usize, wanted: impl Fn(&[T], Scalar)) {
        for (kernel, nan_count) in self.fold::<K>(nan, cut) {
            let nans = self.elements.iter().filter(|e| is_nan(**e)).count() as u64;
            assert!(nan_count.is_none_or(|count| count == nans), "{nan_count:?} NaN, not {nans}");
            let values = kernel.finish().expect("sums fit");
            assert_eq!(values.len(), self.lanes);
            for lane in 0..self.lanes {
                wanted(&self.column(lane), values.get(lane).expect("a cell per lane"));
            }
        }
    }
}

impl Folds<f64> {
    /// A mean is its sum divided once; so it may err by what the sum does and a rounding more.
    fn check_means(&self, nan: NanPolicy, cut: usize) {
        let sums = self.fold::<<f64 as Summed>::PerCell>(nan, cut);
        let means = self.fold::<Mean<<f64 as Summed>::PerCell>>(nan, cut);
        for ((sums, _), (means, nan_count)) in sums.into_iter().zip(means) {
            let nans = self.elements.iter().filter(|e| is_nan(**e)).count() as u64;
            assert!(nan_count.is_none_or(|count| count == nans), "{nan_count:?} NaN, not {nans}");
            let (sums, means) = (sums.finish().unwrap(), means.finish().unwrap());
            assert_eq!(means.len(), self.lanes);
            for lane in 0..self.lanes {
                let (sum, mean) = (sums.get(lane).unwrap(), means.get(lane).unwrap());
                match kept(&self.column(lane), nan) {
                    0 => assert_eq!(mean, Scalar::Null),
                    count => {
                        let quotient = float(sum) / count as f64;
                        assert!(same(float(mean), quotient), "{mean:?}, not {quotient:e}");
                    }
                }
            }
        }
    }
}

pub(super) fn is_nan<T: Element>(element: T) -> bool {
    #[expect(clippy::eq_op, reason = "only NaN differs from itself")]
    let differs = element != element;
    differs
}

fn float(scalar: Scalar) -> f64 {
    scalar.to_f64().expect("a number")
}

fn wide<T: Single>(column: &[T]) -> Vec<f64> {
    column.iter().map(|e| f64::from(e.widen())).collect()
}

fn kept<T: Element>(column: &[T], nan: NanPolicy) -> usize {
    column.iter().filter(|e| nan == Propagate || !is_nan(**e)).count()
}

/// Sums and means of narrow floats: the whole is exact, what is kept stays within its bound.
fn check_singles<T: Single + Summed>(lanes: usize, elements: Vec<T>, cut: usize) {
    let folds = Folds { lanes, elements };
    for nan in POLICIES {
        let exact = |column: &[T]| with_specials(&wide(column), nan, fsum(&finite(&wide(column))));
        folds.check::<T::Whole>(nan, cut, |column, sum| {
            let wanted = exact(column);
            assert!(same(float(sum), wanted), "{sum:?}, not {wanted:e}");
        });
        folds.check::<Mean<T::Whole>>(nan, cut, |column, mean| match kept(column, nan) {
            0 => assert_eq!(mean, Scalar::Null),
            count => {
                let mut sum = ExactSum::default();
                finite(&wide(column)).into_iter().for_each(|element| sum.add(element));
                let wanted = with_specials(&wide(column), nan, sum.mean(count as u64));
                assert!(same(float(mean), wanted), "{mean:?}, not {wanted:e}");
            }
        });
        folds.check::<T::PerCell>(nan, cut, |column, sum| {
            let magnitude =
                fsum(&finite(&wide(column)).iter().map(|v| v.abs()).collect::<Vec<_>>());
            near(float(sum), exact(column), magnitude * 0.5_f64.powi(46));
        });
    }
}

fn near(sum: f64, exact: f64, error_max: f64) {
    let ulp = exact.abs() * f64::EPSILON;
    let close = (sum - exact).abs() <= ulp.max(f64::from_bits(1)) + error_max;
    assert!(same(sum, exact) || close, "{sum:e}, not {exact:e}, may err by {error_max:e}");
}

fn check_doubles(lanes: usize, elements: Vec<f64>, cut: usize) {
    let folds = Folds { lanes, elements };
    for nan in POLICIES {
        let exact = |column: &[f64]| with_specials(column, nan, fsum(&finite(column)));
        let error_max = |column: &[f64]| {
            let magnitude = fsum(&finite(column).iter().map(|v| v.abs()).collect::<Vec<_>>());
            (column.len() as f64).powi(2) * 0.5_f64.powi(104) * magnitude
        };
        folds.check::<<f64 as Summed>::Whole>(nan, cut, |column, sum| {
            near(float(sum), exact(column), error_max(column));
        });
        folds.check_means(nan, cut);
    }
}

fn check_extrema<T: Ordered + Into<Exactly>>(lanes: usize, elements: Vec<T>, cut: usize) {
    let folds = Folds { lanes, elements };
    for nan in POLICIES {
        let end = |column: &[T], greatest: bool| {
            if nan == Propagate && column.iter().any(|e| is_nan(*e)) {
                return Some(Exactly::Nan);
            }
            let mut rest: Vec<Exactly> =
                column.iter().filter(|e| !is_nan(**e)).map(|&e| e.into()).collect();
            rest.sort_by(Exactly::order);
            if greatest { rest.pop() } else { rest.first().copied() }
        };
        let is = |scalar: Scalar, wanted: Option<Exactly>| match (scalar, wanted) {
            (Scalar::Null, None) => {}
            (Scalar::Int(found), Some(Exactly::Int(wanted))) => assert_eq!(found, wanted),
            (found, Some(Exactly::Nan)) => assert!(float(found).is_nan()),
            (found, Some(Exactly::Float(wanted))) => {
                assert_eq!(float(found).to_bits(), wanted.to_bits());
            }
            (found, wanted) => panic!("{found:?}, not {wanted:?}"),
        };
        folds.check::<Min<T>>(nan, cut, |column, found| is(found, end(column, false)));
        folds.check::<Max<T>>(nan, cut, |column, found| is(found, end(column, true)));
        folds.check::<Count>(nan, cut, |column, found| {
            assert_eq!(found, Scalar::Int(kept(column, nan) as i128));
        });
    }
}

/// A value of any element type, exactly.
#[derive(Clone, Copy, Debug)]
enum Exactly {
    Int(i128),
    Float(f64),
    Nan,
}

impl Exactly {
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        match (self, other) {
            (Exactly::Int(a), Exactly::Int(b)) => a.cmp(b),
            (Exactly::Float(a), Exactly::Float(b)) => a.total_cmp(b),
            _ => panic!("values of one type, without NaN"),
        }
    }
}

macro_rules! exactly {
    ($($type:ty => $variant:ident $value:ty),+) => {$(
        impl From<$type> for Exactly {
            fn from(element: $type) -> Self {
                Exactly::$variant(<$value>::from(element))
            }
        }
    )+};
}

exactly!(f16 => Float f64, bf16 => Float f64, f32 => Float f64, f64 => Float f64);
exactly!(i8 => Int i128, i16 => Int i128, i32 => Int i128, i64 => Int i128);
exactly!(u8 => Int i128, u16 => Int i128, u32 => Int i128, u64 => Int i128);

fn check_integers<T: Ordered + Summed + Into<Exactly>>(lanes: usize, elements: Vec<T>, cut: usize) {
    let folds = Folds { lanes, elements };
    let exact = |column: &[T]| -> i128 {
        let value = |e: &T| match (*e).into() {
            Exactly::Int(value) => value,
            other => panic!("{other:?} is no integer"),
        };
        column.iter().map(value).sum()
    };
    folds.check::<T::Whole>(Propagate, cut, |column, sum| {
        assert_eq!(sum, Scalar::Int(exact(column)));
    });
    folds.check::<Mean<T::PerCell>>(Skip, cut, |column, mean| match column.len() {
        0 => assert_eq!(mean, Scalar::Null),
        count => assert!(is_quotient(float(mean), exact(column), count as i128)),
    });
    check_extrema(folds.lanes, folds.elements, cut);
}

/// Whether `mean` is the float64 nearest to `sum / count`.
fn is_quotient(mean: f64, sum: i128, count: i128) -> bool {
    // |mean * count - sum| of the neighbors, exactly, by scaling mean to an integer.
    let distance = |value: f64| -> f64 {
        let rounded = value * count as f64;
        let rest = value.mul_add(count as f64, -rounded);
        ((rounded as i128 - sum) as f64 + (rounded - rounded.trunc()) + rest).abs()
    };
    let next = |by: i64| f64::from_bits((mean.to_bits() as i64 + by) as u64);
    mean == 0.0 && sum == 0
        || mean.abs() > 1e15 && (mean - sum as f64 / count as f64).abs() <= mean.abs() * 3e-16
        || distance(mean) <= distance(next(1)) && distance(mean) <= distance(next(-1))
}

/// Bit patterns with every exponent, in bands from narrow to all, and now and then a special.
pub(super) fn bits(width: u32, exponent_bits: u32) -> impl Strategy<Value = Vec<u64>> {
    let exponent_max = (1_u64 << exponent_bits) - 1;
    let fraction_bits = width - 1 - exponent_bits;
    let band =
        (0..exponent_max, prop_oneof![Just(1_u64), 2..30_u64, 30..80_u64, Just(exponent_max)]);
    let special_rate = prop_oneof![4 => Just(0_u32), 1 => Just(3)];
    (band, special_rate, 0_usize..3000).prop_flat_map(move |((low, spread), rate, len)| {
        let element = (any::<u64>(), 0..spread, 0_u32..100).prop_map(move |(random, up, roll)| {
            let exponent = (low + up).min(exponent_max - 1);
            let signed = (random & 1) << (width - 1);
            let fraction = (random >> 1) & ((1 << fraction_bits) - 1);
            match roll {
                0..10 if rate == 0 => signed,
                roll if roll < rate => {
                    signed | (exponent_max << fraction_bits) | fraction & (random >> 40)
                }
                _ => signed | (exponent << fraction_bits) | fraction,
            }
        });
        prop::collection::vec(element, len)
    })
}

/// How many lanes, and where to cut.
pub(super) fn shape() -> impl Strategy<Value = (usize, usize)> {
    (prop_oneof![Just(1_usize), 1..20_usize, 200..600_usize], 0_usize..3000)
}

/// Whole rows only.
pub(super) fn trim<T: Debug>(lanes: usize, mut elements: Vec<T>) -> Vec<T> {
    elements.truncate(elements.len() / lanes * lanes);
    elements
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn float32_kernels_agree((lanes, cut) in shape(), bits in bits(32, 8)) {
        let elements: Vec<f32> = bits.iter().map(|&b| f32::from_bits(b as u32)).collect();
        let elements = trim(lanes, elements);
        check_singles(lanes, elements.clone(), cut);
        check_extrema(lanes, elements, cut);
    }

    #[test]
    fn float16_kernels_agree((lanes, cut) in shape(), bits in bits(16, 5)) {
        let elements: Vec<f16> = bits.iter().map(|&b| f16::from_bits(b as u16)).collect();
        let elements = trim(lanes, elements);
        check_singles(lanes, elements.clone(), cut);
        check_extrema(lanes, elements, cut);
    }

    #[test]
    fn bfloat16_kernels_agree((lanes, cut) in shape(), bits in bits(16, 8)) {
        let elements: Vec<bf16> = bits.iter().map(|&b| bf16::from_bits(b as u16)).collect();
        let elements = trim(lanes, elements);
        check_singles(lanes, elements.clone(), cut);
        check_extrema(lanes, elements, cut);
    }

    #[test]
    fn float64_kernels_agree((lanes, cut) in shape(), bits in bits(64, 11)) {
        // Below 2^1000, so that the oracle's partials stay in range.
        let in_range = |v: &f64| v.abs() < 1e300 || !v.is_finite();
        let elements: Vec<f64> = bits.iter().map(|&b| f64::from_bits(b)).collect();
        let elements = trim(lanes, elements.into_iter().filter(in_range).collect());
        check_doubles(lanes, elements.clone(), cut);
        check_extrema(lanes, elements, cut);
    }

    #[test]
    fn integer_kernels_agree(
        (lanes, cut) in shape(),
        bits in prop::collection::vec(prop_oneof![any::<u64>(), Just(0), Just(u64::MAX), Just(1 << 63),
            Just(0x8080_8080_8080_8080), Just(0x7f7f_7f7f_7f7f_7f7f), Just(i64::MAX as u64)], 0..3000),
    ) {
        macro_rules! each {
            ($($type:ty),+) => {$(
                let elements: Vec<$type> = bits.iter().map(|&b| b as $type).collect();
                check_integers(lanes, trim(lanes, elements), cut);
            )+};
        }
        each!(i8, i16, i32, i64, u8, u16, u32, u64);
    }
}

/// Calls `check` with the ends of every integer type.
macro_rules! each_extremes {
    ($check:ident) => {
        each_extremes!($check: i8, u8, i16, u16, i32, u32, i64, u64)
    };
    ($check:ident: $($type:ty),+) => {
        $($check([<$type>::MIN, <$type>::MAX]);)+
    };
}
pub(in crate::kernel) use each_extremes;

#[test]
fn extreme_integers_never_overflow() {
    fn check<T: Ordered + Summed + Into<Exactly>>(extremes: [T; 2]) {
        for extreme in extremes {
            check_integers(1, vec![extreme; 100_000], 33_333);
            check_integers(40, vec![extreme; 40_000], 300);
        }
    }
    each_extremes!(check);
}

#[test]
fn partial_sums_past_the_largest_float64_come_back() {
    let max = f64::MAX;
    let cases: &[(&[f64], f64)] = &[
        (&[max, max, -max], max),
        (&[max, -max, max, max, -max, -max, 1.0], 1.0),
        (&[max, max], f64::INFINITY),
        (&[max, max, f64::NEG_INFINITY], f64::NEG_INFINITY),
    ];
    for (values, wanted) in cases {
        for lanes in [1, values.len()] {
            let mut elements = Vec::new();
            values.iter().for_each(|&v| elements.extend(vec![v; lanes]));
            let folds = Folds { lanes, elements };
            for cut in 0..=values.len() {
                folds.check::<<f64 as Summed>::Whole>(Propagate, cut, |_, sum| {
                    assert_eq!(float(sum), *wanted);
                });
            }
        }
    }
}

#[test]
fn the_mean_of_integers_is_the_nearest_float() {
    let cases: &[(&[i64], f64)] = &[
        (&[i64::MAX, i64::MAX], i64::MAX as f64),
        (&[1, 0, 0], 1.0 / 3.0),
        (&[-1, 0, 0], -1.0 / 3.0),
        (&[(1 << 53) + 1, (1 << 53) + 2], 9_007_199_254_740_994.0),
        (&[i64::MIN, i64::MAX], -0.5),
        (&[0, 0], 0.0),
    ];
    for (values, wanted) in cases {
        let mut mean: Mean<<i64 as Summed>::Whole> = Kernel::<i64>::new(1, &Setup::default());
        mean.fold_run(At::default(), values);
        assert_eq!(
            Kernel::<i64>::finish(mean).expect("a mean fits").get(0),
            Some(Scalar::Float64(*wanted)),
            "{values:?}"
        );
    }
}

#[test]
fn no_spread_of_exponents_loses_a_bit() {
    // All ones, so that every bit of a value counts.
    let value = |exponent: i32| f32::from_bits(((exponent + 127) as u32) << 23 | 0x7f_ffff);
    for spread in 0..96 {
        for middle in (0..=spread).step_by(7).chain([spread]) {
            let low = value(40 - spread);
            let mut elements = vec![value(40 - middle); 1024];
            (elements[5], elements[700]) = (value(40), low);
            let negated: Vec<f32> =
                elements.iter().map(|v| if *v == low { 0.0 } else { -v }).collect();
            elements.extend(negated);
            let mut sum: super::sum::ExactSum = Kernel::<f32>::new(1, &Setup::default());
            sum.fold_run(At::default(), &elements);
            let wanted = fsum(&wide(&elements));
            let sum = Kernel::<f32>::finish(sum).expect("a sum fits").get(0);
            assert_eq!(sum, Some(Scalar::Float64(wanted)), "spread {spread}, middle {middle}");
        }
    }
}
