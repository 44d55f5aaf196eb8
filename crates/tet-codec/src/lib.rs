//! Payload codecs: encode and decode the elements of a chunk; and digests, which detect changed
//! bytes.
//!
//! Implements format sections 5 and 6.2. A codec never writes beyond the expected length, and never
//! allocates by a length from a file: the caller passes a buffer of exactly `decoded_len` bytes.

#![forbid(unsafe_code)]

mod aec;
mod blocks;
pub mod blosc2;
mod checksum;
mod codec;
mod crc32c;
mod digest;
pub mod encode;
mod error;
mod fill;
mod filter;
mod flip;
mod hdf5;
mod layout;
mod numcodecs;
mod numcodecs_pipeline;
mod pieces;
mod pipeline;
mod raw;
mod scratch;
pub mod shuffle;
mod statistics;
mod swapped;
#[cfg(feature = "zstd")]
mod sz3;
mod zfp;
#[cfg(feature = "zstd")]
mod zstd;

pub use aec::{Aec, AecDecoder, AecEncoder, AecFault};
pub use blocks::NumberBlock;
pub use blosc2::Blosc2;
pub use checksum::{ChecksumKind, ChecksumPlace, Checksummed};
pub use codec::{ChunkLayout, Decode, Encode, StoredSpans};
pub use crc32c::Crc32c;
pub use digest::{Digester, Strength, compare, digest};
pub use error::{Error, Kind, Result, Unsupported};
pub use fill::FillValue;
#[cfg(feature = "bzip2")]
pub use filter::Bzip2;
#[cfg(feature = "lzma")]
pub use filter::Lzma;
pub use filter::{
    Bitshuffle, Blosc, Convert, Deflate, Lz4, Lzf, MemberStage, NBit, NumberType, PackBits,
    ScaleOffset, Shuffle, Szip, ZfpStage,
};
#[cfg(feature = "zstd")]
pub use filter::{Sz3Stage, ZstdStage};
pub use flip::{Bit, flipped_bit, flipped_bits};
pub use hdf5::{HDF5_FILTERS, hdf5_stage};
pub use layout::ElementLayout;
pub use numcodecs::{Config, ConfigValue, NUMCODECS, numcodecs_stage};
pub use numcodecs_pipeline::{NumcodecsCodec, NumcodecsPipeline};
pub use pieces::{PieceSum, Pieces};
pub use pipeline::{Pipeline, Room, Stage};
pub use raw::Raw;
pub use statistics::{StatisticsCounter, digest_and_statistics, statistics};
pub use swapped::Swapped;
#[cfg(feature = "zstd")]
pub use sz3::{Sz3Array, Sz3Number};
pub use zfp::{ZFP_RANK_MAX, ZfpArray, ZfpMode, ZfpNumber};
#[cfg(feature = "zstd")]
pub use zstd::{
    Scanned, WINDOW_LOG_MAX, Zstd, ZstdBlock, ZstdEncoder, ZstdScan, ZstdStart, ZstdStream,
};

use tet_format::Codec;

/// The decoder of a codec tag, or `None` when the tag is unknown or its feature is off.
#[must_use]
pub fn decoder(codec: Codec) -> Option<&'static dyn Decode> {
    match codec {
        Codec::Raw => Some(&Raw),
        #[cfg(feature = "zstd")]
        Codec::Zstd => Some(&Zstd),
        _ => None,
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;

#[cfg(test)]
mod tests;
