//! Elements of an object as a chunk: what is stored is the stretch of the payload that holds them.
//!
//! ```text
//!   payload:   | piece | piece | piece | piece |      pieces are decoded by themselves
//!   parts:     |    0..n       |    n..2n      |      each with its stretch, whichever it is
//! ```

use std::ops::Range;
use std::sync::Arc;

use tet_codec::{ChunkLayout, Decode, StoredSpans};

use super::{NAME, Region, told};
use crate::error::Result;

/// Where an object can be cut, so that its parts are decoded by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Nowhere: only the whole payload will do.
    Nowhere,
    /// Anywhere: where each element lies is computed.
    Anywhere,
    /// Between pieces of so many elements; a part that ends elsewhere decodes the whole piece.
    Every(u64),
}

/// Some elements of an object, in their order.
#[derive(Clone, Debug)]
pub struct Part {
    region: Arc<Region>,
    elements: Range<u64>,
    /// Their stretch of the payload.
    stored: Range<u64>,
}

impl Part {
    /// These elements; `None` where only the whole payload will do.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`](crate::Error::Usage) when there are no such elements.
    pub fn new(region: &Arc<Region>, elements: Range<u64>) -> Result<Option<Part>> {
        let stored = region.payload_range(&elements)?;
        Ok(stored.map(|stored| Part { region: Arc::clone(region), elements, stored }))
    }

    /// Which bytes of the payload hold them.
    #[must_use]
    pub fn stored(&self) -> Range<u64> {
        self.stored.clone()
    }

    /// How many bytes they come to.
    #[must_use]
    pub fn decoded_len(&self) -> u64 {
        self.region.pipeline.len_of(&self.elements)
    }

    /// Some of them, counted from the first of the object.
    fn within(&self, elements: &Range<u64>) -> Range<u64> {
        let place = |at: u64| self.elements.start.saturating_add(at).min(self.elements.end);
        place(elements.start)..place(elements.end)
    }
}

/// A part as a chunk. Pieces are decoded as a whole, since whoever asks for little asks again.
impl Decode for Part {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        self.region.decode_range(stored, &self.elements, out).map_err(told)
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
        self.region.decode_range(stored, &self.within(&elements), out).map_err(told)
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> tet_codec::Result<()> {
        let wanted = (self.stored.end.saturating_sub(self.stored.start), self.decoded_len());
        if (stored_len, decoded_len) == wanted {
            return Ok(());
        }
        Err(tet_codec::Error::Lengths { codec: NAME, stored_len, decoded_len })
    }
}
