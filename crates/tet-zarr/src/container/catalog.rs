//! The catalog of a Zarr hierarchy: its arrays, read in place.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::{ArrayMeta, DIMENSIONS, Error, Hierarchy, TimeKind, UnreadableNode, ZarrElement};
use serde_json::Value;
use tet_format::DType;
use tet_io::{Operation, Source};
use tet_query::{AttrText, Catalog, Dataset, Error as QueryError};
use tet_verify::{ForeignFindings, ForeignFound, ForeignSeen, Severity, VerifyOptions};

use super::chunks::LastPipelines;
use super::elements::Stored;
use super::{DOCUMENTS, hierarchy, of_file};
use tet_container::model::attributes::{FILL_KEY, UNITS_KEY, not_a_time};
use tet_container::model::axes::dim_names;
use tet_container::read::opened::Opened;
use tet_container::read::slabs::{too_deep, unread};
use tet_container::{Format, Note, Result};

/// Opens the hierarchy that `source` belongs to.
pub(super) fn open(path: &Path, source: Source) -> Result<Opened> {
    let opened = hierarchy(&source).map_err(|error| of_file(path, error))?;
    let options = VerifyOptions::default();
    let mut findings = ForeignFindings::new(&options);
    let catalog = catalog(path, &source, &opened);
    for it in opened.findings() {
        // A finding about no dataset of the catalog is about the file.
        let dataset = it.path.as_deref().map(|node| name_of(path, node));
        let is_loss = it.fault.rule.severity == Severity::Error;
        let dataset = dataset.filter(|name| !is_loss || catalog.only_named(name).is_some());
        let (fault, field) = (it.fault, it.fault.rule.region);
        let dataset = dataset.map(|name| (0, name));
        findings.take(ForeignFound { fault, field, len: 0, dataset });
    }
    let findings = findings.report(&ForeignSeen::default()).findings;
    let notes = opened.arrays().iter().filter_map(|array| times(path, array)).collect();
    Ok(Opened { findings, notes, ..Opened::new(Format::ZARR, catalog) })
}

/// The catalog of a hierarchy: its arrays, and what may be one and cannot be read, sorted by name.
pub(super) fn catalog(path: &Path, source: &Source, hierarchy: &Hierarchy) -> Catalog {
    let (mut datasets, mut parts) = (Vec::new(), Vec::new());
    let mut lost = hierarchy.unreadable().iter().peekable();
    let last = LastPipelines::default();
    for array in hierarchy.arrays() {
        while let Some(node) = lost.next_if(|node| node.path < array.path) {
            datasets.push(unreadable(path, source, node));
        }
        let (whole, of_whole) = dataset(path, source, hierarchy, array, &last);
        datasets.push(whole);
        parts.extend(of_whole);
    }
    datasets.extend(lost.map(|node| unreadable(path, source, node)));
    let mut attrs = BTreeMap::new();
    for group in hierarchy.groups() {
        for (name, value) in &group.attributes {
            let name = match group.path.as_str() {
                "" => name.clone(),
                path => format!("{path}/{name}"),
            };
            attrs.insert(name, attr(value));
        }
    }
    Catalog::new(source.clone(), Format::ZARR.name(), datasets).with_attrs(attrs).with_parts(parts)
}

fn attr(value: &Value) -> AttrText {
    match value {
        Value::String(text) => AttrText::Text(text.clone()),
        value => AttrText::Json(value.to_string()),
    }
}

/// An array as a dataset, and its parts.
fn dataset(
    path: &Path,
    source: &Source,
    hierarchy: &Hierarchy,
    array: &Arc<ArrayMeta>,
    last: &LastPipelines,
) -> (Dataset, Vec<Dataset>) {
    let name = name_of(path, &array.path);
    let names = array.dimension_names.as_deref().unwrap_or_default();
    let dims = if names.len() == array.shape.rank() { dim_names(names) } else { Vec::new() };
    let (whole, parts) = Stored { source, hierarchy, array, last, dims }.read(name);
    (Dataset { attrs: attrs(array, array.element.dtype()), ..whole }, parts)
}

/// A node that cannot be read as a dataset, with its shape if that is known.
fn unreadable(path: &Path, source: &Source, node: &UnreadableNode) -> Dataset {
    let name = name_of(path, &node.path);
    let cause = match &*node.cause {
        Error::Fault { fault, key } if ends_with_document(key, &node.path) => {
            QueryError::Foreign { dataset: name.clone(), fault: *fault }
        }
        Error::Fault { fault, key } => {
            QueryError::Shard { dataset: name.clone(), shard: key.clone(), fault: *fault }
        }
        Error::Io(error) => match error.system() {
            Some((path, system)) => {
                let again = io::Error::new(system.kind(), system.to_string());
                QueryError::Io(tet_io::Error::io(Operation::Read, path, again))
            }
            None => QueryError::Malformed { why: error.to_string() },
        },
    };
    let lost = Dataset::unreadable(source.clone(), name, cause);
    let Some(shape) = node.shape.as_ref().filter(|shape| too_deep(shape).is_none()) else {
        return lost;
    };
    let (grid, chunks) = unread(shape, None);
    Dataset { grid, chunks, has_shape: true, ..lost }
}

/// Whether a key is that of a document of the node at a path.
fn ends_with_document(key: &str, path: &str) -> bool {
    key.strip_prefix(path).is_some_and(|rest| DOCUMENTS.contains(&rest.trim_start_matches('/')))
}

/// The name of the dataset at a path of the hierarchy.
pub(super) fn name_of(path: &Path, node: &str) -> String {
    if node.is_empty() { root_name(path) } else { node.to_owned() }
}

/// The name of an array that is the root: that of its folder or file.
fn root_name(path: &Path) -> String {
    let is_document = path.file_name().is_some_and(|name| name == "zarr.json" || name == ".zarray");
    let path = if is_document { path.parent().unwrap_or(path) } else { path };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".zip").unwrap_or(&name);
    name.strip_suffix(".zarr").unwrap_or(name).to_owned()
}

/// That integers are times, if they are.
fn times(path: &Path, array: &ArrayMeta) -> Option<Note> {
    let units = units(&array.element)?;
    Some(Note::Times { dataset: name_of(path, &array.path), units })
}

/// The units of integers that are times, as the attribute `units` of CF has them.
fn units(element: &ZarrElement) -> Option<String> {
    let ZarrElement::Time { kind, unit, scale } = element else { return None };
    let unit = unit_name(unit);
    let unit = if *scale == 1 { unit.to_owned() } else { format!("{scale} {unit}") };
    Some(match kind {
        TimeKind::Date => format!("{unit} since 1970-01-01"),
        TimeKind::Duration => unit,
    })
}

/// The attributes; times get the unit that CF would give them, and missing values that xarray stores
/// in its own way the attribute that CF has for them.
fn attrs(array: &ArrayMeta, dtype: Option<DType>) -> BTreeMap<String, AttrText> {
    let shown = array.attributes.iter().filter(|(name, _)| *name != DIMENSIONS);
    let mut attrs: BTreeMap<String, AttrText> =
        shown.map(|(name, value)| (name.clone(), attr(value))).collect();
    let is_number = |dtype: &DType| {
        dtype.is_float() || dtype.is_signed_integer() || dtype.is_unsigned_integer()
    };
    let is_time = matches!(array.element, ZarrElement::Time { .. });
    if let Some(dtype) = dtype.filter(|dtype| is_number(dtype) && !is_time)
        && let Some(missing) = array.missing_value()
    {
        attrs.insert(FILL_KEY.to_owned(), AttrText::number(dtype, &missing));
    }
    if let Some(units) = units(&array.element) {
        attrs.entry(UNITS_KEY.to_owned()).or_insert(AttrText::Text(units));
        attrs.entry(FILL_KEY.to_owned()).or_insert_with(not_a_time);
    }
    attrs
}

/// A unit of NumPy in words.
fn unit_name(unit: &str) -> &str {
    match unit {
        "Y" => "years",
        "M" => "months",
        "W" => "weeks",
        "D" => "days",
        "h" => "hours",
        "m" => "minutes",
        "s" => "seconds",
        "ms" => "milliseconds",
        "us" | "\u{3bc}s" => "microseconds",
        "ns" => "nanoseconds",
        unit => unit,
    }
}
