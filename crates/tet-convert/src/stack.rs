//! Several files with the same datasets as one: each dataset with a new first axis, which has a position for each file.
//!
//! ```text
//!   run1: t (lat, lon)   run2: t (lat, lon)   ...   t (run, lat, lon)
//! ```
//!
//! Coordinates of axes that are the same in all files stay as they are. Elements are read as they are written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tet_format::Shape;
use tet_io::shown;
use tet_query::{AttrText, Catalog, Computed, Dataset, Elements, Execution, LazyArray};

use crate::container::holds_one;
use crate::merge::{FileDataset, differing};
use crate::{Error, Note, Result};
use tet_container::model::attributes::{SCALAR_KEY, is_metadata, is_scalar};
use tet_container::model::axes::dim_names;
use tet_container::model::kinds::differing_kind;
use tet_container::model::logical::{to_logical, to_physical};
use tet_container::model::meanings::differing_keys;
use tet_container::read::opened::Opened;
use tet_container::write::stream;

/// Name of the format of a catalog of several files.
const STACKED: &str = "several files";

/// Several opened files as one, whose datasets have a new first axis of this name, labeled by the names of the files.
///
/// # Errors
/// The files do not have the same datasets, of the same types, shapes and axes; a dataset has the axis already; elements
/// of coordinates cannot be read.
pub(crate) fn stacked_files(
    mut files: Vec<(PathBuf, Opened)>,
    axis: &str,
    how: &Execution,
) -> Result<Opened> {
    name_as_first(&mut files);
    let Some((first_path, first)) = files.first() else {
        return Err(Error::NoDatasets { encoding: STACKED });
    };
    let is_chosen = |it: &&Dataset| !is_metadata(it);
    let labels = labels(&files);
    let coordinates: BTreeSet<&String> =
        first.catalog.datasets().iter().flat_map(|it| &it.dims).collect();
    let (mut datasets, mut notes, mut places) = (Vec::new(), Vec::new(), BTreeMap::new());
    let others: Vec<_> = files.iter().skip(1).map(|(path, it)| (path, by_name(it))).collect();
    // Metadata are compared before elements of coordinates are read.
    let mut all_parts = Vec::new();
    for dataset in first.catalog.datasets().iter().filter(is_chosen) {
        let mut parts = vec![FileDataset { path: first_path, dataset }];
        for (path, other) in &others {
            let part = match other.get(dataset.name.as_str()).map(Vec::as_slice) {
                Some([part]) => *part,
                found => {
                    let count = if found.is_some() { "more than once" } else { "not" };
                    let why =
                        format!("it is in {}, and {count} in {}", shown(first_path), shown(path));
                    return Err(Error::Stack { dataset: dataset.name.clone(), why });
                }
            };
            check_same(dataset, part, [first_path, path])?;
            parts.push(FileDataset { path, dataset: part });
        }
        all_parts.push((dataset, parts));
    }
    for (dataset, parts) in all_parts {
        let is_coordinate = dataset.shape().len() == 1 && coordinates.contains(&dataset.name);
        if is_coordinate || dataset.is_text() {
            check_equal(&parts, how)?;
            places.insert(dataset.index, datasets.len());
            datasets.push(dataset.clone());
        } else {
            datasets.push(stacked(&parts, axis, labels.as_deref(), &mut notes, how)?);
        }
    }
    check_others(&files, is_chosen)?;
    let sources: Vec<_> = files
        .iter()
        .flat_map(|(_, it)| {
            std::iter::once(it.catalog.source()).chain(it.catalog.shards()).cloned()
        })
        .collect();
    let mut attrs = first.catalog.attrs().clone();
    let all = files.iter().map(|(_, it)| it.catalog.attrs());
    notes.extend(common_attrs("", &mut attrs, all));
    let source = first.catalog.source().clone();
    let catalog = Catalog::new(source, STACKED, datasets).with_attrs(attrs);
    let catalog = catalog.with_shards(sources.into_iter().skip(1).collect());
    let of_files = files.iter().flat_map(|(_, it)| it.notes.iter().cloned());
    let mut opened = Opened::new(first.format, catalog);
    opened.labels = first.labels.iter().filter_map(|at| places.get(at).copied()).collect();
    opened.notes = of_files.chain(notes).collect();
    Ok(opened)
}

/// The datasets of each name.
fn by_name(opened: &Opened) -> BTreeMap<&str, Vec<&Dataset>> {
    let mut by_name: BTreeMap<&str, Vec<&Dataset>> = BTreeMap::new();
    for dataset in opened.catalog.datasets() {
        by_name.entry(&dataset.name).or_default().push(dataset);
    }
    by_name
}

/// Gives the array of each `.npy`, which is named after its file, the name of the one of the first file.
fn name_as_first(files: &mut [(PathBuf, Opened)]) {
    let Some(((_, first), others)) = files.split_first_mut() else { return };
    let [only] = first.catalog.datasets() else { return };
    for (_, other) in others.iter_mut().filter(|(_, it)| holds_one(it.format)) {
        let name = &only.name;
        let named = |dataset| Dataset { name: name.clone(), ..dataset };
        other.catalog = other.catalog.clone().viewed(named);
    }
}

/// The names of the files without their suffixes, where no two are the same.
fn labels(files: &[(PathBuf, Opened)]) -> Option<Vec<String>> {
    let stem =
        |(path, _): &(PathBuf, Opened)| Some(path.file_stem()?.to_string_lossy().into_owned());
    let stems = files.iter().map(stem).collect::<Option<Vec<String>>>()?;
    let unique: BTreeSet<&String> = stems.iter().collect();
    (unique.len() == stems.len()).then_some(stems)
}

/// Checks that two datasets of one name can be parts of one.
fn check_same(one: &Dataset, two: &Dataset, paths: [&Path; 2]) -> Result<()> {
    let detail = differing_kind(one, two);
    detail.map_or(Ok(()), |detail| Err(apart(&one.name, &detail, paths)))
}

/// The error for datasets of one name that differ between two files.
fn apart(name: &str, detail: &str, [first, second]: [&Path; 2]) -> Error {
    let why = format!("{detail}, in {} and {}", shown(first), shown(second));
    Error::Stack { dataset: name.to_owned(), why }
}

/// Checks that the elements of a coordinate are the same in all files.
fn check_equal(parts: &[FileDataset<'_>], how: &Execution) -> Result<()> {
    let Some((first, others)) = parts.split_first() else { return Ok(()) };
    let dataset = first.dataset;
    for other in others {
        let paths = [first.path, other.path];
        let other = Dataset { attrs: dataset.attrs.clone(), ..other.dataset.clone() };
        if let Some(detail) = differing(dataset, &other, how)? {
            return Err(apart(&dataset.name, &format!("as a coordinate, {detail}"), paths));
        }
    }
    Ok(())
}

/// Checks that no file has datasets that the first has not.
fn check_others(files: &[(PathBuf, Opened)], is_chosen: impl Fn(&&Dataset) -> bool) -> Result<()> {
    let Some(((first_path, first), others)) = files.split_first() else { return Ok(()) };
    let known: BTreeSet<&String> = first.catalog.datasets().iter().map(|it| &it.name).collect();
    for (path, other) in others {
        let mut datasets = other.catalog.datasets().iter().filter(&is_chosen);
        if let Some(more) = datasets.find(|it| !known.contains(&it.name)) {
            let why = format!("it is in {}, and not in {}", shown(path), shown(first_path));
            return Err(Error::Stack { dataset: more.name.clone(), why });
        }
    }
    Ok(())
}

/// Datasets of one name, type and shape as one, with a first axis more.
fn stacked(
    parts: &[FileDataset<'_>],
    axis: &str,
    labels: Option<&[String]>,
    notes: &mut Vec<Note>,
    how: &Execution,
) -> Result<Dataset> {
    let Some(&FileDataset { dataset: first, .. }) = parts.first() else {
        return Err(Error::NoDatasets { encoding: STACKED });
    };
    let refuse = |why: String| Error::Stack { dataset: first.name.clone(), why };
    if first.dims.iter().any(|name| name == axis) {
        return Err(refuse(format!("it has an axis {axis:?} already")));
    }
    let mut lazies = Vec::with_capacity(parts.len());
    for part in parts {
        lazies.push(longer(part.dataset)?);
    }
    let mut lazies = lazies.into_iter();
    let elements = lazies.next().and_then(|it| Elements::along(0, it, lazies.collect()));
    let misfit = || refuse("its elements are stored in different ways".to_owned());
    let grown = Computed::new(elements.ok_or_else(misfit)?, how).dataset(first.name.clone());
    let rank = grown.shape().len() - 1;
    let inner = (0..rank).map(|at| first.dims.get(at).cloned());
    let names: Vec<Option<String>> = std::iter::once(Some(axis.to_owned())).chain(inner).collect();
    let labels = labels.map(|labels| (0, labels.to_vec()));
    let inner = if rank == 0 { BTreeMap::new() } else { first.coords.clone() };
    let coords = inner.into_iter().map(|(at, texts)| (at + 1, texts)).chain(labels).collect();
    let mut attrs = first.attrs.clone();
    notes.extend(common_attrs(&first.name, &mut attrs, parts.iter().map(|it| &it.dataset.attrs)));
    attrs.remove(SCALAR_KEY);
    attrs.extend(bits(first)?);
    Ok(to_logical(Dataset { dims: dim_names(&names), coords, attrs, ..grown }))
}

/// The attributes of the type that the bits are of, for elements that nothing computes with.
pub(crate) fn bits(dataset: &Dataset) -> Result<BTreeMap<String, AttrText>> {
    let physical = to_physical(dataset, STACKED, |_| true)?;
    let added = physical.view.attrs.into_iter();
    Ok(added.filter(|(key, _)| !dataset.attrs.contains_key(key)).collect())
}

/// The elements of a dataset, with a first axis of one position; a scalar has no other.
fn longer(dataset: &Dataset) -> Result<Arc<LazyArray>> {
    let refuse = |why: &str| Error::Stack { dataset: dataset.name.clone(), why: why.to_owned() };
    let view = to_physical(dataset, STACKED, |_| true)?.view;
    if view.shape() != dataset.shape() {
        return Err(refuse("its elements are parts of bytes"));
    }
    let is_scalar = is_scalar(dataset);
    let extents = |extents: &Shape| -> Shape {
        let inner = extents.iter().copied().filter(|_| !is_scalar);
        std::iter::once(1).chain(inner).collect()
    };
    let grid = view.grid.reshaped(extents(view.grid.shape()), extents(view.grid.chunk_shape()));
    let grid = grid.ok_or_else(|| refuse("its chunks cannot be counted"))?;
    let view = Dataset { grid, dims: Vec::new(), coords: BTreeMap::new(), ..view };
    Ok(Arc::new(stream::whole(&view)?))
}

/// Leaves the attributes that are the same in all; a note counts the others.
fn common_attrs<'a>(
    dataset: &str,
    attrs: &mut BTreeMap<String, AttrText>,
    all: impl Iterator<Item = &'a BTreeMap<String, AttrText>>,
) -> Option<Note> {
    let mut different = BTreeSet::new();
    for other in all {
        if attrs != other {
            different.extend(differing_keys(attrs, other));
        }
    }
    attrs.retain(|key, _| !different.contains(key));
    Note::left_behind(dataset, "attributes that differ between the files", different.len())
}
