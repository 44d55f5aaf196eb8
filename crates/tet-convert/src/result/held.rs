//! An array in memory as a dataset.

use std::sync::Arc;

use tet_format::Span;
use tet_io::Source;
use tet_query::{Array, Dataset};

use crate::read::slabs::{Slabs, grid, grid_of_one};

/// The array as a dataset of this name, without axes, labels and attributes.
pub(super) fn dataset(name: String, array: &Array) -> Dataset {
    let dtype = array.dtype();
    let bits = u64::from(dtype.bit_width());
    let grid = grid(array.shape(), bits).unwrap_or_else(|| grid_of_one(array.shape()));
    let len = array.bytes().len() as u64;
    let stored = Span::new(0, len).expect("an array in memory is shorter than 2^63 bytes");
    let slabs = Slabs::new(grid.clone(), bits, stored);
    let source = Source::from_bytes(array.bytes().to_vec());
    Dataset::new(source, name, dtype, grid, Arc::new(slabs))
}
