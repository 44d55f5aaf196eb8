//! Sparse tensors stored as dense parts (section 6): the fields of the parts, and their extents.

/// The custom field of a part that names its tensor.
pub const OF_KEY: &str = "sparse_of";
/// The custom field of a part that names the part.
pub const PART_KEY: &str = "sparse_part";
/// The custom field of the values that contains the format: `csr` or `coo`.
pub const FORMAT_KEY: &str = "sparse_format";
/// The custom field of the values that contains the shape of the sparse tensor.
pub const SHAPE_KEY: &str = "sparse_shape";

/// The part that holds the values.
pub const VALUES: &str = "values";

/// Whether a dataset has a name that a part of a sparse tensor has: `NAME.indptr`, `NAME.coords` and so on.
#[must_use]
pub fn is_part_name(name: &str) -> bool {
    let part = name.rsplit_once('.').map(|(_, part)| part);
    part.is_some_and(|part| ["indptr", "indices", "coords", VALUES].contains(&part))
}

/// The parts that hold the positions of a sparse tensor, and their extents. Their dtype is
/// `uint64`. `None` if there is no such format.
#[must_use]
pub fn of_places(format: &str, shape: &[u64], count: u64) -> Option<Vec<(&'static str, Vec<u64>)>> {
    match (format, shape) {
        ("csr", [rows, _]) => {
            Some(vec![("indptr", vec![rows.checked_add(1)?]), ("indices", vec![count])])
        }
        ("coo", [_, ..]) => Some(vec![("coords", vec![count, shape.len() as u64])]),
        _ => None,
    }
}
