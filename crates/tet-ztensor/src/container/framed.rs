//! A zstd tensor of several frames: each frame, or a few, is a chunk that is decoded by itself.

use crate::Frames;
use tet_codec::Zstd;
use tet_format::{ForeignRule, Grid, Shape, Span};
use tet_query::{ChunkPlace, ChunkTable, Decoder, Sealed};

use tet_container::chunking::of_len;
use tet_container::read::slabs::locate;

/// A chunk should hold no more than this many frames.
const FRAMES_MAX: u64 = 64;

/// The chunks of a zstd tensor.
pub(crate) struct Framed {
    grid: Grid,
    element_size: u64,
    stored: Span,
    frames: Option<Frames>,
    sealed: Option<Sealed>,
    rule_of: RuleOf,
}

/// The rule that a blob breaks, for an error of its decoder.
type RuleOf = fn(&tet_codec::Error) -> &'static ForeignRule;

impl Framed {
    /// The chunks of a tensor: of `frames` if these can be chunks, else one.
    pub(crate) fn new(
        shape: &[u64],
        element_size: u64,
        stored: Span,
        frames: Option<Frames>,
        rule_of: RuleOf,
    ) -> Option<(Grid, Self)> {
        let whole = || shape.iter().map(|&extent| extent.max(1)).collect::<Shape>();
        let chunk_shape = frames.as_ref().and_then(|frames| cut(shape, element_size, frames));
        let frames = frames.filter(|_| chunk_shape.is_some());
        let grid = Grid::new(Shape::from(shape), chunk_shape.unwrap_or_else(whole))?;
        let sealed = None;
        Some((grid.clone(), Framed { grid, element_size, stored, frames, sealed, rule_of }))
    }

    /// The chunks with a checksum of all stored bytes.
    pub(crate) fn sealed(self, sealed: Option<Sealed>) -> Self {
        Framed { sealed, ..self }
    }

    fn place(&self, linear: u64) -> Option<ChunkPlace> {
        let coord = self.grid.coord_of(linear);
        let decoded_len = self.grid.chunk_elements(&coord)?.checked_mul(self.element_size)?;
        let stored = match &self.frames {
            None => self.stored,
            Some(frames) => {
                // All chunks but the last are as long as the first.
                let first = self.grid.chunk_elements(&vec![0; self.grid.rank()])?;
                let start = linear.checked_mul(first.checked_mul(self.element_size)?)?;
                let held = frames.covering(start..start.checked_add(decoded_len)?);
                let (head, tail) = (held.first()?, held.last()?);
                let fits = head.decoded.start == start
                    && tail.decoded.end == start.saturating_add(decoded_len);
                Span::from_range(head.stored.start()..tail.stored.end()).filter(|_| fits)?
            }
        };
        Some(ChunkPlace::new(stored, decoded_len))
    }
}

impl ChunkTable for Framed {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        locate(linear, self.stored, out, |linear| self.place(linear))
    }

    fn seals(&self) -> Vec<&Sealed> {
        self.sealed.iter().collect()
    }

    fn decoder(&self, _linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
        Decoder::Shared(&Zstd)
    }

    fn rule_of(&self, fault: &tet_codec::Error) -> Option<&'static ForeignRule> {
        Some((self.rule_of)(fault))
    }
}

/// The shape of chunks that are slabs of the array and end where frames end; `None` where there is
/// none but the whole.
fn cut(shape: &[u64], element_size: u64, frames: &Frames) -> Option<Shape> {
    let list = frames.list();
    let (last, others) = list.split_last()?;
    let len = |range: &std::ops::Range<u64>| range.end.saturating_sub(range.start);
    let frame_len = others.first().map(|frame| len(&frame.decoded))?;
    let is_even = others.iter().all(|frame| len(&frame.decoded) == frame_len);
    if !is_even || frame_len < len(&last.decoded) {
        return None;
    }
    let count = u64::try_from(list.len()).unwrap_or(u64::MAX).min(FRAMES_MAX);
    (1..=count).find_map(|times| of_len(shape, element_size, frame_len.checked_mul(times)?))
}
