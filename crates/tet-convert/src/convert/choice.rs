//! Which datasets are written, and as what: by name, and as the sparse tensors that they are parts of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use tet_query::{Catalog, Dataset, Error as QueryError, nearest_word};
use tet_ztensor::SparseChoice;

use crate::container::Capabilities;
use crate::model::attributes::is_metadata;
use crate::model::logical;
use crate::model::sparse::{SparseStorage, sparse_tensors};
use crate::read::opened::{Opened, path_of};
use crate::write::conversion::{ConvertOptions, SparseOutput};
use crate::write::joined::{Joined, joined};
use crate::write::options::ImportOptions;
use crate::{Error, Result};

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
        return Err(Error::NoArrays { path: path_of(catalog.source()), is_filtered: true });
    }
    Ok(chosen)
}

/// Leaves the datasets that are asked for in several files; `#N` is a position in each of them.
///
/// # Errors
/// No file has a dataset of a name or one that matches, or nothing is left in all of them.
pub(super) fn choose(files: &mut [(PathBuf, Opened)], options: &ImportOptions) -> Result<()> {
    let mut is_known = false;
    for name in options.include.iter().chain(&options.exclude) {
        let found: Vec<_> = files.iter().map(|(_, it)| it.catalog.find_all(name)).collect();
        if found.iter().all(std::result::Result::is_err) {
            return found.into_iter().find_map(|it| it.err()).map_or(Ok(()), |it| Err(it.into()));
        }
        is_known = true;
    }
    if !is_known {
        return Ok(());
    }
    let mut is_empty = true;
    for (_, opened) in files.iter_mut() {
        let catalog = &opened.catalog;
        let known = |names: &[String]| -> Result<Vec<String>> {
            let is_missing = |name: &String| match catalog.find_all(name) {
                Err(QueryError::NoSuchDataset { .. }) => Ok(true),
                found => found.map(|_| false),
            };
            let mut known = Vec::new();
            for name in names {
                known.extend((!is_missing(name)?).then(|| name.clone()));
            }
            Ok(known)
        };
        let (include, exclude) = (known(&options.include)?, known(&options.exclude)?);
        let is_none = include.is_empty() && !options.include.is_empty();
        let taken: Vec<&Dataset> = match chosen(catalog, &include, &exclude) {
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
        Some((path, _)) if is_empty => {
            Err(Error::NoArrays { path: path.clone(), is_filtered: true })
        }
        _ => Ok(()),
    }
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
    let known = || datasets.iter().map(|it| it.name.as_str());
    match dims.chain(attrs).find(|name| !known().any(|known| known == *name)) {
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
    let is_native = can.sparse && options.ztensor.sparse == SparseChoice::Native;
    if options.sparse == SparseOutput::Sparse && !is_native {
        return Ok(Vec::new());
    }
    let datasets = chosen(catalog, &options.tet.include, &options.tet.exclude)?;
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
