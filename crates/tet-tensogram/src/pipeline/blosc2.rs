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

mod chunk;
mod lz;
mod order;

use chunk::{Broken, Chunk, fill};

use super::{buffer, index};
use crate::error::{Error, Fault, Result};
use crate::rule;

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

/// The most bytes that one byte of a block can decode to, except for zstd and repeated values.
const RATIO: u64 = 255;

/// Whether only data of very low entropy can have these lengths.
pub(super) const fn inflates(payload_len: u64, decoded_len: u64) -> bool {
    payload_len.saturating_mul(RATIO) < decoded_len
}

struct Header {
    header_len: u64,
    stored_len: u64,
    chunk_len: u64,
    typesize: u64,
}

/// Decodes a payload into exactly `out`.
pub(crate) fn decode(payload: &[u8], out: &mut [u8], at: u64) -> Result<()> {
    let wanted = out.len() as u64;
    frame(payload, out).map_err(|(place, broken)| {
        let rule = match broken {
            Broken::Frame => &rule::BLOSC2_FRAME,
            Broken::Chunk => &rule::BLOSC2_CHUNK,
            Broken::NotBuilt => &rule::BLOSC2_BUILT,
            Broken::Memory => return Error::Memory { len: wanted },
        };
        let found = payload.len() as u64;
        Fault { rule, at: at.saturating_add(place), found, wanted }.into()
    })
}

/// The same; returns the error and its offset in the payload.
fn frame(payload: &[u8], out: &mut [u8]) -> Result<(), (u64, Broken)> {
    let header = header(payload, out.len() as u64).map_err(|broken| (0, broken))?;
    if out.is_empty() {
        return Ok(());
    }
    let chunks = index(header.header_len)..index(header.header_len + header.stored_len);
    let table_at = header.header_len + header.stored_len;
    let (chunks, table) = (payload.get(chunks), payload.get(index(table_at)..));
    let (chunks, stored) = chunks.zip(table).ok_or((0, Broken::Frame))?;
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
            done.ok_or((table_at, Broken::Frame))?;
            continue;
        }
        let place = header.header_len.saturating_add(offset);
        let mut decode = || {
            let chunk = Chunk::read(chunks.get(index(offset)..).ok_or(Broken::Frame)?)?;
            left = left.checked_sub(chunk.len()).ok_or(Broken::Frame)?;
            chunk.decode(piece, &mut scratch)
        };
        decode().map_err(|broken| (place, broken))?;
    }
    Ok(())
}

/// Reads the header of a frame that decodes to `decoded_len` bytes.
fn header(payload: &[u8], decoded_len: u64) -> Result<Header, Broken> {
    let magic = payload.get(MAGIC_AT..MAGIC_AT + MAGIC.len()).ok_or(Broken::Frame)?;
    let long = |at: usize| -> Result<u64, Broken> {
        let bytes = payload.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map(|bytes| u64::from_le_bytes(*bytes).swap_bytes()).ok_or(Broken::Frame)
    };
    let short = |at: usize| -> Result<u64, Broken> {
        let bytes = payload.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map(|bytes| u32::from_le_bytes(*bytes).swap_bytes().into()).ok_or(Broken::Frame)
    };
    let byte = |at: usize| payload.get(at).copied().ok_or(Broken::Frame);
    let (flags, kind) = (byte(FLAGS_AT)?, byte(KIND_AT)?);
    let is_known = flags & 0xF <= VERSION_MAX
        && flags & OFFSET_BITS == OFFSETS_OF_64
        && flags & ANY_LEN == 0
        && kind == 0;
    if magic != MAGIC {
        return Err(Broken::Frame);
    } else if !is_known {
        return Err(Broken::NotBuilt);
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
    if is_sound { Ok(header) } else { Err(Broken::Frame) }
}

/// The offset of each chunk, from the end of the header.
fn offsets(
    stored: &[u8],
    header: &Header,
    decoded_len: u64,
    scratch: &mut Vec<u8>,
) -> Result<Vec<u8>, Broken> {
    let len = decoded_len.div_ceil(header.chunk_len).saturating_mul(OFFSET_LEN);
    if TABLE_LEN_MAX < len {
        return Err(Broken::Frame);
    }
    let mut offsets = buffer(len).map_err(|_| Broken::Memory)?;
    Chunk::read(stored)?.decode(&mut offsets, scratch)?;
    Ok(offsets)
}

#[cfg(test)]
mod tests;
