//! The two traits every codec implements, and what a planner may ask of it.

use std::fmt::Debug;
use std::ops::Range;

use crate::error::{Error, Result};

/// The lengths of one chunk, as its index row and grid state them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChunkLayout {
    /// Bytes of the payload in the file.
    pub stored_len: u64,
    /// Bytes after decoding.
    pub decoded_len: u64,
    /// Bytes of one element.
    pub element_size: u64,
}

/// Which stored bytes hold the elements that were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoredSpans {
    /// All of them: only [`Decode::decode`] can serve.
    Whole,
    /// This stretch, counted from the chunk's first stored byte; [`Decode::decode_range`] takes it.
    Range(Range<u64>),
}

/// Turns stored bytes into elements.
pub trait Decode: Send + Sync + Debug {
    /// The name in messages and in `tet info`.
    fn name(&self) -> &'static str;

    /// Decodes a whole chunk; `out` is exactly `decoded_len` bytes and is filled exactly.
    ///
    /// # Errors
    ///
    /// Returns an error when the stored bytes are not a chunk of exactly that length.
    fn decode(&self, stored: &[u8], out: &mut [u8]) -> Result<()>;

    /// Which stored bytes hold `elements`, counted in elements from the chunk's first.
    fn stored_spans(&self, layout: ChunkLayout, elements: Range<u64>) -> StoredSpans {
        let _ = (layout, elements);
        StoredSpans::Whole
    }

    /// Decodes `elements` out of exactly the bytes that [`Decode::stored_spans`] named.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NoRange`] when the codec only decodes whole chunks.
    fn decode_range(
        &self,
        layout: ChunkLayout,
        stored: &[u8],
        elements: Range<u64>,
        out: &mut [u8],
    ) -> Result<()> {
        let _ = (layout, stored, elements, out);
        Err(Error::NoRange { codec: self.name() })
    }

    /// Whether the stored bytes are the decoded bytes, so that they may be viewed in place.
    fn is_identity(&self) -> bool {
        false
    }

    /// Checks the two lengths against each other, before anything is allocated for the chunk.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Lengths`] when no payload of `stored_len` bytes decodes to `decoded_len`.
    fn check_len(&self, stored_len: u64, decoded_len: u64) -> Result<()>;
}

/// Turns elements into stored bytes.
pub trait Encode: Send + Sync + Debug {
    /// The name in messages.
    fn name(&self) -> &'static str;

    /// The tag that goes into the index row.
    fn codec(&self) -> tet_format::Codec;

    /// Encodes a whole chunk into `out`, replacing what it holds.
    ///
    /// # Errors
    ///
    /// Returns an error when memory runs out.
    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<()>;
}
