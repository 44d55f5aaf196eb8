//! How elements are to be stored.

use tet_format::DType;

use super::readers::Readers;
use crate::descriptor::ByteOrder;
use crate::error::{Error, Result};
use crate::mask::MaskMethod;
use crate::pipeline::SzipParameters;
use crate::pipeline::packing::{PackingParameters, Widths};
use crate::pipeline::zstd;

/// How the parameters of simple_packing are found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PackingFit {
    /// These.
    Given(PackingParameters),
    /// Those that span the values with so many bits.
    Bits {
        /// Bits of a number, 0 to 64.
        bits: u32,
        /// The power of 10 by which values are multiplied first; usually 0.
        decimal_scale: i32,
    },
    /// The fewest bits for which no value is off by more than this.
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
    /// As zstd frames that can be decoded by themselves.
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

/// Whether elements that are not finite are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NonFinite {
    /// They are an error.
    #[default]
    Refused,
    /// They are stored under a mask, which keeps their kind and no more.
    Masked,
    /// They are stored under a mask if all of them come back from it bit for bit, else as they are.
    Exact,
    /// They are stored as they are, which other programs find odd when they look closely.
    Kept,
}

/// How elements are to be stored; by default as they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// The order of bytes that is stored.
    pub byte_order: ByteOrder,
    /// How doubles are packed, if they are.
    pub packing: Option<PackingFit>,
    /// Bytes of what shuffle takes for an element, if bytes are shuffled.
    pub shuffle: Option<u64>,
    /// Which releases of the reference are to read packed numbers.
    pub readers: Readers,
    /// How the bytes are compressed.
    pub compression: Compressing,
    /// Whether NaN is taken.
    pub nan: NonFinite,
    /// Whether infinities are taken.
    pub infinity: NonFinite,
    /// How masks are stored.
    pub mask_method: MaskMethod,
    /// Masks of up to so many bytes are stored as they are.
    pub small_mask_len: u64,
    /// Threads that compress; 0 is one per processor. The bytes are the same for any number.
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
    /// How zstd is to compress.
    pub(super) const fn zstd(&self, level: i32) -> zstd::How {
        zstd::How { level, threads: self.threads, readers: self.readers }
    }

    /// Which counts of bits packed numbers may have: what shuffles or compresses samples takes whole
    /// bytes.
    pub(super) const fn widths(&self) -> Widths {
        match self.compression {
            Compressing::Szip(_) => Widths::Bytes,
            _ if self.shuffle.is_some() => Widths::Bytes,
            _ => Widths::Any,
        }
    }

    /// Whether elements of a type can be stored so.
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
