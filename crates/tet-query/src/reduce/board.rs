//! Where the states of tasks wait for those before them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use super::assemble::Assembly;
use crate::error::Result;
use crate::kernel::KernelState;
use crate::value::Values;

/// The tiles that are not finished, and the cells of those that are.
pub(super) struct Board {
    part_count: u64,
    held: Mutex<BoardTiles>,
}

struct BoardTiles {
    tiles: BTreeMap<u64, Tile>,
    /// The states of tasks between two of their steps.
    tasks: BTreeMap<u64, States>,
    results: Vec<PartialResult>,
}

/// The states of the cells of a task, one of each kernel.
pub(super) type States = Vec<Box<dyn KernelState>>;

/// Partial result of one kernel.
struct PartialResult {
    assembly: Assembly,
    nan_count: Option<u64>,
}

/// A tile of which some parts are there.
struct Tile {
    /// The parts that have been merged: all before this one.
    merged: u64,
    states: Option<States>,
    /// Parts that came before their turn; `None` where a part holds nothing.
    waiting: BTreeMap<u64, Option<States>>,
}

impl Board {
    pub(super) fn new(part_count: u64, assemblies: impl Iterator<Item = Assembly>) -> Self {
        let results =
            assemblies.map(|assembly| PartialResult { assembly, nan_count: None }).collect();
        let held = BoardTiles { tiles: BTreeMap::new(), tasks: BTreeMap::new(), results };
        Board { part_count, held: Mutex::new(held) }
    }

    fn held(&self) -> MutexGuard<'_, BoardTiles> {
        self.held.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Keeps the states of a task until its next step.
    pub(super) fn keep(&self, task: u64, states: Option<States>) {
        self.held().tasks.extend(states.map(|states| (task, states)));
    }

    /// The states stored for a task; `None` for an empty task.
    pub(super) fn take(&self, task: u64) -> Option<States> {
        self.held().tasks.remove(&task)
    }

    /// Takes in the states of one part of a tile; gives those of the tile once all parts are there.
    pub(super) fn merge(&self, tile: u64, part: u64, states: Option<States>) -> Option<States> {
        let mut held = self.held();
        let entry = held.tiles.entry(tile).or_insert_with(|| Tile {
            merged: 0,
            states: None,
            waiting: BTreeMap::new(),
        });
        entry.waiting.insert(part, states);
        while let Some(next) = entry.waiting.remove(&entry.merged) {
            entry.merged += 1;
            match (&mut entry.states, next) {
                (Some(states), Some(next)) => {
                    states.iter_mut().zip(next).for_each(|(state, next)| state.merge(next));
                }
                (states @ None, next) => *states = next,
                (Some(_), None) => {}
            }
        }
        if entry.merged < self.part_count {
            return None;
        }
        held.tiles.remove(&tile)?.states
    }

    /// Takes in the cells of a tile by kernel number `nth`.
    ///
    /// # Errors
    ///
    /// Returns an error when memory cannot hold the result.
    pub(super) fn put(
        &self,
        nth: usize,
        values: Values,
        nan_count: Option<u64>,
        cells: &[Range<u64>],
    ) -> Result<()> {
        let mut held = self.held();
        let Some(result) = held.results.get_mut(nth) else { return Ok(()) };
        if let Some(found) = nan_count {
            result.nan_count = Some(result.nan_count.unwrap_or(0).saturating_add(found));
        }
        result.assembly.put(values, cells)
    }

    /// For every kernel the cells of all tiles, and how many NaN were met.
    pub(super) fn finish(self) -> Vec<(Values, Option<u64>)> {
        let held = self.held.into_inner().unwrap_or_else(|poison| poison.into_inner());
        let results = held.results.into_iter();
        results.map(|found| (found.assembly.finish(), found.nan_count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use tet_format::DType;

    use super::*;
    use crate::kernel::{CellCount, Setup, maker};
    use crate::op::Op;
    use crate::reduction::Number;
    use crate::value::Cells;

    /// The sum of a tile whose parts hold these numbers and are done in this order.
    fn sum(parts: &[f64], done: &[usize]) -> f64 {
        let maker = maker(DType::Float64, Op::Sum, CellCount::One, Setup::default(), None).unwrap();
        let board = Board::new(parts.len() as u64, std::iter::empty());
        let mut merged = None;
        for &part in done {
            assert!(merged.is_none(), "the last part comes last");
            let mut state = maker.make(1);
            state.fold_copies(0, Number::Float(parts[part]), 1);
            merged = board.merge(0, part as u64, Some(vec![state]));
        }
        match merged.unwrap().pop().unwrap().finish().unwrap().cells {
            Cells::Float(sums) => sums[0],
            cells => panic!("{cells:?}"),
        }
    }

    /// Every order of `count` things.
    fn orders(count: usize) -> Vec<Vec<usize>> {
        let Some(last) = count.checked_sub(1) else { return vec![Vec::new()] };
        let longer = |order: Vec<usize>| {
            (0..count).map(move |at| [&order[..at], &[last], &order[at..]].concat())
        };
        orders(last).into_iter().flat_map(longer).collect()
    }

    #[test]
    fn parts_merge_in_their_own_order_whichever_is_done_first() {
        let parts = [1e100, 1.0, 1e-16, 1e-16, -1e100];
        let wanted = sum(&parts, &[0, 1, 2, 3, 4]).to_bits();
        for done in orders(5) {
            assert_eq!(sum(&parts, &done).to_bits(), wanted, "{done:?}");
        }
        // No matter of course: these numbers in another order have another sum.
        let other = [1e100, 1e-16, 1e-16, 1.0, -1e100];
        assert_ne!(sum(&other, &[0, 1, 2, 3, 4]).to_bits(), wanted);
    }
}
