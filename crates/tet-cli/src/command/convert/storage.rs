//! How single datasets are stored: `--chunks`, `--codec`, `--level` and `--dtype` with names of datasets and axes.

use tet_convert::{AxisChunk, ChunkChoice, ChunkRule, CodecRule, DTypeRule, PayloadCodec};
use tet_format::DType;

use crate::args::{CodecName, Named};
use crate::exit::{Failure, Result};

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
pub(super) fn extents(text: &str) -> Result<Vec<u64>> {
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
