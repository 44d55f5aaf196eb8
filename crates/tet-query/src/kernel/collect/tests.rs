//! Kept elements against a sort of each cell.

use half::f16;
use proptest::prelude::*;

use super::*;
use crate::kernel::Scatter;
use crate::scalar::Scalar;

/// NumPy's quantile of what is in order, as doubles.
pub(in crate::kernel) fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = (sorted.len() - 1) as f64 * q;
    let (low, part) = (at.floor(), at - at.floor());
    let (a, b) = (sorted[low as usize], sorted[(low as usize + 1).min(sorted.len() - 1)]);
    if low as usize + 1 >= sorted.len() {
        return if a.is_infinite() { f64::NAN } else { a };
    }
    if part >= 0.5 { b - (b - a) * (1.0 - part) } else { a + (b - a) * part }
}

/// NumPy's median of what is in order.
pub(in crate::kernel) fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        return sorted[middle];
    }
    let sum = sorted[middle - 1] + sorted[middle];
    let overflows =
        sum.is_infinite() && sorted[middle - 1].is_finite() && sorted[middle].is_finite();
    if overflows { sorted[middle - 1] / 2.0 + sorted[middle] / 2.0 } else { sum / 2.0 }
}

fn wanted(column: &[f64], setup: &Setup) -> Vec<Scalar> {
    let mut sorted: Vec<f64> = column.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    let value = |&q: &f64| match setup.between {
        _ if setup.nan == NanPolicy::Propagate && sorted.len() < column.len() => {
            Scalar::Float64(f64::NAN)
        }
        _ if sorted.is_empty() => Scalar::Null,
        Between::Middle => Scalar::Float64(median(&sorted)),
        Between::Line | Between::LineOrMiddle => Scalar::Float64(quantile(&sorted, q)),
    };
    setup.q.iter().map(value).collect()
}

fn same(a: Scalar, b: Scalar) -> bool {
    match (a, b) {
        (Scalar::Float64(a), Scalar::Float64(b)) => a == b || a.is_nan() && b.is_nan(),
        (a, b) => a == b,
    }
}

fn check<T: Numeric>(lanes: usize, cut: usize, elements: &[T], setup: &Setup) {
    let rows = elements.len() / lanes;
    let cut = cut.min(rows);
    let lay = |rows| Lanes { count: lanes, rows, distance: lanes, index: 1 };
    let column =
        |lane: usize| -> Vec<T> { (0..rows).map(|row| elements[row * lanes + lane]).collect() };
    let new = || -> Collect<T> { Kernel::<T>::new(lanes, setup) };
    let (mut by_lanes, mut later, mut by_runs, mut taken) = (new(), new(), new(), new());
    let (mut scattered, mut behind) = (new(), new());
    by_lanes.fold_lanes(At::default(), lay(cut), elements);
    later.fold_lanes(At::default(), lay(rows - cut), &elements[cut * lanes..]);
    by_lanes.merge(later);
    for lane in 0..lanes {
        let (first, last) = (column(lane), cut);
        by_runs.fold_run(At { cell: lane, index: 0 }, &first[..last]);
        by_runs.fold_run(At { cell: lane, index: 0 }, &first[last..]);
        taken.take(lane, &by_lanes, lane);
    }
    let cells: Vec<u32> = (0..lanes as u32).collect();
    let row = Scatter { cells: &cells, stride: 1, distance: 1, index: 0 };
    for (nth, elements) in lay(rows).rows(elements).enumerate() {
        let kernel = if nth < cut { &mut scattered } else { &mut behind };
        match nth % 3 {
            0 => kernel.fold_lanes(At::default(), lay(1), elements),
            _ => kernel.fold_scattered(At::default(), row, elements),
        }
    }
    scattered.merge(behind);
    for kernel in [by_lanes, by_runs, taken, scattered] {
        let overhead = size_of_val(&kernel.parts[..]) + size_of_val(&kernel.cells[..]);
        // Each of the two states that were merged may end in a part of its own.
        let allowed = 4 * kernel.elements.len() + 2 * size_of::<CellRows>();
        assert!(overhead <= allowed, "{overhead} bytes, not {allowed}");
        let nans = elements[..rows * lanes].iter().filter(|e| e.wide().is_nan()).count() as u64;
        assert!(kernel.nan_count().is_none_or(|count| count == nans));
        let values = kernel.finish().expect("quantiles fit");
        for lane in 0..lanes {
            let column: Vec<f64> = column(lane).iter().map(|element| element.wide()).collect();
            for (nth, wanted) in wanted(&column, setup).into_iter().enumerate() {
                let found = values.get(lane * setup.q.len() + nth).expect("a value");
                assert!(same(found, wanted), "{found:?}, not {wanted:?} of {column:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn quantiles_of_cells_are_those_of_sorted_cells(
        (lanes, cut) in (prop_oneof![Just(1_usize), 1..9_usize, 60..150_usize], 0..50_usize),
        q in proptest::collection::vec(prop_oneof![0.0..=1.0_f64, Just(0.0), Just(1.0), Just(0.5)], 1..20),
        (bits, rate) in (proptest::collection::vec(any::<u64>(), 0..800), 0..40_u64),
        (between, nan) in (
            prop_oneof![Just(Between::Line), Just(Between::Middle)],
            prop_oneof![Just(NanPolicy::Skip), Just(NanPolicy::Propagate)],
        ),
    ) {
        let setup = Setup { q, between, nan, ..Setup::default() };
        let specials = [f64::NAN, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 5e-324];
        let doubles: Vec<f64> = bits.iter().map(|&bits| match bits % 100 {
            roll if roll < rate => specials[(bits / 100 % 7) as usize],
            roll if roll < 60 => (bits / 100 % 20) as f64,
            _ => f64::from_bits(bits),
        }).filter(|value| rate > 0 || !value.is_nan()).collect();
        check(lanes, cut, &doubles, &setup);
        let singles: Vec<f32> = doubles.iter().map(|&value| value as f32).collect();
        check(lanes, cut, &singles, &setup);
        let halves: Vec<f16> = doubles.iter().map(|&value| f16::from_f64(value)).collect();
        check(lanes, cut, &halves, &setup);
        check(lanes, cut, &bits.iter().map(|&bits| bits as i8).collect::<Vec<_>>(), &setup);
        check(lanes, cut, &bits.iter().map(|&bits| bits as i64).collect::<Vec<_>>(), &setup);
        check(lanes, cut, &bits, &setup);
    }
}
