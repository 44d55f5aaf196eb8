//! What differs between two files.

use tet_query::{Catalog, CatalogDiff};

use crate::container::safetensors::is_of_origin;
use crate::model::attributes::is_metadata;

/// Compares the datasets and the attributes of two files of any containers, but for elements. What only holds
/// attributes of a file is no dataset, and what restores the bytes of the file of a model is no content.
#[must_use]
pub fn catalog_diff(left: &Catalog, right: &Catalog) -> CatalogDiff {
    let listed = |catalog: &Catalog| {
        catalog.datasets().iter().filter(|dataset| !is_metadata(dataset)).cloned().collect()
    };
    let attrs = [left, right].map(|catalog| {
        let mut attrs = catalog.attrs().clone();
        attrs.retain(|key, _| !is_of_origin(key));
        attrs
    });
    CatalogDiff::of([listed(left), listed(right)], [&attrs[0], &attrs[1]])
}
