//! What the elements of a dataset are called where there is little room.

/// The name of a type without the members of structures.
#[must_use]
pub(crate) fn brief_dtype(name: &str) -> &str {
    if name.starts_with("compound of ") { "compound" } else { name }
}
