//! What differs between two files.

use std::collections::HashMap;

use tet_format::Shape;
use tet_query::{Catalog, CatalogDiff, Dataset};

use crate::container::safetensors::is_of_origin;
use crate::model::attributes::{SCALAR_KEY, is_metadata, is_scalar};

/// Compares the datasets and the attributes of two files of any containers, but for elements. What only holds
/// attributes of a file is no dataset; members of structures are. [`contents`] leaves out what restores bytes.
#[must_use]
pub fn catalog_diff(left: &Catalog, right: &Catalog) -> CatalogDiff {
    let listed = |catalog: &Catalog| {
        let datasets = catalog.datasets().iter().filter(|dataset| !is_metadata(dataset));
        with_members(catalog, datasets)
    };
    CatalogDiff::of([listed(left), listed(right)], [left.attrs(), right.attrs()])
}

/// Datasets of a catalog, each before the members of its structures, if it has any.
pub fn with_members<'d>(
    catalog: &'d Catalog,
    datasets: impl IntoIterator<Item = &'d Dataset>,
) -> Vec<Dataset> {
    let mut parts = HashMap::new();
    for part in catalog.parts() {
        parts.entry(part.name.as_str()).or_insert(part);
    }
    let mut all = Vec::new();
    for dataset in datasets {
        all.push(dataset.clone());
        if let Some(tet_query::Error::Compound { members, .. }) = dataset.why() {
            let members = members.iter().filter_map(|name| parts.get(name.as_str()));
            all.extend(members.map(|part| Dataset::clone(part)));
        }
    }
    all
}

/// The contents of a file, without what this crate adds to restore types, shapes and bytes of another container: a
/// scalar that is stored as one element is a scalar.
#[must_use]
pub fn contents(catalog: Catalog) -> Catalog {
    let mut attrs = catalog.attrs().clone();
    attrs.retain(|key, _| !is_of_origin(key));
    catalog.viewed(as_scalar).with_attrs(attrs)
}

fn as_scalar(dataset: Dataset) -> Dataset {
    let grid = dataset.grid.reshaped(Shape::default(), Shape::default());
    let Some(grid) = grid.filter(|_| is_scalar(&dataset)) else { return dataset };
    let mut scalar = Dataset { grid, dims: Vec::new(), unlimited: Vec::new(), ..dataset };
    scalar.coords.clear();
    scalar.attrs.remove(SCALAR_KEY);
    scalar
}
