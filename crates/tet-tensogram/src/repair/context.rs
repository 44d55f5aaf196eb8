//! The file under repair, and a budget for the remaining work.

use tet_codec::{Digester, Strength};
use tet_format::Span;
use tet_io::{Progress, Source};

use crate::check::fidelity::Total;
use crate::error::Result;
use crate::limits::Limits;
use crate::window::Window;

/// The budget in bytes of work for each byte of the file.
const WORK_FACTOR: u64 = 4;
/// An additional budget, so that small files are searched thoroughly.
const WORK_LEN_MIN: u64 = 64 << 20;
/// The cost of reading a few bytes anywhere.
pub(super) const READ_COST: u64 = 1 << 10;
/// The most bytes that are hashed to find flipped bits.
const FLIP_LEN_MAX: u64 = 2 << 30;

/// The file under repair, and the remaining budget.
pub(super) struct RepairContext<'a> {
    pub(super) source: &'a Source,
    pub(super) limits: &'a Limits,
    pub(super) window: Window<'a>,
    progress: &'a Progress,
    total: &'a Total,
    work_left: u64,
    flips_left: u64,
    scratch: Vec<u8>,
}

impl<'a> RepairContext<'a> {
    pub(super) fn new(
        source: &'a Source,
        limits: &'a Limits,
        (progress, total): (&'a Progress, &'a Total),
    ) -> Self {
        let work_left = source.len().saturating_mul(WORK_FACTOR).saturating_add(WORK_LEN_MIN);
        let (window, scratch) = (Window::new(source), Vec::new());
        let flips_left = FLIP_LEN_MAX;
        Self { source, limits, window, progress, total, work_left, flips_left, scratch }
    }

    pub(super) const fn progress(&self) -> &'a Progress {
        self.progress
    }

    pub(super) const fn total(&self) -> &'a Total {
        self.total
    }

    /// Spends budget for reading `len` bytes. Returns whether there was enough left.
    pub(super) fn spend(&mut self, len: u64) -> bool {
        let left = self.work_left.checked_sub(len);
        self.work_left = left.unwrap_or_default();
        left.is_some()
    }

    /// Spends budget for hashing a body of this length once for each of its bits.
    pub(super) fn spend_flips(&mut self, len: u64) -> bool {
        let cost = len.saturating_mul(len).saturating_mul(8);
        let left = self.flips_left.checked_sub(cost);
        self.flips_left = left.unwrap_or(self.flips_left);
        left.is_some()
    }

    /// The hash of a span; `None` if the budget is spent.
    pub(super) fn hash(&mut self, span: Span) -> Result<Option<u64>> {
        if !self.spend(span.len()) {
            return Ok(None);
        }
        let mut digester = Digester::new(Strength::Fast);
        let (progress, source) = (self.progress, self.source);
        progress.pieces::<crate::Error>(source, span, &mut self.scratch, |_, bytes| {
            digester.update(bytes);
            true
        })?;
        Ok(Some(digester.finish().xxh3))
    }
}
