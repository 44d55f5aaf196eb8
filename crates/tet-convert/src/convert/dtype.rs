//! Which datasets are written as other types, and their views.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tet_format::DType;
use tet_query::{Catalog, Computed, Dataset};

use super::choice::chosen;
use super::storage::{WrittenNames, names};
use crate::{Error, Result};
use tet_container::model::attributes::is_metadata;
use tet_container::model::retyped::viewed;
use tet_container::model::sparse::{PART_KEY, VALUES, text};
use tet_container::write::conversion::ConvertOptions;
use tet_container::write::storage::DTypeRule;

/// The catalog whose chosen datasets have the types that are asked for, and what they are computed of.
///
/// A rule for all holds for datasets of floats where the type is one of floats, and for those of integers where it is
/// one of integers, but not for the coordinates of an axis; or for the only dataset.
///
/// # Errors
/// A rule names no dataset, or holds for none; a dataset it names is not of numbers, or has the places of a sparse tensor.
pub(super) fn retyped(
    catalog: Catalog,
    options: &ConvertOptions,
) -> Result<(Catalog, Vec<Arc<Computed>>)> {
    let asked = asked(&catalog, options)?;
    let (mut views, mut computed) = (BTreeMap::new(), Vec::new());
    for dataset in catalog.datasets().iter().chain(catalog.parts()) {
        let Some(&dtype) = asked.get(&dataset.index) else { continue };
        let is_number = dataset.why().is_none() && dataset.blocks().is_none();
        if dataset.dtype == Some(dtype) && is_number {
            continue;
        }
        let (view, of) = viewed(dataset, dtype, &options.execution)?;
        views.insert(dataset.index, view);
        computed.push(of);
    }
    let mut place = |dataset: Dataset| views.remove(&dataset.index).unwrap_or(dataset);
    let parts = catalog.parts().iter().cloned().map(&mut place).collect();
    Ok((catalog.viewed(place).with_parts(parts), computed))
}

/// The types that are asked for, by the positions of datasets.
///
/// # Errors
/// As [`retyped`].
pub(super) fn asked(catalog: &Catalog, options: &ConvertOptions) -> Result<BTreeMap<usize, DType>> {
    if options.dtypes.is_empty() {
        return Ok(BTreeMap::new());
    }
    let chosen = chosen(catalog, &options.tet.include, &options.tet.exclude)?;
    let datasets: Vec<&Dataset> = chosen.into_iter().filter(|it| !is_metadata(it)).collect();
    let axes: BTreeSet<&str> =
        catalog.datasets().iter().flat_map(|it| &it.dims).map(String::as_str).collect();
    let mut asked = BTreeMap::new();
    let (general, named): (Vec<&DTypeRule>, Vec<_>) =
        options.dtypes.iter().partition(|rule| rule.dataset.is_none());
    for rule in general {
        let is_only = datasets.len() == 1;
        let held = datasets.iter().filter(|it| is_only || holds(rule.dtype, it, &axes));
        let held: BTreeMap<usize, DType> = held.map(|it| (it.index, rule.dtype)).collect();
        if held.is_empty() {
            return Err(Error::NoSuchKind { dtype: rule.dtype });
        }
        asked.extend(held);
    }
    let written = WrittenNames::new(&datasets);
    for rule in named {
        let name = rule.dataset.as_deref().unwrap_or_default();
        let names = names(catalog, &written, name)?;
        for dataset in names.into_iter().flat_map(|name| written.datasets(name)) {
            if is_places(dataset) {
                return Err(Error::SparsePlaces { dataset: dataset.name.clone() });
            }
            asked.insert(dataset.index, rule.dtype);
        }
    }
    Ok(asked)
}

/// Whether a dataset has the places of the values of a sparse tensor.
fn is_places(dataset: &Dataset) -> bool {
    text(dataset, PART_KEY).is_some_and(|part| part != VALUES)
}

/// Whether a rule for all holds for a dataset; `axes` are the names of axes that there are.
fn holds(dtype: DType, dataset: &Dataset, axes: &BTreeSet<&str>) -> bool {
    let leaf = dataset.name.rsplit('/').next().unwrap_or_default();
    let is_coordinate = dataset.shape().len() == 1 && axes.contains(leaf);
    let is_kind =
        |own: DType| own.is_float() && dtype.is_float() || own.is_integer() && dtype.is_integer();
    let is_meant = !is_coordinate && !is_places(dataset);
    dataset.why().is_none() && dataset.dtype.is_some_and(is_kind) && is_meant
}
