//! blosc2: one contiguous frame of chunks, each of blocks that were filtered and compressed.
//!
//! ```text
//!   | header: header_len, frame_len, flags, decoded_len, stored_len, typesize, blocks, chunk_len |
//!   | chunk | chunk | ... | a chunk of offsets, one for each chunk | trailer |
//! ```
//!
//! Numbers of the header are big-endian, those of chunks little-endian. A negative offset means a
//! chunk of one repeated value that is not stored. Chunks that overlap are refused: their lengths
//! must not exceed the stored length, so the work is bounded by payload and elements.

pub(crate) mod chunk;
mod grid;
pub(crate) mod lz;
pub(crate) mod order;

use chunk::{Chunk, fill};
use grid::Grid;

use crate::error::{Error, Result};
use crate::filter::Compressor;
use crate::scratch::{Scratch, index, resize};

const NAME: &str = "blosc2";

const MAGIC: &[u8] = b"b2frame\0";
const MAGIC_AT: usize = 2;
const HEADER_LEN_AT: usize = 11;
const FRAME_LEN_AT: usize = 16;
const FLAGS_AT: usize = 25;
const KIND_AT: usize = 26;
const DECODED_LEN_AT: usize = 30;
const STORED_LEN_AT: usize = 39;
const TYPESIZE_AT: usize = 48;
const CHUNK_LEN_AT: usize = 58;
const HEADER_LEN_MIN: u64 = 87;

/// Flags: the version in 4 bits, the width of offsets in 2, and whether chunk lengths vary.
const VERSION_MAX: u8 = 2;
const OFFSET_BITS: u8 = 0x30;
const OFFSETS_OF_64: u8 = 0x10;
const ANY_LEN: u8 = 0x40;

/// The longest table of offsets, as for other tables.
const TABLE_LEN_MAX: u64 = 1 << 20;
const OFFSET_LEN: u64 = 8;

/// The most times that blocks are longer than the array they hold.
const PADDING_MAX: usize = 16;

/// The most bytes that one byte of a block can decode to, except for zstd and repeated values.
const RATIO: u64 = 255;

/// Whether only data of very low entropy can have these lengths.
#[must_use]
pub const fn inflates(payload_len: u64, decoded_len: u64) -> bool {
    payload_len.saturating_mul(RATIO) < decoded_len
}

struct Header {
    header_len: u64,
    stored_len: u64,
    chunk_len: u64,
    typesize: u64,
}

/// The part of a frame that is invalid.
///
/// ```
/// use tet_codec::blosc2::{FrameFault, decode};
///
/// assert_eq!(decode(b"no frame", &mut [0; 8]), Err((0, FrameFault::Frame)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameFault {
    /// The frame.
    Frame,
    /// A chunk.
    Chunk,
    /// A chunk uses a feature that is not supported.
    NotBuilt,
    /// Memory for a block could not be allocated.
    Memory,
}

/// Decodes a frame into exactly `out`.
///
/// # Errors
///
/// Returns what is invalid, and its offset in the payload.
pub fn decode(payload: &[u8], out: &mut [u8]) -> Result<(), (u64, FrameFault)> {
    frame(payload, out)
}

/// Undoes blosc2: HDF5 filter 32026.
///
/// ```
/// use tet_codec::{Blosc2, Stage};
///
/// assert!(Blosc2.undo_into(b"no frame", &mut [0; 8]).is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Blosc2;

impl Compressor for Blosc2 {
    fn codec(&self) -> &'static str {
        NAME
    }

    fn max(&self, stored_len: u64) -> u64 {
        let _ = stored_len;
        u64::MAX
    }

    fn read(&self, stored: &[u8], out: &mut [u8]) -> Result<usize> {
        read(stored, out).map_err(|broken| match broken {
            FrameFault::Memory => Error::Memory { codec: NAME },
            FrameFault::NotBuilt => {
                Error::Corrupt { codec: NAME, reason: "a feature is not supported" }
            }
            FrameFault::Frame => Error::Corrupt { codec: NAME, reason: "the frame is invalid" },
            FrameFault::Chunk => Error::Corrupt { codec: NAME, reason: "a chunk is invalid" },
        })
    }
}

/// Decodes a frame of any number of axes into the start of `out`. Returns the decoded length.
fn read(stored: &[u8], out: &mut [u8]) -> Result<usize, FrameFault> {
    let len = index(stated_len(stored).ok_or(FrameFault::Frame)?);
    let head = stored.get(HEADER_LEN_AT..).and_then(|rest| rest.first_chunk());
    let head_len = index(u32::from_le_bytes(*head.ok_or(FrameFault::Frame)?).swap_bytes().into());
    let Some(grid) = Grid::read(stored.get(..head_len).ok_or(FrameFault::Frame)?)? else {
        frame(stored, out.get_mut(..len).ok_or(FrameFault::Frame)?)
            .map_err(|(_, broken)| broken)?;
        return Ok(len);
    };
    let header = header(stored, len as u64)?;
    let size = index(header.typesize);
    let (count, padded) = grid.counts().ok_or(FrameFault::Frame)?;
    let (found, wanted) = (padded.checked_mul(size), count.checked_mul(size));
    let wanted = wanted.filter(|_| found == Some(len) && size != 0).ok_or(FrameFault::NotBuilt)?;
    let room = out.len();
    let out = out.get_mut(..wanted).ok_or(FrameFault::Frame)?;
    // Blocks are smaller than the array, so that padding at most doubles an axis.
    if room.saturating_mul(PADDING_MAX).saturating_add(PADDING_MAX) < len {
        return Err(FrameFault::NotBuilt);
    }
    let mut blocks = Scratch::new();
    resize(NAME, &mut blocks, len).map_err(|_| FrameFault::Memory)?;
    frame(stored, &mut blocks).map_err(|(_, broken)| broken)?;
    grid.undo(&blocks, size, out).ok_or(FrameFault::Frame)?;
    Ok(wanted)
}

/// The decoded length in the header of a frame.
fn stated_len(payload: &[u8]) -> Option<u64> {
    let bytes = payload.get(DECODED_LEN_AT..)?.first_chunk()?;
    Some(u64::from_le_bytes(*bytes).swap_bytes())
}

fn frame(payload: &[u8], out: &mut [u8]) -> Result<(), (u64, FrameFault)> {
    let header = header(payload, out.len() as u64).map_err(|broken| (0, broken))?;
    if out.is_empty() {
        return Ok(());
    }
    let chunks = index(header.header_len)..index(header.header_len + header.stored_len);
    let table_at = header.header_len + header.stored_len;
    let (chunks, table) = (payload.get(chunks), payload.get(index(table_at)..));
    let (chunks, stored) = chunks.zip(table).ok_or((0, FrameFault::Frame))?;
    let mut scratch = Vec::new();
    let offsets = offsets(stored, &header, out.len() as u64, &mut scratch);
    let offsets = offsets.map_err(|broken| (table_at, broken))?;
    let mut left = chunks.len();
    let pieces = out.chunks_mut(index(header.chunk_len));
    for (piece, offset) in pieces.zip(offsets.as_chunks::<8>().0) {
        let offset = u64::from_le_bytes(*offset);
        if offset >> 63 == 1 {
            let kind = offset.to_le_bytes()[7] & 0x7F;
            let done =
                if offset << 8 == 0 { fill(kind, header.typesize, &[], piece) } else { None };
            done.ok_or((table_at, FrameFault::Frame))?;
            continue;
        }
        let place = header.header_len.saturating_add(offset);
        let mut decode = || {
            let chunk = Chunk::read(chunks.get(index(offset)..).ok_or(FrameFault::Frame)?)?;
            left = left.checked_sub(chunk.len()).ok_or(FrameFault::Frame)?;
            chunk.decode(piece, &mut scratch)
        };
        decode().map_err(|broken| (place, broken))?;
    }
    Ok(())
}

/// Reads the header of a frame that decodes to `decoded_len` bytes.
fn header(payload: &[u8], decoded_len: u64) -> Result<Header, FrameFault> {
    let magic = payload.get(MAGIC_AT..MAGIC_AT + MAGIC.len()).ok_or(FrameFault::Frame)?;
    let long = |at: usize| -> Result<u64, FrameFault> {
        let bytes = payload.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map(|bytes| u64::from_le_bytes(*bytes).swap_bytes()).ok_or(FrameFault::Frame)
    };
    let short = |at: usize| -> Result<u64, FrameFault> {
        let bytes = payload.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map(|bytes| u32::from_le_bytes(*bytes).swap_bytes().into()).ok_or(FrameFault::Frame)
    };
    let byte = |at: usize| payload.get(at).copied().ok_or(FrameFault::Frame);
    let (flags, kind) = (byte(FLAGS_AT)?, byte(KIND_AT)?);
    let is_known = flags & 0xF <= VERSION_MAX
        && flags & OFFSET_BITS == OFFSETS_OF_64
        && flags & ANY_LEN == 0
        && kind == 0;
    if magic != MAGIC {
        return Err(FrameFault::Frame);
    } else if !is_known {
        return Err(FrameFault::NotBuilt);
    }
    let header = Header {
        header_len: short(HEADER_LEN_AT)?,
        stored_len: long(STORED_LEN_AT)?,
        chunk_len: short(CHUNK_LEN_AT)?,
        typesize: short(TYPESIZE_AT)?,
    };
    let payload_len = payload.len() as u64;
    let end = header.header_len.checked_add(header.stored_len);
    let is_sound = long(FRAME_LEN_AT)? == payload_len
        && long(DECODED_LEN_AT)? == decoded_len
        && HEADER_LEN_MIN <= header.header_len
        && end.is_some_and(|end| end <= payload_len)
        && (decoded_len == 0 || header.chunk_len != 0);
    if is_sound { Ok(header) } else { Err(FrameFault::Frame) }
}

/// The offset of each chunk, from the end of the header.
fn offsets(
    stored: &[u8],
    header: &Header,
    decoded_len: u64,
    scratch: &mut Vec<u8>,
) -> Result<Vec<u8>, FrameFault> {
    let len = decoded_len.div_ceil(header.chunk_len).saturating_mul(OFFSET_LEN);
    if TABLE_LEN_MAX < len {
        return Err(FrameFault::Frame);
    }
    let mut offsets = Vec::new();
    resize(NAME, &mut offsets, index(len)).map_err(|_| FrameFault::Memory)?;
    Chunk::read(stored)?.decode(&mut offsets, scratch)?;
    Ok(offsets)
}

#[cfg(test)]
mod tests;
