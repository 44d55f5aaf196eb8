//! Memory that one thread reuses from task to task.

use crate::array::zeroed_words;
use crate::error::{Error, Result};

/// Bytes on an eight-byte boundary, as long as the longest use so far.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    words: Vec<u64>,
}

impl Buffer {
    /// The first `len` bytes, with whatever was left in them.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NoMemory`] when memory cannot hold them.
    pub(crate) fn room(&mut self, len: usize) -> Result<&mut [u8]> {
        if self.words.len() * size_of::<u64>() < len {
            // The old words go first: what they hold is not wanted.
            self.words = Vec::new();
            self.words = zeroed_words(len).ok_or(Error::NoMemory { wanted: len as u64 })?;
        }
        Ok(&mut bytemuck::cast_slice_mut(&mut self.words)[..len])
    }

    /// All bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
    }
}

/// A length that has been bounded, as a length in memory.
///
/// # Errors
///
/// Returns [`Error::Limit`] when this machine's memory has no such lengths.
pub(crate) fn len(len: u64) -> Result<usize> {
    let too_long =
        |_| Error::Limit { what: "bytes in memory", wanted: len, limit: usize::MAX as u64 };
    usize::try_from(len).map_err(too_long)
}
