//! A `zarr.json` of an array (Zarr core specification 3, and the codec `sharding_indexed`).

use serde_json::Value;
use tet_format::Shape;

use super::{ArrayMeta, ZarrFormat, chunks_of, grid_of, shape_of};
use crate::codec::ZarrCodec;
use crate::element::{ZarrElement, ZarrOrder};
use crate::error::{Broken, broken, len};
use crate::fill;
use crate::json::Object;
use crate::key::KeyEncoding;
use crate::rule;
use crate::shard::ShardLevel;

/// The most levels of nested shards.
const LEVELS_MAX: usize = 8;

/// The members of a document that this reader knows.
const MEMBERS: [&str; 12] = [
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
    "attributes",
    "storage_transformers",
    "dimension_names",
    "consolidated_metadata",
];

pub(super) fn read(path: &str, document: &Object) -> Result<ArrayMeta, Broken> {
    let format = document.get("zarr_format").and_then(Value::as_u64);
    if format != Some(3) {
        return Err(broken(&rule::FORMAT, format.unwrap_or(0), 3));
    }
    check_members(document, &MEMBERS)?;
    match document.get("storage_transformers") {
        None => {}
        Some(Value::Array(list)) if list.is_empty() => {}
        Some(_) => return Err(broken(&rule::STORAGE_TRANSFORMERS, 0, 0)),
    }
    let shape = shape_of(document)?;
    let grid = document.get("chunk_grid");
    if grid.and_then(|it| it.get("name")).and_then(Value::as_str) != Some("regular") {
        return Err(broken(&rule::CHUNKS, 0, 0));
    }
    let chunks = grid.and_then(|it| it.get("configuration")?.get("chunk_shape"));
    let object_shape = chunks_of(chunks, &shape)?;
    let Some(data_type) = document.get("data_type") else {
        return Err(broken(&rule::DATA_TYPE, 0, 0));
    };
    let element = ZarrElement::of_v3(data_type)?;
    let codecs = ZarrCodec::list_of_v3(document.get("codecs"))?;
    let (codecs, shards, chunk_shape) = unwrap_shards(codecs, &object_shape)?;
    let byte_order = if are_big(&codecs, 0)? { ZarrOrder::Big } else { ZarrOrder::Little };
    let attributes = match document.get("attributes") {
        None => Object::new(),
        Some(Value::Object(attributes)) => attributes.clone(),
        Some(_) => return Err(broken(&rule::ATTRIBUTES, 0, 0)),
    };
    let (dimension_names, mut notes) = dimension_names(document, shape.rank());
    let fill_value = document.get("fill_value").filter(|value| !value.is_null());
    if fill_value.is_none() {
        notes.push(broken(&rule::NO_FILL, 0, 0));
    }
    Ok(ArrayMeta {
        path: path.to_owned(),
        format: ZarrFormat::V3,
        grid: grid_of(&shape, &chunk_shape)?,
        shape,
        object_shape,
        fill: fill::element_of(fill_value, &element, ZarrOrder::Little)?,
        has_fill: fill_value.is_some(),
        element,
        byte_order,
        codecs: codecs.into(),
        shards,
        dimension_names,
        attributes,
        keys: KeyEncoding::of_v3(document.get("chunk_key_encoding"))?,
        notes,
    })
}

/// Checks that a document requires nothing but these members to be understood.
pub(crate) fn check_members(document: &Object, known: &[&str]) -> Result<(), Broken> {
    let is_optional = |value: &Value| value.get("must_understand") == Some(&Value::Bool(false));
    let mut unknown = document.iter().filter(|(name, _)| !known.contains(&name.as_str()));
    if unknown.any(|(_, value)| !is_optional(value)) {
        return Err(broken(&rule::EXTENSION, 0, 0));
    }
    Ok(())
}

/// The codecs of the innermost chunks, the shards around them, and their extents. A shard with
/// other codecs around it stays a chunk with the codec `sharding_indexed`.
fn unwrap_shards(
    mut codecs: Vec<ZarrCodec>,
    object_shape: &Shape,
) -> Result<(Vec<ZarrCodec>, Vec<ShardLevel>, Shape), Broken> {
    let mut chunk_shape = object_shape.clone();
    let mut shards = Vec::new();
    while let [codec] = codecs.as_slice()
        && codec.is_core("sharding_indexed")
    {
        if LEVELS_MAX <= shards.len() {
            return Err(broken(&rule::LIMIT_SHARD, len(shards.len() + 1), len(LEVELS_MAX)));
        }
        let (level, inner) = ShardLevel::read(codec, &chunk_shape)?;
        let inside = ZarrCodec::list_of_v3(codec.configuration.get("codecs"))?;
        shards.push(level);
        chunk_shape = inner;
        codecs = inside;
    }
    Ok((codecs, shards, chunk_shape))
}

/// Whether codecs, or those of the chunks of a shard among them, store numbers with the highest byte first.
fn are_big(codecs: &[ZarrCodec], level: usize) -> Result<bool, Broken> {
    if LEVELS_MAX < level {
        return Err(broken(&rule::LIMIT_SHARD, len(level), len(LEVELS_MAX)));
    }
    for codec in codecs {
        let is_big = if codec.is_core("sharding_indexed") {
            let inside = ZarrCodec::list_of_v3(codec.configuration.get("codecs"))?;
            are_big(&inside, level + 1)?
        } else {
            codec.is_core("bytes") && codec.text("endian") == Some("big")
        };
        if is_big {
            return Ok(true);
        }
    }
    Ok(false)
}

fn dimension_names(document: &Object, rank: usize) -> (Option<Vec<Option<String>>>, Vec<Broken>) {
    let list = match document.get("dimension_names") {
        None | Some(Value::Null) => return (None, Vec::new()),
        Some(Value::Array(list)) => list.as_slice(),
        Some(_) => &[],
    };
    let name = |value: &Value| match value {
        Value::Null => Some(None),
        Value::String(name) => Some(Some(name.clone())),
        _ => None,
    };
    let names = list.iter().map(name).collect::<Option<Vec<_>>>();
    match names.filter(|names| names.len() == rank) {
        Some(names) => (Some(names), Vec::new()),
        None => (None, vec![broken(&rule::DIMENSION_NAMES, len(list.len()), len(rank))]),
    }
}
