//! The frames of a zstd blob (section 5.3): found by block headers, without decoding.
//!
//! ```text
//!   | frame | frame | frame | ... | skippable frame: seek table |
//!     header: length of the content
//!     blocks: start of the next block
//! ```
//!
//! A seek table is checked against the frames and never trusted: only the blocks determine where a
//! frame starts, since the content of a frame may look like another frame.

mod seek;

use std::ops::Range;

use tet_codec::{ZstdBlock, ZstdStart};
use tet_format::Span;
use tet_io::Source;

use crate::error::Result;

pub use seek::SeekTable;
pub(crate) use seek::seems_there;

/// The most frames that are listed; a blob with more is decoded as a whole.
const FRAME_COUNT_MAX: usize = 1 << 20;
/// The number of blocks that are walked per KiB of a blob; most blocks have 128 KiB.
const BLOCKS_PER_KIB: u64 = 1;
const BLOCK_COUNT_MIN: u64 = 1 << 16;
/// Bytes that are read at a time to find headers.
const PEEK_LEN: u64 = 4 << 10;

/// A frame that can be decoded independently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its span in the file.
    pub stored: Span,
    /// The range of decoded bytes that it holds.
    pub decoded: Range<u64>,
}

/// The frames of a blob, in order: together they decode to all bytes of the tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frames {
    list: Vec<Frame>,
    seek_table: SeekTable,
    skipped_len: u64,
}

impl Frames {
    /// The frames, in order.
    #[must_use]
    pub fn list(&self) -> &[Frame] {
        &self.list
    }

    /// Their decoded length in bytes.
    #[must_use]
    pub fn decoded_len(&self) -> u64 {
        self.list.last().map_or(0, |frame| frame.decoded.end)
    }

    /// Whether the seek table matches the frames.
    #[must_use]
    pub const fn seek_table(&self) -> SeekTable {
        self.seek_table
    }

    /// Stored bytes in skippable frames.
    #[must_use]
    pub const fn skipped_len(&self) -> u64 {
        self.skipped_len
    }

    /// The frames that hold these decoded bytes.
    #[must_use]
    pub fn covering(&self, decoded: Range<u64>) -> &[Frame] {
        if decoded.is_empty() {
            return &[];
        }
        let start = self.list.partition_point(|frame| frame.decoded.end <= decoded.start);
        let end = self.list.partition_point(|frame| frame.decoded.start < decoded.end);
        self.list.get(start..end).unwrap_or_default()
    }
}

/// Lists the frames of a blob that should decode to `decoded_len` bytes, or to any number.
///
/// Returns `None` if headers do not state the length of each frame, or if something is wrong with
/// the blob: decoding it as a whole reports the error.
pub(crate) fn frames(
    source: &Source,
    blob: Span,
    decoded_len: Option<u64>,
) -> Result<Option<Frames>> {
    let mut walk = Walk::new(source, blob);
    let Some(found) = walk.all()? else { return Ok(None) };
    let Some(list) = place(&found, decoded_len) else { return Ok(None) };
    let seek_table = match walk.last_skippable {
        Some(content) => seek::read(source, blob, content, &list)?,
        None => SeekTable::Absent,
    };
    Ok(Some(Frames { list, seek_table, skipped_len: walk.skipped_len }))
}

/// A frame, and the length of its content if the header states it.
type ScannedFrame = (Span, Option<u64>);

/// Sums up the contents. A frame without a stated length gets what the others leave.
fn place(found: &[ScannedFrame], decoded_len: Option<u64>) -> Option<Vec<Frame>> {
    let known = found.iter().try_fold(0_u64, |sum, (_, len)| sum.checked_add(len.unwrap_or(0)))?;
    let unknown_count = found.iter().filter(|(_, len)| len.is_none()).count();
    let left = match (decoded_len, unknown_count) {
        (Some(len), 0) if len != known => return None,
        (_, 0) => 0,
        (Some(len), 1) => len.checked_sub(known)?,
        _ => return None,
    };
    let mut list = Vec::with_capacity(found.len());
    let mut start = 0_u64;
    for (stored, len) in found {
        let end = start.checked_add(len.unwrap_or(left))?;
        list.push(Frame { stored: *stored, decoded: start..end });
        start = end;
    }
    Some(list)
}

/// Walks the headers of a blob.
struct Walk<'a> {
    source: &'a Source,
    blob: Span,
    at: u64,
    blocks_left: u64,
    peek: Vec<u8>,
    peek_at: u64,
    skipped_len: u64,
    /// The content of the skippable frame at the end of the blob.
    last_skippable: Option<Span>,
}

impl<'a> Walk<'a> {
    fn new(source: &'a Source, blob: Span) -> Self {
        let blocks_left = (blob.len() / 1024).saturating_mul(BLOCKS_PER_KIB) + BLOCK_COUNT_MIN;
        let (peek, peek_at, at) = (Vec::new(), 0, blob.start());
        let (skipped_len, last_skippable) = (0, None);
        Walk { source, blob, at, blocks_left, peek, peek_at, skipped_len, last_skippable }
    }

    /// All frames, if they end at the end of the blob.
    fn all(&mut self) -> Result<Option<Vec<ScannedFrame>>> {
        let mut found = Vec::new();
        while self.at < self.blob.end() {
            let (start, end) = (self.at, self.blob.end());
            let at = start - self.blob.start();
            let head = self.peek(ZstdStart::LEN_MAX.min(end - start))?;
            let Ok(head) = ZstdStart::read(head, at) else { return Ok(None) };
            self.last_skippable = None;
            match head {
                ZstdStart::Skippable { header_len, content_len } => {
                    let content = Span::new(start.saturating_add(header_len), content_len);
                    let Some(content) = content.filter(|it| it.end() <= end) else {
                        return Ok(None);
                    };
                    self.skipped_len += content.end() - start;
                    (self.at, self.last_skippable) = (content.end(), Some(content));
                }
                ZstdStart::Frame { header_len, content_len, checksum_len } => {
                    self.at = start.saturating_add(header_len);
                    if FRAME_COUNT_MAX <= found.len() || !self.blocks()? {
                        return Ok(None);
                    }
                    self.at = self.at.saturating_add(checksum_len);
                    let frame = Span::from_range(start..self.at);
                    let Some(frame) = frame.filter(|it| it.end() <= end) else { return Ok(None) };
                    found.push((frame, content_len));
                }
            }
        }
        Ok(Some(found))
    }

    /// Skips the blocks of a frame, if they are complete and not too many.
    fn blocks(&mut self) -> Result<bool> {
        loop {
            let after = self.at.saturating_add(ZstdBlock::HEADER_LEN);
            if self.blob.end() < after || self.blocks_left == 0 {
                return Ok(false);
            }
            self.blocks_left -= 1;
            let header = self.peek(ZstdBlock::HEADER_LEN)?.first_chunk().copied();
            let Some(block) = header.and_then(ZstdBlock::read) else { return Ok(false) };
            self.at = after.saturating_add(block.stored_len);
            if block.is_last {
                return Ok(true);
            }
        }
    }

    /// The next `len` bytes, which must be in the blob.
    fn peek(&mut self, len: u64) -> Result<&[u8]> {
        let held_end = self.peek_at.saturating_add(self.peek.len() as u64);
        if self.at < self.peek_at || held_end < self.at.saturating_add(len) {
            let left = self.blob.end().saturating_sub(self.at);
            self.peek = self.source.read_vec(self.at, PEEK_LEN.min(left))?;
            self.peek_at = self.at;
        }
        let start = usize::try_from(self.at - self.peek_at).unwrap_or(usize::MAX);
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        Ok(self.peek.get(start..).and_then(|held| held.get(..len)).unwrap_or_default())
    }
}
