//! How a Zarr hierarchy is written.

use tet_convert::{ChunkSum, ShardChoice, ZarrCompression, ZarrFormat, ZarrOptions};

use super::storage::extents;
use super::tet::LEVEL;
use crate::args::{ChecksumName, CodecName, ConvertArgs, Named};
use crate::exit::{Failure, Result};

/// The default level of gzip, as zarr-python has it.
const GZIP_LEVEL: u32 = 5;

/// The write options, from the options of the command line.
///
/// # Errors
///
/// Options contradict each other, or the version has no such thing.
pub(super) fn options(args: &ConvertArgs) -> Result<ZarrOptions> {
    let mut options = ZarrOptions::default();
    if args.zarr.as_deref() == Some("2") {
        options.format = ZarrFormat::V2;
    }
    let level = Named::general(&args.store.level);
    options.compression = match Named::general(&args.store.codec) {
        Some(CodecName::Raw) => ZarrCompression::None,
        Some(CodecName::Gzip) => {
            let level = level.and_then(|level| u32::try_from(level).ok());
            ZarrCompression::Deflate { level: level.unwrap_or(GZIP_LEVEL) }
        }
        _ => ZarrCompression::Zstd { level: level.unwrap_or(LEVEL) },
    };
    if args.zt.checksum == Some(ChecksumName::Crc32c) {
        options.checksum = ChunkSum::Crc32c;
    }
    options.shards = match args.shards.as_deref() {
        None => ShardChoice::Kept,
        Some("none") => ShardChoice::None,
        Some("auto") => ShardChoice::Auto,
        Some(shards) => ShardChoice::Shape(extents(shards)?),
    };
    let has_shards = matches!(options.shards, ShardChoice::Auto | ShardChoice::Shape(_));
    if options.format == ZarrFormat::V2 && (has_shards || options.checksum != ChunkSum::None) {
        let (option, what) = if has_shards {
            ("--shards", "shards")
        } else {
            ("--checksum", "checksums of its own for chunks")
        };
        let text = format!("Zarr version 2 has no {what}");
        return Err(Failure::usage("options", text).hint(format!("omit {option} or --zarr 2")));
    }
    Ok(options)
}
