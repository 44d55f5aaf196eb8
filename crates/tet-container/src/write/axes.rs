//! The names of the axes of arrays that are written together.

use std::collections::BTreeSet;

use tet_query::LazyArray;

use crate::write::stream::shape_of;

/// The names and extents of axes.
pub type UsedNames<'a> = BTreeSet<(&'a str, u64)>;

/// Those that the axes of some arrays have.
pub fn used(arrays: &[LazyArray]) -> UsedNames<'_> {
    let mut used = BTreeSet::new();
    for lazy in arrays {
        let dims = lazy.dataset().dims.iter().map(String::as_str);
        used.extend(dims.zip(shape_of(lazy).iter().copied()));
    }
    used
}

/// The names of the axes of an array; none where not all are known. A list without a name for its axis that
/// has the name of an axis holds its labels.
pub fn names_of(lazy: &LazyArray, used: &UsedNames<'_>) -> Vec<String> {
    let (dataset, shape) = (lazy.dataset(), shape_of(lazy));
    let leaf = dataset.name.rsplit('/').next().unwrap_or_default();
    if let ([], &[extent]) = (&dataset.dims[..], shape.as_slice())
        && used.contains(&(leaf, extent))
    {
        return vec![leaf.to_owned()];
    }
    if dataset.dims.len() == shape.rank() { dataset.dims.clone() } else { Vec::new() }
}
