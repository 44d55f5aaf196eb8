//! How messages are written, out of the options of a conversion.

use crate::{
    Compressing, HashChoice, NonFinite, PackingFit, Readers, Recipe, SzipParameters, VersionKey,
    WriteOptions,
};

use tet_file::write::DigestChoice;

use tet_container::no_codec;
use tet_container::write::conversion::ConvertOptions;
use tet_container::write::storage::{self, Filter, LeveledCodec, Masks, Packing, PayloadCodec};
use tet_container::{Error, Result};

/// The variant that all releases of version 3 read, those before 0.19 too.
pub(super) const UNIVERSAL: &str = "universal";
/// The level of zstd where none is asked for.
const LEVEL: i32 = 3;
/// The most bits of a packed value.
const BITS_MAX: u32 = 64;

fn is_universal(options: &ConvertOptions) -> bool {
    options.storage.variant.as_deref() == Some(UNIVERSAL)
}

/// How the message is written.
pub(super) fn write_options(options: &ConvertOptions) -> WriteOptions {
    let mut message = WriteOptions::default();
    message.align = options.storage.align.unwrap_or(message.align);
    if options.tet.digests == DigestChoice::Left {
        message.hash = HashChoice::None;
    }
    if is_universal(options) {
        message.version_key = VersionKey::Written;
    }
    message
}

/// How a dataset is compressed.
///
/// # Errors
/// Objects have no such codec.
pub(super) fn compression(dataset: &str, options: &ConvertOptions) -> Result<Compressing> {
    let usual = options.storage.codec_or(PayloadCodec::Raw);
    let asked = storage::codec_of(dataset, usual, &options.codecs);
    match (asked.codec, asked.level) {
        (PayloadCodec::Raw, None) => Ok(Compressing::None),
        (PayloadCodec::Zstd, level) => Ok(Compressing::Zstd { level: level.unwrap_or(LEVEL) }),
        (PayloadCodec::Lz4, None) => Ok(Compressing::Lz4),
        (PayloadCodec::Szip, None) => Ok(Compressing::Szip(SzipParameters::default())),
        _ => Err(no_codec(dataset, "Tensogram", asked)),
    }
}

/// How a dataset of elements of `size` bytes is stored.
///
/// # Errors
/// Objects have no such codec, or the options would damage elements together.
pub(super) fn recipe(dataset: &str, size: u64, options: &ConvertOptions) -> Result<Recipe> {
    let storage = &options.storage;
    let compression = compression(dataset, options)?;
    let is_shuffled = storage.filter == Some(Filter::Shuffle);
    let packing = storage.packing.and_then(packing_fit);
    if let Some(why) = packing.and_then(|fit| unpackable(fit, compression, is_shuffled)) {
        return Err(Error::Unfit { dataset: dataset.to_owned(), encoding: "Tensogram", why });
    }
    // NaN and infinities are packed by masks alone.
    let masks = match storage.masks.unwrap_or_default() {
        Masks::All => NonFinite::Masked,
        Masks::Exact | Masks::None if packing.is_some() => NonFinite::Refused,
        Masks::Exact => NonFinite::Exact,
        Masks::None => NonFinite::Kept,
    };
    let readers = if is_universal(options) { Readers::All } else { Readers::default() };
    Ok(Recipe {
        packing,
        compression,
        readers,
        shuffle: Some(size).filter(|size| is_shuffled && 1 < *size),
        nan: masks,
        infinity: masks,
        threads: options.tet.threads,
        ..Recipe::default()
    })
}

/// A packing as the format has it.
pub(super) const fn packing_fit(packing: Packing) -> Option<PackingFit> {
    match packing {
        Packing::None => None,
        Packing::Bits(bits) => Some(PackingFit::Bits { bits, decimal_scale: 0 }),
        Packing::MaxError(error_max) => Some(PackingFit::Within { error_max }),
    }
}

/// Why values are not packed so.
fn unpackable(
    fit: PackingFit,
    compression: Compressing,
    is_shuffled: bool,
) -> Option<&'static str> {
    let is_szip = matches!(compression, Compressing::Szip(_));
    match fit {
        _ if is_shuffled => {
            Some("packed values cannot be shuffled: leave out the filter or the packing")
        }
        PackingFit::Bits { bits, .. } if BITS_MAX < bits => {
            Some("values are packed in 0 to 64 bits; most fields need 12 to 24")
        }
        PackingFit::Bits { bits, .. } if is_szip && !matches!(bits, 8 | 16 | 24 | 32) => Some(
            "szip damages packed values that are not whole bytes: use 8, 16, 24 or 32 bits, or another codec",
        ),
        PackingFit::Within { error_max } if !error_max.is_finite() || error_max < 0.0 => {
            Some("the largest error is a number of 0 or more")
        }
        _ => None,
    }
}

/// Checks that the level has a codec that has levels.
///
/// # Errors
/// It has none.
pub(super) fn check(options: &ConvertOptions) -> Result<()> {
    let LeveledCodec { codec, level } = options.storage.codec_or(PayloadCodec::Raw);
    match level {
        Some(_) if codec != PayloadCodec::Zstd => Err(Error::LevelAlone { encoding: "Tensogram" }),
        _ => Ok(()),
    }
}
