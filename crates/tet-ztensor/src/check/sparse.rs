//! The blob of a sparse tensor (section 6) checked piece by piece.
//!
//! Only one number is stored between pieces, so memory does not depend on the decoded length.
//! Repeated positions are not found.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tet_codec::{WINDOW_LOG_MAX, ZstdScan};
use tet_format::DType;
use tet_io::{Progress, Source};

use crate::error::{Error, Fault, Result};
use crate::limits::Limits;
use crate::rule;
use crate::sparse::{self, judge};
use crate::stored::{Sound, order};
use crate::words::Encoding;

/// The length in bytes of a position number.
const WORD: u64 = 8;
/// The memory of a decoded sparse tensor, as a multiple of its blob: decoded, split, sorted.
const HELD_TIMES: u64 = 6;
/// Stored bytes that are decoded before a fault stops the scan: at most 32 MiB of output.
const STEP_LEN: usize = 1 << 10;

/// The memory for checking the sparse tensors of a file in memory.
pub(super) struct Memory {
    budget: u64,
    /// The memory that each thread may always use.
    share: u64,
    turn: Mutex<()>,
}

/// Lock on the memory above the share of a thread, while a large tensor is in memory.
pub(super) struct Hold<'a> {
    _turn: Option<MutexGuard<'a, ()>>,
}

impl Memory {
    pub(super) fn new(budget: u64, thread_count: usize) -> Self {
        let budget = budget / 2;
        Memory { budget, share: budget / thread_count.max(1) as u64, turn: Mutex::new(()) }
    }

    /// Memory for a blob that decodes to `decoded_len` bytes; `None` if the budget is smaller or
    /// the length is unknown.
    pub(super) fn hold(&self, decoded_len: Option<u64>, stored_len: u64) -> Option<Hold<'_>> {
        let held = decoded_len?.checked_mul(HELD_TIMES)?.checked_add(stored_len)?;
        if self.budget < held {
            return None;
        }
        let turn = || self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Hold { _turn: (self.share < held).then(turn) })
    }
}

/// The first fault in the positions of a sparse tensor whose blob decodes to `len` bytes, if the
/// length is known, and the first odd boolean before it.
pub(super) fn check_in_pieces(
    source: &Source,
    sound: &Sound<'_>,
    limits: &Limits,
    len: Option<u64>,
    progress: &Progress,
) -> Result<Vec<Fault>> {
    let len_max = limits.sparse_len_max;
    let len = match len {
        Some(len) => len,
        None => decoded(source, sound, len_max.saturating_add(1), progress, |_| true)?,
    };
    sparse::check_len(&sound.tensor, len_max, len)?;
    let has_places = match sparse::check_outside(sound, len) {
        Ok(has_places) => has_places,
        Err(fault) => return Ok(vec![fault]),
    };
    let mut places = PlaceScan::new(sound, len, has_places);
    let found = decoded(source, sound, len, progress, |bytes| places.update(bytes))?;
    let short = Fault { rule: &rule::ZSTD_LEN, at: sound.stored.start(), found, wanted: len };
    let fault = places.fault.or((found != len).then_some(short));
    Ok(places.odd.into_iter().chain(fault).collect())
}

/// Visits the decoded bytes of a blob, at most `len_max`, until `visit` stops. Returns the number
/// of visited bytes.
fn decoded(
    source: &Source,
    sound: &Sound<'_>,
    len_max: u64,
    progress: &Progress,
    mut visit: impl FnMut(&[u8]) -> bool,
) -> Result<u64> {
    let codec = |fault| sound.codec(sound.stored.start(), fault);
    let (mut shown, mut goes_on) = (0_u64, true);
    let mut show = |bytes: &[u8]| {
        goes_on = goes_on && visit(bytes);
        shown = shown.saturating_add(bytes.len() as u64);
        goes_on
    };
    let mut scan = ZstdScan::new().map_err(codec)?;
    scan.begin(len_max, WINDOW_LOG_MAX).map_err(codec)?;
    let mut turned = Vec::new();
    let mut is_done = false;
    source.for_windows(sound.stored.range(), &mut Vec::new(), |_, bytes| {
        if sound.encoding == Encoding::Raw {
            progress.advance(0)?;
            bytes.clone_into(&mut turned);
            order(sound, &mut turned);
            return Ok::<bool, Error>(show(&turned));
        }
        for step in bytes.chunks(STEP_LEN) {
            progress.advance(0)?;
            let mut is_more = true;
            scan.update_with(step, |bytes| is_more = show(bytes)).map_err(codec)?;
            is_done = !is_more;
            if is_done {
                return Ok(false);
            }
        }
        Ok(true)
    })?;
    if sound.encoding == Encoding::Zstd && !is_done {
        scan.finish_with(|bytes| {
            show(bytes);
        })
        .map_err(codec)?;
    }
    Ok(shown)
}

/// The meaning of the next bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Indptr { left: u64, before: Option<u64> },
    Index { left: u64 },
    Coord { axis: usize },
    Value,
}

/// Checks the positions of a sparse tensor in the order of the blob, up to the first fault.
struct PlaceScan<'a> {
    sound: &'a Sound<'a>,
    is_bool: bool,
    /// Token after a value.
    after_value: Next,
    /// The decoded length of the whole blob.
    len: u64,
    next: Next,
    /// The start of a number or a value that continues in the next piece.
    partial: Vec<u8>,
    /// The first boolean that is neither 0 nor 1: a warning, which does not stop the scan.
    odd: Option<Fault>,
    fault: Option<Fault>,
}

impl<'a> PlaceScan<'a> {
    /// A scan of a blob that decodes to `len` bytes, which fit the shape; `has_places` if the blob
    /// holds positions and values.
    fn new(sound: &'a Sound<'a>, len: u64, has_places: bool) -> Self {
        let is_bool = sound.tensor.dtype() == Some(DType::Bool);
        let rows = sound.tensor.shape().first().copied().unwrap_or(0);
        let next = match has_places {
            false => Next::Value,
            true if sound.layout.is_csr() => {
                Next::Indptr { left: rows.saturating_add(1), before: None }
            }
            true => Next::Coord { axis: 0 },
        };
        let after_value = if next == (Next::Coord { axis: 0 }) { next } else { Next::Value };
        let (partial, odd, fault) = (Vec::new(), None, None);
        PlaceScan { sound, is_bool, after_value, len, next, partial, odd, fault }
    }

    /// Checks the next decoded bytes. Returns whether more are needed.
    fn update(&mut self, mut bytes: &[u8]) -> bool {
        while self.fault.is_none() && !bytes.is_empty() {
            let item_len = if self.next == Next::Value { self.sound.element_size } else { WORD };
            let item_len = usize::try_from(item_len).unwrap_or(usize::MAX);
            let missing = item_len.saturating_sub(self.partial.len()).min(bytes.len());
            let (head, rest) = bytes.split_at(missing);
            bytes = rest;
            if head.len() == item_len {
                self.fault = self.take(head).err();
                continue;
            }
            self.partial.extend_from_slice(head);
            if self.partial.len() == item_len {
                let item = std::mem::take(&mut self.partial);
                self.fault = self.take(&item).err();
            }
        }
        self.fault.is_none()
    }

    fn take(&mut self, item: &[u8]) -> Result<(), Fault> {
        let number = item.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        self.next = match self.next {
            Next::Indptr { left, before } => self.indptr(left, before, number)?,
            Next::Index { left } => {
                self.within(number, self.sound.tensor.shape().get(1))?;
                if left > 1 { Next::Index { left: left - 1 } } else { Next::Value }
            }
            Next::Coord { axis } => {
                let shape = self.sound.tensor.shape();
                self.within(number, shape.get(axis))?;
                if axis + 1 < shape.len() { Next::Coord { axis: axis + 1 } } else { Next::Value }
            }
            Next::Value => {
                let odd = item.iter().find(|byte| self.is_bool && **byte > 1);
                let odd = odd.map(|byte| self.fault(&rule::BOOL_BYTE, (*byte).into(), 1));
                self.odd = self.odd.or(odd);
                self.after_value
            }
        };
        Ok(())
    }

    fn indptr(&self, left: u64, before: Option<u64>, number: u64) -> Result<Next, Fault> {
        let is_first_odd = before.is_none() && number != 0;
        if is_first_odd || before.is_some_and(|before| number < before) {
            return Err(self.fault(&rule::SPARSE_INDPTR, number, before.unwrap_or(0)));
        }
        if left > 1 {
            return Ok(Next::Indptr { left: left - 1, before: Some(number) });
        }
        judge::csr_len(self.sound, self.len, number)?;
        Ok(if number == 0 { Next::Value } else { Next::Index { left: number } })
    }

    fn within(&self, found: u64, extent: Option<&u64>) -> Result<(), Fault> {
        let wanted = extent.copied().unwrap_or(0);
        if found < wanted { Ok(()) } else { Err(self.fault(&rule::SPARSE_RANGE, found, wanted)) }
    }

    fn fault(&self, rule: &'static tet_format::ForeignRule, found: u64, wanted: u64) -> Fault {
        Fault { rule, at: self.sound.stored.start(), found, wanted }
    }
}
