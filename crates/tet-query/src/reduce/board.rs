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
    assembly: Assembly,
    nan_count: Option<u64>,
}

/// A tile of which some parts are there.
struct Tile {
    /// The parts that have been merged: all before this one.
    merged: u64,
    state: Option<Box<dyn State>>,
    /// Parts that came before their turn; `None` where a part holds nothing.
    waiting: BTreeMap<u64, Option<Box<dyn State>>>,
}

impl Board {
    pub(super) fn new(part_count: u64, assembly: Assembly) -> Self {
        let held = Held { tiles: BTreeMap::new(), assembly, nan_count: None };
        Board { part_count, held: Mutex::new(held) }
    }

    /// Takes in the state of one part of a tile; gives that of the tile once all parts are there.
    pub(super) fn merge(
        &self,
        tile: u64,
        part: u64,
        state: Option<Box<dyn State>>,
    ) -> Option<Box<dyn State>> {
        let mut held = self.held.lock().unwrap_or_else(|poison| poison.into_inner());
        let entry = held.tiles.entry(tile).or_insert_with(|| Tile {
            merged: 0,
            state: None,
            waiting: BTreeMap::new(),
        });
        entry.waiting.insert(part, state);
        while let Some(next) = entry.waiting.remove(&entry.merged) {
            entry.merged += 1;
            match (&mut entry.state, next) {
                (Some(state), Some(next)) => state.merge(next),
                (state @ None, next) => *state = next,
                (Some(_), None) => {}
            }
        }
        if entry.merged < self.part_count {
            return None;
        }
        held.tiles.remove(&tile)?.state
    }

    /// Takes in the cells of a tile.
    ///
    /// # Errors
    ///
    /// Returns an error when memory cannot hold the result.
    pub(super) fn put(
        &self,
        values: Values,
        nan_count: Option<u64>,
        cells: &[Range<u64>],
    ) -> Result<()> {
        let mut held = self.held.lock().unwrap_or_else(|poison| poison.into_inner());
        if let Some(found) = nan_count {
            held.nan_count = Some(held.nan_count.unwrap_or(0).saturating_add(found));
        }
        held.assembly.put(values, cells)
    }

    /// The cells of all tiles, and how many NaN were met.
    pub(super) fn finish(self) -> (Values, Option<u64>) {
        let held = self.held.into_inner().unwrap_or_else(|poison| poison.into_inner());
        (held.assembly.finish(), held.nan_count)
    }
}
