//! Where the states of tasks wait for those before them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use super::assemble::Assembly;
use crate::error::Result;
use crate::kernel::State;
use crate::value::Values;

/// The tiles that are not finished, and the cells of those that are.
pub(super) struct Board {
    part_count: u64,
    held: Mutex<Held>,
}

struct Held {
    tiles: BTreeMap<u64, Tile>,
    results: Vec<Found>,
}

/// The states of the cells of a task, one of each kernel.
pub(super) type States = Vec<Box<dyn State>>;

/// What one kernel found so far.
struct Found {
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
        let results = assemblies.map(|assembly| Found { assembly, nan_count: None }).collect();
        let held = Held { tiles: BTreeMap::new(), results };
        Board { part_count, held: Mutex::new(held) }
    }

    /// Takes in the states of one part of a tile; gives those of the tile once all parts are there.
    pub(super) fn merge(&self, tile: u64, part: u64, states: Option<States>) -> Option<States> {
        let mut held = self.held.lock().unwrap_or_else(|poison| poison.into_inner());
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
        let mut held = self.held.lock().unwrap_or_else(|poison| poison.into_inner());
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
