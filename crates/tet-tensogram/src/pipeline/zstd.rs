//! zstd: consecutive frames. Payloads that this crate writes can be decoded in part.
//!
//! ```text
//!   | frame | frame | ... | skippable frame: stored and decoded length of each, their count |
//!   descriptor: zstd_frame_len, zstd_frame_offsets: the start of each, and the end of the last one
//! ```
//!
//! Wrong offsets cannot give wrong data. The frames between them are contiguous and decode to known
//! lengths, so a partial read gives the same bytes as a full read, or an error.

use std::ops::Range;

use rayon::prelude::*;
use tet_codec::{Decode, Encode, Zstd, ZstdEncoder, shuffle};

use super::{buffer, index};
use crate::Value;
use crate::descriptor::Descriptor;
use crate::encode::Readers;
use crate::error::{Error, Fault, Result};
use crate::rule;

/// The start of each frame, and the end of the last one.
pub(crate) const OFFSETS_KEY: &str = "zstd_frame_offsets";
/// The decoded length of each frame but the last.
pub(crate) const LEN_KEY: &str = "zstd_frame_len";

/// The decoded length of a written frame.
const FRAME_LEN: u64 = 256 << 10;
/// Objects with more frames than this get longer frames, so that the descriptor stays small.
const FRAME_COUNT: u64 = 1 << 12;
/// The most bytes that are compressed at once, unless one frame is longer; and the longest single
/// frame, for readers that decode only the first one.
const BATCH_LEN: u64 = 64 << 20;
/// The magic of the skippable frame that holds the seek table, and the one at its end.
const TABLE_MAGIC: u32 = 0x184D_2A5E;
const SEEKABLE_MAGIC: u32 = 0x8F92_EAB1;

/// Frames that can be decoded independently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frames {
    offsets: Vec<u64>,
    frame_len: u64,
    decoded_len: u64,
}

impl Frames {
    /// The frames that a descriptor states, if its payload can contain them.
    pub(super) fn from_descriptor(
        descriptor: &Descriptor,
        offsets: Vec<u64>,
        payload_len: u64,
        decoded_len: u64,
    ) -> Option<Frames> {
        let frame_len = descriptor.value(LEN_KEY).and_then(Value::as_u64)?;
        let count = decoded_len.checked_div(frame_len)?;
        let count = count + u64::from(!decoded_len.is_multiple_of(frame_len));
        let is_sound = offsets.len() as u64 == count.checked_add(1)?
            && offsets.first() == Some(&0)
            && offsets.is_sorted_by(|one, next| one < next)
            && offsets.last().is_some_and(|end| *end <= payload_len);
        is_sound.then_some(Frames { offsets, frame_len, decoded_len })
    }

    /// The number of frames.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no frames.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The decoded length of each frame but the last.
    pub(super) const fn frame_len(&self) -> u64 {
        self.frame_len
    }

    /// The bytes of a frame in the payload, and the decoded bytes.
    #[must_use]
    pub fn frame(&self, number: usize) -> Option<(Range<u64>, Range<u64>)> {
        let (start, end) = (self.offsets.get(number)?, self.offsets.get(number.checked_add(1)?)?);
        let first = self.frame_len.checked_mul(number as u64)?;
        let last = first.saturating_add(self.frame_len).min(self.decoded_len);
        Some((*start..*end, first..last))
    }

    /// The end of the last frame in the payload.
    pub(super) fn end(&self) -> u64 {
        self.offsets.last().copied().unwrap_or_default()
    }

    /// The frame that holds a decoded byte: its bytes in the payload, and the decoded bytes.
    pub(super) fn holding(&self, at: u64) -> Option<(Range<u64>, Range<u64>)> {
        self.frame(index(at.checked_div(self.frame_len)?))
    }

    /// The frames that hold these decoded bytes.
    fn covering(&self, decoded: &Range<u64>) -> Range<usize> {
        if decoded.is_empty() {
            return 0..0;
        }
        let start = index(decoded.start / self.frame_len);
        start..index(decoded.end.div_ceil(self.frame_len)).min(self.len())
    }

    /// The bytes of the payload that hold these decoded bytes.
    pub(super) fn stored(&self, decoded: &Range<u64>) -> Range<u64> {
        let frames = self.covering(decoded);
        let at = |number: usize| self.offsets.get(number).copied().unwrap_or_default();
        at(frames.start)..at(frames.end)
    }

    /// Decodes these bytes from the bytes that [`Frames::stored`] returned.
    pub(super) fn read(
        &self,
        stored: &[u8],
        decoded: &Range<u64>,
        out: &mut [u8],
        payload_at: u64,
    ) -> Result<()> {
        let first_at = self.stored(decoded).start;
        let (mut rest, mut scratch) = (out, Vec::new());
        for number in self.covering(decoded) {
            let Some((place, held)) = self.frame(number) else { break };
            let at = payload_at.saturating_add(place.start);
            let frame = index(place.start - first_at)..index(place.end - first_at);
            let frame = stored.get(frame).unwrap_or_default();
            let (start, end) = (held.start.max(decoded.start), held.end.min(decoded.end));
            let len = index(end - start).min(rest.len());
            let (mine, after) = rest.split_at_mut(len);
            rest = after;
            if (start..end) == held {
                decode(frame, mine, at)?;
                continue;
            }
            let part = index(start - held.start)..index(end - held.start);
            if scratch.len() as u64 != held.end - held.start {
                scratch = buffer(held.end - held.start)?;
            }
            decode(frame, &mut scratch, at)?;
            mine.copy_from_slice(scratch.get(part).unwrap_or_default());
        }
        Ok(())
    }
}

/// Decodes frames into exactly `out`.
pub(crate) fn decode(stored: &[u8], out: &mut [u8], at: u64) -> Result<()> {
    let wanted = out.len() as u64;
    let fault = |rule, found| Err(Fault { rule, at, found, wanted }.into());
    match Zstd.decode(stored, out) {
        Ok(()) => Ok(()),
        Err(tet_codec::Error::TooShort { found, .. }) => fault(&rule::ZSTD_LEN, found),
        Err(tet_codec::Error::TooLong { .. } | tet_codec::Error::Lengths { .. }) => {
            fault(&rule::ZSTD_LEN, wanted.saturating_add(1))
        }
        Err(tet_codec::Error::Memory { .. }) => Err(Error::Memory { len: wanted }),
        Err(_) => fault(&rule::ZSTD_FRAMES, stored.len() as u64),
    }
}

/// The bytes to compress: unchanged, or elements of this number of bytes to be shuffled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) shuffle: Option<usize>,
}

impl Input<'_> {
    fn piece<'s>(&'s self, place: Range<usize>, room: &'s mut Vec<u8>) -> &'s [u8] {
        let Some(size) = self.shuffle else { return self.bytes.get(place).unwrap_or_default() };
        room.resize(place.len(), 0);
        shuffle::part(self.bytes, size, place.start, room);
        room
    }
}

/// The compression settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) level: i32,
    pub(crate) threads: usize,
    pub(crate) readers: Readers,
}

/// A payload of frames, with their offsets in the descriptor if there are several.
pub(crate) fn encode(
    input: Input<'_>,
    how: How,
    descriptor: Descriptor,
    out: &mut Vec<u8>,
) -> Result<Descriptor> {
    let len = input.bytes.len();
    let mut writer = FrameWriter::new(how, len as u64)?;
    let mut put = |frames: &[u8]| {
        out.extend_from_slice(frames);
        Ok::<(), Error>(())
    };
    let batch_len = writer.batch_len();
    for start in (0..len).step_by(batch_len) {
        writer.push(input, start..len.min(start + batch_len), &mut put)?;
    }
    writer.finish(descriptor, &mut put)
}

/// Encodes bytes that arrive piece by piece, `len` in all.
pub(crate) fn encode_pieces<E: From<Error>>(
    how: How,
    descriptor: Descriptor,
    len: u64,
    pieces: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E>,
    put: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<Descriptor, E> {
    let mut writer = FrameWriter::new(how, len)?;
    super::whole_units(writer.batch_len(), pieces, &mut |bytes| {
        bytes.chunks(writer.batch_len()).try_for_each(|bytes| {
            let input = Input { bytes, shuffle: None };
            writer.push(input, 0..bytes.len(), put)
        })
    })?;
    writer.finish(descriptor, put)
}

/// Compresses bytes into frames.
struct FrameWriter {
    encoder: ZstdEncoder,
    frame_len: usize,
    /// One for each frame that is compressed at the same time.
    slots: Vec<Slot>,
    offsets: Vec<u64>,
    table: Vec<u8>,
}

impl FrameWriter {
    fn new(how: How, len: u64) -> Result<Self> {
        let How { level, threads, readers } = how;
        let encoder = ZstdEncoder::new(level);
        let encoder = encoder.map_err(|_| Error::Unwritable { why: "zstd has no such level" })?;
        let frame_len = match readers {
            Readers::All if len <= BATCH_LEN => len.max(FRAME_LEN),
            _ => (len / FRAME_COUNT).next_multiple_of(FRAME_LEN).max(FRAME_LEN),
        };
        tet_report::ensure_threads();
        let threads = if threads == 0 { rayon::current_num_threads() } else { threads };
        let mut slots = Vec::new();
        slots.resize_with(threads.min(index(BATCH_LEN / frame_len)).max(1), Slot::default);
        let (frame_len, offsets) = (index(frame_len), vec![0]);
        Ok(FrameWriter { encoder, frame_len, slots, offsets, table: Vec::new() })
    }

    fn batch_len(&self) -> usize {
        self.frame_len.saturating_mul(self.slots.len())
    }

    /// Compresses a batch; only the last batch may end with a shorter frame.
    fn push<E: From<Error>>(
        &mut self,
        input: Input<'_>,
        batch: Range<usize>,
        put: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let count = batch.len().div_ceil(self.frame_len).max(1);
        let slots = self.slots.get_mut(..count).unwrap_or_default();
        let fill = |(at, slot): (usize, &mut Slot)| {
            let start = batch.start.saturating_add(at.saturating_mul(self.frame_len));
            let place = start..batch.end.min(start.saturating_add(self.frame_len));
            slot.fill(input, place, self.encoder)
        };
        if let [slot] = slots {
            fill((0, slot))?;
        } else {
            tet_report::ensure_threads();
            slots.par_iter_mut().enumerate().try_for_each(fill)?;
        }
        for Slot { frame, decoded_len, .. } in slots {
            for len in [frame.len(), *decoded_len] {
                let why = "zstd frames are shorter than 4 GiB";
                let len = u32::try_from(len).map_err(|_| Error::Unwritable { why })?;
                self.table.extend(len.to_le_bytes());
            }
            let end = self.offsets.last().copied().unwrap_or_default();
            self.offsets.push(end.saturating_add(frame.len() as u64));
            put(frame)?;
        }
        Ok(())
    }

    /// Writes the frame offsets to the descriptor.
    fn finish<E: From<Error>>(
        mut self,
        descriptor: Descriptor,
        put: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<Descriptor, E> {
        if self.offsets.len() == 1 {
            // An empty payload is one empty frame.
            self.push(Input { bytes: &[], shuffle: None }, 0..0, put)?;
        }
        if self.offsets.len() == 2 {
            return Ok(descriptor);
        }
        let mut table = Vec::new();
        seek_table(&self.table, &mut table);
        put(&table)?;
        let offsets = self.offsets.into_iter().map(|offset| Value::Int(offset.into())).collect();
        Ok(descriptor
            .with(OFFSETS_KEY, Value::Array(offsets))
            .with(LEN_KEY, Value::Int(self.frame_len as i128)))
    }
}

/// A compressed frame, in buffers that are reused: allocating fresh ones takes longer than
/// shuffling.
#[derive(Debug, Default)]
struct Slot {
    room: Vec<u8>,
    frame: Vec<u8>,
    decoded_len: usize,
}

impl Slot {
    fn fill(&mut self, input: Input<'_>, place: Range<usize>, encoder: ZstdEncoder) -> Result<()> {
        let piece = input.piece(place, &mut self.room);
        self.decoded_len = piece.len();
        let memory = |_| Error::Memory { len: piece.len() as u64 };
        encoder.encode(piece, &mut self.frame).map_err(memory)
    }
}

/// One frame, at the usual level.
pub(crate) fn encode_frame(bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    const LEVEL: i32 = 3;
    let memory = |_| Error::Memory { len: bytes.len() as u64 };
    let mut frame = Vec::new();
    ZstdEncoder::new(LEVEL).and_then(|it| it.encode(bytes, &mut frame)).map_err(memory)?;
    out.extend_from_slice(&frame);
    Ok(())
}

/// The table of the zstd seekable format, in a skippable frame.
fn seek_table(table: &[u8], out: &mut Vec<u8>) {
    const FOOTER_LEN: usize = 9;
    let sizes = [table.len() + FOOTER_LEN, table.len() / 8];
    // A table that does not fit is left out: the descriptor has the offsets.
    let [Ok(len), Ok(count)] = sizes.map(u32::try_from) else { return };
    out.extend(TABLE_MAGIC.to_le_bytes());
    out.extend(len.to_le_bytes());
    out.extend_from_slice(table);
    out.extend(count.to_le_bytes());
    // The table has no checksums: each frame has its own.
    out.push(0);
    out.extend(SEEKABLE_MAGIC.to_le_bytes());
}
