//! How tensors are written, out of the options of a conversion.

use crate::{Align, ChecksumChoice, EncodingChoice, SparseChoice, WriteOptions};

use tet_container::no_codec;
use tet_container::write::conversion::ConvertOptions;
use tet_container::write::storage::{
    self, Checksum, LeveledCodec, PayloadCodec, SparseLayout, Storage,
};
use tet_container::{Error, Result};

/// The variant that has the bytes that programs of 0.1.x write.
pub(super) const V01X: &str = "0.1.x";
/// The level of zstd in that variant.
const LEVEL_01X: i32 = 3;

/// Whether the file is for programs of 0.1.x.
pub(super) fn is_v01x(options: &ConvertOptions) -> bool {
    options.storage.variant.as_deref() == Some(V01X)
}

/// The options of all tensors.
///
/// # Errors
/// A level without a codec.
pub(super) fn write_options(options: &ConvertOptions) -> Result<WriteOptions> {
    let Storage { codec, level, checksum, align, align_above, sparse, .. } = &options.storage;
    if codec.is_none() && level.is_some() {
        return Err(Error::LevelAlone { encoding: "zTensor" });
    }
    let usual = if is_v01x(options) { WriteOptions::v01x() } else { WriteOptions::default() };
    let encoding = encoding("", options.storage.codec_or(PayloadCodec::Raw), options)?;
    let align = match align {
        Some(4096) => Align::Page,
        Some(65_536) => Align::LargePage,
        _ => Align::Line,
    };
    let sparse = match sparse {
        SparseLayout::Native => SparseChoice::Native,
        SparseLayout::Parts => SparseChoice::Split,
    };
    let checksum = checksum.map_or(usual.checksum, checksum_choice);
    Ok(WriteOptions { encoding, checksum, align, align_len_min: *align_above, sparse, ..usual })
}

/// The options of one tensor.
///
/// # Errors
/// Tensors have no such codec.
pub(super) fn of_tensor(name: &str, options: &ConvertOptions) -> Result<WriteOptions> {
    let usual = options.storage.codec_or(PayloadCodec::Raw);
    let codec = storage::codec_of(name, usual, &options.codecs);
    Ok(WriteOptions { encoding: encoding(name, codec, options)?, ..write_options(options)? })
}

fn encoding(name: &str, asked: LeveledCodec, options: &ConvertOptions) -> Result<EncodingChoice> {
    match (asked.codec, asked.level) {
        (PayloadCodec::Raw, None) => Ok(EncodingChoice::Raw),
        (PayloadCodec::Zstd, Some(level)) => Ok(EncodingChoice::Zstd { level }),
        (PayloadCodec::Zstd, None) if is_v01x(options) => {
            Ok(EncodingChoice::Zstd { level: LEVEL_01X })
        }
        (PayloadCodec::Zstd, None) => Ok(EncodingChoice::zstd()),
        _ => Err(no_codec(name, "zTensor", asked)),
    }
}

/// A checksum as the format has it.
pub(super) const fn checksum_choice(checksum: Checksum) -> ChecksumChoice {
    match checksum {
        Checksum::None => ChecksumChoice::Left,
        Checksum::Crc32c => ChecksumChoice::Crc32c,
        Checksum::Sha256 => ChecksumChoice::Sha256,
    }
}
