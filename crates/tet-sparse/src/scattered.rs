//! A sparse tensor that is read in parts.

use std::ops::Range;

use crate::places::Places;
use crate::sparse::Sparse;

/// Stored elements sorted by position, to read a tensor in parts.
#[derive(Debug)]
pub struct Scattered {
    sparse: Sparse,
    /// The positions of coo elements in ascending order, each with its element number.
    order: Vec<(u64, u64)>,
}

impl Scattered {
    /// Sorts the positions of `sparse`.
    #[must_use]
    pub fn new(sparse: Sparse) -> Self {
        let order = match &sparse.places {
            Places::Coo { .. } => sparse.ordered_places(),
            Places::Csr { .. } => Vec::new(),
        };
        Scattered { sparse, order }
    }

    /// The stored elements.
    #[must_use]
    pub const fn sparse(&self) -> &Sparse {
        &self.sparse
    }

    /// Fills `out` as [`Sparse::scatter`] does, reading only the elements in the range.
    pub fn scatter(&self, elements: Range<u64>, out: &mut [u8]) {
        let Scattered { sparse, order } = self;
        if order.is_empty() {
            return sparse.scatter(elements, out);
        }
        out.fill(0);
        let first = order.partition_point(|(place, _)| *place < elements.start);
        let band = order.iter().skip(first).take_while(|(place, _)| *place < elements.end);
        band.for_each(|(place, at)| sparse.put(*at, place - elements.start, out));
    }
}
