//! The region of an object: its payload, then the blobs of its masks; and how to decode both.
//!
//! ```text
//!   | payload | nan | inf+ | inf- |        the payload ends where the first blob starts
//! ```
//!
//! A plan bounds everything in the descriptor by the length of the region, so that reads can be
//! planned without reading the region.

mod part;

use std::ops::Range;
use std::sync::OnceLock;

use tet_codec::{ChunkLayout, Decode, StoredSpans};
use tet_format::DType;

use crate::descriptor::Descriptor;
use crate::error::{Error, Fault, Result};
use crate::limits::Limits;
use crate::mask::{self, Masks};
use crate::pipeline::zstd::Frames;
use crate::pipeline::{Pipeline, expect_len, index};
pub use part::{Cut, ObjectSlice};

const NAME: &str = "tensogram";

/// How to decode the region of an object.
#[derive(Clone, Debug)]
pub struct Region {
    pipeline: Pipeline,
    blobs: mask::Blobs,
    held: OnceLock<Masks>,
    /// The file offset of the region, and its length.
    at: u64,
    len: u64,
}

impl Region {
    /// Plans how a region of `len` bytes, at `at` in the file, is decoded.
    ///
    /// # Errors
    ///
    /// Returns the first rule that the descriptor breaks, by itself or with such a region, and
    /// [`Error::NotBuilt`] for a codec that this build does not have.
    pub fn new(descriptor: &Descriptor, at: u64, len: u64, limits: &Limits) -> Result<Region> {
        descriptor.check()?;
        let blobs = mask::Blobs::from_descriptor(descriptor, at, len)?;
        let pipeline = Pipeline::new(descriptor, at, blobs.payload_len(), limits)?;
        Ok(Region { pipeline, blobs, held: OnceLock::new(), at, len })
    }

    /// Faults of how the object is stored that do not prevent reading.
    #[must_use]
    pub fn notes(&self) -> &[Fault] {
        self.pipeline.notes()
    }

    /// The dtype of the elements.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.pipeline.dtype()
    }

    /// The number of elements.
    #[must_use]
    pub const fn element_count(&self) -> u64 {
        self.pipeline.element_count()
    }

    /// The length of the decoded elements in bytes, exactly.
    #[must_use]
    pub const fn decoded_len(&self) -> u64 {
        self.pipeline.decoded_len()
    }

    /// The position of the payload in the region.
    #[must_use]
    pub const fn payload(&self) -> Range<u64> {
        0..self.pipeline.payload_len()
    }

    /// The position of the mask blobs in the region; empty if there are none.
    #[must_use]
    pub const fn masks(&self) -> Range<u64> {
        self.pipeline.payload_len()..self.len
    }

    /// How to decode the payload.
    pub(crate) const fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// Whether elements are restored from masks.
    #[must_use]
    pub fn has_masks(&self) -> bool {
        self.blobs.count() != 0
    }

    /// The frames of a zstd payload that can be decoded independently, if it has offsets.
    #[must_use]
    pub fn frames(&self) -> Option<&Frames> {
        self.pipeline.frames()
    }

    /// Decodes the masks from the bytes at [`Region::masks`].
    ///
    /// # Errors
    ///
    /// Returns TGM-K7 when a blob does not have one bit per element, and [`Error::Memory`] when the
    /// bits cannot be allocated.
    pub fn read_masks(&self, blobs: &[u8]) -> Result<Masks> {
        let wanted = self.len.saturating_sub(self.pipeline.payload_len());
        expect_len("bytes of masks", blobs.len(), wanted)?;
        self.blobs.read(blobs, self.element_count(), self.at)
    }

    /// Sets decoded masks: elements are restored from these from now on, and decoding needs only
    /// the payload.
    #[must_use]
    pub fn with_masks(self, masks: Masks) -> Region {
        Region { held: OnceLock::from(masks), ..self }
    }

    /// Stores the decoded masks for all users of this region, unless they are already stored.
    pub fn hold_masks(&self, masks: Masks) {
        self.held.get_or_init(|| masks);
    }

    /// Whether the payload alone is enough to decode: there are no masks, or they are decoded.
    #[must_use]
    pub fn is_at_hand(&self) -> bool {
        self.held.get().is_some() || !self.has_masks()
    }

    /// Where it can be split into parts that are decoded independently.
    #[must_use]
    pub fn cut(&self) -> Cut {
        self.pipeline.cut()
    }

    /// Decodes all elements out of the whole region into exactly `out`, little-endian.
    ///
    /// # Errors
    ///
    /// Returns the rule that the bytes break, and [`Error::Usage`] when a length is not the planned
    /// one.
    pub fn decode(&self, region: &[u8], out: &mut [u8]) -> Result<()> {
        expect_len("bytes of region", region.len(), self.len)?;
        let at = index(self.pipeline.payload_len());
        let (payload, blobs) = region.split_at_checked(at).unwrap_or((region, &[]));
        self.pipeline.decode(payload, out)?;
        match self.held.get() {
            Some(masks) => masks.restore(self.dtype(), 0, out),
            None if self.has_masks() => self.read_masks(blobs)?.restore(self.dtype(), 0, out),
            None => {}
        }
        Ok(())
    }

    /// Decodes all elements as stored, with zeros under the masks.
    ///
    /// # Errors
    ///
    /// As [`Region::decode`], of a payload.
    pub fn decode_payload(&self, payload: &[u8], out: &mut [u8]) -> Result<()> {
        self.pipeline.decode(payload, out)
    }

    /// Checks the offsets for partial reads against the payload: TGM-N27 if they are wrong. Other
    /// programs are known to write wrong ones.
    ///
    /// # Errors
    ///
    /// As [`Region::decode`], of a payload.
    pub fn check_offsets(&self, payload: &[u8]) -> Result<Option<Fault>> {
        self.pipeline.offsets_differ(payload)
    }

    /// The bytes of the payload that hold elements, counted in row-major order; `None` if all of
    /// them are needed.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] when there are no such elements.
    pub fn payload_range(&self, elements: &Range<u64>) -> Result<Option<Range<u64>>> {
        self.pipeline.payload_range(elements)
    }

    /// Decodes elements from exactly the bytes that [`Region::payload_range`] returned, or from the
    /// whole payload if it returned `None`, and restores masked elements.
    ///
    /// # Errors
    ///
    /// As [`Region::decode`]; [`Error::Usage`] too when the object has masks that are not decoded:
    /// see [`Region::with_masks`].
    pub fn decode_range(&self, stored: &[u8], elements: &Range<u64>, out: &mut [u8]) -> Result<()> {
        if !self.is_at_hand() {
            let what = "decoded masks, to restore elements in part";
            return Err(Error::Usage { what, found: 0, wanted: self.blobs.count() });
        }
        self.pipeline.decode_range(stored, elements, out)?;
        if let Some(masks) = self.held.get() {
            masks.restore(self.dtype(), elements.start, out);
        }
        Ok(())
    }
}

/// A region as a chunk: the stored bytes are the whole region.
impl Decode for Region {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        Region::decode(self, stored, out).map_err(codec_error)
    }

    fn stored_spans(&self, layout: ChunkLayout, elements: Range<u64>) -> StoredSpans {
        let _ = layout;
        match self.pipeline.payload_range(&elements) {
            Ok(Some(range)) if self.is_at_hand() => StoredSpans::Range(range),
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
        Region::decode_range(self, stored, &elements, out).map_err(codec_error)
    }

    fn is_identity(&self) -> bool {
        self.pipeline.is_identity() && !self.has_masks()
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> tet_codec::Result<()> {
        if (stored_len, decoded_len) == (self.len, self.decoded_len()) {
            return Ok(());
        }
        Err(tet_codec::Error::Lengths { codec: NAME, stored_len, decoded_len })
    }
}

/// Converts an error to a codec error, which has no rules of this format.
fn codec_error(error: Error) -> tet_codec::Error {
    match error {
        Error::Format(fault) => tet_codec::Error::Corrupt { codec: NAME, reason: fault.rule.text },
        Error::Memory { .. } => tet_codec::Error::Memory { codec: NAME },
        Error::Usage { found, wanted, .. } => {
            tet_codec::Error::Buffer { codec: NAME, found, wanted }
        }
        _ => tet_codec::Error::NoRange { codec: NAME },
    }
}
