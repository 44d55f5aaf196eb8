//! How datasets are stored, from the options of the command line.

use tet_convert::{
    AxisChunk, Checksum, ChunkChoice, ChunkRule, CodecRule, DTypeRule, DenseOutput, Filter, Masks,
    Packing, PayloadCodec, ShardChoice, SparseLayout, SparseOutput, Storage,
};
use tet_format::DType;

use crate::args::{
    ALIGN, ChecksumName, CodecName, ConvertArgs, EncodingName, FilterName, MasksName, Named,
    SparseName, TgmArgs, ZtArgs,
};
use crate::exit::{Failure, Result};

/// How all datasets are stored.
///
/// # Errors
///
/// A shape of shards, or a precision without its encoding.
pub(super) fn storage(args: &ConvertArgs) -> Result<Storage> {
    let ConvertArgs { store, zt, tgm, .. } = args;
    let is_native = zt.sparse == Some(SparseName::Native);
    Ok(Storage {
        codec: Named::general(&store.codec).map(payload_codec),
        level: Named::general(&store.level),
        filter: tgm.filter.map(filter),
        checksum: zt.checksum.map(checksum),
        packing: packing(tgm)?,
        masks: tgm.masks.map(masks),
        align: store.align.parse().ok().filter(|_| store.align != ALIGN),
        align_above: zt.align_above,
        shards: shards(args.shards.as_deref())?,
        sparse: if is_native { SparseLayout::Native } else { SparseLayout::Parts },
        variant: variant(args).map(str::to_owned),
    })
}

/// The version of the format, or the readers of it; at most one of the options is given.
fn variant(args: &ConvertArgs) -> Option<&str> {
    let dialect = args.zt.dialect.map(|_| "0.1.x");
    let profile = args.tgm.profile.map(|_| "universal");
    args.zarr.as_deref().or(dialect).or(profile)
}

/// How values are packed.
fn packing(tgm: &TgmArgs) -> Result<Option<Packing>> {
    match (tgm.encoding, tgm.bits, tgm.max_error) {
        (Some(EncodingName::SimplePacking), Some(bits), _) => Ok(Some(Packing::Bits(bits))),
        (Some(EncodingName::SimplePacking), None, Some(error)) => {
            Ok(Some(Packing::MaxError(error)))
        }
        (Some(EncodingName::SimplePacking), None, None) => {
            let text = "simple_packing needs a precision";
            Err(Failure::usage("options", text).hint("add --bits N or --max-error E"))
        }
        (_, None, None) => Ok(tgm.encoding.map(|_| Packing::None)),
        _ => {
            let text = "--bits and --max-error are for --encoding simple_packing";
            Err(Failure::usage("options", text).hint("add --encoding simple_packing"))
        }
    }
}

fn shards(text: Option<&str>) -> Result<ShardChoice> {
    match text {
        None => Ok(ShardChoice::Kept),
        Some("none") => Ok(ShardChoice::None),
        Some("auto") => Ok(ShardChoice::Auto),
        Some(shards) => Ok(ShardChoice::Shape(extents(shards)?)),
    }
}

pub(in crate::command) const fn filter(name: FilterName) -> Filter {
    match name {
        FilterName::None => Filter::None,
        FilterName::Shuffle => Filter::Shuffle,
    }
}

pub(in crate::command) const fn checksum(name: ChecksumName) -> Checksum {
    match name {
        ChecksumName::None => Checksum::None,
        ChecksumName::Crc32c => Checksum::Crc32c,
        ChecksumName::Sha256 => Checksum::Sha256,
    }
}

const fn masks(name: MasksName) -> Masks {
    match name {
        MasksName::Exact => Masks::Exact,
        MasksName::All => Masks::All,
        MasksName::None => Masks::None,
    }
}

/// How sparse tensors are written.
pub(super) const fn sparse_output(zt: &ZtArgs) -> SparseOutput {
    match zt.sparse {
        Some(SparseName::Dense) => SparseOutput::Dense,
        Some(SparseName::Split | SparseName::Native) | None => SparseOutput::Sparse,
    }
}

/// How dense arrays are written.
pub(super) const fn dense_output(zt: &ZtArgs) -> DenseOutput {
    match zt.sparse {
        Some(SparseName::Split | SparseName::Native) => DenseOutput::Sparse,
        Some(SparseName::Dense) | None => DenseOutput::Dense,
    }
}

/// The rules of all `--chunks`.
///
/// # Errors
///
/// One is not a chunk shape.
pub(in crate::command) fn chunk_rules(texts: &[String]) -> Result<Vec<ChunkRule>> {
    texts.iter().map(|text| chunk_rule(text)).collect()
}

/// `1,30,60`, `time:1,lat:auto` or `auto`, with `temp=` before it for one dataset.
fn chunk_rule(text: &str) -> Result<ChunkRule> {
    let (dataset, shape) = match text.rsplit_once('=') {
        Some((dataset, shape)) => (Some(dataset.to_owned()), shape),
        None => (None, text),
    };
    let chunks = match shape.trim() {
        "auto" => ChunkChoice::Auto,
        axes if axes.contains(':') => {
            ChunkChoice::Axes(axes.split(',').map(axis_chunk).collect::<Result<_>>()?)
        }
        shape => ChunkChoice::Shape(extents(shape)?),
    };
    Ok(ChunkRule { dataset, chunks })
}

/// `time:24` or `lat:auto`.
fn axis_chunk(text: &str) -> Result<(String, AxisChunk)> {
    let (axis, extent) = text.trim().rsplit_once(':').unwrap_or((text, ""));
    let extent = match extent.trim() {
        "auto" => Some(AxisChunk::Auto),
        extent => extent.parse().ok().filter(|it| *it != 0).map(AxisChunk::Extent),
    };
    match extent.filter(|_| !axis.is_empty()) {
        Some(extent) => Ok((axis.to_owned(), extent)),
        None => {
            let text = format!("{text:?} is not an axis and the extent of chunks along it");
            Err(Failure::usage("chunk-shape", text).hint("write time:24, or time:24,lat:auto"))
        }
    }
}

/// The extents of a shape.
///
/// # Errors
///
/// The text is not a shape, or an extent is 0.
fn extents(text: &str) -> Result<Vec<u64>> {
    let extents = text.trim_matches(['(', ')', '[', ']']);
    let extents = extents.strip_suffix(',').unwrap_or(extents).split([',', 'x']);
    let shape: std::result::Result<Vec<u64>, _> = extents.map(str::trim).map(str::parse).collect();
    match shape {
        Ok(shape) if !shape.is_empty() && !shape.contains(&0) => Ok(shape),
        _ => {
            let text = format!("{text:?} is not a chunk shape");
            let hint = "write auto, extents as 1,30,60, or extents along axes as time:24,lat:auto";
            Err(Failure::usage("chunk-shape", text).hint(hint))
        }
    }
}

/// The rules of those `--codec` and `--level` that name datasets.
pub(in crate::command) fn codec_rules(
    codecs: &[Named<CodecName>],
    levels: &[Named<i32>],
) -> Vec<CodecRule> {
    let codecs = codecs.iter().filter_map(|it| {
        let codec = Some(payload_codec(it.value));
        Some(CodecRule { dataset: it.dataset.clone()?, codec, level: None })
    });
    let levels = levels.iter().filter_map(|it| {
        Some(CodecRule { dataset: it.dataset.clone()?, codec: None, level: Some(it.value) })
    });
    codecs.chain(levels).collect()
}

/// The rules of all `--dtype`.
pub(in crate::command) fn dtype_rules(dtypes: &[Named<DType>]) -> Vec<DTypeRule> {
    let rule = |it: &Named<DType>| DTypeRule { dataset: it.dataset.clone(), dtype: it.value };
    dtypes.iter().map(rule).collect()
}

pub(in crate::command) const fn payload_codec(name: CodecName) -> PayloadCodec {
    match name {
        CodecName::Raw => PayloadCodec::Raw,
        CodecName::Zstd => PayloadCodec::Zstd,
        CodecName::Gzip => PayloadCodec::Gzip,
        CodecName::Lz4 => PayloadCodec::Lz4,
        CodecName::Szip => PayloadCodec::Szip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_shapes_are_read_as_people_write_them() {
        for text in ["1,30,60", "(1, 30, 60)", "1x30x60", "[1,30,60]"] {
            assert_eq!(extents(text), Ok(vec![1, 30, 60]), "{text}");
        }
        assert_eq!(extents("(12,)"), Ok(vec![12]));
        for text in ["", "0", "1,,x", "-1", "big", "temp=", "a:b", "time:0", ":1", "time:1,2"] {
            assert!(chunk_rule(text).is_err(), "{text}");
        }
    }

    #[test]
    fn chunks_are_for_all_datasets_or_one_and_along_axes() {
        let rule = |text: &str| chunk_rule(text).expect("a rule");
        assert_eq!(rule("auto"), ChunkRule { dataset: None, chunks: ChunkChoice::Auto });
        let named = rule("a=b=1,2");
        assert_eq!(named.dataset.as_deref(), Some("a=b"));
        assert_eq!(named.chunks, ChunkChoice::Shape(vec![1, 2]));
        let along = rule("temp=time:24, lat:auto");
        let time = ("time".to_owned(), AxisChunk::Extent(24));
        let lat = ("lat".to_owned(), AxisChunk::Auto);
        assert_eq!(along.chunks, ChunkChoice::Axes(vec![time, lat]));
        assert_eq!(along.dataset.as_deref(), Some("temp"));
    }

    #[test]
    fn codecs_and_levels_with_names_are_rules() {
        let codecs = ["zstd", "temp=raw"].map(|it| Named::codec(it).expect("a codec"));
        let levels = ["9", "mask=19"].map(|it| Named::level(it).expect("a level"));
        let rules = codec_rules(&codecs, &levels);
        let (temp, mask) = ("temp".to_owned(), "mask".to_owned());
        assert_eq!(
            rules,
            [
                CodecRule { dataset: temp, codec: Some(PayloadCodec::Raw), level: None },
                CodecRule { dataset: mask, codec: None, level: Some(19) },
            ]
        );
        assert_eq!(Named::general(&codecs), Some(CodecName::Zstd));
        assert_eq!(Named::general(&levels), Some(9));
    }
}
