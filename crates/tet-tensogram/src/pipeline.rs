//! The pipeline of an object (section 5): decodes a payload into elements, whole or in part.
//!
//! ```text
//!   payload -- compression --> bytes -- filter --> bytes -- encoding --> elements -- byte order -->
//! ```
//!
//! Elements are little-endian and in row-major order. Their length in bytes is known from the
//! descriptor before anything is decoded, and no codec decodes beyond it.

pub(crate) mod bits;
pub(crate) mod blosc2;
mod compression;
mod lz4;
mod memory;
pub(crate) mod packing;
mod plan;
mod planes;
mod range;
mod sz3;
pub(crate) mod szip;
mod visit;
mod zfp;
pub(crate) mod zstd;

use tet_codec::{Decode, Swapped, shuffle};
use tet_format::DType;

use crate::error::{Error, Fault, Result};
use crate::rule;
pub(crate) use compression::COMPRESSIONS;
use compression::Compression;
pub(crate) use lz4::{decode as lz4_decode, encode as lz4_encode};
pub(crate) use memory::{buffer, expect_len, index, sized, whole_units};
use packing::Packing;
pub(crate) use plan::packing_spoils;
pub use szip::SzipParameters;

/// How to decode a payload into elements.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline {
    dtype: DType,
    element_count: u64,
    decoded_len: u64,
    /// The length in bytes between encoding and filter.
    encoded_len: u64,
    swap: Option<Swapped>,
    packing: Option<Packing>,
    shuffle: Option<u64>,
    compression: Compression,
    /// The file offset of the payload, and its length.
    at: u64,
    payload_len: u64,
    notes: Vec<Fault>,
}

impl Pipeline {
    pub(crate) const fn dtype(&self) -> DType {
        self.dtype
    }

    pub(crate) const fn element_count(&self) -> u64 {
        self.element_count
    }

    pub(crate) const fn decoded_len(&self) -> u64 {
        self.decoded_len
    }

    pub(crate) const fn payload_len(&self) -> u64 {
        self.payload_len
    }

    pub(crate) fn notes(&self) -> &[Fault] {
        &self.notes
    }

    /// Whether the payload is the elements unchanged.
    pub(crate) fn is_identity(&self) -> bool {
        let has_stages = self.swap.is_some() || self.packing.is_some() || self.shuffle.is_some();
        !has_stages && matches!(self.compression, Compression::None)
    }

    /// The frames of the payload that can be decoded independently.
    pub(crate) const fn frames(&self) -> Option<&zstd::Frames> {
        match &self.compression {
            Compression::Zstd(frames) => frames.as_ref(),
            _ => None,
        }
    }

    /// Decodes all elements; both lengths must be the planned ones.
    pub(crate) fn decode(&self, payload: &[u8], out: &mut [u8]) -> Result<()> {
        expect_len("bytes of payload", payload.len(), self.payload_len)?;
        expect_len("bytes for the elements", out.len(), self.decoded_len)?;
        if self.packing.is_none() && self.shuffle.is_none() {
            return self.plain(payload, out);
        }
        if let (None, Some(size), Some(frames)) = (&self.packing, self.shuffle, self.frames())
            && planes::is_apt(frames, size, self.decoded_len)
        {
            planes::read(frames, payload, size, out, self.at)?;
            self.order(out);
            return Ok(());
        }
        let mut scratch = Vec::new();
        let mut bytes = payload;
        if !matches!(self.compression, Compression::None) {
            scratch = buffer(self.encoded_len)?;
            self.compression.decode(payload, &mut scratch, self.at)?;
            bytes = &scratch;
        }
        match (&self.packing, self.shuffle) {
            (Some(packing), Some(size)) => {
                let mut ordered = buffer(self.encoded_len)?;
                shuffle::inverse(bytes, size, &mut ordered);
                drop(scratch);
                packing.unpack(&ordered, 0, out);
            }
            (Some(packing), None) => packing.unpack(bytes, 0, out),
            (None, Some(size)) => {
                shuffle::inverse(bytes, size, out);
                self.order(out);
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// Decodes elements that have at most a compression stage.
    fn plain(&self, payload: &[u8], out: &mut [u8]) -> Result<()> {
        match (&self.compression, self.swap) {
            (Compression::None, Some(swap)) => {
                // The planned length is a multiple of the number size.
                swap.decode(payload, out).map_err(|_| self.short(payload.len()))
            }
            _ => {
                self.compression.decode(payload, out, self.at)?;
                self.order(out);
                Ok(())
            }
        }
    }

    /// The first stated offset that is not the start of its part of the payload, if any.
    pub(crate) fn offsets_differ(&self, payload: &[u8]) -> Result<Option<Fault>> {
        expect_len("bytes of payload", payload.len(), self.payload_len)?;
        match &self.compression {
            Compression::Szip(szip) => Ok(szip.differs(payload, self.at)?),
            _ => Ok(None),
        }
    }

    fn order(&self, out: &mut [u8]) {
        if let Some(swap) = self.swap {
            swap.in_place(out);
        }
    }

    fn short(&self, found: usize) -> Error {
        let (rule, at, wanted) = (&rule::PAYLOAD_LEN, self.at, self.encoded_len);
        Fault { rule, at, found: found as u64, wanted }.into()
    }
}
