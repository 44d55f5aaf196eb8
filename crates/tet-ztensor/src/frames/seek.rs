//! The seek table of the zstd seekable format: a skippable frame at the end of a blob.
//!
//! ```text
//!   | stored_len, decoded_len [, checksum] | ... | frame_count | descriptor | magic |
//!     4           4             4                  4             1            4
//! ```

use tet_format::Span;
use tet_io::Source;

use super::Frame;
use crate::error::Result;

const MAGIC: u32 = 0x8F92_EAB1;
const FOOTER_LEN: u64 = 9;
/// The flag of the descriptor for entries with checksums.
const HAS_CHECKSUMS: u8 = 0x80;

/// The result of comparing the seek table of a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SeekTable {
    /// There is none.
    Absent,
    /// It matches the frames.
    Agrees,
    /// It does not match the frames.
    Differs,
}

/// Whether the end of a blob looks like a seek table.
pub(crate) fn seems_there(source: &Source, blob: Span) -> Result<bool> {
    let Some(footer_at) = blob.end().checked_sub(FOOTER_LEN).filter(|&at| blob.start() <= at)
    else {
        return Ok(false);
    };
    Ok(is_footer(&source.read_vec(footer_at, FOOTER_LEN)?))
}

fn is_footer(footer: &[u8]) -> bool {
    footer.last_chunk().copied().map(u32::from_le_bytes) == Some(MAGIC)
}

/// Compares the table in `content`, if there is one, with the frames before it.
pub(super) fn read(
    source: &Source,
    blob: Span,
    content: Span,
    frames: &[Frame],
) -> Result<SeekTable> {
    let Some(footer_at) = content.end().checked_sub(FOOTER_LEN) else {
        return Ok(SeekTable::Absent);
    };
    if footer_at < content.start() {
        return Ok(SeekTable::Absent);
    }
    let footer = source.read_vec(footer_at, FOOTER_LEN)?;
    if !is_footer(&footer) {
        return Ok(SeekTable::Absent);
    }
    let count = footer.first_chunk().copied().map_or(0, u32::from_le_bytes);
    let has_checksums = footer.get(4).is_some_and(|descriptor| descriptor & HAS_CHECKSUMS != 0);
    let entry_len = if has_checksums { 12 } else { 8 };
    let len = u64::from(count) * entry_len + FOOTER_LEN;
    if len != content.len() || u64::from(count) != frames.len() as u64 {
        return Ok(SeekTable::Differs);
    }
    let entries = source.read_vec(content.start(), len - FOOTER_LEN)?;
    let entries = entries.chunks_exact(usize::try_from(entry_len).unwrap_or(usize::MAX));
    let mut at = blob.start();
    for (entry, frame) in entries.zip(frames) {
        let number = |start: usize| {
            let bytes = entry.get(start..).and_then(<[u8]>::first_chunk);
            bytes.map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)))
        };
        let decoded_len = frame.decoded.end - frame.decoded.start;
        if (at, number(0), number(4)) != (frame.stored.start(), frame.stored.len(), decoded_len) {
            return Ok(SeekTable::Differs);
        }
        at = frame.stored.end();
    }
    Ok(SeekTable::Agrees)
}
