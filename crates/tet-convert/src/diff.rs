//! What differs between two files.

use tet_query::{Catalog, CatalogDiff};

use crate::model::attributes::is_metadata;

/// Compares the datasets and the attributes of two files of any containers, but for elements. What only holds
/// attributes of a file is no dataset.
#[must_use]
pub fn catalog_diff(left: &Catalog, right: &Catalog) -> CatalogDiff {
    let listed = |catalog: &Catalog| {
        catalog.datasets().iter().filter(|dataset| !is_metadata(dataset)).cloned().collect()
    };
    CatalogDiff::of([listed(left), listed(right)], [left.attrs(), right.attrs()])
}
