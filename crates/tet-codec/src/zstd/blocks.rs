//! Checks the blocks of a frame during streaming, for a case in which decoders differ: the
//! streaming decoder accepts an empty compressed block, the one-shot decoder does not.

use super::{NAME, little_endian};
use crate::error::{Error, Result};

/// The header of a block.
const HEADER_LEN: usize = 3;
/// The block types whose length is not that of their bytes (RFC 8878, section 3.1.1.2.2).
const RLE: u64 = 1;
const COMPRESSED: u64 = 2;

/// The position in the blocks of a frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    /// Bytes until the next header.
    skip: u64,
    header: Vec<u8>,
    /// No header follows.
    is_last: bool,
}

impl Blocks {
    /// The blocks of a frame whose header has this length.
    pub(super) fn after(header_len: u64) -> Self {
        Blocks { skip: header_len, ..Blocks::default() }
    }

    /// Checks the next bytes of the frame.
    pub(super) fn pass(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let skipped = self.skip.min(bytes.len() as u64);
            self.skip -= skipped;
            bytes = bytes.get(usize::try_from(skipped).unwrap_or(0)..).unwrap_or_default();
            if self.skip != 0 || self.is_last {
                return Ok(());
            }
            let count = (HEADER_LEN - self.header.len()).min(bytes.len());
            let (header, rest) = bytes.split_at(count);
            self.header.extend_from_slice(header);
            bytes = rest;
            if self.header.len() == HEADER_LEN {
                self.enter()?;
            }
        }
        Ok(())
    }

    fn enter(&mut self) -> Result<()> {
        let header = little_endian(&self.header);
        self.header.clear();
        let (kind, len) = (header >> 1 & 3, header >> 3);
        if kind == COMPRESSED && len == 0 {
            let reason = "a compressed block has no bytes";
            return Err(Error::Corrupt { codec: NAME, reason });
        }
        self.skip = if kind == RLE { 1 } else { len };
        self.is_last = header & 1 == 1;
        Ok(())
    }
}
