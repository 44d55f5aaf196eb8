//! How elements are encoded.

use tet_format::DType;

use super::readers::Readers;
use crate::descriptor::ByteOrder;
use crate::error::{Error, Result};
use crate::mask::MaskMethod;
use crate::pipeline::SzipParameters;
use crate::pipeline::packing::{PackingParameters, Widths};
use crate::pipeline::zstd;

/// How the parameters of simple_packing are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PackingFit {
    /// These parameters.
    Given(PackingParameters),
    /// Parameters that span the values with this number of bits.
    Bits {
        /// Bits of a number, 0 to 64.
        bits: u32,
        /// Values are first multiplied by 10 to this power; usually 0.
        decimal_scale: i32,
    },
    /// The fewest bits for which no value has a larger error than this.
    Within {
        /// The largest error.
        error_max: f64,
    },
}

/// How bytes are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compressing {
    /// Not at all.
    #[default]
    None,
    /// As independent zstd frames.
    Zstd {
        /// The level; 3 is the usual one.
        level: i32,
    },
    /// As one lz4 block.
    Lz4,
    /// As a stream of samples.
    Szip(SzipParameters),
    /// As runs; bitmasks only.
    Rle,
    /// As a set; bitmasks only.
    Roaring,
}

/// Treatment of elements that are not finite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NonFinite {
    /// They are an error.
    #[default]
    Refused,
    /// They are stored under a mask, which preserves only their kind.
    Masked,
    /// They are stored under a mask if every one is restored bit for bit, else unchanged.
    Exact,
    /// They are stored unchanged, which a thorough check by other programs reports.
    Kept,
}

/// How to encode elements; by default unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// The stored byte order.
    pub byte_order: ByteOrder,
    /// How doubles are packed, if at all.
    pub packing: Option<PackingFit>,
    /// The element size of shuffle in bytes, if bytes are shuffled.
    pub shuffle: Option<u64>,
    /// Which releases of the reference implementation must read packed numbers.
    pub readers: Readers,
    /// How the bytes are compressed.
    pub compression: Compressing,
    /// Treatment of NaN.
    pub nan: NonFinite,
    /// Treatment of infinities.
    pub infinity: NonFinite,
    /// How masks are stored.
    pub mask_method: MaskMethod,
    /// Masks of up to this many bytes are stored uncompressed.
    pub small_mask_len: u64,
    /// Threads that compress; 0 is one per processor. The output does not depend on it.
    pub threads: usize,
}

impl Default for Recipe {
    fn default() -> Self {
        Recipe {
            byte_order: ByteOrder::Little,
            packing: None,
            readers: Readers::default(),
            shuffle: None,
            compression: Compressing::None,
            nan: NonFinite::Refused,
            infinity: NonFinite::Refused,
            mask_method: MaskMethod::default(),
            small_mask_len: 128,
            threads: 0,
        }
    }
}

impl Recipe {
    /// The zstd settings.
    pub(super) const fn zstd(&self, level: i32) -> zstd::How {
        zstd::How { level, threads: self.threads, readers: self.readers }
    }

    /// Which bit counts packed numbers may have: codecs that shuffle or compress samples need whole
    /// bytes.
    pub(super) const fn widths(&self) -> Widths {
        match self.compression {
            Compressing::Szip(_) => Widths::Bytes,
            _ if self.shuffle.is_some() => Widths::Bytes,
            _ => Widths::Any,
        }
    }

    /// Checks that elements of a dtype can be encoded by this recipe.
    pub(super) fn check(&self, dtype: DType) -> Result<()> {
        let is_bits = dtype == DType::Bitmask;
        let needs_bits = matches!(self.compression, Compressing::Rle | Compressing::Roaring);
        let is_szip = matches!(self.compression, Compressing::Szip(_));
        let why = if self.packing.is_some() && dtype != DType::Float64 {
            "simple_packing takes float64"
        } else if needs_bits && !is_bits {
            "rle and roaring take bitmasks"
        } else if needs_bits && self.shuffle.is_some() {
            "rle and roaring take bits as they are"
        } else if is_szip && is_bits && self.shuffle.is_none() {
            "szip takes no bits"
        } else {
            return Ok(());
        };
        Err(Error::Unwritable { why })
    }
}
