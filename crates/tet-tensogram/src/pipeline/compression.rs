//! The last stage: decompresses a payload.

use tet_format::{DType, zstd_decoded_max};

use super::sz3::Sz3;
use super::szip::Szip;
use super::zfp::Zfp;
use super::{bits, blosc2, lz4, zstd};
use crate::descriptor::{Descriptor, DescriptorStage, NONE};
use crate::error::{Error, Fault, Result, no_numbers};
use crate::rule;

/// The most bytes that one byte of an lz4 block can decode to.
const LZ4_RATIO_MAX: u64 = 255;

/// The compression of a payload.
#[derive(Clone, Debug)]
pub(super) enum Compression {
    None,
    Zstd(Option<zstd::Frames>),
    Lz4,
    Szip(Szip),
    Blosc2,
    Rle,
    Roaring,
    Zfp(Zfp),
    Sz3(Sz3),
}

/// The compressions that are decoded.
pub(crate) const COMPRESSIONS: [&str; 8] =
    ["zstd", "lz4", "szip", "blosc2", "rle", "roaring", "zfp", "sz3"];

impl Compression {
    pub(super) fn from_descriptor(
        descriptor: &Descriptor,
        dtype: DType,
        sample_bits: u32,
        is_packed: bool,
        encoded_len: u64,
    ) -> Result<Self> {
        let is_bits = dtype == DType::Bitmask;
        let refused = || not_for_dtype(descriptor, DescriptorStage::Compression);
        match descriptor.stage(DescriptorStage::Compression) {
            NONE => Ok(Compression::None),
            "zstd" => Ok(Compression::Zstd(None)),
            "lz4" => Ok(Compression::Lz4),
            "szip" => {
                let is_known = (1..=32).contains(&sample_bits) && (!is_bits || sample_bits == 8);
                if !is_known {
                    return Err(refused());
                }
                Ok(Compression::Szip(Szip::from_descriptor(descriptor, sample_bits, is_packed)?))
            }
            "blosc2" => Ok(Compression::Blosc2),
            "rle" if is_bits => Ok(Compression::Rle),
            "roaring" if is_bits => Ok(Compression::Roaring),
            "zfp" if dtype == DType::Float64 && !is_packed => {
                Ok(Compression::Zfp(Zfp::from_descriptor(descriptor, encoded_len)?))
            }
            "sz3" if dtype == DType::Float64 && !is_packed => {
                Ok(Compression::Sz3(Sz3::from_descriptor(descriptor)))
            }
            "rle" | "roaring" | "zfp" | "sz3" => Err(refused()),
            _ => Err(not_built(descriptor, DescriptorStage::Compression)),
        }
    }

    /// Whether these lengths are only possible for codecs without a bound on their ratio.
    pub(super) const fn inflates(&self, payload_len: u64, encoded_len: u64) -> bool {
        match self {
            Compression::Rle | Compression::Roaring => true,
            Compression::Blosc2 => blosc2::inflates(payload_len, encoded_len),
            _ => false,
        }
    }

    /// Checks that a payload can have this length, before memory is allocated for it.
    pub(super) fn check_len(
        &self,
        descriptor: &Descriptor,
        at: u64,
        payload_len: u64,
        encoded_len: u64,
    ) -> Result<(), Fault> {
        let wanted_max = match self {
            Compression::None if payload_len == encoded_len => return Ok(()),
            Compression::None => {
                let rule = &rule::PAYLOAD_LEN;
                return Err(Fault { rule, at, found: payload_len, wanted: encoded_len });
            }
            Compression::Zstd(_) => zstd_decoded_max(payload_len),
            Compression::Lz4 => payload_len.saturating_mul(LZ4_RATIO_MAX),
            Compression::Szip(szip) => {
                szip.check_parts(descriptor, encoded_len)?;
                szip.decoded_max(payload_len)
            }
            Compression::Zfp(zfp) => zfp.decoded_max(payload_len),
            Compression::Sz3(_) => Sz3::decoded_max(payload_len),
            Compression::Blosc2 | Compression::Rle | Compression::Roaring => u64::MAX,
        };
        if encoded_len <= wanted_max {
            return Ok(());
        }
        Err(Fault { rule: &rule::PAYLOAD_SHORT, at, found: wanted_max, wanted: encoded_len })
    }

    /// Decompresses a payload that starts at `at` of the file into exactly `out`.
    pub(super) fn decode(&self, payload: &[u8], out: &mut [u8], at: u64) -> Result<()> {
        match self {
            Compression::None => {
                super::expect_len("bytes of payload", payload.len(), out.len() as u64)?;
                out.copy_from_slice(payload);
                Ok(())
            }
            Compression::Zstd(_) => zstd::decode(payload, out, at),
            Compression::Lz4 => Ok(lz4::decode(payload, out, at)?),
            Compression::Szip(szip) => Ok(szip.decode(payload, out, at)?),
            Compression::Blosc2 => blosc2::decode(payload, out, at),
            Compression::Zfp(zfp) => Ok(zfp.decode(payload, out, at)?),
            Compression::Sz3(sz3) => sz3.decode(payload, out, at),
            Compression::Rle => {
                let runs = bits::strip_count(payload, out.len(), at)?;
                Ok(bits::rle_decode(runs, out.len() as u64 * 8, out, at.saturating_add(4))?)
            }
            Compression::Roaring => {
                let set = bits::strip_count(payload, out.len(), at)?;
                Ok(bits::roaring_decode(set, out.len() as u64 * 8, out, at.saturating_add(4))?)
            }
        }
    }
}

/// The error for a codec that this build does not have.
pub(super) fn not_built(descriptor: &Descriptor, stage: DescriptorStage) -> Error {
    let codec = descriptor.stage(stage).into();
    let fault = no_numbers(&rule::CODEC_BUILT, descriptor.place(stage.key()));
    Error::NotBuilt { codec, fault }
}

/// The error for a codec that does not support the dtype.
pub(super) fn not_for_dtype(descriptor: &Descriptor, stage: DescriptorStage) -> Error {
    no_numbers(&rule::CODEC_DTYPE, descriptor.place(stage.key())).into()
}
