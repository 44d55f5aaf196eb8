//! Which datasets are written, and as what: by name, and as the sparse tensors that they are parts of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use tet_query::{Catalog, Dataset, Error as QueryError, nearest_word};

use crate::container::Capabilities;
use crate::{Error, Note, Result};
use tet_container::model::associated::{prune, with_associated};
use tet_container::model::attributes::is_metadata;
use tet_container::model::logical;
use tet_container::model::sparse::{SparseStorage, sparse_tensors};
use tet_container::read::opened::{Opened, path_of};
use tet_container::write::conversion::{ConvertOptions, SparseOutput};
use tet_container::write::joined::{Joined, joined};
use tet_container::write::options::ImportOptions;
use tet_container::write::storage::SparseLayout;

/// The datasets that are asked for by name, pattern of names or `#N`, all but those to be left out, in the order of
/// the catalog; nothing is asked for when all are. What only holds attributes of the file, and parts of others, must
/// be asked for.
///
/// # Errors
/// No dataset has the name, or several have; no name matches the pattern.
pub fn chosen<'c>(
    catalog: &'c Catalog,
    include: &[String],
    exclude: &[String],
) -> Result<Vec<&'c Dataset>> {
    let (taken, left) = (named(catalog, include)?, named(catalog, exclude)?);
    let is_left = |it: &&Dataset| left.contains(&it.index);
    let is_taken = |it: &&Dataset| taken.contains(&it.index);
    let is_chosen = |it: &&Dataset| taken.is_empty() && !is_metadata(it) || is_taken(it);
    let datasets = catalog.datasets().iter().filter(is_chosen);
    let parts = catalog.parts().iter().filter(is_taken);
    let chosen: Vec<_> = datasets.chain(parts).filter(|it| !is_left(it)).collect();
    let is_asked = !include.is_empty() || !exclude.is_empty();
    if chosen.is_empty() && is_asked {
        return Err(Error::NoArrays { path: path_of(catalog.source()) });
    }
    Ok(chosen)
}

/// The datasets of [`chosen`], and those that belong to them, where some are asked for by name and the output
/// holds several: the coordinates of their axes, and what their attributes name.
///
/// # Errors
/// As [`chosen`].
pub(super) fn chosen_with_associated<'c>(
    catalog: &'c Catalog,
    options: &ImportOptions,
    can: Capabilities,
) -> Result<Vec<&'c Dataset>> {
    let chosen = chosen(catalog, &options.include, &options.exclude)?;
    if options.include.is_empty() || !can.several || !can.layouts.is_empty() {
        return Ok(chosen);
    }
    let mut taken = with_associated(catalog, chosen.iter().copied());
    for index in named(catalog, &options.exclude)? {
        taken.remove(&index);
    }
    let datasets = catalog.datasets().iter().chain(catalog.parts());
    Ok(datasets.filter(|it| taken.contains(&it.index)).collect())
}

/// The catalog whose chosen datasets name none that are not written.
///
/// # Errors
/// As [`chosen`].
pub(super) fn pruned(
    catalog: Catalog,
    options: &ImportOptions,
    can: Capabilities,
    notes: &mut Vec<Note>,
) -> Result<Catalog> {
    if options.include.is_empty() && options.exclude.is_empty() || !can.several {
        return Ok(catalog);
    }
    let written = chosen_with_associated(&catalog, options, can)?;
    let written: BTreeSet<usize> = written.into_iter().map(|it| it.index).collect();
    let names = catalog.clone();
    Ok(catalog.viewed(|mut dataset| {
        if written.contains(&dataset.index) {
            notes.extend(prune(&names, &mut dataset, |it| written.contains(&it.index)));
        }
        dataset
    }))
}

/// Leaves the datasets that are asked for in several files; `#N` is a position in each of them.
///
/// # Errors
/// No file has a dataset of a name or one that matches, or nothing is left in all of them.
pub(super) fn choose(
    files: &mut [(PathBuf, Opened)],
    options: &ImportOptions,
    can: Capabilities,
) -> Result<()> {
    let mut is_known = false;
    for name in options.include.iter().chain(&options.exclude) {
        let is_found =
            |opened: &Opened| opened.catalog.matching(name).is_ok_and(|it| !it.is_empty());
        if !files.iter().any(|(_, opened)| is_found(opened)) {
            return match files.first() {
                Some((_, first)) => Ok(first.catalog.find_all(name).map(drop)?),
                None => Ok(()),
            };
        }
        is_known = true;
    }
    if !is_known {
        return Ok(());
    }
    let mut is_empty = true;
    for (_, opened) in files.iter_mut() {
        let catalog = &opened.catalog;
        let include = known(catalog, &options.include)?;
        let exclude = known(catalog, &options.exclude)?;
        let is_none = include.is_empty() && !options.include.is_empty();
        let asked = ImportOptions { include, exclude, ..ImportOptions::default() };
        let taken: Vec<&Dataset> = match chosen_with_associated(catalog, &asked, can) {
            _ if is_none => Vec::new(),
            Err(Error::NoArrays { .. }) => Vec::new(),
            taken => taken?,
        };
        is_empty &= taken.is_empty();
        let places: BTreeMap<usize, usize> =
            taken.iter().enumerate().map(|(place, it)| (it.index, place)).collect();
        let parts = catalog.parts().iter().filter(|it| !places.contains_key(&it.index));
        let datasets = taken.into_iter().cloned().collect();
        let new = Catalog::new(catalog.source().clone(), catalog.format(), datasets);
        let new = new.with_attrs(catalog.attrs().clone()).with_parts(parts.cloned().collect());
        let labels = opened.labels.iter().filter_map(|at| places.get(at).copied()).collect();
        opened.catalog = new.with_shards(catalog.shards().to_vec());
        opened.labels = labels;
    }
    match files.first() {
        Some((path, _)) if is_empty => Err(Error::NoArrays { path: path.clone() }),
        _ => Ok(()),
    }
}

/// Those of the names and patterns that a file has a dataset for, where several files are one.
///
/// # Errors
/// Several datasets have one of the names.
pub(super) fn known(catalog: &Catalog, names: &[String]) -> Result<Vec<String>> {
    let mut known = Vec::new();
    for name in names {
        known.extend((!catalog.matching(name)?.is_empty()).then(|| name.clone()));
    }
    Ok(known)
}

/// The datasets whose elements are read: those of [`chosen_with_associated`], and members of structures. Names that the
/// file does not have are those of another file.
///
/// # Errors
/// As [`chosen`].
pub(super) fn read_of(
    catalog: &Catalog,
    options: &ImportOptions,
    can: Capabilities,
) -> Result<BTreeSet<usize>> {
    let include = known(catalog, &options.include)?;
    if include.is_empty() && !options.include.is_empty() {
        return Ok(BTreeSet::new());
    }
    let exclude = known(catalog, &options.exclude)?;
    let asked = ImportOptions { include, exclude, ..ImportOptions::default() };
    let mut read = BTreeSet::new();
    for dataset in chosen_with_associated(catalog, &asked, can)? {
        read.insert(dataset.index);
        if let Some(QueryError::Compound { members, .. }) = dataset.why() {
            let members = members.iter().filter_map(|name| catalog.part(name));
            read.extend(members.map(|it| it.index));
        }
    }
    Ok(read)
}

/// The positions of the datasets that are asked for, where several may have one name.
///
/// # Errors
/// No dataset has the name; no name matches the pattern.
pub(super) fn chosen_of_any(catalog: &Catalog, options: &ImportOptions) -> Result<BTreeSet<usize>> {
    let positions = |names: &[String]| -> Result<BTreeSet<usize>> {
        let mut all = BTreeSet::new();
        for name in names {
            match catalog.find_all(name) {
                Ok(datasets) => all.extend(datasets.into_iter().map(|it| it.index)),
                Err(QueryError::Ambiguous { positions, .. }) => all.extend(positions),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(all)
    };
    let (mut taken, left) = (positions(&options.include)?, positions(&options.exclude)?);
    if options.include.is_empty() {
        let data = catalog.datasets().iter().filter(|it| !is_metadata(it));
        taken.extend(data.map(|it| it.index));
    }
    taken.retain(|index| !left.contains(index));
    Ok(taken)
}

/// The indexes of datasets and parts that are named, or whose names match.
///
/// # Errors
/// As [`chosen`].
pub(super) fn named<'n>(
    catalog: &Catalog,
    names: impl IntoIterator<Item = &'n String>,
) -> Result<BTreeSet<usize>> {
    let mut named = BTreeSet::new();
    for name in names {
        named.extend(catalog.find_all(name)?.into_iter().map(|dataset| dataset.index));
    }
    Ok(named)
}

/// Every dataset that an option names is there.
pub(super) fn check_names(datasets: &[&Dataset], options: &ImportOptions) -> Result<()> {
    let dims = options.dims.iter().filter_map(|dims| dims.dataset.as_deref());
    let attrs = options.attrs.iter().filter_map(|attr| attr.dataset.as_deref());
    let labels = options.labels.iter().filter_map(|labels| labels.dataset.as_deref());
    let attrs = attrs.chain(labels);
    let known: BTreeSet<&str> = datasets.iter().map(|it| it.name.as_str()).collect();
    match dims.chain(attrs).find(|name| !known.contains(name)) {
        Some(name) => Err(no_such_dataset(name, datasets)),
        None => Ok(()),
    }
}

/// The error for a name that none of these datasets has.
pub(super) fn no_such_dataset(name: &str, datasets: &[&Dataset]) -> Error {
    let known = || datasets.iter().map(|it| it.name.as_str());
    let suggestion = nearest_word(name, known()).map(str::to_owned);
    let (name, known) = (name.to_owned(), known().map(str::to_owned).collect());
    tet_query::Error::NoSuchDataset { name, known, suggestion }.into()
}

/// The sparse tensors that are put together of their parts, where the output is to have them whole.
pub(super) fn joined_of(
    catalog: &Catalog,
    can: Capabilities,
    options: &ConvertOptions,
) -> Result<Vec<Joined>> {
    let is_native = can.sparse && options.storage.sparse == SparseLayout::Native;
    if options.sparse == SparseOutput::Sparse && !is_native {
        return Ok(Vec::new());
    }
    let datasets = chosen_with_associated(catalog, &options.tet, can)?;
    joined(&datasets, &options.execution.silent())
}

/// Bytes of sparse tensors that are written with all their elements unasked, at most.
const DENSE_LEN_MAX: u64 = 16 << 30;

/// Refuses sparse tensors that would become very long without anybody having asked for that.
///
/// # Errors
/// Those among the datasets come to too many bytes.
pub(super) fn check_dense(catalog: &Catalog, datasets: &[&Dataset]) -> Result<()> {
    let native =
        sparse_tensors(catalog).into_iter().filter(|it| it.storage == SparseStorage::Native);
    let names: BTreeSet<String> = native.map(|it| it.name).collect();
    let sparse = || datasets.iter().filter(|it| names.contains(&it.name));
    let wanted = sparse().map(|it| logical::byte_len(it)).fold(0, u64::saturating_add);
    match sparse().max_by_key(|it| logical::byte_len(it)) {
        Some(longest) if DENSE_LEN_MAX < wanted => {
            let (dataset, limit) = (longest.name.clone(), DENSE_LEN_MAX);
            Err(Error::Dense { dataset, wanted, limit })
        }
        _ => Ok(()),
    }
}
