//! A chain of filters as one decoder.
//!
//! ```text
//!   written: elements -> stage 0 -> stage 1 -> ... -> stored bytes
//!   decoded: elements <- layout <- stage 0 <- stage 1 <- ... <- stored bytes
//! ```
//!
//! The length between two stages is exact up to the first compressor and bounded behind it, so no
//! stage decodes more than the chunk can need. A thread uses two buffers by turns, and keeps them.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use crate::checksum::Checksummed;
use crate::codec::{ChunkLayout, Decode, StoredSpans};
use crate::error::{Error, Result};
use crate::layout::ElementLayout;
use crate::numcodecs_pipeline::{NumcodecsCodec, NumcodecsPipeline};
use crate::raw::{Raw, byte_range};
use crate::scratch::{Scratch, index, resize};

const NAME: &str = "pipeline";

/// Growth of bytes that a compressor cannot compress, beyond twice their length.
const GROWTH: u64 = 4 << 10;

/// The length of what a stage decodes to.
///
/// ```
/// use tet_codec::Room;
///
/// assert_eq!((Room::AtMost(9).max(), Room::Exact(8).max()), (9, 8));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Exactly this number of bytes.
    Exact(u64),
    /// A compressor was applied before: at most this number of bytes.
    AtMost(u64),
}

impl Room {
    /// The most bytes.
    #[must_use]
    pub const fn max(self) -> u64 {
        match self {
            Room::Exact(len) | Room::AtMost(len) => len,
        }
    }

    /// Checks that a stage may decode to `len` bytes.
    ///
    /// # Errors
    ///
    /// Returns [`Error::TooLong`] or [`Error::TooShort`] when it may not.
    pub fn check(self, codec: &'static str, len: u64) -> Result<()> {
        match self {
            Room::Exact(wanted) | Room::AtMost(wanted) if wanted < len => {
                Err(Error::TooLong { codec, decoded_len: wanted })
            }
            Room::Exact(wanted) if len < wanted => {
                Err(Error::TooShort { codec, found: len, decoded_len: wanted })
            }
            _ => Ok(()),
        }
    }
}

/// One filter of a pipeline, undone: bytes to bytes.
///
/// ```
/// use tet_codec::{Room, Shuffle, Stage};
///
/// let mut out = Vec::new();
/// Shuffle::new(2).undo(&[1, 2, 0, 0], Room::Exact(4), &mut out)?;
/// assert_eq!(out, [1, 0, 2, 0]);
/// # Ok::<(), tet_codec::Error>(())
/// ```
pub trait Stage: Send + Sync + Debug {
    /// The name in messages.
    fn name(&self) -> &'static str;

    /// The length of the encoded bytes for `len` decoded bytes, if it is known without the bytes.
    fn written_len(&self, len: u64) -> Option<u64>;

    /// The most bytes that `stored_len` bytes can decode to.
    fn decoded_max(&self, stored_len: u64) -> u64;

    /// Largest length of the encoded bytes beyond twice the decoded ones: a list of many short
    /// parts.
    fn growth(&self) -> u64 {
        0
    }

    /// The codec of numcodecs that decodes the same bytes, if there is one.
    fn numcodecs(&self) -> Option<NumcodecsCodec> {
        None
    }

    /// The checksum that the encoded bytes begin or end with.
    fn checksum(&self) -> Option<Checksummed> {
        None
    }

    /// Decodes `stored` into `out`, replacing its content.
    ///
    /// # Errors
    ///
    /// Returns an error when `stored` is no output of this filter, or does not fit `room`.
    fn undo(&self, stored: &[u8], room: Room, out: &mut Vec<u8>) -> Result<()>;

    /// Decodes `stored` into exactly `out`.
    ///
    /// # Errors
    ///
    /// As [`Stage::undo`].
    fn undo_into(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        let mut scratch = Scratch::new();
        let room = Room::Exact(out.len() as u64);
        self.undo(stored, room, &mut scratch)?;
        room.check(self.name(), scratch.len() as u64)?;
        out.copy_from_slice(&scratch);
        Ok(())
    }
}

/// Decodes chunks that went through several filters.
///
/// ```
/// use std::sync::Arc;
/// use tet_codec::{Decode, Deflate, ElementLayout, Pipeline, Shuffle, Stage};
///
/// // Filters in the order in which they were applied, as files name them.
/// let stages: [Arc<dyn Stage>; 2] = [Arc::new(Shuffle::new(2)), Arc::new(Deflate::zlib())];
/// let pipeline = Pipeline::new(stages, ElementLayout::new(2));
/// assert_eq!(pipeline.full_name(), "shuffle+deflate");
///
/// let mut stored = Vec::new();
/// tet_codec::encode::deflate(&[1, 2, 3, 0, 0, 0], 6, &mut stored)?;
/// let mut out = [9; 6];
/// pipeline.decode(&stored, &mut out)?;
/// assert_eq!(out, [1, 0, 2, 0, 3, 0]);
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pipeline {
    stages: Box<[Arc<dyn Stage>]>,
    layout: ElementLayout,
    name: Box<str>,
}

impl Pipeline {
    /// A decoder that undoes `stages` from the last to the first, then `layout`.
    #[must_use]
    pub fn new(
        stages: impl IntoIterator<Item = Arc<dyn Stage>>,
        layout: ElementLayout,
    ) -> Pipeline {
        let stages: Box<[_]> = stages.into_iter().collect();
        let names: Vec<&str> = stages.iter().map(|stage| stage.name()).collect();
        let name = match (&*names, layout.swapped()) {
            ([], Some(swapped)) => swapped.name().into(),
            ([], None) => Raw.name().into(),
            _ => names.join("+").into(),
        };
        Pipeline { stages, layout, name }
    }

    /// The filters, in the order in which they were applied.
    #[must_use]
    pub fn stages(&self) -> &[Arc<dyn Stage>] {
        &self.stages
    }

    /// How elements are laid out once all filters are undone.
    #[must_use]
    pub const fn layout(&self) -> &ElementLayout {
        &self.layout
    }

    /// Undoes all filters of bytes whose decoded length is not known; it is at most `len_max`.
    ///
    /// # Errors
    ///
    /// Returns an error when the stored bytes are damaged or decode to more.
    pub fn undo_all(&self, stored: &[u8], len_max: u64) -> Result<Vec<u8>> {
        // A room is made before it is known to be needed: it grows while it is too small.
        let mut most = (stored.len() as u64).saturating_mul(8).saturating_add(GROWTH).min(len_max);
        loop {
            match self.undo_within(stored, most) {
                Err(_) if most < len_max => most = most.saturating_mul(8).min(len_max),
                done => return done,
            }
        }
    }

    fn undo_within(&self, stored: &[u8], len_max: u64) -> Result<Vec<u8>> {
        let (mut from, mut to) = (stored.to_vec(), Vec::new());
        for stage in self.stages.iter().rev() {
            stage.undo(&from, Room::AtMost(len_max), &mut to)?;
            Room::AtMost(len_max).check(stage.name(), to.len() as u64)?;
            std::mem::swap(&mut from, &mut to);
        }
        Ok(from)
    }

    /// The length of what `stage` decodes to, for a chunk of `decoded_len` bytes.
    fn room(&self, stage: usize, decoded_len: u64) -> Room {
        let mut exact = decoded_len;
        let before = self.stages.get(..stage).unwrap_or_default();
        for stage in before {
            match stage.written_len(exact) {
                Some(len) => exact = len,
                None => {
                    let most = exact.max(decoded_len).saturating_mul(2);
                    let growth = before.iter().map(|stage| stage.growth());
                    return Room::AtMost(
                        growth.fold(most.saturating_add(GROWTH), u64::saturating_add),
                    );
                }
            }
        }
        Room::Exact(exact)
    }

    /// Undoes all stages but the first. The result is in the scratch, or `stored` where there was
    /// nothing to undo.
    fn undo_later(&self, stored: &[u8], decoded_len: u64, from: &mut Scratch) -> Result<()> {
        let mut to = Scratch::new();
        let mut is_first = true;
        for (at, stage) in self.stages.iter().enumerate().skip(1).rev() {
            let room = self.room(at, decoded_len);
            let bytes = if is_first { stored } else { &**from };
            stage.undo(bytes, room, &mut to)?;
            room.check(stage.name(), to.len() as u64)?;
            std::mem::swap(from, &mut to);
            is_first = false;
        }
        Ok(())
    }
}

impl Decode for Pipeline {
    fn name(&self) -> &'static str {
        NAME
    }

    fn full_name(&self) -> &str {
        &self.name
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        let decoded_len = out.len() as u64;
        self.check_len(stored.len() as u64, decoded_len)?;
        let Some((first, later)) = self.stages.split_first() else {
            return match self.layout.swapped().filter(|_| self.layout.keeps_places()) {
                Some(swapped) => swapped.decode(stored, out),
                None => self.layout.undo(stored, out),
            };
        };
        let mut scratch = Scratch::new();
        self.undo_later(stored, decoded_len, &mut scratch)?;
        let bytes = if later.is_empty() { stored } else { &**scratch };
        if self.layout.keeps_places() {
            first.undo_into(bytes, out)?;
            self.layout.swap_in_place(out);
            return Ok(());
        }
        let mut elements = Scratch::new();
        resize(NAME, &mut elements, out.len())?;
        first.undo_into(bytes, &mut elements)?;
        self.layout.undo(&elements, out)
    }

    fn stored_spans(&self, layout: ChunkLayout, elements: Range<u64>) -> StoredSpans {
        if !self.stages.is_empty() || !self.layout.keeps_places() {
            return StoredSpans::Whole;
        }
        byte_range(layout, &elements).map_or(StoredSpans::Whole, StoredSpans::Range)
    }

    fn decode_range(
        &self,
        layout: ChunkLayout,
        stored: &[u8],
        elements: Range<u64>,
        out: &mut [u8],
    ) -> Result<()> {
        if !self.stages.is_empty() || !self.layout.keeps_places() {
            return Err(Error::NoRange { codec: NAME });
        }
        match self.layout.swapped() {
            Some(swapped) => swapped.decode_range(layout, stored, elements, out),
            None => Raw.decode_range(layout, stored, elements, out),
        }
    }

    fn is_identity(&self) -> bool {
        let is_plain = self.layout.keeps_places() && self.layout.swapped().is_none();
        self.stages.is_empty() && is_plain
    }

    fn numcodecs(&self) -> Option<NumcodecsPipeline> {
        let codecs: Option<_> = self.stages.iter().map(|stage| stage.numcodecs()).collect();
        let is_big_endian = self.layout.swapped().is_some();
        Some(NumcodecsPipeline { codecs: codecs?, is_big_endian, is_column_major: false })
            .filter(|_| self.layout.keeps_places())
    }

    fn checksum(&self) -> Option<Checksummed> {
        self.stages.last().and_then(|stage| stage.checksum())
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> Result<()> {
        self.layout.check_len(decoded_len)?;
        let lengths = |codec| Error::Lengths { codec, stored_len, decoded_len };
        // The most that the stages from the last to each one can decode to.
        let mut most = stored_len;
        for (at, stage) in self.stages.iter().enumerate().rev() {
            most = stage.decoded_max(most);
            if let Room::Exact(wanted) = self.room(at, decoded_len)
                && most < wanted
            {
                return Err(lengths(stage.name()));
            }
        }
        match self.room(self.stages.len(), decoded_len) {
            Room::Exact(written) if written != stored_len => Err(lengths(NAME)),
            _ => index_fits(decoded_len).ok_or(Error::Memory { codec: NAME }),
        }
    }
}

/// Whether a buffer can have this length at all.
fn index_fits(len: u64) -> Option<()> {
    (index(len) != usize::MAX).then_some(())
}

#[cfg(test)]
mod tests;
