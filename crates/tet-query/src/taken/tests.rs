use std::collections::BTreeSet;
use std::sync::Arc;

use tet_format::DType;

use super::{TakenAxis, taken};
use crate::budget::Execution;
use crate::catalog::Catalog;
use crate::op::Op;
use crate::reduction::Reduction;
use crate::selection::Hyperslab;
use crate::testing::{Order, Stored, World, bytes, world};

/// Rows of a chunk, and all of them.
const CHUNK_ROWS: u64 = 5;
const ROWS: u64 = 60;

/// Chunks of 325 KiB, each decoded as a whole.
fn rows() -> World {
    let element = |n: u64| bytes(DType::Float32, (n * 7919 % 9973) as f64 / 7.0);
    let (shape, chunk) = ([ROWS, 128, 130], [CHUNK_ROWS, 128, 130]);
    world(DType::Float32, &shape, &chunk, Stored::Whole, Order::Packed, element)
}

/// Rows in runs that begin and end within chunks, as the days of a month in several years do.
fn positions() -> Vec<u64> {
    [2..9, 14..21, 23..33, 41..52, 56..59].into_iter().flatten().collect()
}

/// The standard deviation of the taken rows.
fn deviation(catalog: &Catalog, memory_budget: u64, threads: usize) -> u64 {
    let how = Execution { memory_budget, threads, ..Execution::default() };
    let axis = TakenAxis { positions: positions().into(), turns: Arc::default() };
    let view = taken(catalog.datasets()[0].clone(), &[(0, &axis)], &how);
    let all = Hyperslab::whole(view.shape());
    let found = view.reduce(&all, &Reduction::all(Op::Std), &how).unwrap().value;
    found.values.get(0).unwrap().to_f64().unwrap().to_bits()
}

#[test]
fn results_of_taken_positions_depend_on_no_budget() {
    let world = rows();
    let wanted = deviation(&world.mapped, 1 << 30, 1);
    for (budget, threads) in [(12 << 20, 1), (64 << 20, 2), (1 << 30, 4)] {
        assert_eq!(deviation(&world.mapped, budget, threads), wanted, "{budget} {threads}");
    }
}

#[test]
fn few_chunks_of_taken_positions_are_decoded_twice() {
    let world = rows();
    let touched: BTreeSet<u64> = positions().iter().map(|row| row / CHUNK_ROWS).collect();
    for budget in [12 << 20, 1 << 30] {
        deviation(&world.positioned, budget, 1);
        // Chunks of four bytes an element, of which neighbors may be one read.
        let reads = world.counting.take_reads();
        let bytes: u64 = reads.iter().map(|run| run.span.len()).sum();
        let decoded = usize::try_from(bytes / (CHUNK_ROWS * 128 * 130 * 4)).unwrap();
        // A chunk of the view is as long as four of the file, and two of the view share one of the file.
        let shared = positions().len() / (4 * usize::try_from(CHUNK_ROWS).unwrap());
        assert!((touched.len()..=touched.len() + shared).contains(&decoded), "{reads:?}");
    }
}
