//! How an HDF5 or NetCDF-4 file is written.

use tet_convert::{Filter, Hdf5Codec, Hdf5Options};

use crate::args::{CodecName, ConvertArgs, FilterName, Named};
use crate::exit::{Failure, Result};

/// The default level of deflate.
const DEFLATE_LEVEL: u32 = 4;
/// The default level of zstd.
const ZSTD_LEVEL: i32 = 3;

/// The write options, from the options of the command line. What is compressed is shuffled too, unless
/// `--filter none` is given.
///
/// # Errors
///
/// There is a level without a codec.
pub(super) fn options(args: &ConvertArgs) -> Result<Hdf5Options> {
    let mut options = Hdf5Options::default();
    let level = Named::general(&args.store.level);
    options.codec = match Named::general(&args.store.codec) {
        Some(CodecName::Gzip) => {
            let level = level.and_then(|level| u32::try_from(level).ok());
            Hdf5Codec::Deflate { level: level.unwrap_or(DEFLATE_LEVEL) }
        }
        Some(CodecName::Zstd) => Hdf5Codec::Zstd { level: level.unwrap_or(ZSTD_LEVEL) },
        _ if level.is_some() => {
            let text = "--level needs --codec gzip or zstd: without a codec, .h5 and .nc files are compressed as the input is";
            return Err(Failure::usage("options", text).hint("use both, or neither"));
        }
        Some(CodecName::Raw) => Hdf5Codec::Raw,
        _ if args.tgm.filter == Some(FilterName::None) => Hdf5Codec::Raw,
        _ => Hdf5Codec::Kept,
    };
    options.filter = match args.tgm.filter {
        Some(FilterName::Shuffle) => Filter::Shuffle,
        Some(FilterName::None) => Filter::None,
        None if [Hdf5Codec::Raw, Hdf5Codec::Kept].contains(&options.codec) => Filter::None,
        None => Filter::Shuffle,
    };
    Ok(options)
}
