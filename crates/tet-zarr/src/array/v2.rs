//! A `.zarray` with its `.zattrs` (Zarr storage specification 2).

use serde_json::Value;

use super::{ArrayMeta, DIMENSIONS, ZarrFormat, chunks_of, grid_of, shape_of};
use crate::codec::ZarrCodec;
use crate::element::ZarrElement;
use crate::error::{Broken, broken, len};
use crate::fill;
use crate::json::Object;
use crate::key::KeyEncoding;
use crate::rule;

/// The members of a document that are null where an array has none.
const OPTIONAL: [&str; 3] = ["compressor", "filters", "fill_value"];

pub(super) fn read(path: &str, document: &Object, attributes: Object) -> Result<ArrayMeta, Broken> {
    let format = document.get("zarr_format").and_then(Value::as_u64);
    if format != Some(2) {
        return Err(broken(&rule::FORMAT, format.unwrap_or(0), 2));
    }
    let shape = shape_of(document)?;
    let chunks = chunks_of(document.get("chunks"), &shape)?;
    let Some(dtype) = document.get("dtype") else { return Err(broken(&rule::DATA_TYPE, 0, 0)) };
    let (mut element, byte_order) = ZarrElement::of_v2(dtype)?;
    let mut codecs = Vec::new();
    match document.get("order").and_then(Value::as_str) {
        Some("C") => {}
        Some("F") if shape.rank() < 2 => {}
        Some("F") => codecs.push(ZarrCodec::reversed(shape.rank())),
        _ => return Err(broken(&rule::ORDER, 0, 0)),
    }
    codecs.push(ZarrCodec::bytes(byte_order));
    codecs.extend(ZarrCodec::filters_of_v2(document.get("filters"))?);
    match document.get("compressor") {
        None | Some(Value::Null) => {}
        Some(compressor) => codecs.push(ZarrCodec::of_v2(compressor)?),
    }
    let is_object = dtype.as_str() == Some("|O");
    if is_object && codecs.iter().any(|codec| codec.name == "vlen-utf8") {
        element = ZarrElement::Text;
    }
    let fill = fill::element_of(document.get("fill_value"), &element, byte_order)?;
    let (dimension_names, mut notes) = dimension_names(&attributes, shape.rank());
    if OPTIONAL.iter().any(|name| !document.contains_key(*name)) {
        notes.push(broken(&rule::MEMBER_MISSING, 0, 0));
    }
    Ok(ArrayMeta {
        path: path.to_owned(),
        format: ZarrFormat::V2,
        grid: grid_of(&shape, &chunks)?,
        shape,
        object_shape: chunks,
        element,
        byte_order,
        fill,
        has_fill: true,
        codecs: codecs.into(),
        shards: Vec::new(),
        dimension_names,
        attributes,
        keys: KeyEncoding::of_v2(document.get("dimension_separator"))?,
        notes,
    })
}

/// The names of the axes, as xarray writes them.
fn dimension_names(attributes: &Object, rank: usize) -> (Option<Vec<Option<String>>>, Vec<Broken>) {
    let Some(Value::Array(list)) = attributes.get(DIMENSIONS) else {
        return (None, Vec::new());
    };
    let name = |value: &Value| value.as_str().map(|name| Some(name.to_owned()));
    let names = list.iter().map(name).collect::<Option<Vec<_>>>();
    match names.filter(|names| names.len() == rank) {
        Some(names) => (Some(names), Vec::new()),
        None => (None, vec![broken(&rule::DIMENSION_NAMES, len(list.len()), len(rank))]),
    }
}
