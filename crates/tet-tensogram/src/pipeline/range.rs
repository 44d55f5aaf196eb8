//! Decodes elements from the part of a payload that holds them.

use std::ops::Range;

use super::compression::Compression;
use super::{Pipeline, buffer, expect_len};
use crate::error::{Error, Result};
use crate::region::Cut;

impl Pipeline {
    /// Where the object can be split.
    pub(crate) fn cut(&self) -> Cut {
        let bits = match (&self.packing, self.dtype.size()) {
            _ if self.shuffle.is_some() => return Cut::Nowhere,
            (Some(packing), _) => packing.bits().into(),
            (None, Some(size)) => size.saturating_mul(8),
            (None, None) => return Cut::Nowhere,
        };
        let piece_len = match &self.compression {
            Compression::None => return Cut::Anywhere,
            Compression::Zstd(Some(frames)) => frames.frame_len(),
            Compression::Szip(szip) if szip.is_exact() => szip.interval_len(),
            _ => return Cut::Nowhere,
        };
        // The fewest whole elements that end at the end of a piece.
        let piece_bits = piece_len.saturating_mul(8);
        let elements = piece_bits.checked_div(common(piece_bits, bits));
        elements.filter(|_| bits != 0).map_or(Cut::Nowhere, Cut::Every)
    }

    /// The bytes of the payload that hold these elements; `None` if all of them are needed.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] when there are no such elements.
    pub(crate) fn payload_range(&self, elements: &Range<u64>) -> Result<Option<Range<u64>>> {
        self.check_elements(elements)?;
        if elements.is_empty() {
            return Ok(Some(0..0));
        }
        let Some(encoded) = self.encoded_range(elements) else { return Ok(None) };
        Ok(match &self.compression {
            Compression::None => Some(encoded),
            Compression::Zstd(frames) => frames.as_ref().map(|frames| frames.stored(&encoded)),
            Compression::Szip(szip) => szip.stored(&encoded, self.payload_len),
            Compression::Lz4
            | Compression::Blosc2
            | Compression::Rle
            | Compression::Roaring
            | Compression::Zfp(_)
            | Compression::Sz3(_) => None,
        })
    }

    /// Decodes elements from exactly the bytes that [`Pipeline::payload_range`] returned, or from
    /// the whole payload if it returned `None`.
    pub(crate) fn decode_range(
        &self,
        stored: &[u8],
        elements: &Range<u64>,
        out: &mut [u8],
    ) -> Result<()> {
        let place = self.payload_range(elements)?;
        let wanted = self.len_of(elements);
        expect_len("bytes for the elements", out.len(), wanted)?;
        let Some(place) = place else { return self.part_of_all(stored, elements, out) };
        expect_len("bytes of payload", stored.len(), place.end - place.start)?;
        let Some(encoded) = self.encoded_range(elements).filter(|_| !elements.is_empty()) else {
            return Ok(());
        };
        let Some(packing) = &self.packing else {
            self.decompress(stored, &encoded, out)?;
            self.order(out);
            return Ok(());
        };
        let first_bit = packing.bit(elements.start).1;
        if matches!(self.compression, Compression::None) {
            packing.unpack(stored, first_bit, out);
            return Ok(());
        }
        let mut bytes = buffer(encoded.end - encoded.start)?;
        self.decompress(stored, &encoded, &mut bytes)?;
        packing.unpack(&bytes, first_bit, out);
        Ok(())
    }

    fn decompress(&self, stored: &[u8], encoded: &Range<u64>, out: &mut [u8]) -> Result<()> {
        match &self.compression {
            Compression::Zstd(Some(frames)) => frames.read(stored, encoded, out, self.at),
            Compression::Szip(szip) => Ok(szip.read(stored, encoded, out, self.at)?),
            other => other.decode(stored, out, self.at),
        }
    }

    fn part_of_all(&self, payload: &[u8], elements: &Range<u64>, out: &mut [u8]) -> Result<()> {
        let Some(size) = self.dtype.size() else {
            return Err(Error::Usage {
                what: "elements of a bitmask, which can only be read as a whole",
                found: elements.end - elements.start,
                wanted: self.element_count,
            });
        };
        let mut all = buffer(self.decoded_len)?;
        self.decode(payload, &mut all)?;
        // Both ends are within the elements, whose bytes were just counted.
        let part = super::index(elements.start * size)..super::index(elements.end * size);
        out.copy_from_slice(all.get(part).unwrap_or_default());
        Ok(())
    }

    /// The length of elements in bytes; bits are packed.
    pub(crate) fn len_of(&self, elements: &Range<u64>) -> u64 {
        let count = elements.end.saturating_sub(elements.start);
        self.dtype.size().map_or(count.div_ceil(8), |size| count.saturating_mul(size))
    }

    fn check_elements(&self, elements: &Range<u64>) -> Result<()> {
        if elements.start <= elements.end && elements.end <= self.element_count {
            return Ok(());
        }
        let (what, found) = ("elements that end at", elements.end.max(elements.start));
        Err(Error::Usage { what, found, wanted: self.element_count })
    }

    /// The bytes before compression that hold elements, unless these are spread over all bytes.
    fn encoded_range(&self, elements: &Range<u64>) -> Option<Range<u64>> {
        if self.shuffle.is_some() {
            return None;
        }
        match (&self.packing, self.dtype.size()) {
            (Some(packing), _) => Some(packing.bytes(elements)),
            (None, Some(size)) => {
                Some(elements.start.checked_mul(size)?..elements.end.checked_mul(size)?)
            }
            // Bits are not split, but all of them together are whole bytes.
            (None, None) => (*elements == (0..self.element_count)).then_some(0..self.encoded_len),
        }
    }
}

/// The greatest common divisor.
fn common(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}
