//! The codecs of numcodecs and Zarr by their names.

use std::sync::Arc;

use crate::Unsupported;
use crate::checksum::{ChecksumKind, ChecksumPlace, Checksummed};
use crate::filter::{Blosc, Convert, Deflate, Lz4, NumberType, PackBits, Shuffle, ZfpStage};
use crate::pipeline::Stage;

/// A value in the configuration of a codec.
///
/// ```
/// use tet_codec::ConfigValue;
///
/// let config = |key: &str| (key == "elementsize").then_some(ConfigValue::Number(4.0));
/// let stage = tet_codec::numcodecs_stage("shuffle", &config)?;
/// assert_eq!(stage.map(|stage| stage.name()), Some("shuffle"));
/// # Ok::<(), tet_codec::Unsupported>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum ConfigValue {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

/// Finds a value of a configuration by its key.
///
/// ```
/// use tet_codec::{Config, numcodecs_stage};
///
/// let config: Config = &|_key| None;
/// assert!(numcodecs_stage("zlib", config).is_ok());
/// ```
pub type Config<'a> = &'a dyn Fn(&str) -> Option<ConfigValue>;

/// The codecs that are decoded, by their names without `numcodecs.`.
pub const NUMCODECS: &[&str] = &[
    "zstd",
    "blosc",
    "gzip",
    "zlib",
    "lz4",
    #[cfg(feature = "bzip2")]
    "bz2",
    #[cfg(feature = "lzma")]
    "lzma",
    "zfpy",
    "shuffle",
    "packbits",
    "delta",
    "fixedscaleoffset",
    "quantize",
    "astype",
    "bitround",
    "crc32",
    "crc32c",
    "adler32",
    "fletcher32",
];

/// The stage of a codec, by its name in Zarr v2 (`zlib`) or v3 (`gzip`, `numcodecs.zlib`). `None`
/// for a codec that has nothing to undo. Types are named by `dtype` and `astype`.
///
/// # Errors
///
/// Returns [`Unsupported`] for a codec that is not supported, or options that it cannot have.
pub fn numcodecs_stage(
    id: &str,
    config: Config<'_>,
) -> Result<Option<Arc<dyn Stage>>, Unsupported> {
    let short = id.strip_prefix("numcodecs.").unwrap_or(id);
    let stage: Arc<dyn Stage> = match short {
        "zlib" => Arc::new(Deflate::zlib()),
        "gzip" => Arc::new(Deflate::gzip()),
        "blosc" => Arc::new(Blosc),
        "lz4" => Arc::new(Lz4::Numcodecs),
        #[cfg(feature = "bzip2")]
        "bz2" => Arc::new(crate::Bzip2),
        #[cfg(feature = "lzma")]
        "lzma" => match whole(config, "format", 1)? {
            // Automatic, .xz and .lzma; a bare stream has no header.
            0..=2 => Arc::new(crate::Lzma),
            _ => return Err(Unsupported::options(short)),
        },
        #[cfg(feature = "zstd")]
        "zstd" => Arc::new(crate::ZstdStage),
        "shuffle" => Arc::new(Shuffle::new(whole(config, "elementsize", 4)?)),
        "fletcher32" => Arc::new(Checksummed::new(ChecksumKind::Fletcher32, ChecksumPlace::End)),
        "crc32" => Arc::new(checksum(ChecksumKind::Crc32, config, ChecksumPlace::Start)?),
        "adler32" => Arc::new(checksum(ChecksumKind::Adler32, config, ChecksumPlace::Start)?),
        "crc32c" => Arc::new(checksum(ChecksumKind::Crc32c, config, ChecksumPlace::End)?),
        "packbits" => Arc::new(PackBits),
        "zfpy" => Arc::new(ZfpStage::Stated),
        "delta" => {
            let (decoded, stored) = types(short, config)?;
            Arc::new(Convert::delta(decoded, stored))
        }
        "fixedscaleoffset" => {
            let (decoded, stored) = types(short, config)?;
            let number = |key| number(config, key).ok_or_else(|| Unsupported::options(short));
            Arc::new(Convert::scaled(decoded, stored, number("scale")?, number("offset")?))
        }
        "quantize" => {
            let (decoded, stored) = types(short, config)?;
            cast(decoded, stored)
        }
        "astype" => {
            let decoded = named(short, config, "decode_dtype")?;
            cast(decoded, named(short, config, "encode_dtype")?)
        }
        "bitround" => return Ok(None),
        _ => return Err(Unsupported::filter(id.to_owned())),
    };
    Ok(Some(stage))
}

fn cast(decoded: NumberType, stored: NumberType) -> Arc<dyn Stage> {
    Arc::new(Convert::cast(decoded, stored))
}

fn number(config: Config<'_>, key: &str) -> Option<f64> {
    match config(key)? {
        ConfigValue::Number(number) => Some(number),
        ConfigValue::Text(_) => None,
    }
}

/// A small whole number, `usual` where there is none.
fn whole(config: Config<'_>, key: &str, usual: u64) -> Result<u64, Unsupported> {
    let Some(value) = config(key) else { return Ok(usual) };
    let number = match value {
        ConfigValue::Number(number) if number.fract() == 0.0 && (0.0..1e9).contains(&number) => {
            number
        }
        _ => return Err(Unsupported::options(key)),
    };
    // A whole number in this range is exact.
    Ok(number as u64)
}

fn named(codec: &str, config: Config<'_>, key: &str) -> Result<NumberType, Unsupported> {
    match config(key) {
        Some(ConfigValue::Text(name)) => NumberType::parse(&name),
        _ => None,
    }
    .ok_or_else(|| Unsupported::options(codec))
}

/// The types of decoded and stored numbers.
fn types(codec: &str, config: Config<'_>) -> Result<(NumberType, NumberType), Unsupported> {
    let decoded = named(codec, config, "dtype")?;
    let stored = match config("astype") {
        None => decoded,
        Some(_) => named(codec, config, "astype")?,
    };
    Ok((decoded, stored))
}

fn checksum(
    checksum: ChecksumKind,
    config: Config<'_>,
    usual: ChecksumPlace,
) -> Result<Checksummed, Unsupported> {
    let place = match config("location") {
        None => usual,
        Some(ConfigValue::Text(place)) if place == "start" => ChecksumPlace::Start,
        Some(ConfigValue::Text(place)) if place == "end" => ChecksumPlace::End,
        Some(_) => return Err(Unsupported::options(checksum.name())),
    };
    Ok(Checksummed::new(checksum, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codecs_of_the_list_are_decoded() {
        for name in NUMCODECS {
            // Without a configuration a codec that is built in has invalid options at most.
            if let Err(error) = numcodecs_stage(name, &|_| None) {
                assert!(error.to_string().contains("options"), "{error}");
            }
        }
        assert!(
            numcodecs_stage("pcodec", &|_| None)
                .is_err_and(|it| !it.to_string().contains("options"))
        );
    }
}
