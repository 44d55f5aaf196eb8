//! Masks (section 5.3): which elements are NaN or infinite, one bit per element.
//!
//! The elements under a mask are stored as zeros. A restored element is the canonical value of its
//! kind, in both parts of a complex element.

mod find;

use std::ops::Range;

use tet_format::DType;

use crate::descriptor::{Descriptor, MaskEntry, MaskKind, NONE};
use crate::error::{Error, Fault, Result};
use crate::pipeline::{bits, blosc2, buffer, index, lz4_decode, lz4_encode, zstd};
use crate::rule;
pub(crate) use find::{NonFiniteMasks, find};

/// How the bits of a mask are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MaskMethod {
    /// Uncompressed.
    None,
    /// As run lengths.
    Rle,
    /// As a set of the positions of ones.
    #[default]
    Roaring,
    /// Compressed by lz4.
    Lz4,
    /// Compressed by zstd.
    Zstd,
    /// Compressed by blosc2, which is read and not written.
    Blosc2,
}

impl MaskMethod {
    const ALL: [MaskMethod; 6] =
        [Self::None, Self::Rle, Self::Roaring, Self::Lz4, Self::Zstd, Self::Blosc2];

    /// The name in a descriptor.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            MaskMethod::None => NONE,
            MaskMethod::Rle => "rle",
            MaskMethod::Roaring => "roaring",
            MaskMethod::Lz4 => "lz4",
            MaskMethod::Zstd => "zstd",
            MaskMethod::Blosc2 => "blosc2",
        }
    }

    /// Appends the blob of the first `count` bits.
    pub(crate) fn encode(self, packed: &[u8], count: u64, out: &mut Vec<u8>) -> Result<()> {
        match self {
            MaskMethod::None => out.extend_from_slice(packed),
            MaskMethod::Rle => bits::rle_encode(packed, count, out),
            MaskMethod::Roaring => bits::roaring_encode(packed, count, out)?,
            MaskMethod::Lz4 => out.extend(lz4_encode(packed, Vec::new())?),
            MaskMethod::Zstd => zstd::encode_frame(packed, out)?,
            MaskMethod::Blosc2 => {
                return Err(Error::Unwritable { why: "blosc2 is read and not written" });
            }
        }
        Ok(())
    }

    fn decode(self, blob: &[u8], count: u64, out: &mut [u8], at: u64) -> Result<()> {
        let wanted = out.len() as u64;
        let fault = |at, found, wanted| Fault { rule: &rule::MASK_BITS, at, found, wanted };
        let done = match self {
            MaskMethod::None if blob.len() == out.len() => {
                out.copy_from_slice(blob);
                return Ok(());
            }
            MaskMethod::None => return Err(fault(at, blob.len() as u64, wanted).into()),
            MaskMethod::Rle => bits::rle_decode(blob, count, out, at).map_err(Error::from),
            MaskMethod::Roaring => bits::roaring_decode(blob, count, out, at).map_err(Error::from),
            MaskMethod::Lz4 => lz4_decode(blob, out, at).map_err(Error::from),
            MaskMethod::Zstd => zstd::decode(blob, out, at),
            MaskMethod::Blosc2 => blosc2::decode(blob, out, at),
        };
        done.map_err(|error| match error {
            Error::Format(found) => fault(found.at, found.found, found.wanted).into(),
            other => other,
        })
    }
}

/// The positions of the mask blobs of an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blobs {
    list: Vec<Blob>,
    payload_len: u64,
}

#[derive(Clone, Debug)]
struct Blob {
    kind: MaskKind,
    method: MaskMethod,
    /// In the region.
    place: Range<u64>,
}

impl Blobs {
    /// The blobs that a descriptor states, in a region of `len` bytes at `at` of the file.
    pub(crate) fn from_descriptor(descriptor: &Descriptor, at: u64, len: u64) -> Result<Blobs> {
        let mut entries: Vec<&MaskEntry> = descriptor.masks().iter().collect();
        entries.sort_by_key(|entry| (entry.offset, entry.len));
        let payload_len = entries.first().map_or(len, |entry| entry.offset);
        let mut end = payload_len;
        for entry in &entries {
            let fault =
                |rule, found, wanted| Err(Fault { rule, at: entry.at, found, wanted }.into());
            let after = entry.offset.saturating_add(entry.len);
            if len < after {
                return fault(&rule::MASK_BOUNDS, after, len);
            }
            match entry.offset {
                offset if offset < end => return fault(&rule::MASK_OVERLAP, offset, end),
                offset if end < offset => return fault(&rule::MASK_GAP, offset, end),
                _ => end = after,
            }
        }
        if end != len {
            let (rule, at) = (&rule::MASK_GAP, at.saturating_add(end));
            return Err(Fault { rule, at, found: len, wanted: end }.into());
        }
        // Masks of integers have no meaning; masks of unknown kinds have none that is known.
        let is_restored = descriptor.dtype().is_some_and(|it| it.is_float() || it.is_complex());
        let mut list = Vec::new();
        for entry in descriptor.masks().iter().filter(|_| is_restored) {
            let Some(kind) = entry.kind else { continue };
            let find = |method: &MaskMethod| method.word() == entry.method;
            let Some(method) = MaskMethod::ALL.into_iter().find(find) else {
                let rule = &rule::MASK_BUILT;
                let fault = Fault { rule, at: entry.at, found: 0, wanted: 0 };
                return Err(Error::NotBuilt { codec: entry.method.as_str().into(), fault });
            };
            let place = entry.offset..entry.offset.saturating_add(entry.len);
            list.push(Blob { kind, method, place });
        }
        Ok(Blobs { list, payload_len })
    }

    pub(crate) const fn payload_len(&self) -> u64 {
        self.payload_len
    }

    /// The number of masks that elements are restored from.
    pub(crate) fn count(&self) -> u64 {
        self.list.len() as u64
    }

    /// Decodes the masks; `bytes` follow the payload of a region at `region_at`.
    pub(crate) fn read(&self, bytes: &[u8], element_count: u64, region_at: u64) -> Result<Masks> {
        let mut masks = Masks { element_count, bits: [None, None, None] };
        for blob in &self.list {
            let place = |at: u64| index(at.saturating_sub(self.payload_len));
            let stored = bytes.get(place(blob.place.start)..place(blob.place.end));
            let mut packed = buffer(element_count.div_ceil(8))?;
            let at = region_at.saturating_add(blob.place.start);
            let stored = stored.unwrap_or_default();
            blob.method.decode(stored, element_count, &mut packed, at)?;
            if let Some(bits) = masks.bits.get_mut(blob.kind as usize) {
                *bits = Some(packed);
            }
        }
        Ok(masks)
    }
}

/// The masks of an object, one bit per element and kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masks {
    element_count: u64,
    bits: [Option<Vec<u8>>; 3],
}

impl Masks {
    /// The bits of a kind, packed with the highest first; `None` if no element is of it.
    #[must_use]
    pub fn bits(&self, kind: MaskKind) -> Option<&[u8]> {
        self.bits.get(kind as usize)?.as_deref()
    }

    /// The number of elements they cover.
    #[must_use]
    pub const fn element_count(&self) -> u64 {
        self.element_count
    }

    /// Sets the canonical values among little-endian elements, of which the first is element
    /// `first` of the object. Where masks overlap, NaN takes precedence, then positive infinity.
    pub fn restore(&self, dtype: DType, first: u64, elements: &mut [u8]) {
        for kind in MaskKind::ALL.into_iter().rev() {
            let Some(bits) = self.bits(kind) else { continue };
            let last = self.element_count;
            match (dtype, canonical(dtype, kind).to_le_bytes()) {
                (DType::Float16 | DType::BFloat16, [a, b, ..]) => {
                    put([a, b], bits, first..last, elements);
                }
                (DType::Float32, [a, b, c, d, ..]) => {
                    put([a, b, c, d], bits, first..last, elements);
                }
                (DType::Float64, value) => put(value, bits, first..last, elements),
                (DType::Complex64, [a, b, c, d, ..]) => {
                    put([a, b, c, d, a, b, c, d], bits, first..last, elements);
                }
                (DType::Complex128, [a, b, c, d, e, f, g, h]) => {
                    let value = [a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h];
                    put(value, bits, first..last, elements);
                }
                _ => {}
            }
        }
    }
}

/// The bits of the canonical value of a kind, of a real element or a part of a complex one.
const fn canonical(dtype: DType, kind: MaskKind) -> u64 {
    let [nan, infinity, sign] = match dtype {
        DType::Float16 => [0x7E00, 0x7C00, 0x8000],
        DType::BFloat16 => [0x7FC0, 0x7F80, 0x8000],
        DType::Float32 | DType::Complex64 => [0x7FC0_0000, 0x7F80_0000, 0x8000_0000],
        _ => [0x7FF8 << 48, 0x7FF0 << 48, 1 << 63],
    };
    match kind {
        MaskKind::Nan => nan,
        MaskKind::PosInf => infinity,
        MaskKind::NegInf => infinity | sign,
    }
}

/// How many elements of each kind a mask would restore with other bits.
pub(crate) fn inexact(dtype: DType, elements: &[u8], found: &NonFiniteMasks) -> [u64; 3] {
    let size = dtype.size().map_or(1, index);
    let part_len = if dtype.is_complex() { size / 2 } else { size };
    let mut counts = [0_u64; 3];
    for ((kind, bits), sum) in MaskKind::ALL.into_iter().zip(&found.bits).zip(&mut counts) {
        let value = canonical(dtype, kind).to_le_bytes();
        let value = value.get(..part_len).unwrap_or_default();
        for (places, byte) in elements.chunks(size * 8).zip(bits.iter().flatten()) {
            if *byte == 0 {
                continue;
            }
            for (at, place) in places.chunks_exact(size).enumerate() {
                let is_other = || place.chunks_exact(part_len).any(|part| part != value);
                *sum += u64::from(byte << at & 0x80 != 0 && is_other());
            }
        }
    }
    counts
}

/// Writes a value wherever a bit of the elements of `range` is set.
fn put<const SIZE: usize>(value: [u8; SIZE], bits: &[u8], range: Range<u64>, elements: &mut [u8]) {
    let places = elements.as_chunks_mut::<SIZE>().0;
    let end = range.start.saturating_add(places.len() as u64).min(range.end);
    let mut bit = range.start;
    while bit < end {
        let byte = bits.get(index(bit / 8)).copied().unwrap_or_default() & (0xFF >> (bit % 8));
        let next = (bit / 8 * 8).saturating_add(8);
        let mut left = byte;
        while left != 0 {
            let lead = left.leading_zeros();
            left &= !(0x80 >> lead);
            let element = bit / 8 * 8 + u64::from(lead);
            if element < end
                && let Some(place) = places.get_mut(index(element - range.start))
            {
                *place = value;
            }
        }
        bit = next;
    }
}
