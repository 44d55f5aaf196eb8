//! Part of an object as a chunk: its stored bytes are the payload bytes that hold the elements.
//!
//! ```text
//!   payload:   | piece | piece | piece | piece |      pieces are decoded independently
//!   parts:     |    0..n       |    n..2n      |      each with its part of the payload
//! ```

use std::ops::Range;

use tet_codec::{ChunkLayout, Decode, StoredSpans};

use super::{NAME, Region, codec_error};
use crate::error::Result;

/// Where an object can be split into parts that are decoded independently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Nowhere: the whole payload is always needed.
    Nowhere,
    /// Anywhere: the position of each element is computed.
    Anywhere,
    /// Between pieces of this number of elements. A part that ends elsewhere decodes whole pieces.
    Every(u64),
}

/// Some elements of an object, in their order.
#[derive(Clone, Debug)]
pub struct ObjectSlice<'a> {
    region: &'a Region,
    elements: Range<u64>,
    /// Their bytes in the payload.
    stored: Range<u64>,
}

impl<'a> ObjectSlice<'a> {
    /// These elements; `None` if the whole payload is needed.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`](crate::Error::Usage) when there are no such elements.
    pub fn new(region: &'a Region, elements: Range<u64>) -> Result<Option<ObjectSlice<'a>>> {
        let stored = region.payload_range(&elements)?;
        Ok(stored.map(|stored| ObjectSlice { region, elements, stored }))
    }

    /// The bytes of the payload that hold them.
    #[must_use]
    pub fn stored(&self) -> Range<u64> {
        self.stored.clone()
    }

    /// The length of the decoded elements in bytes.
    #[must_use]
    pub fn decoded_len(&self) -> u64 {
        self.region.pipeline.len_of(&self.elements)
    }

    /// Some of them, numbered from the first element of the object.
    fn within(&self, elements: &Range<u64>) -> Range<u64> {
        let place = |at: u64| self.elements.start.saturating_add(at).min(self.elements.end);
        place(elements.start)..place(elements.end)
    }
}

/// A part as a chunk. Decodes whole pieces, since small reads tend to be followed by more.
impl Decode for ObjectSlice<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        self.region.decode_range(stored, &self.elements, out).map_err(codec_error)
    }

    fn stored_spans(&self, layout: ChunkLayout, elements: Range<u64>) -> StoredSpans {
        let _ = layout;
        if self.region.cut() != Cut::Anywhere {
            return StoredSpans::Whole;
        }
        match self.region.payload_range(&self.within(&elements)) {
            Ok(Some(range)) => {
                let place = |at: u64| at.saturating_sub(self.stored.start);
                StoredSpans::Range(place(range.start)..place(range.end))
            }
            _ => StoredSpans::Whole,
        }
    }

    fn decode_range(
        &self,
        layout: ChunkLayout,
        stored: &[u8],
        elements: Range<u64>,
        out: &mut [u8],
    ) -> tet_codec::Result<()> {
        if let StoredSpans::Whole = self.stored_spans(layout, elements.clone()) {
            return Err(tet_codec::Error::NoRange { codec: NAME });
        }
        self.region.decode_range(stored, &self.within(&elements), out).map_err(codec_error)
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> tet_codec::Result<()> {
        let wanted = (self.stored.end.saturating_sub(self.stored.start), self.decoded_len());
        if (stored_len, decoded_len) == wanted {
            return Ok(());
        }
        Err(tet_codec::Error::Lengths { codec: NAME, stored_len, decoded_len })
    }
}
