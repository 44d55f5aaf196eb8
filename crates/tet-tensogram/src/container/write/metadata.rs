//! The metadata of a Tensogram file and of its objects.
//!
//! ```text
//!   base[i]: attributes, name, dims, coords, _reserved_: {tensor}     _extra_: attributes of the file
//! ```

use crate::{Limits, Metadata, Pairs, RESERVED_KEY, TensogramFile, Value};
use tet_query::AttrText;

use super::super::keys::{NAME_KEY, escaped, name_of};
use super::{Object, strides};
use tet_container::model::attributes::{self, SCALAR_KEY};
use tet_container::model::axes::{
    COORDS_KEY, DIMS_KEY, coords_field, dims_field, take_coords, take_dims,
};
use tet_container::model::item::field;
use tet_container::model::origin::HEADER_KEY;
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::write::stream::shape_of;
use tet_container::{Format, Note, Result};

/// All of it.
pub(super) fn collect(
    conversion: &Conversion<'_>,
    objects: &[Object],
    options: &ConvertOptions,
) -> Result<Metadata> {
    let mut extra = Pairs::new();
    for (key, value) in conversion.catalog.attrs() {
        let is_own = key == RESERVED_KEY || key.starts_with("attr:");
        extra.push((if is_own { escaped(key) } else { key.clone() }, field(value)));
    }
    let header = conversion.header.clone().map(Value::Text);
    extra.extend(header.map(|header| (HEADER_KEY.to_owned(), header)));
    let base = objects.iter().enumerate().map(|(at, object)| entry(at, object, options));
    let base = base.collect::<Result<Vec<_>>>()?;
    Ok(Metadata { base, extra, ..Metadata::default() })
}

/// Notes what of a Tensogram file has no place in one message.
pub(super) fn note_lost(conversion: &mut Conversion<'_>) -> Result<()> {
    if conversion.catalog.format() != Format::TENSOGRAM.name() {
        return Ok(());
    }
    let source = conversion.catalog.source().clone();
    let file = TensogramFile::open(source, &Limits::default())?;
    if file.len() < 2 {
        return Ok(());
    }
    let messages = (0..file.len()).filter_map(|message| file.metadata(message).ok());
    let count = messages.map(|metadata| metadata.extra.len()).fold(0, usize::saturating_add);
    let what = "keys that single messages have for all objects";
    conversion.notes.extend(Note::left_behind("", what, count));
    Ok(())
}

/// The metadata of an object.
fn entry(at: usize, object: &Object, options: &ConvertOptions) -> Result<Pairs> {
    // Bits have the axes of the bytes that hold them, as they are read.
    let (dataset, shape) = (object.lazy.dataset(), shape_of(&object.lazy));
    let rank = shape.rank();
    let asked = attributes::given(&dataset.name, rank, &options.tet);
    let dims = if asked.dim_names.is_empty() { dataset.dims.clone() } else { asked.dim_names };
    let mut attrs = dataset.attrs.clone();
    attrs.remove(SCALAR_KEY);
    for (key, value) in asked.attrs {
        let (tet_file::AttrValue::Text(text) | tet_file::AttrValue::Json(text)) = value;
        attrs.insert(key, AttrText::Text(text));
    }
    // One that is read as what it is, an attribute, is written as it is.
    let is_dims =
        dims.len() == rank && !dims.is_empty() || !take_dims(&mut attrs.clone(), rank).is_empty();
    let is_coords =
        !dataset.coords.is_empty() || !take_coords(&mut attrs.clone(), &dims, &shape).is_empty();
    let mut entry = Pairs::new();
    for (key, value) in &attrs {
        let key = match key.as_str() {
            DIMS_KEY if !is_dims => key.clone(),
            COORDS_KEY if !is_coords => key.clone(),
            _ => escaped(key),
        };
        entry.push((key, field(value)));
    }
    // A name that readers give by themselves is not stored.
    let is_implied = match name_of(&entry) {
        Some(name) => name == dataset.name,
        None => dataset.name == format!("m0_o{at}"),
    };
    if !is_implied {
        entry.push((NAME_KEY.to_owned(), Value::Text(dataset.name.clone())));
    }
    if dims.len() == rank && !dims.is_empty() {
        entry.push((DIMS_KEY.to_owned(), dims_field(&dims)));
    }
    if !dataset.coords.is_empty() && rank != 0 {
        entry.push((COORDS_KEY.to_owned(), coords_field(dataset)));
    }
    entry.push(reserved(object)?);
    Ok(entry)
}

/// The metadata of an object that has nothing but what libraries store of it.
pub(in super::super) fn described(object: &Object) -> Result<Pairs> {
    Ok(vec![reserved(object)?])
}

/// The entry of an object that libraries of the format store, with its key.
fn reserved(object: &Object) -> Result<(String, Value)> {
    Ok((RESERVED_KEY.to_owned(), tensor(object)?))
}

/// The metadata that libraries of the format store of each object.
fn tensor(object: &Object) -> Result<Value> {
    let text = |text: &str| Value::Text(text.to_owned());
    let shape = object.shape.iter().map(|&extent| Value::Int(extent.into())).collect();
    let tensor = vec![
        (text("dtype"), text(object.dtype.name())),
        (text("ndim"), Value::Int(object.shape.len() as i128)),
        (text("shape"), Value::Array(shape)),
        (text("strides"), strides(object)?),
    ];
    Ok(Value::Map(vec![(text("tensor"), Value::Map(tensor))]))
}
