//! A hierarchy before it is written: paths, axes, types, attributes and fill values.

use std::collections::BTreeMap;

use crate::{NewArray, NewElement, NewHierarchy, ZarrFormat, fill_json};
use serde_json::{Map, Value};
use tet_file::AttrValue;
use tet_format::{DType, Shape};
use tet_query::{AttrText, Dataset, LazyArray};

use super::attributes::{Fill, fill_attribute, given_fill, is_fill, json};
use super::labels;
use super::names::{group_of, legal, of_datasets};
use super::options;
use super::shape::{self, Shaped};
use tet_container::model::attributes::{self, FILL_KEY, SCALAR_KEY};
use tet_container::write::axes::{names_of, used};
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::write::stream::shape_of;
use tet_container::write::texts::TEXT_LEN;
use tet_container::write::{chunk_shape, fill, groups, texts};
use tet_container::{Note, Result};

/// A hierarchy before it is written.
#[derive(Debug)]
pub struct Draft {
    pub hierarchy: NewHierarchy,
    /// The sources of the arrays of the hierarchy, in their order.
    pub parts: Vec<ArraySource>,
}

/// Where the elements of an array come from, and its fill value.
#[derive(Debug)]
pub struct ArraySource {
    pub elements: Elements,
    /// The bytes of the fill value, where chunks of nothing else are left out.
    pub(super) fill: Option<Vec<u8>>,
}

/// Where the elements of an array come from.
#[derive(Debug)]
pub enum Elements {
    /// The array of this number.
    Array(usize),
    /// The texts of the dataset of this number.
    Texts(usize),
    /// The bytes of its only chunk.
    Bytes(Vec<u8>),
}

impl Draft {
    /// The chunk shapes of the datasets, without those of labels.
    pub(super) fn chunk_shapes(&self) -> Vec<Vec<u64>> {
        let arrays = self.hierarchy.arrays.iter().zip(&self.parts);
        let of_datasets = arrays.filter(|(_, part)| !matches!(part.elements, Elements::Bytes(_)));
        of_datasets.map(|(array, _)| array.chunk_shape.to_vec()).collect()
    }
}

/// Plans the hierarchy.
///
/// # Errors
/// Two datasets would have one path, or chunks and shards do not fit a dataset.
pub fn prepare(
    conversion: &mut Conversion<'_>,
    arrays: &[LazyArray],
    options: &ConvertOptions,
) -> Result<Draft> {
    let notes = &mut conversion.notes;
    options::check(arrays.first().map_or("", |it| &it.dataset().name), options)?;
    let paths = of_datasets(arrays.iter().map(|it| it.dataset().name.as_str()), notes)?;
    let mut made = Vec::new();
    let used = used(arrays);
    for ((lazy, path), number) in arrays.iter().zip(&paths).zip(0..) {
        let dims = names_of(lazy, &used);
        let dims = Some(dims).filter(|dims| dims.len() == shape_of(lazy).rank());
        let texts = conversion.datasets.get(number).filter(|dataset| dataset.is_text());
        let named = NamedArray { number, lazy, path, dims };
        made.push(match texts {
            Some(texts) => of_texts(texts, named, options, notes)?,
            None => of_dataset(named, options, notes)?,
        });
    }
    let labels = of_labels(arrays, &paths, options, notes)?;
    made.splice(0..0, labels);
    let groups = of_groups(conversion, &paths);
    let (arrays, parts) = made.into_iter().unzip();
    Ok(Draft {
        hierarchy: NewHierarchy { format: options::format(options), groups, arrays },
        parts,
    })
}

/// An array with its names in the hierarchy.
struct NamedArray<'a> {
    /// The number of the dataset.
    number: usize,
    lazy: &'a LazyArray,
    path: &'a str,
    /// The names of its axes, where all have one.
    dims: Option<Vec<String>>,
}

/// A dataset as an array.
fn of_dataset(
    named: NamedArray<'_>,
    options: &ConvertOptions,
    notes: &mut Vec<Note>,
) -> Result<(NewArray, ArraySource)> {
    let NamedArray { number, lazy, path, dims } = named;
    let (dataset, dtype, shape) = (lazy.dataset(), lazy.dtype(), shape_of(lazy));
    let format = options::format(options);
    let attrs = attrs_of(dataset, shape.rank(), options);
    if dataset.dtype_name == "char" {
        let (dataset, from) = (dataset.name.clone(), dataset.dtype_name.clone());
        notes.push(Note::AsBits { dataset, from, to: dtype });
    }
    let size = dtype.size().unwrap_or(1);
    let automatic = || chunk_shape::chosen(dataset, &shape, size, options);
    let shaped = Shaped { dataset, shape: &shape, size, automatic: &automatic };
    let shapes = shape::shapes(&shaped, options)?;
    let given = || attrs.get(FILL_KEY).and_then(|attr| given_fill(attr, dtype));
    let own = || own_fill(dataset, dtype, options);
    let fill = match format {
        ZarrFormat::V3 => own().or_else(given),
        // Where axes have names, xarray takes the fill value of version 2 for that of missing values.
        ZarrFormat::V2 => given().or_else(|| own().filter(|_| dims.is_none())),
    };
    let (element, fill) = match fill {
        Some(fill) => (Some(fill.element), Some(fill.json)),
        // An undefined fill value may be read as anything.
        None if format == ZarrFormat::V2 => (None, None),
        None => (Some(vec![0; usize::try_from(size).unwrap_or(1)]), None),
    };
    let with_fill = |(key, attr): (&String, &AttrText)| {
        let fill = if is_fill(key) { fill_attribute(attr, dtype, format) } else { None };
        (key.clone(), fill.or_else(|| json(attr)), attr.text().to_owned())
    };
    let attributes = written(&dataset.name, attrs.iter().map(with_fill), notes);
    let array = NewArray {
        path: path.to_owned(),
        element: NewElement::Number(dtype),
        // An array without axes has names for all of them, as xarray wants to see.
        dimension_names: dims,
        shape,
        chunk_shape: shapes.chunk,
        shard_shape: shapes.shard,
        fill,
        compression: options::compression(&dataset.name, options)?,
        has_checksums: options::has_checksums(options),
        stored: None,
        attributes,
    };
    Ok((array, ArraySource { elements: Elements::Array(number), fill: element }))
}

/// The fill value that the input has of its own, where the version has a spelling of it.
fn own_fill(dataset: &Dataset, dtype: DType, options: &ConvertOptions) -> Option<Fill> {
    let element = fill::own(dataset, dtype, &options.tet)?;
    let json = fill_json(dtype, element, options::format(options))?;
    Some(Fill { element: element.to_vec(), json })
}

/// A dataset of text as an array.
fn of_texts(
    texts: &Dataset,
    named: NamedArray<'_>,
    options: &ConvertOptions,
    notes: &mut Vec<Note>,
) -> Result<(NewArray, ArraySource)> {
    let NamedArray { number, lazy, path, dims } = named;
    let shape = texts.grid.shape().clone();
    let automatic = || texts::chunk_shape(texts);
    let shaped = Shaped { dataset: texts, shape: &shape, size: TEXT_LEN, automatic: &automatic };
    let shapes = shape::shapes(&shaped, options)?;
    let mut attrs = attrs_of(lazy.dataset(), shape.rank(), options);
    if options::format(options) == ZarrFormat::V3 {
        // With one, xarray does not open the hierarchy.
        let count = usize::from(attrs.remove(FILL_KEY).is_some());
        notes.extend(Note::left_behind(&texts.name, "attributes", count));
    }
    let as_json = attrs.iter().map(|(key, attr)| (key.clone(), json(attr), attr.text().to_owned()));
    let array = NewArray {
        path: path.to_owned(),
        element: NewElement::Text,
        shape,
        chunk_shape: shapes.chunk,
        shard_shape: shapes.shard,
        fill: None,
        compression: options::compression(&texts.name, options)?,
        has_checksums: options::has_checksums(options),
        stored: None,
        dimension_names: dims,
        attributes: written(&texts.name, as_json, notes),
    };
    Ok((array, ArraySource { elements: Elements::Texts(number), fill: None }))
}

/// The attributes of a dataset, with those that the caller gives.
fn attrs_of(
    dataset: &Dataset,
    rank: usize,
    options: &ConvertOptions,
) -> BTreeMap<String, AttrText> {
    let mut attrs = dataset.attrs.clone();
    attrs.remove(SCALAR_KEY);
    for (key, value) in attributes::given(&dataset.name, rank, &options.tet).attrs {
        let value = match value {
            AttrValue::Text(text) => AttrText::Text(text),
            AttrValue::Json(json) => AttrText::Json(json),
        };
        attrs.insert(key, value);
    }
    attrs
}

/// Attributes as JSON, or else as their text; `dataset` is empty for those of the file.
fn written(
    dataset: &str,
    attrs: impl Iterator<Item = (String, Option<Value>, String)>,
    notes: &mut Vec<Note>,
) -> Map<String, Value> {
    let mut all = Map::new();
    let mut count = 0;
    for (key, json, text) in attrs {
        count += usize::from(json.is_none());
        all.insert(key, json.unwrap_or(Value::String(text)));
    }
    if count != 0 {
        notes.push(Note::AttrsAsJson { dataset: dataset.to_owned(), count });
    }
    all
}

/// The attributes of the groups.
fn of_groups(
    conversion: &mut Conversion<'_>,
    paths: &[String],
) -> BTreeMap<String, Map<String, Value>> {
    let groups = groups::of_groups(conversion.catalog, paths, |path| legal(path) == path);
    let notes = &mut conversion.notes;
    let mut of_group = |attrs: BTreeMap<String, AttrText>| {
        let attrs = attrs.into_iter();
        let attrs = attrs.map(|(name, attr)| (name, json(&attr), attr.text().to_owned()));
        written("", attrs, notes)
    };
    groups.into_iter().map(|(path, attrs)| (path.to_owned(), of_group(attrs))).collect()
}

/// The labels of axes as arrays of the names of the axes, unless there is one.
fn of_labels(
    arrays: &[LazyArray],
    paths: &[String],
    options: &ConvertOptions,
    notes: &mut Vec<Note>,
) -> Result<Vec<(NewArray, ArraySource)>> {
    let mut made: Vec<(NewArray, ArraySource)> = Vec::new();
    let mut of: BTreeMap<String, &[String]> = BTreeMap::new();
    for (lazy, path) in arrays.iter().zip(paths) {
        let dataset = lazy.dataset();
        for (&axis, texts) in &dataset.coords {
            let left = || Note::left_behind(&dataset.name, "axes with labels", 1);
            let dim =
                dataset.dims.get(axis).filter(|dim| legal(dim) == **dim && !dim.contains('/'));
            let Some(dim) = dim else {
                notes.extend(left());
                continue;
            };
            let path = format!("{}{dim}", group_of(path));
            if let Some(first) = of.get(&path) {
                notes.extend(left().filter(|_| *first != texts.as_slice()));
                continue;
            }
            // A path that begins with this one would be below an array.
            let is_taken = paths.iter().any(|taken| {
                taken
                    .strip_prefix(&path)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            });
            let found = labels::encode(texts).filter(|_| !is_taken);
            let Some(found) = found else {
                notes.extend(left());
                continue;
            };
            let array = path.clone();
            notes.push(Note::LabelsAsArray { dataset: dataset.name.clone(), array });
            of.insert(path.clone(), texts);
            made.push(of_axis(path, dim, texts.len(), found, options)?);
        }
    }
    Ok(made)
}

fn of_axis(
    path: String,
    dim: &str,
    count: usize,
    labels: labels::Labels,
    options: &ConvertOptions,
) -> Result<(NewArray, ArraySource)> {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    let array = NewArray {
        path,
        element: labels.element,
        shape: Shape::from([count]),
        chunk_shape: Shape::from([count.max(1)]),
        shard_shape: None,
        fill: None,
        compression: options::label_compression(options)?,
        has_checksums: options::has_checksums(options),
        stored: None,
        dimension_names: Some(vec![dim.to_owned()]),
        attributes: Map::new(),
    };
    Ok((array, ArraySource { elements: Elements::Bytes(labels.bytes), fill: None }))
}

/// Bytes of an element of an array of numbers.
pub(super) fn element_size(array: &NewArray) -> u64 {
    match array.element {
        NewElement::Number(dtype) => dtype.size().unwrap_or(1),
        NewElement::Text => 1,
    }
}

/// The type of the elements of an array of numbers.
pub(super) fn dtype_of(array: &NewArray) -> DType {
    match array.element {
        NewElement::Number(dtype) => dtype,
        NewElement::Text => DType::UInt8,
    }
}
