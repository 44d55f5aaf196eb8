//! How arrays are stored, out of the options of a conversion.

use crate::{ZarrCompression, ZarrFormat};

use tet_container::no_codec;
use tet_container::write::conversion::ConvertOptions;
use tet_container::write::storage::{self, Checksum, LeveledCodec, PayloadCodec};
use tet_container::{Error, Result};

/// The name of the format in messages.
pub const ENCODING: &str = "Zarr";
/// The variant of version 2.
pub const ZARR_2: &str = "2";
/// The variant of version 3.
pub const ZARR_3: &str = "3";

/// The levels where none is asked for, as zarr-python has them.
const ZSTD_LEVEL: i32 = 3;
const GZIP_LEVEL: i32 = 5;

/// The version of the hierarchy.
pub fn format(options: &ConvertOptions) -> ZarrFormat {
    match options.storage.variant.as_deref() {
        Some(ZARR_2) => ZarrFormat::V2,
        _ => ZarrFormat::V3,
    }
}

/// Whether chunks have a checksum of their own.
pub(super) fn has_checksums(options: &ConvertOptions) -> bool {
    options.storage.checksum == Some(Checksum::Crc32c)
}

/// How the chunks of a dataset are compressed.
///
/// # Errors
/// Arrays have no such codec.
pub(super) fn compression(dataset: &str, options: &ConvertOptions) -> Result<ZarrCompression> {
    let usual = options.storage.codec_or(PayloadCodec::Zstd);
    zarr_compression(dataset, storage::codec_of(dataset, usual, &options.codecs))
}

/// How the chunks of labels are compressed.
///
/// # Errors
/// As [`compression`].
pub(super) fn label_compression(options: &ConvertOptions) -> Result<ZarrCompression> {
    zarr_compression("", options.storage.codec_or(PayloadCodec::Zstd))
}

fn zarr_compression(dataset: &str, asked: LeveledCodec) -> Result<ZarrCompression> {
    let refused = || no_codec(dataset, ENCODING, asked);
    match (asked.codec, asked.level) {
        (PayloadCodec::Raw, None) => Ok(ZarrCompression::None),
        (PayloadCodec::Zstd, level) => {
            Ok(ZarrCompression::Zstd { level: level.unwrap_or(ZSTD_LEVEL) })
        }
        (PayloadCodec::Gzip, level) => {
            let level = u32::try_from(level.unwrap_or(GZIP_LEVEL)).ok();
            let level = level.filter(|level| *level <= 9).ok_or_else(refused)?;
            Ok(ZarrCompression::Deflate { level })
        }
        _ => Err(refused()),
    }
}

/// Checks that the version has what is asked for.
///
/// # Errors
/// Version 2 has no checksums of chunks.
pub(super) fn check(dataset: &str, options: &ConvertOptions) -> Result<()> {
    if format(options) == ZarrFormat::V2 && has_checksums(options) {
        let why = "chunks of version 2 have no CRC-32C";
        return Err(Error::Unfit { dataset: dataset.to_owned(), encoding: ENCODING, why });
    }
    Ok(())
}
