//! Sparse tensors in dense parts (section 6): what the parts say of themselves, and their extents.

/// The custom field that names the tensor of which a tensor is a part.
pub const OF_KEY: &str = "sparse_of";
/// The custom field that says which part it is.
pub const PART_KEY: &str = "sparse_part";
/// The custom field of the values that says how places are stored: `csr` or `coo`.
pub const FORMAT_KEY: &str = "sparse_format";
/// The custom field of the values that has the extents of all elements.
pub const SHAPE_KEY: &str = "sparse_shape";

/// The part that has the values.
pub const VALUES: &str = "values";

/// The parts that have the places of a sparse tensor, and their extents. They are of `uint64`.
/// `None` where there is no such tensor.
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
