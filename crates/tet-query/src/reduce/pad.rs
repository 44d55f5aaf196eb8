//! Padding of windows: copies of one number, however many.

use crate::error::{Error, Result};
use crate::kernel::{KernelState, Maker};
use crate::reduction::Number;

/// No window is filled up to more elements than this.
const FILLED_MAX: u64 = 1 << 48;

/// The state of some copies, reused while their number stays.
pub(super) struct Pads<'a> {
    maker: &'a Maker,
    number: Number,
    /// Up to this many copies are folded one by one.
    few: u64,
    last: Option<(u64, Box<dyn KernelState>)>,
}

impl<'a> Pads<'a> {
    pub(super) fn new(maker: &'a Maker, number: Number, few: u64) -> Self {
        Pads { maker, number, few, last: None }
    }

    /// A state whose one cell holds `count` copies.
    pub(super) fn state(&mut self, count: u64) -> &dyn KernelState {
        let state = match self.last.take() {
            Some((same, state)) if same == count => state,
            _ => self.copies(count),
        };
        self.last.insert((count, state)).1.as_ref()
    }

    /// Doubles a few copies as often as it takes.
    fn copies(&self, count: u64) -> Box<dyn KernelState> {
        let mut state = self.maker.make(1);
        if count <= self.few {
            state.fold_copies(0, self.number, count);
            return state;
        }
        let half = self.copies(count / 2);
        state.take(0, half.as_ref(), 0, 1);
        state.take(0, half.as_ref(), 0, 1);
        state.fold_copies(0, self.number, count % 2);
        state
    }
}

/// Checks that a window of `size` positions with `folded` elements each can be filled up.
///
/// # Errors
///
/// Returns [`Error::Limit`] when there are more elements than can be counted.
pub(super) fn check_filled(size: u64, folded: u64) -> Result<()> {
    let wanted = size.saturating_mul(folded);
    if FILLED_MAX < wanted {
        return Err(Error::Limit {
            what: "elements of a padded window",
            wanted,
            limit: FILLED_MAX,
        });
    }
    Ok(())
}
