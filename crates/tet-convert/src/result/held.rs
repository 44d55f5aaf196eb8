//! An array in memory as a dataset.

use std::sync::Arc;

use tet_format::{DType, Span};
use tet_io::Source;
use tet_query::{Array, Dataset};

use tet_container::read::slabs::{Slabs, grid, grid_of_one};

/// The array as a dataset of this name, without axes, labels and attributes.
pub(super) fn dataset(name: String, array: &Array) -> Dataset {
    let source = Source::from_bytes(array.bytes().to_vec());
    of_source(name, source, array.dtype(), array.shape())
}

/// The same for the elements, row-major, that a source has.
pub(super) fn of_source(name: String, source: Source, dtype: DType, shape: &[u64]) -> Dataset {
    let bits = u64::from(dtype.bit_width());
    let grid = grid(shape, bits).unwrap_or_else(|| grid_of_one(shape));
    let stored = Span::new(0, source.len()).expect("what is in memory is shorter than 2^63 bytes");
    let slabs = Slabs::new(grid.clone(), bits, stored);
    Dataset::new(source, name, dtype, grid, Arc::new(slabs))
}
