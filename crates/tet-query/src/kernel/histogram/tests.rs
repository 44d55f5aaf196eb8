//! Histograms against one comparison with every edge.

use half::{bf16, f16};
use proptest::prelude::*;
use tet_format::DType;

use super::*;
use crate::reduce::histogram::{Range, edges};

/// Counts by looking at every bin.
fn wanted(values: &[f64], edges: &[f64]) -> Vec<u64> {
    let bins = edges.len() - 1;
    let mut counts = vec![0; bins + 2];
    for &value in values {
        let inside = |bin: &usize| edges[*bin] <= value && value < edges[*bin + 1];
        if value < edges[0] {
            counts[0] += 1;
        } else if value > edges[bins] {
            counts[bins + 1] += 1;
        } else if value == edges[bins] {
            counts[bins] += 1;
        } else if let Some(bin) = (0..bins).find(inside) {
            counts[bin + 1] += 1;
        }
    }
    counts
}

fn check<T: Numeric>(lanes: usize, elements: &[T], edges: &[f64]) {
    let setup = Setup { edges: edges.to_vec(), ..Setup::default() };
    let rows = elements.len() / lanes;
    let elements = &elements[..rows * lanes];
    let new = || -> Histogram { Kernel::<T>::new(lanes, &setup) };
    let (mut by_lanes, mut by_runs, mut taken) = (new(), new(), new());
    let all = Lanes { count: lanes, rows, distance: lanes, index: 1 };
    Kernel::<T>::fold_lanes(&mut by_lanes, At::default(), all, elements);
    let column =
        |lane: usize| -> Vec<T> { elements.iter().skip(lane).step_by(lanes).copied().collect() };
    for lane in 0..lanes {
        by_runs.fold_run(At { cell: lane, index: 0 }, &column(lane));
        Kernel::<T>::take(&mut taken, lane, &by_runs, lane);
    }
    let mut merged = new();
    Kernel::<T>::merge(&mut merged, taken);
    let nans = elements.iter().filter(|element| element.wide().is_nan()).count() as u64;
    for kernel in [by_lanes, by_runs, merged] {
        assert!(Kernel::<T>::nan_count(&kernel).is_none_or(|count| count == nans));
        let counts = match Kernel::<T>::finish(kernel).expect("counts fit").cells {
            Cells::Count(counts) => counts,
            other => panic!("{other:?}"),
        };
        for (lane, counts) in counts.chunks_exact(edges.len() + 1).enumerate() {
            let values: Vec<f64> = column(lane).iter().map(|element| element.wide()).collect();
            assert_eq!(counts, self::wanted(&values, edges), "{edges:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn elements_lie_between_their_edges(
        lanes in prop_oneof![Just(1_usize), 2..7_usize],
        (first, width, bins) in (-100.0..100.0_f64, 1e-3..200.0_f64, 1_u32..60),
        scale in prop_oneof![Just(1.0), Just(1e-300), Just(1e300), Just(1e-40), Just(2e5)],
        values in proptest::collection::vec((0_u32..200, 0_u32..20, -0.2..1.2_f64), 0..1500),
    ) {
        let (first, last) = (first * scale, (first + width) * scale);
        let Ok(edges) = edges(DType::Float64, Range::Given(first, last), bins) else {
            return Ok(());
        };
        let specials = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 5e-324, f64::MAX];
        let value = |&(roll, nth, part): &(u32, u32, f64)| match roll {
            0..7 => specials[roll as usize],
            // Edges, and their nearest neighbors.
            7..100 => {
                let edge = edges[nth as usize % edges.len()];
                [edge, edge.next_up(), edge.next_down()][roll as usize % 3]
            }
            _ => first + part * (last - first),
        };
        let doubles: Vec<f64> = values.iter().map(value).collect();
        check(lanes, &doubles, &edges);
        let singles: Vec<f32> = doubles.iter().map(|&value| value as f32).collect();
        check(lanes, &singles, &edges);
        check(lanes, &doubles.iter().map(|&v| f16::from_f64(v)).collect::<Vec<_>>(), &edges);
        check(lanes, &doubles.iter().map(|&v| bf16::from_f64(v)).collect::<Vec<_>>(), &edges);
        check(lanes, &doubles.iter().map(|&v| v as i8).collect::<Vec<_>>(), &edges);
        check(lanes, &doubles.iter().map(|&v| v as i64).collect::<Vec<_>>(), &edges);
        check(lanes, &doubles.iter().map(|&v| v as u16).collect::<Vec<_>>(), &edges);
    }
}

#[test]
fn uneven_edges_and_those_too_near_for_a_guess_count_exactly() {
    let values: Vec<f64> = (0..4000).map(|at| f64::from(at % 97) / 8.0 - 1.0).collect();
    check(1, &values, &[0.0, 0.5, 4.0, 4.125, 10.0]);
    check(3, &values, &[-1e300, 0.0, 1e300]);
    let near: Vec<f64> = (0..6).map(|at| f64::from_bits(1.0_f64.to_bits() + at)).collect();
    let values: Vec<f64> = (0..64).map(|at| f64::from_bits(1.0_f64.to_bits() - 20 + at)).collect();
    check(1, &values, &near);
    let long: Vec<f32> = (0..10_000).map(|at| (at % 331) as f32).collect();
    check(1, &long, &edges(DType::Float32, Range::Given(10.0, 300.0), 5000).expect("edges"));
}
