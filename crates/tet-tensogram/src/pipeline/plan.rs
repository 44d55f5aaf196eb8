//! Plans the pipeline from a descriptor and the length of a payload; every number is bounded here.

use tet_codec::Swapped;
use tet_format::DType;

use super::compression::{Compression, not_built, not_for_dtype};
use super::packing::Packing;
use super::szip::Trust;
use super::{Pipeline, zstd};
use crate::Value;
use crate::descriptor::{ByteOrder, Descriptor, DescriptorStage, NONE, decoded_len};
use crate::error::{Fault, Result, no_numbers};
use crate::limits::Limits;
use crate::rule;

impl Pipeline {
    /// The pipeline of an object whose payload has `payload_len` bytes and starts at `at`.
    ///
    /// # Errors
    ///
    /// Returns the first rule that the descriptor breaks, by itself or with such a payload.
    pub(crate) fn new(
        descriptor: &Descriptor,
        at: u64,
        payload_len: u64,
        limits: &Limits,
    ) -> Result<Pipeline> {
        descriptor.check()?;
        let missing = || no_numbers(&rule::DESCRIPTOR_KEY_MISSING, descriptor.at());
        let (dtype, element_count) =
            descriptor.dtype().zip(descriptor.element_count()).ok_or_else(missing)?;
        let decoded_len = decoded_len(dtype, element_count).ok_or_else(missing)?;
        let packing = encoding(descriptor, dtype)?;
        let encoded_len = match &packing {
            Some(packing) => packing.packed_len(element_count),
            None => decoded_len,
        };
        let shuffle = filter(descriptor, encoded_len)?;
        let sample_bits = match (&packing, shuffle) {
            // Packed numbers are compressed as samples of their width, shuffled or not.
            (Some(packing), _) => packing.bits(),
            (None, Some(_)) => 8,
            (None, None) => dtype.bit_width(),
        };
        let mut compression = Compression::from_descriptor(
            descriptor,
            dtype,
            sample_bits,
            packing.is_some(),
            encoded_len,
        )?;
        compression.check_len(descriptor, at, payload_len, encoded_len)?;
        let can_inflate = compression.inflates(payload_len, encoded_len)
            || packing.as_ref().is_some_and(|it| it.bits() == 0);
        if can_inflate && limits.inflated_len_max < decoded_len {
            let (rule, wanted) = (&rule::LIMIT_INFLATED, limits.inflated_len_max);
            return Err(Fault { rule, at, found: decoded_len, wanted }.into());
        }
        let mut notes = Vec::new();
        if !compression.adopt_offsets(descriptor, payload_len, encoded_len) {
            let key = compression.offsets_key();
            notes.push(Fault { at: descriptor.place(key), ..no_numbers(&rule::NOTE_OFFSETS, 0) });
        }
        let is_spoiled = matches!(compression, Compression::Szip(_));
        if is_spoiled && packing.as_ref().is_some_and(|it| packing_spoils(it.bits())) {
            let place = descriptor.place(DescriptorStage::Compression.key());
            notes.push(no_numbers(&rule::NOTE_CORRUPTS, place));
        }
        if packing.as_ref().is_some_and(Packing::overflows) {
            notes.push(no_numbers(&rule::NOTE_PACKING, descriptor.at()));
        }
        if packing.as_ref().is_some_and(Packing::is_old_spelling) {
            notes.push(no_numbers(&rule::NOTE_SPELLING, descriptor.at()));
        }
        let swap = swap(descriptor, dtype).filter(|_| packing.is_none());
        Ok(Pipeline {
            dtype,
            element_count,
            decoded_len,
            encoded_len,
            swap,
            packing,
            shuffle,
            compression,
            at,
            payload_len,
            notes,
        })
    }
}

/// Whether szip corrupts packed numbers of this width, which are not whole bytes.
pub(crate) const fn packing_spoils(bits: u32) -> bool {
    !matches!(bits, 8 | 16 | 24 | 32)
}

fn encoding(descriptor: &Descriptor, dtype: DType) -> Result<Option<Packing>> {
    match descriptor.stage(DescriptorStage::Encoding) {
        NONE => Ok(None),
        "simple_packing" if dtype == DType::Float64 => {
            Ok(Some(Packing::from_descriptor(descriptor)?))
        }
        "simple_packing" => Err(not_for_dtype(descriptor, DescriptorStage::Encoding)),
        _ => Err(not_built(descriptor, DescriptorStage::Encoding)),
    }
}

fn filter(descriptor: &Descriptor, encoded_len: u64) -> Result<Option<u64>> {
    const KEY: &str = "shuffle_element_size";
    match descriptor.stage(DescriptorStage::Filter) {
        NONE => Ok(None),
        "shuffle" => {
            let size = descriptor.integer(KEY, 1, i64::MAX)?.unsigned_abs();
            if !encoded_len.is_multiple_of(size) {
                let at = descriptor.place(KEY);
                let (rule, found, wanted) = (&rule::WHOLE_PARTS, encoded_len, size);
                return Err(Fault { rule, at, found, wanted }.into());
            }
            Ok(Some(size))
        }
        _ => Err(not_built(descriptor, DescriptorStage::Filter)),
    }
}

/// Numbers that must be byte-swapped: both parts of a complex element, and no bits.
fn swap(descriptor: &Descriptor, dtype: DType) -> Option<Swapped> {
    let size = dtype.size().filter(|_| descriptor.byte_order() == ByteOrder::Big)?;
    Swapped::new(if dtype.is_complex() { size / 2 } else { size })
}

impl Compression {
    /// Uses the offsets for partial reads, if there are any. Returns whether they are valid.
    fn adopt_offsets(
        &mut self,
        descriptor: &Descriptor,
        payload_len: u64,
        encoded_len: u64,
    ) -> bool {
        let key = self.offsets_key();
        if descriptor.value(key).is_none() {
            return true;
        }
        let Some(offsets) = descriptor.offsets(key) else { return false };
        match self {
            Compression::Zstd(frames) => {
                *frames =
                    zstd::Frames::from_descriptor(descriptor, offsets, payload_len, encoded_len);
                frames.is_some()
            }
            Compression::Szip(szip) => {
                let is_exact = descriptor.value(super::szip::EXACT_KEY) == Some(&Value::Bool(true));
                let trust = if is_exact { Trust::Exact } else { Trust::Stated };
                szip.adopt(offsets, trust, payload_len, encoded_len)
            }
            _ => true,
        }
    }

    /// The key of these offsets; empty if there are none.
    const fn offsets_key(&self) -> &'static str {
        match self {
            Compression::Zstd(_) => zstd::OFFSETS_KEY,
            Compression::Szip(_) => super::szip::OFFSETS_KEY,
            _ => "",
        }
    }
}
