//! Several files as one: the datasets of all, each once; or the datasets of one, grown by those of the others; or each
//! dataset of all as one, along a new axis.
//!
//! ```text
//!   merge    opened files --> one catalog, whose datasets are those of all --> convert
//!   stack    opened files --> one catalog, whose datasets have an axis more --> convert
//!   concat   opened files --> one catalog, whose datasets have grown --> convert
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use tet_io::Source;
use tet_query::{AttrText, Catalog, Dataset, Execution, Hyperslab, Tolerance};

use crate::container::untied;
use crate::{Error, Result};
use tet_container::model::attributes::is_metadata;
use tet_container::model::kinds::without_axis;
use tet_container::model::meanings::{Differing, differing_attr};
use tet_container::model::sparse::{OF_KEY, text};
use tet_container::read::opened::Opened;
use tet_container::write::conversion::Conflict;

/// Name of the format of a catalog of several files.
const MERGED: &str = "several files";
/// Attributes that `tet` sets itself in each file that it writes.
const OWN_KEYS: [&str; 2] = ["tool", "library_version"];

/// A dataset of one of several files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileDataset<'c> {
    /// The path of the file, for messages.
    pub(crate) path: &'c Path,
    pub(crate) dataset: &'c Dataset,
}

/// Several opened files as one, which has the datasets and attributes of all.
///
/// A dataset that several files have is taken once, if its type, shape, axes, labels, attributes and values are the same.
///
/// # Errors
/// Two files have other datasets or attributes of one name, or axes of one name and other extents; elements cannot be
/// read.
pub(crate) fn merged(
    files: Vec<(PathBuf, Opened)>,
    conflict: Conflict,
    how: &Execution,
) -> Result<Opened> {
    let mut union = Union::default();
    let (mut notes, mut sources) = (Vec::new(), Vec::new());
    let mut labels = BTreeSet::new();
    for (path, opened) in &files {
        let of_file = union.add(path, opened, conflict, how)?;
        labels.extend(opened.labels.iter().filter_map(|at| of_file.get(at)));
        notes.extend(opened.notes.iter().cloned());
        notes.extend(untied(
            &opened.catalog,
            &opened.catalog.datasets().iter().collect::<Vec<_>>(),
        )?);
        sources.push(opened.catalog.source().clone());
        sources.extend(opened.catalog.shards().iter().cloned());
    }
    let mut sources = sources.into_iter();
    let first: Option<(Source, Opened)> =
        sources.next().zip(files.into_iter().next().map(|it| it.1));
    let Some((source, first)) = first else {
        return Err(Error::NoDatasets { encoding: MERGED });
    };
    let datasets = union.datasets.into_iter().map(|(_, dataset)| dataset).collect();
    let catalog = Catalog::new(source, MERGED, datasets);
    let attrs = union.attrs.into_iter().map(|(key, (_, value))| (key, value)).collect();
    let catalog = catalog.with_attrs(attrs).with_shards(sources.collect()).with_parts(union.parts);
    let tet = None;
    let (findings, regions) = (Vec::new(), Vec::new());
    Ok(Opened { catalog, tet, findings, regions, notes, labels, ..first })
}

/// The datasets and attributes of the files so far, each with the file that it is of.
#[derive(Default)]
struct Union {
    datasets: Vec<(PathBuf, Dataset)>,
    /// The positions of the datasets, by name: of several, the first.
    names: HashMap<String, usize>,
    parts: Vec<Dataset>,
    attrs: BTreeMap<String, (PathBuf, AttrText)>,
    /// The extents of axes of a name.
    axes: BTreeMap<String, (PathBuf, BTreeSet<u64>)>,
}

impl Union {
    /// Adds the datasets of a file; returns the positions of those that are new, by those in the file.
    fn add(
        &mut self,
        path: &Path,
        opened: &Opened,
        conflict: Conflict,
        how: &Execution,
    ) -> Result<BTreeMap<usize, usize>> {
        let catalog = &opened.catalog;
        let mut places = BTreeMap::new();
        let (mut datasets, mut axes) = (Vec::new(), BTreeMap::<&String, BTreeSet<u64>>::new());
        for dataset in catalog.datasets() {
            if is_metadata(dataset) {
                continue;
            }
            for (name, extent) in dataset.dims.iter().zip(dataset.shape()) {
                axes.entry(name).or_default().insert(*extent);
            }
            let at = self.names.get(&dataset.name).copied();
            let known = at.and_then(|at| self.datasets.get_mut(at));
            match known {
                None => {
                    places.insert(dataset.index, self.datasets.len() + datasets.len());
                    datasets.push((path.to_path_buf(), dataset.clone()));
                }
                Some((other, known)) => {
                    let what =
                        differing(known, dataset, how)?.filter(|_| conflict != Conflict::First);
                    if let Some(detail) = what {
                        return Err(differs("dataset", &dataset.name, detail, [other, path]));
                    }
                    complete(known, dataset);
                }
            }
        }
        let is_taken: BTreeSet<String> =
            datasets.iter().map(|(_, dataset)| dataset.name.clone()).collect();
        for (path, dataset) in datasets {
            self.names.entry(dataset.name.clone()).or_insert(self.datasets.len());
            self.datasets.push((path, dataset));
        }
        for (name, extents) in axes {
            let of_others = self.axes.entry(name.clone());
            let (other, known) = of_others.or_insert_with(|| (path.to_path_buf(), extents.clone()));
            // Groups of one file may have axes of one name and other extents.
            if known.is_disjoint(&extents) {
                let texts = [&*known, &extents].map(|it| it.first().copied().unwrap_or(0));
                let detail = format!("it has {} and {} positions", texts[0], texts[1]);
                return Err(differs("axis", name, detail, [other, path]));
            }
            known.extend(extents);
        }
        for (key, value) in catalog.attrs() {
            match self.attrs.get(key) {
                Some((other, known)) if !known.is_same(value) => {
                    if conflict != Conflict::First && !OWN_KEYS.contains(&key.as_str()) {
                        let [one, two] = AttrText::shown_apart(known, value);
                        let detail = format!("its values are {one} and {two}");
                        return Err(differs("attribute", key, detail, [other, path]));
                    }
                }
                Some(_) => {}
                None => {
                    self.attrs.insert(key.clone(), (path.to_path_buf(), value.clone()));
                }
            }
        }
        // Those of a sparse tensor are of the file that it is taken from.
        let parts = catalog.parts().iter();
        let parts = parts.filter(|it| text(it, OF_KEY).is_none_or(|of| is_taken.contains(of)));
        self.parts.extend(parts.cloned());
        Ok(places)
    }
}

/// Takes the names and labels of axes from another dataset of the same shape, where a dataset has none.
fn complete(dataset: &mut Dataset, other: &Dataset) {
    if dataset.shape() != other.shape() {
        return;
    }
    if dataset.dims.is_empty() {
        dataset.dims.clone_from(&other.dims);
    }
    if dataset.coords.is_empty() && (other.dims.is_empty() || other.dims == dataset.dims) {
        dataset.coords.clone_from(&other.coords);
    }
}

/// Difference of two datasets of one name; `None` if they are the same.
pub(crate) fn differing(a: &Dataset, b: &Dataset, how: &Execution) -> Result<Option<String>> {
    if a.dtype_name != b.dtype_name {
        return Ok(Some(format!("its types are {} and {}", a.dtype_name, b.dtype_name)));
    }
    let [a, b] = &[without_axis(a), without_axis(b)];
    let what = match () {
        // A file that has no names or labels for them does not contradict the other.
        () if !a.dims.is_empty() && !b.dims.is_empty() && a.dims != b.dims => {
            Some("its axes have other names")
        }
        () if !a.coords.is_empty() && !b.coords.is_empty() && a.coords != b.coords => {
            Some("its axes have other labels")
        }
        () => None,
    };
    if what.is_some() {
        return Ok(what.map(str::to_owned));
    }
    if let Some(Differing { key, shown: [one, two] }) = differing_attr(&a.attrs, &b.attrs) {
        return Ok(Some(format!("its attribute {key:?} is {one} and {two}")));
    }
    differing_elements(a, b, how)
}

/// Difference of the elements of two datasets; a scalar is one, whether its container has scalars or not.
pub(crate) fn differing_elements(
    a: &Dataset,
    b: &Dataset,
    how: &Execution,
) -> Result<Option<String>> {
    let [a, b] = &[without_axis(a), without_axis(b)];
    if a.dtype_name != b.dtype_name {
        return Ok(Some(format!("its types are {} and {}", a.dtype_name, b.dtype_name)));
    }
    if a.shape() != b.shape() {
        return Ok(Some(format!("its shapes are {:?} and {:?}", a.shape(), b.shape())));
    }
    let slab = Hyperslab::whole(a.shape());
    let exact = Tolerance { nan_equal: true, ..Tolerance::default() };
    let found = a.diff(&slab, b, &slab, &exact, &how.silent())?.value;
    let differing = found.differing;
    let first = found.first.map(|first| format!(", the first at {:?}", first.position));
    let text = || {
        let first = first.unwrap_or_default();
        format!("{differing} of {} elements differ{first}", found.count)
    };
    Ok((differing != 0).then(text))
}

/// Checks that two files have the same dataset.
///
/// # Errors
/// They have not, or elements cannot be read.
#[cfg(feature = "zarr")]
pub(crate) fn check_same(a: FileDataset<'_>, b: FileDataset<'_>, how: &Execution) -> Result<()> {
    match differing(a.dataset, b.dataset, how)? {
        None => Ok(()),
        Some(detail) => Err(differs("dataset", &a.dataset.name, detail, [a.path, b.path])),
    }
}

fn differs(what: &'static str, name: &str, detail: String, [first, second]: [&Path; 2]) -> Error {
    let paths = Box::new([first.to_path_buf(), second.to_path_buf()]);
    Error::Merge { what, name: name.to_owned(), detail, paths }
}
