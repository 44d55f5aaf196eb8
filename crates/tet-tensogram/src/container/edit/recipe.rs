//! How an object is stored, out of its descriptor: the recipe by which it is written again.

use crate::{
    ByteOrder, Compressing, Descriptor, DescriptorStage, MaskMethod, NonFinite, PackingFit,
    PackingParameters, Readers, Recipe, SzipParameters, Value,
};
use tet_format::DType;

use super::super::options::packing_fit;
use tet_container::no_codec;
use tet_container::write::storage::{Filter, LeveledCodec, PayloadCodec, Storage};
use tet_container::{Error, Result};

/// The level of zstd where the descriptor has none.
const LEVEL: i32 = 3;

/// The recipe of an object, with what changes.
///
/// # Errors
/// Objects are not written with such an encoding, filter or codec.
pub(super) fn recipe_of(
    dataset: &str,
    descriptor: &Descriptor,
    change: &Storage,
) -> Result<Recipe> {
    let unfit = |why| Error::Unfit { dataset: dataset.to_owned(), encoding: "Tensogram", why };
    let stage = |stage| match descriptor.stage(stage) {
        "" => "none",
        word => word,
    };
    let old_packing = match stage(DescriptorStage::Encoding) {
        "none" => Some(None),
        "simple_packing" => packing(descriptor).map(Some),
        _ => None,
    };
    let new_packing = change.packing.map(packing_fit);
    let packing = new_packing.or_else(|| old_packing.map(|it| it.map(PackingFit::Given)));
    let why = "its encoding is not written: name another with `tet edit repack --encoding`";
    let packing = packing.ok_or_else(|| unfit(why))?;
    let size = descriptor.dtype().and_then(DType::size).unwrap_or(1);
    let shuffle = match (change.filter, stage(DescriptorStage::Filter)) {
        (Some(Filter::None), _) | (None, "none") => None,
        (Some(Filter::Shuffle), _) => Some(size).filter(|size| 1 < *size),
        // Numbers that are packed now have no bytes to shuffle.
        (None, _) if new_packing.is_some_and(|it| it.is_some()) => None,
        (None, "shuffle") => integer(descriptor, "shuffle_element_size"),
        (None, _) => {
            let why = "its filter is not written: name another with `tet edit repack --filter`";
            return Err(unfit(why));
        }
    };
    let compression = compression(dataset, descriptor, change)?;
    let order = if packing.is_some() { ByteOrder::Little } else { descriptor.byte_order() };
    // Old programs look for the keys of before 0.19.
    let readers = match descriptor.value("reference_value") {
        Some(_) => Readers::All,
        None => Readers::Since019,
    };
    let mask_method = descriptor.masks().iter().find_map(|mask| {
        use MaskMethod::{Lz4, Rle, Roaring, Zstd};
        [Rle, Roaring, Lz4, Zstd].into_iter().find(|method| method.word() == mask.method)
    });
    // A packed number is never NaN.
    let masks = if packing.is_some() { NonFinite::Masked } else { NonFinite::Exact };
    Ok(Recipe {
        byte_order: order,
        packing,
        shuffle,
        readers,
        compression,
        nan: masks,
        infinity: masks,
        mask_method: mask_method.unwrap_or_default(),
        ..Recipe::default()
    })
}

fn compression(dataset: &str, descriptor: &Descriptor, change: &Storage) -> Result<Compressing> {
    let old = descriptor.stage(DescriptorStage::Compression);
    let of_old = |codec: PayloadCodec| {
        change.codec.is_none() && change.level.is_none() && old == codec.name()
    };
    let level = integer(descriptor, "zstd_level").unwrap_or(LEVEL);
    let codec = match (change.codec, old) {
        (Some(codec), _) => codec,
        (None, "" | "none") => PayloadCodec::Raw,
        (None, "zstd") => PayloadCodec::Zstd,
        (None, "lz4") => PayloadCodec::Lz4,
        (None, "szip") => PayloadCodec::Szip,
        (None, "rle") => return Ok(Compressing::Rle),
        (None, "roaring") => return Ok(Compressing::Roaring),
        (None, _) => {
            let why = "its codec is not written: name another with `tet edit repack --codec`";
            return Err(Error::Unfit { dataset: dataset.to_owned(), encoding: "Tensogram", why });
        }
    };
    Ok(match (codec, change.level) {
        (PayloadCodec::Raw, None) => Compressing::None,
        (PayloadCodec::Zstd, None) if of_old(PayloadCodec::Zstd) => Compressing::Zstd { level },
        (PayloadCodec::Zstd, level) => Compressing::Zstd { level: level.unwrap_or(LEVEL) },
        (PayloadCodec::Lz4, None) => Compressing::Lz4,
        (PayloadCodec::Szip, None) if of_old(PayloadCodec::Szip) => {
            let default = SzipParameters::default();
            Compressing::Szip(SzipParameters {
                rsi: integer(descriptor, "szip_rsi").unwrap_or(default.rsi),
                block_size: integer(descriptor, "szip_block_size").unwrap_or(default.block_size),
                flags: integer(descriptor, "szip_flags").unwrap_or(default.flags),
            })
        }
        (PayloadCodec::Szip, None) => Compressing::Szip(SzipParameters::default()),
        (codec, level) => {
            return Err(no_codec(dataset, "Tensogram", LeveledCodec { codec, level }));
        }
    })
}

/// The parameters of `simple_packing`, under the keys of this or of older releases.
fn packing(descriptor: &Descriptor) -> Option<PackingParameters> {
    let key = |name: &str| match descriptor.value(&format!("sp_{name}")) {
        Some(_) => format!("sp_{name}"),
        None => name.to_owned(),
    };
    #[allow(clippy::cast_precision_loss, reason = "the nearest double is what it means")]
    let reference = match descriptor.value(&key("reference_value"))? {
        Value::Float(number) => *number,
        Value::Int(number) => *number as f64,
        _ => return None,
    };
    Some(PackingParameters {
        reference,
        binary_scale: integer(descriptor, &key("binary_scale_factor"))?,
        decimal_scale: integer(descriptor, &key("decimal_scale_factor"))?,
        bits: integer(descriptor, &key("bits_per_value"))?,
    })
}

fn integer<T: TryFrom<i128>>(descriptor: &Descriptor, key: &str) -> Option<T> {
    match descriptor.value(key) {
        Some(Value::Int(number)) => T::try_from(*number).ok(),
        _ => None,
    }
}
