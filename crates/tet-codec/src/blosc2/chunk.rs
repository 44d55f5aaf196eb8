//! A chunk: a header, and blocks of equal length except the last one.
//!
//! ```text
//!   | version | - | flags | typesize | decoded_len | block_len | len | 6 filters | ... | flags |
//!   | where each block starts | block | block | ...
//!   block: | length | bytes | for each byte of an element where blocks are split, else once
//! ```

use super::{FrameFault, NAME, lz, order};
use crate::pipeline::Stage;
use crate::scratch::{index, resize};

const HEADER_LEN: usize = 32;
/// Version 2 is from the first blosc; all versions from 3 on have this layout.
const VERSIONS: std::ops::RangeInclusive<u8> = 3..=5;

/// Bits of the first flags: both of these together stand for the longer header.
const EXTENDED: u8 = 0x05;
const COPIED: u8 = 0x02;
const WHOLE: u8 = 0x10;
const CODEC_SHIFT: u32 = 5;
/// Bits of the last flags.
const SPECIAL_SHIFT: u32 = 4;
const SPECIAL_MASK: u8 = 0x07;

const FILTER_COUNT: usize = 6;
const SHUFFLE: u8 = 1;
const BITSHUFFLE: u8 = 2;
/// Truncates precision before storing: there is nothing to undo.
const TRUNCATE: u8 = 4;

/// The compressor of the blocks of a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Codec {
    BloscLz,
    Lz4,
    Zlib,
    Zstd,
}

/// A chunk as it is stored.
#[derive(Debug)]
pub(crate) struct Chunk<'a> {
    /// All its bytes, with the header.
    bytes: &'a [u8],
    flags: u8,
    typesize: u8,
    decoded_len: usize,
    block_len: usize,
    special: u8,
    filter: Option<order::Order>,
}

impl<'a> Chunk<'a> {
    /// Reads the header of the chunk at the start of `bytes`.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, FrameFault> {
        let head: &[u8; HEADER_LEN] = bytes.first_chunk().ok_or(FrameFault::Chunk)?;
        let [version, _, flags, typesize, rest @ ..] = *head;
        let numbers: Option<[[u8; 4]; 3]> = rest.as_chunks().0.first_chunk().copied();
        let [decoded_len, block_len, len] = numbers
            .ok_or(FrameFault::Chunk)?
            .map(|number| index(u32::from_le_bytes(number).into()));
        let [.., more, last] = *head;
        let is_known = VERSIONS.contains(&version)
            && flags & EXTENDED == EXTENDED
            && more == 0
            // Refuses dictionaries, big-endian numbers, and data outside the chunk.
            && last & !(SPECIAL_MASK << SPECIAL_SHIFT) == 0;
        if !is_known {
            return Err(FrameFault::NotBuilt);
        }
        let bytes = bytes.get(..len).filter(|_| HEADER_LEN <= len).ok_or(FrameFault::Chunk)?;
        let filter = filter(head, typesize)?;
        let special = last >> SPECIAL_SHIFT & SPECIAL_MASK;
        Ok(Chunk { bytes, flags, typesize, decoded_len, block_len, special, filter })
    }

    pub(crate) const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Decodes it into exactly `out`; `scratch` is reused for the next chunk.
    pub(crate) fn decode(&self, out: &mut [u8], scratch: &mut Vec<u8>) -> Result<(), FrameFault> {
        if self.decoded_len != out.len() {
            return Err(FrameFault::Chunk);
        }
        let body = self.bytes.get(HEADER_LEN..).ok_or(FrameFault::Chunk)?;
        if self.special != 0 {
            return fill(self.special, self.typesize.into(), body, out).ok_or(FrameFault::Chunk);
        }
        if self.flags & COPIED != 0 {
            if body.len() != out.len() {
                return Err(FrameFault::Chunk);
            }
            out.copy_from_slice(body);
            return Ok(());
        }
        if self.block_len == 0 {
            return if out.is_empty() { Ok(()) } else { Err(FrameFault::Chunk) };
        }
        let codec = match self.flags >> CODEC_SHIFT {
            0 => Codec::BloscLz,
            1 => Codec::Lz4,
            3 => Codec::Zlib,
            4 => Codec::Zstd,
            _ => return Err(FrameFault::NotBuilt),
        };
        let count = out.len().div_ceil(self.block_len);
        let starts =
            count.checked_mul(4).and_then(|len| body.get(..len)).ok_or(FrameFault::Chunk)?;
        // Blocks that overlap are refused, so that the work is bounded.
        let mut left = body.len();
        for (start, out) in starts.as_chunks().0.iter().zip(out.chunks_mut(self.block_len)) {
            let start = index(u32::from_le_bytes(*start).into());
            let stored = self.bytes.get(start..).filter(|_| HEADER_LEN <= start);
            let used = self.block(stored.ok_or(FrameFault::Chunk)?, codec, out, scratch)?;
            left = left.checked_sub(used).ok_or(FrameFault::Chunk)?;
        }
        Ok(())
    }

    fn block(
        &self,
        stored: &[u8],
        codec: Codec,
        out: &mut [u8],
        scratch: &mut Vec<u8>,
    ) -> Result<usize, FrameFault> {
        let is_split = self.flags & WHOLE == 0 && out.len() == self.block_len;
        let count = if is_split { usize::from(self.typesize) } else { 1 };
        let Some(order) = self.filter else { return streams(stored, codec, count, out) };
        if scratch.len() < out.len() {
            resize(NAME, scratch, out.len()).map_err(|_| FrameFault::Memory)?;
        }
        let filtered = scratch.get_mut(..out.len()).ok_or(FrameFault::Chunk)?;
        let used = streams(stored, codec, count, filtered)?;
        order.undo(filtered, out);
        Ok(used)
    }
}

/// The filter to undo; at most one filter may reorder bytes.
fn filter(head: &[u8; HEADER_LEN], typesize: u8) -> Result<Option<order::Order>, FrameFault> {
    const FILTERS_AT: usize = 16;
    const META_AT: usize = 24;
    let [codes, metas] = [FILTERS_AT, META_AT].map(|at| head.get(at..at + FILTER_COUNT));
    let (codes, metas) = codes.zip(metas).ok_or(FrameFault::Chunk)?;
    let mut found = None;
    for (code, meta) in codes.iter().zip(metas) {
        let order = match (*code, *meta) {
            (0 | TRUNCATE, _) => continue,
            (SHUFFLE, 0) => order::Order::Bytes(typesize),
            (BITSHUFFLE, 0) => order::Order::Bits(typesize),
            _ => return Err(FrameFault::NotBuilt),
        };
        if typesize == 0 || found.replace(order).is_some() {
            return Err(FrameFault::NotBuilt);
        }
    }
    Ok(found)
}

/// Decodes the streams of a block, which all have the same length. Returns how many bytes they have.
pub(crate) fn streams(
    stored: &[u8],
    codec: Codec,
    count: usize,
    out: &mut [u8],
) -> Result<usize, FrameFault> {
    let len = out.len().checked_div(count).filter(|len| *len != 0 && len * count == out.len());
    let mut rest = stored;
    for out in out.chunks_mut(len.ok_or(FrameFault::Chunk)?) {
        let (stated, after) = rest.split_first_chunk().ok_or(FrameFault::Chunk)?;
        let stated = i32::from_le_bytes(*stated);
        let stored_len = match stated {
            0 => {
                out.fill(0);
                0
            }
            // A single repeated byte, marked by a token.
            -255..=-1 if after.first().is_some_and(|token| token & 1 == 1) => {
                out.fill(stated.unsigned_abs().to_le_bytes()[0]);
                1
            }
            _ => {
                let len = usize::try_from(stated).map_err(|_| FrameFault::Chunk)?;
                stream(after.get(..len).ok_or(FrameFault::Chunk)?, codec, out)?;
                len
            }
        };
        rest = after.get(stored_len..).ok_or(FrameFault::Chunk)?;
    }
    Ok(stored.len() - rest.len())
}

/// Decodes one stream into exactly `out`.
fn stream(stored: &[u8], codec: Codec, out: &mut [u8]) -> Result<(), FrameFault> {
    if stored.len() == out.len() {
        out.copy_from_slice(stored);
        return Ok(());
    }
    let wanted = out.len();
    let is_whole = match codec {
        Codec::BloscLz => lz::decode(stored, out).is_some(),
        Codec::Lz4 => lz4_flex::block::decompress_into(stored, out).is_ok_and(|len| len == wanted),
        Codec::Zlib => return within(crate::Deflate::zlib().undo_into(stored, out)),
        #[cfg(feature = "zstd")]
        Codec::Zstd => return within(crate::ZstdStage.undo_into(stored, out)),
        #[cfg(not(feature = "zstd"))]
        Codec::Zstd => return Err(FrameFault::NotBuilt),
    };
    if is_whole { Ok(()) } else { Err(FrameFault::Chunk) }
}

fn within(done: crate::Result<()>) -> Result<(), FrameFault> {
    done.map_err(|fault| match fault {
        crate::Error::Memory { .. } => FrameFault::Memory,
        _ => FrameFault::Chunk,
    })
}

/// A chunk of one repeated value: zeros, NaN, a stored value, or undefined content.
pub(crate) fn fill(kind: u8, typesize: u64, stored: &[u8], out: &mut [u8]) -> Option<()> {
    const NAN_32: [u8; 4] = 0x7FC0_0000_u32.to_le_bytes();
    const NAN_64: [u8; 8] = (0x7FF8_u64 << 48).to_le_bytes();
    let value = match (kind, typesize) {
        (1 | 4, _) => {
            out.fill(0);
            return Some(());
        }
        (2, 4) => &NAN_32[..],
        (2, 8) => &NAN_64,
        (3, _) => stored.get(..index(typesize))?,
        _ => return None,
    };
    if value.is_empty() || !out.len().is_multiple_of(value.len()) {
        return None;
    }
    out.chunks_exact_mut(value.len()).for_each(|place| place.copy_from_slice(value));
    Some(())
}
