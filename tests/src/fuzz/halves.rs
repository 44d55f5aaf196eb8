//! Reads of a dataset by the targets: the whole of it must be its halves.

use tet_query::{Dataset, Execution, Hyperslab, Result};

use crate::ask;

/// The dataset itself; of texts, which are read here, that of their bytes, if they have one.
pub(super) fn numbers_of(dataset: &Dataset) -> Option<&Dataset> {
    if dataset.is_text() {
        // An error is fine, such as that of texts that are longer than the memory of a read.
        let _ = dataset.read_texts(&Hyperslab::whole(dataset.shape()), &ask::small());
    }
    Some(dataset.stored()).filter(|stored| stored.text.is_none())
}

/// The bytes of both halves along the first axis of the whole dataset; of the whole, where there is none to
/// halve.
pub(super) fn halves(dataset: &Dataset, how: &Execution) -> Result<Vec<u8>> {
    let slab = Hyperslab::whole(dataset.shape());
    let Some(first) = slab.axes().first().filter(|first| first.count() != 0) else {
        return Ok(dataset.read(&slab, how)?.value.bytes().to_vec());
    };
    let mut halves = Vec::new();
    for (start, stop) in [(0, first.stop / 2), (first.stop / 2, first.stop)] {
        let mut axes = slab.axes().to_vec();
        (axes[0].start, axes[0].stop) = (start, stop);
        let half = Hyperslab::new(axes, dataset.shape()).expect("it is inside");
        halves.extend_from_slice(dataset.read(&half, how)?.value.bytes());
    }
    Ok(halves)
}
