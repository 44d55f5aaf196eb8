//! A variable whose elements are in records, between those of other variables.
//!
//! ```text
//!   record 0: | a | b | c |   record 1: | a | b | c |   ...      b: one part of each record
//! ```
//!
//! A chunk is a piece of one part. Where parts are short and close together it is those of several records: then
//! its stored bytes are those from the first part to the last, with what other variables have between.

use std::ops::Range;

use tet_codec::{ChunkLayout, Decode, Error as Refused, StoredSpans, Swapped};
use tet_format::{Grid, Shape, Span};
use tet_query::{ChunkPlace, ChunkTable, Decoder};

use tet_container::chunking;
use tet_container::read::slabs::{elements_of, locate};

/// Shorter parts are read together with what is between them,
const PART_LEN_NEAR: u64 = 16 << 10;
/// if they are this share of it at least,
const SHARE_MIN: u64 = 8;
/// and as many as are in this many bytes of the file.
const STORED_LEN_MAX: u64 = 1 << 20;

/// Where the parts of a variable are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    /// Bytes of a part.
    pub(super) len: u64,
    /// Bytes from one part to the next.
    pub(super) distance: u64,
    pub(super) element_size: u64,
}

/// The chunks of a variable.
pub(super) struct Records {
    grid: Grid,
    stored: Span,
    gather: Gather,
}

impl Records {
    /// The chunks of parts that are not empty, from the first byte of the first to the last of the last.
    pub(super) fn new(shape: &[u64], stored: Span, parts: Parts) -> Option<Records> {
        let (&count, inner) = shape.split_first()?;
        let is_dense = parts.distance / SHARE_MIN <= parts.len && parts.len < PART_LEN_NEAR;
        let together = STORED_LEN_MAX.checked_div(parts.distance).filter(|_| is_dense);
        let together = together.unwrap_or(1).clamp(1, count.max(1));
        let mut chunk_shape = vec![together];
        if together == 1 {
            chunk_shape.extend(chunking::in_place(inner, parts.element_size));
        } else {
            chunk_shape.extend(inner);
        }
        let grid = Grid::new(Shape::from(shape), Shape::from(chunk_shape))?;
        let swapped = Swapped::new(parts.element_size);
        Some(Records { grid, stored, gather: Gather { parts, swapped } })
    }

    pub(super) const fn grid(&self) -> &Grid {
        &self.grid
    }

    fn place(&self, linear: u64) -> Option<ChunkPlace> {
        let parts = &self.gather.parts;
        let Range { start, end } = elements_of(&self.grid, linear);
        let [start, end] = [start, end].map(|at| at.checked_mul(parts.element_size));
        let (start, decoded_len) = (start?, end?.checked_sub(start?)?);
        let begin = self.stored.start().checked_add(parts.offset(start)?)?;
        let last = parts.offset(start.checked_add(decoded_len)?.checked_sub(1)?)?;
        let end = self.stored.start().checked_add(last)?.checked_add(1)?;
        let stored = Span::from_range(begin..end).filter(|&span| self.stored.contains(span))?;
        Some(ChunkPlace::new(stored, decoded_len))
    }
}

impl ChunkTable for Records {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        locate(linear, self.stored, out, |linear| self.place(linear))
    }

    fn decoder(&self, _linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
        Decoder::Shared(&self.gather)
    }
}

impl Parts {
    /// Where a byte of the elements is, from the first byte of the first part; also from that of any other.
    fn offset(&self, byte: u64) -> Option<u64> {
        let part = byte.checked_div(self.len)?;
        part.checked_mul(self.distance)?.checked_add(byte.checked_rem(self.len)?)
    }

    /// The stored bytes that hold bytes of the elements.
    fn stored(&self, bytes: &Range<u64>) -> Option<Range<u64>> {
        if bytes.is_empty() {
            return Some(0..0);
        }
        Some(self.offset(bytes.start)?..self.offset(bytes.end.checked_sub(1)?)?.checked_add(1)?)
    }
}

/// Gathers parts, and turns the bytes of their numbers around.
#[derive(Clone, Copy, Debug)]
struct Gather {
    parts: Parts,
    swapped: Option<Swapped>,
}

const NAME: &str = "records";

impl Gather {
    /// Copies these bytes of the elements out of exactly the stored bytes that hold them.
    fn gather(&self, stored: &[u8], bytes: Range<u64>, out: &mut [u8]) -> tet_codec::Result<()> {
        let len = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
        let index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let (stored_len, decoded_len) = (len(stored.len()), len(out.len()));
        let lost = || Refused::Lengths { codec: NAME, stored_len, decoded_len };
        let held = self.parts.stored(&bytes).ok_or_else(lost)?;
        if bytes.end.checked_sub(bytes.start) != Some(decoded_len) {
            return Err(lost());
        }
        let (mut rest, mut at) = (&mut *out, bytes.start);
        while !rest.is_empty() {
            let offset = self.parts.offset(at).ok_or_else(lost)?;
            let from = index(offset.checked_sub(held.start).ok_or_else(lost)?);
            let count = index(self.parts.len - at % self.parts.len).min(rest.len());
            let (to, after) = rest.split_at_mut(count);
            let part = stored.get(from..).and_then(|stored| stored.get(..count));
            to.copy_from_slice(part.ok_or_else(lost)?);
            (rest, at) = (after, at + len(count));
        }
        if let Some(swapped) = self.swapped {
            swapped.in_place(out);
        }
        Ok(())
    }
}

impl Decode for Gather {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        let decoded_len = u64::try_from(out.len()).unwrap_or(u64::MAX);
        self.gather(stored, 0..decoded_len, out)
    }

    fn stored_spans(&self, layout: ChunkLayout, elements: Range<u64>) -> StoredSpans {
        let size = layout.element_size;
        let bytes = elements.start.saturating_mul(size)..elements.end.saturating_mul(size);
        self.parts.stored(&bytes).map_or(StoredSpans::Whole, StoredSpans::Range)
    }

    fn decode_range(
        &self,
        layout: ChunkLayout,
        stored: &[u8],
        elements: Range<u64>,
        out: &mut [u8],
    ) -> tet_codec::Result<()> {
        let size = layout.element_size;
        let bytes = elements.start.saturating_mul(size)..elements.end.saturating_mul(size);
        self.gather(stored, bytes, out)
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> tet_codec::Result<()> {
        let stored = self.parts.stored(&(0..decoded_len));
        if stored.is_some_and(|stored| stored.end == stored_len) {
            return Ok(());
        }
        Err(Refused::Lengths { codec: NAME, stored_len, decoded_len })
    }
}
