//! Where the states of tasks wait for those before them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use super::assemble::Assembly;
use crate::element::Element;
use crate::error::Result;
use crate::kernel::Kernel;
use crate::value::Values;

/// The tiles that are not finished, and the cells of those that are.
pub(super) struct Board<K> {
    part_count: u64,
    held: Mutex<Held<K>>,
}

struct Held<K> {
    tiles: BTreeMap<u64, Tile<K>>,
    assembly: Assembly,
    nan_count: Option<u64>,
}

/// A tile of which some parts are there.
struct Tile<K> {
    /// The parts that have been merged: all before this one.
    merged: u64,
    state: Option<K>,
    /// Parts that came before their turn; `None` where a part holds nothing.
    waiting: BTreeMap<u64, Option<K>>,
}

impl<K: Send> Board<K> {
    pub(super) fn new(part_count: u64, assembly: Assembly) -> Self {
        let held = Held { tiles: BTreeMap::new(), assembly, nan_count: None };
        Board { part_count, held: Mutex::new(held) }
    }

    /// Takes in the state of one part of a tile, and the tile's cells once all parts are there.
    ///
    /// # Errors
    ///
    /// Returns an error when memory cannot hold the result.
    pub(super) fn put<T: Element>(
        &self,
        tile: u64,
        part: u64,
        state: Option<K>,
        cells: &[Range<u64>],
    ) -> Result<()>
    where
        K: Kernel<T>,
    {
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
            return Ok(());
        }
        let Some(tile) = held.tiles.remove(&tile) else { return Ok(()) };
        let Some(state) = tile.state else { return Ok(()) };
        if let Some(found) = state.nan_count() {
            held.nan_count = Some(held.nan_count.unwrap_or(0).saturating_add(found));
        }
        held.assembly.put(state.finish(), cells)
    }

    /// The cells of all tiles, and how many NaN were met.
    ///
    /// # Errors
    ///
    /// Returns an error when memory cannot hold the result.
    pub(super) fn finish(self) -> Result<(Values, Option<u64>)> {
        let held = self.held.into_inner().unwrap_or_else(|poison| poison.into_inner());
        Ok((held.assembly.finish(), held.nan_count))
    }
}
