//! Short names of the elements of a dataset.

use tet_query::Dataset;

/// The type of a dataset in a table: `?` where it is not known.
#[must_use]
pub(crate) fn shown_dtype(dataset: &Dataset) -> &str {
    if dataset.dtype_name.is_empty() { "?" } else { brief_dtype(&dataset.dtype_name) }
}

/// The name of a type without the members of structures.
#[must_use]
pub(crate) fn brief_dtype(name: &str) -> &str {
    if name.starts_with("compound of ") { "compound" } else { name }
}
