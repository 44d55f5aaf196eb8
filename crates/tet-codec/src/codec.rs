//! The two traits that every codec implements.

use std::fmt::Debug;
use std::ops::Range;

use crate::checksum::Checksummed;
use crate::error::{Error, Result};
use crate::numcodecs_pipeline::NumcodecsPipeline;

/// The lengths of one chunk, as its index row and grid state them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChunkLayout {
    /// The stored length in bytes.
    pub stored_len: u64,
    /// The decoded length in bytes.
    pub decoded_len: u64,
    /// The length of one element in bytes.
    pub element_size: u64,
}

/// The stored bytes that hold the requested elements.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoredSpans {
    /// All of them: only [`Decode::decode`] works.
    Whole,
    /// This range, relative to the chunk's first stored byte, for [`Decode::decode_range`].
    Range(Range<u64>),
}

/// Decodes stored bytes to elements.
pub trait Decode: Send + Sync + Debug {
    /// The name in messages.
    fn name(&self) -> &'static str;

    /// The name in `tet info`: a pipeline has the names of its filters.
    fn full_name(&self) -> &str {
        self.name()
    }

    /// Decodes a whole chunk; `out` is exactly `decoded_len` bytes and is filled exactly.
    ///
    /// # Errors
    ///
    /// Returns an error when the stored bytes are not a chunk of exactly that length.
    fn decode(&self, stored: &[u8], out: &mut [u8]) -> Result<()>;

    /// The stored bytes that hold `elements`, counted in elements from the chunk's first.
    fn stored_spans(&self, layout: ChunkLayout, elements: Range<u64>) -> StoredSpans {
        let _ = (layout, elements);
        StoredSpans::Whole
    }

    /// Decodes `elements` from exactly the bytes that [`Decode::stored_spans`] returned.
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

    /// Whether the stored bytes are the decoded bytes, so that they can be viewed in place.
    fn is_identity(&self) -> bool {
        false
    }

    /// How other programs decode the same bytes; `None` where they have no such codec, or elements are computed.
    fn numcodecs(&self) -> Option<NumcodecsPipeline> {
        self.is_identity().then(NumcodecsPipeline::default)
    }

    /// The checksum that the stored bytes begin or end with; `None` where they have none, or other
    /// bytes were made of them behind it.
    fn checksum(&self) -> Option<Checksummed> {
        None
    }

    /// Checks the two lengths against each other, before memory is allocated for the chunk.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Lengths`] when no payload of `stored_len` bytes decodes to `decoded_len`.
    fn check_len(&self, stored_len: u64, decoded_len: u64) -> Result<()>;
}

/// Encodes elements to stored bytes.
pub trait Encode: Send + Sync + Debug {
    /// The name in messages.
    fn name(&self) -> &'static str;

    /// The tag for the index row.
    fn codec(&self) -> tet_format::Codec;

    /// Encodes a whole chunk into `out`, replacing its content.
    ///
    /// # Errors
    ///
    /// Returns an error when memory runs out.
    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<()>;
}
