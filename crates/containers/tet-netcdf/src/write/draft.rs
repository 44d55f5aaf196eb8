//! Outline of a file: names, dimensions, types and attributes, before its header is written.

use std::collections::{BTreeMap, BTreeSet};

use tet_file::AttrValue;
use tet_format::DType;
use tet_query::{AttrText, LazyArray};

use super::ENCODING;
use super::attributes::{NcValue, value};
use super::dims::Dims;
use super::labels::{self, Labels};
use super::names::of_datasets;
use crate::value::{Type, Version};
use tet_container::model::attributes::{self, SCALAR_KEY};
use tet_container::model::origin::is_of_origin;
use tet_container::write::axes::{names_of, used};
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::write::netcdf::attributes::Writing;
use tet_container::write::netcdf::names::legal;
use tet_container::write::stream::{self, shape_of};
use tet_container::{Error, Note, Result};

/// Bytes of a variable of CDF-2, at most: its length is a multiple of four in 32 bits.
const LEN_MAX: u64 = (1 << 32) - 4;
/// The extent of a dimension of CDF-2, at most.
const EXTENT_MAX: u64 = (1 << 31) - 4;
/// Bytes of a variable of any version, at most.
const LEN_MAX_WIDE: u64 = (1 << 62) - 4;

/// A file before it is written.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) version: Version,
    pub(super) dims: Vec<(String, u64)>,
    pub(super) attrs: Vec<(String, NcValue)>,
    pub(super) variables: Vec<NcVariable>,
}

/// A variable before it is written.
#[derive(Debug)]
pub(super) struct NcVariable {
    pub(super) name: String,
    /// The numbers of its dimensions.
    pub(super) dims: Vec<usize>,
    pub(super) attrs: Vec<(String, NcValue)>,
    pub(super) stored: Type,
    /// Bytes of its elements.
    pub(super) len: u64,
    pub(super) elements: Elements,
}

/// Where the elements of a variable come from.
#[derive(Debug)]
pub(super) enum Elements {
    /// The array of this number.
    Array(usize),
    /// Big-endian bytes.
    Bytes(Vec<u8>),
}

impl Draft {
    /// Whether the first dimension of a variable is that of records, which has no positions.
    pub(super) fn has_records(&self, variable: &NcVariable) -> bool {
        variable.dims.first().and_then(|dim| self.dims.get(*dim)).is_some_and(|(_, it)| *it == 0)
    }

    /// Bytes of a variable, or of a record of it, and of the fill behind them.
    pub(super) fn vsize(&self, variable: &NcVariable) -> u64 {
        if !self.has_records(variable) {
            return variable.len.next_multiple_of(4);
        }
        let inner = variable.dims.iter().skip(1).filter_map(|dim| self.dims.get(*dim));
        let len =
            inner.fold(variable.stored.size(), |len, (_, extent)| len.saturating_mul(*extent));
        len.checked_next_multiple_of(4).unwrap_or(u64::MAX)
    }
}

/// Plans the file.
///
/// # Errors
/// Two datasets would have one name, or the format cannot hold one.
pub(super) fn prepare(
    conversion: &mut Conversion<'_>,
    arrays: &[LazyArray],
    options: &ConvertOptions,
) -> Result<Draft> {
    let notes = &mut conversion.notes;
    let names = of_datasets(arrays.iter().map(|it| it.dataset().name.as_str()), notes)?;
    let mut dims = Dims::default();
    let used = used(arrays);
    // A coordinate keeps the name of its axis, whatever other datasets call so.
    for (lazy, name) in arrays.iter().zip(&names) {
        if let ([dim], &[extent]) = (&names_of(lazy, &used)[..], shape_of(lazy).as_slice())
            && legal(dim) == *name
        {
            dims.number(dim, extent);
        }
    }
    let mut variables = Vec::new();
    for ((lazy, name), number) in arrays.iter().zip(&names).zip(0..) {
        let dims = dim_numbers(lazy, name, &names_of(lazy, &used), &mut dims, notes);
        variables.push(variable(lazy, name, dims, number)?);
    }
    check_empty(arrays, &variables, &dims)?;
    let labels = of_labels(arrays, &mut variables, &mut dims, notes);
    variables.splice(0..0, labels);
    let version = version(&variables, &dims);
    for variable in &mut variables {
        let Elements::Array(number) = variable.elements else { continue };
        let Some(lazy) = arrays.get(number) else { continue };
        variable.attrs = of_dataset(lazy, variable.stored, version, options, notes);
    }
    let about = conversion.catalog.attrs().iter().filter(|(key, _)| !is_of_origin(key));
    let attrs = written("", about, None, version, notes);
    Ok(Draft { version, dims: dims.list, attrs, variables })
}

/// The dimensions of the variable `name`, whose axes have these names.
fn dim_numbers(
    lazy: &LazyArray,
    name: &str,
    axes: &[String],
    dims: &mut Dims,
    notes: &mut Vec<Note>,
) -> Vec<usize> {
    let (shape, dataset) = (shape_of(lazy), lazy.dataset());
    let mut numbers = Vec::new();
    for (axis, &extent) in shape.iter().enumerate() {
        let given = axes.get(axis);
        let wanted = given.cloned().unwrap_or_else(|| format!("{name}_dim_{axis}"));
        let (number, to) = dims.number(&wanted, extent);
        if given != Some(&to) {
            notes.push(Note::AxisRenamed { dataset: dataset.name.clone(), axis, to });
        }
        numbers.push(number);
    }
    numbers
}

/// A dataset as the variable `name`; its attributes depend on the version.
fn variable(lazy: &LazyArray, name: &str, dims: Vec<usize>, number: usize) -> Result<NcVariable> {
    let len = stream::len_of(lazy);
    if LEN_MAX_WIDE < len {
        let what = "bytes of a variable";
        return Err(tet_query::Error::Limit { what, wanted: len, limit: LEN_MAX_WIDE }.into());
    }
    Ok(NcVariable {
        name: name.to_owned(),
        dims,
        attrs: Vec::new(),
        stored: stored(lazy),
        len,
        elements: Elements::Array(number),
    })
}

/// The type of a variable: text of a file of this format is text again.
fn stored(lazy: &LazyArray) -> Type {
    let dtype = lazy.dtype();
    let is_text = lazy.dataset().dtype_name == Type::Char.name() && dtype == DType::UInt8;
    if is_text { Type::Char } else { Type::Number(dtype) }
}

/// The error for an array without positions along an axis that is not its first.
pub(super) fn empty_axis(dataset: &str) -> Error {
    let why = "only its first axis can have no positions";
    Error::Unfit { dataset: dataset.to_owned(), encoding: ENCODING, why }
}

/// An extent of 0 is that of the record dimension of a file without records: there is one at most, and it
/// is the first of a variable.
fn check_empty(arrays: &[LazyArray], variables: &[NcVariable], dims: &Dims) -> Result<()> {
    let is_empty = |&dim: &usize| dims.list.get(dim).is_some_and(|it| it.1 == 0);
    let mut record = None;
    for (variable, lazy) in variables.iter().zip(arrays) {
        for (axis, dim) in variable.dims.iter().enumerate().filter(|(_, dim)| is_empty(dim)) {
            let why = match record.replace(*dim) {
                _ if axis != 0 => return Err(empty_axis(&lazy.dataset().name)),
                Some(other) if other != *dim => "only one axis of a file can have no positions",
                _ => continue,
            };
            let dataset = lazy.dataset().name.clone();
            return Err(Error::Unfit { dataset, encoding: ENCODING, why });
        }
    }
    Ok(())
}

/// The version that has all types and lengths.
fn version(variables: &[NcVariable], dims: &Dims) -> Version {
    let is_wide = |it: &NcVariable| it.stored.is_wide() || LEN_MAX < it.len;
    let is_long = dims.list.iter().any(|(_, extent)| EXTENT_MAX < *extent);
    if is_long || variables.iter().any(is_wide) { Version::Cdf5 } else { Version::Cdf2 }
}

/// The labels of axes as variables of the names of their dimensions, unless there is one.
fn of_labels(
    arrays: &[LazyArray],
    variables: &mut [NcVariable],
    dims: &mut Dims,
    notes: &mut Vec<Note>,
) -> Vec<NcVariable> {
    let mut made = Vec::new();
    // The labels of those that are made, by name.
    let mut firsts: BTreeMap<String, &[String]> = BTreeMap::new();
    let taken: BTreeSet<&str> = variables.iter().map(|it| it.name.as_str()).collect();
    for (lazy, variable) in arrays.iter().zip(&*variables) {
        let dataset = lazy.dataset();
        for (&axis, labels) in &dataset.coords {
            let left = || Note::left_behind(&dataset.name, "axes with labels", 1);
            let dim = variable.dims.get(axis).and_then(|&dim| Some((dim, dims.list.get(dim)?)));
            let Some((dim, (name, extent))) = dim.map(|(dim, it)| (dim, it.clone())) else {
                notes.extend(left());
                continue;
            };
            if let Some(first) = firsts.get(&name) {
                notes.extend(left().filter(|_| *first != labels.as_slice()));
                continue;
            }
            let fits = !taken.contains(name.as_str()) && u64::try_from(labels.len()) == Ok(extent);
            let Some(found) = labels::encode(labels).filter(|_| fits) else {
                notes.extend(left());
                continue;
            };
            let array = name.clone();
            notes.push(Note::LabelsAsArray { dataset: dataset.name.clone(), array });
            firsts.insert(name.clone(), labels);
            made.push(of_axis(name, dim, found, dims));
        }
    }
    made
}

fn of_axis(name: String, dim: usize, labels: Labels, dims: &mut Dims) -> NcVariable {
    let Labels { stored, width, bytes } = labels;
    let inner = width.map(|width| dims.number(&format!("string{width}"), width).0);
    let utf8 = AttrText::Text("utf-8".to_owned());
    let encoding = width.map(|_| value("_Encoding", &utf8, None, Version::Cdf2).0);
    NcVariable {
        name,
        dims: std::iter::once(dim).chain(inner).collect(),
        attrs: encoding.into_iter().map(|value| ("_Encoding".to_owned(), value)).collect(),
        stored,
        len: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        elements: Elements::Bytes(bytes),
    }
}

/// The attributes of a dataset, with those that the caller gives.
fn of_dataset(
    lazy: &LazyArray,
    stored: Type,
    version: Version,
    options: &ConvertOptions,
    notes: &mut Vec<Note>,
) -> Vec<(String, NcValue)> {
    let (dataset, rank) = (lazy.dataset(), shape_of(lazy).rank());
    let mut attrs = dataset.attrs.clone();
    attrs.remove(SCALAR_KEY);
    for (key, value) in attributes::given(&dataset.name, rank, &options.tet).attrs {
        let value = match value {
            AttrValue::Text(text) => AttrText::Text(text),
            AttrValue::Json(json) => AttrText::Json(json),
        };
        attrs.insert(key, value);
    }
    written(&dataset.name, attrs.iter(), Some(stored.dtype()), version, notes)
}

/// Attributes as the format has them; `dataset` is empty for those of the file.
fn written<'a>(
    dataset: &str,
    attrs: impl Iterator<Item = (&'a String, &'a AttrText)>,
    dtype: Option<DType>,
    version: Version,
    notes: &mut Vec<Note>,
) -> Vec<(String, NcValue)> {
    let (mut all, mut taken) = (Vec::new(), BTreeSet::new());
    let (mut as_json, mut left) = (0, 0);
    for (key, attr) in attrs {
        let name = legal(key);
        if !taken.insert(name.clone()) {
            left += 1;
            continue;
        }
        if name != *key {
            notes.push(Note::Renamed { from: key.clone(), to: name.clone() });
        }
        let (value, writing) = value(key, attr, dtype, version);
        as_json += usize::from(writing == Writing::AsJson);
        all.push((name, value));
    }
    let dataset_name = dataset.to_owned();
    if as_json != 0 {
        notes.push(Note::AttrsAsJson { dataset: dataset_name, count: as_json });
    }
    notes.extend(Note::left_behind(dataset, "attributes", left));
    all
}
