//! Parses the starts of frames and blocks, to walk a payload without decoding it.

use super::{FRAME_MAGIC, FrameHeader, NAME, SKIPPABLE_MAGIC, SKIPPABLE_MASK, little_endian};
use crate::error::{Error, Result};

/// The header of a frame (RFC 8878, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZstdStart {
    /// A frame, whose blocks follow.
    Frame {
        /// Bytes before the first block.
        header_len: u64,
        /// The content size, if the header states it.
        content_len: Option<u64>,
        /// Bytes after the last block.
        checksum_len: u64,
    },
    /// A frame that decodes to nothing.
    Skippable {
        /// Bytes before its content.
        header_len: u64,
        /// Bytes of its content.
        content_len: u64,
    },
}

impl ZstdStart {
    /// The most bytes that are needed to parse it.
    pub const LEN_MAX: u64 = 18;

    /// Reads the first bytes of a frame: [`ZstdStart::LEN_MAX`], or those to the payload's end.
    /// `at` is their offset in the payload.
    ///
    /// # Errors
    ///
    /// Returns an error when no frame starts there, or its header is truncated.
    pub fn read(bytes: &[u8], at: u64) -> Result<Self> {
        let cut_short = Error::Corrupt { codec: NAME, reason: "the frame header is cut short" };
        match bytes.first_chunk().copied().map(u32::from_le_bytes) {
            Some(FRAME_MAGIC) => {
                let header = FrameHeader::read(bytes).ok_or(cut_short)?;
                let checksum_len = if header.has_checksum { 4 } else { 0 };
                let FrameHeader { len: header_len, content_len, .. } = header;
                Ok(ZstdStart::Frame { header_len, content_len, checksum_len })
            }
            Some(magic) if magic & SKIPPABLE_MASK == SKIPPABLE_MAGIC => {
                let content_len = little_endian(bytes.get(4..8).ok_or(cut_short)?);
                Ok(ZstdStart::Skippable { header_len: 8, content_len })
            }
            _ => Err(Error::NotAFrame { codec: NAME, at }),
        }
    }
}

/// The header of a block (RFC 8878, section 3.1.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZstdBlock {
    /// Bytes of the block after its header.
    pub stored_len: u64,
    /// Whether it is the last one of its frame.
    pub is_last: bool,
}

impl ZstdBlock {
    /// The length of a block header.
    pub const HEADER_LEN: u64 = 3;

    /// Reads the header of a block; `None` if its type is invalid.
    #[must_use]
    pub fn read(header: [u8; 3]) -> Option<Self> {
        let header = little_endian(&header);
        let stored_len = match header >> 1 & 3 {
            0 | 2 => header >> 3,
            1 => 1,
            _ => return None,
        };
        Some(ZstdBlock { stored_len, is_last: header & 1 == 1 })
    }
}
