//! Positions against a loop that compares one element after the other.

use std::fmt::Debug;

use half::{bf16, f16};
use proptest::prelude::*;

use super::Arg;
use crate::kernel::extrema::{Greatest, Least, Ordered};
use crate::kernel::tests::ways::Ways;
use crate::kernel::tests::{POLICIES, bits, shape, trim};
use crate::kernel::{At, Kernel, Lanes, Setup};
use crate::op::NanPolicy;
use crate::scalar::Scalar;

/// NumPy's: the first that is beyond all before it, or the first NaN.
fn position<T: PartialOrd + Copy>(
    column: &[T],
    nan: NanPolicy,
    beyond: fn(&T, &T) -> bool,
) -> Option<usize> {
    let is_nan = |value: &T| value.partial_cmp(value).is_none();
    if nan == NanPolicy::Propagate
        && let Some(at) = column.iter().position(is_nan)
    {
        return Some(at);
    }
    let mut best: Option<usize> = None;
    for (at, value) in column.iter().enumerate().filter(|(_, value)| !is_nan(value)) {
        if best.is_none_or(|best| beyond(value, &column[best])) {
            best = Some(at);
        }
    }
    best
}

fn check<T: Ordered + PartialOrd>(lanes: usize, cut: usize, elements: Vec<T>) {
    let elements = trim(lanes, elements);
    let ways = Ways { lanes, elements: &elements, cut };
    for nan in POLICIES {
        let setup = Setup { nan, ..Setup::default() };
        let is = |found: Scalar, wanted: Option<usize>| {
            let wanted = wanted.map_or(Scalar::Null, |at| Scalar::Int(at as i128));
            assert_eq!(found, wanted);
        };
        ways.check::<Arg<T, Greatest>>(&setup, |column, found| {
            is(found, position(column, nan, T::gt));
        });
        ways.check::<Arg<T, Least>>(&setup, |column, found| {
            is(found, position(column, nan, T::lt));
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn positions_in_floats_are_right(
        (lanes, cut) in shape(), bits32 in bits(32, 8), bits16 in bits(16, 5), bits_b16 in bits(16, 8),
        bits64 in bits(64, 11),
    ) {
        check(lanes, cut, bits32.iter().map(|&b| f32::from_bits(b as u32)).collect());
        check(lanes, cut, bits16.iter().map(|&b| f16::from_bits(b as u16)).collect());
        check(lanes, cut, bits_b16.iter().map(|&b| bf16::from_bits(b as u16)).collect());
        check(lanes, cut, bits64.iter().map(|&b| f64::from_bits(b)).collect());
    }

    #[test]
    fn the_first_of_many_equal_ones_counts(
        (lanes, cut) in shape(), picks in prop::collection::vec(0_usize..9, 0..9000), few in 1_usize..9,
    ) {
        let (nan, infinity) = (f64::NAN, f64::INFINITY);
        let values = [0.0, -0.0, 1.0, -1.0, infinity, -infinity, nan, f64::MAX, 5e-324];
        let pick = |&at: &usize| values[at % few];
        check(lanes, cut, picks.iter().map(pick).collect::<Vec<f64>>());
        check(lanes, cut, picks.iter().map(|at| pick(at) as f32).collect::<Vec<f32>>());
        check(lanes, cut, picks.iter().map(|at| f16::from_f64(pick(at))).collect::<Vec<f16>>());
        check(lanes, cut, picks.iter().map(|at| bf16::from_f64(pick(at))).collect::<Vec<bf16>>());
        check(lanes, cut, picks.iter().map(|at| pick(at) as i8).collect::<Vec<i8>>());
        check(lanes, cut, picks.iter().map(|at| pick(at) as u16).collect::<Vec<u16>>());
        check(lanes, cut, picks.iter().map(|at| pick(at) as i64).collect::<Vec<i64>>());
    }

    #[test]
    fn positions_in_integers_are_right(
        (lanes, cut) in shape(), bits in prop::collection::vec(any::<u64>(), 0..3000),
    ) {
        macro_rules! each {
            ($($type:ty),+) => {$(
                check(lanes, cut, bits.iter().map(|&b| b as $type).collect::<Vec<$type>>());
            )+};
        }
        each!(i8, u8, i16, u16, i32, u32, i64, u64);
    }
}

fn place<T: Ordered + Debug>(kernel: Arg<T, Least>) -> Option<Scalar> {
    kernel.finish().unwrap().get(0)
}

#[test]
fn a_smaller_position_wins_whenever_it_comes() {
    let setup = Setup::default();
    let mut kernel: Arg<f32, Least> = Kernel::new(1, &setup);
    for (index, values, wanted) in [
        (100, [5.0, 5.0], 100),
        (200, [5.0, 9.0], 100),
        (50, [9.0, 5.0], 51),
        (90, [4.0, 4.0], 90),
        (40, [-0.0, 7.0], 40),
        (30, [7.0, 0.0], 31),
        (900, [f32::NAN, 0.0], 900),
        (800, [0.0, f32::NAN], 801),
        (20, [-1.0, -1.0], 801),
    ] {
        kernel.fold_run(At { cell: 0, index }, &values);
        let mut copy: Arg<f32, Least> = Kernel::new(1, &setup);
        copy.take(0, &kernel, 0);
        assert_eq!(place(copy), Some(Scalar::Int(wanted)), "{index} {values:?}");
    }
    let mut lanes: Arg<f32, Least> = Kernel::new(1, &setup);
    let rows = Lanes { count: 1, rows: 3, distance: 2, index: 10 };
    lanes.fold_lanes(At { cell: 0, index: 7 }, rows, &[3.0, 0.0, 2.0, 0.0, 2.0]);
    assert_eq!(place(lanes), Some(Scalar::Int(17)));
}

#[test]
fn where_nothing_is_left_there_is_no_position() {
    let setup = Setup { nan: NanPolicy::Skip, ..Setup::default() };
    let mut kernel: Arg<f64, Least> = Kernel::new(1, &setup);
    kernel.fold_run(At::default(), &[f64::NAN; 5000]);
    assert_eq!(kernel.nan_count(), Some(5000));
    assert_eq!(place(kernel), Some(Scalar::Null));
    assert_eq!(place::<u8>(Kernel::new(1, &setup)), Some(Scalar::Null));
    let mut worst: Arg<f64, Least> = Kernel::new(1, &setup);
    worst.fold_run(At { cell: 0, index: 4 }, &[f64::INFINITY; 2]);
    assert_eq!(place(worst), Some(Scalar::Int(4)));
}
