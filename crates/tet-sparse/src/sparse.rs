//! The stored elements of a sparse tensor.

use std::ops::Range;

use tet_format::ForeignRule;

use crate::places::Places;
use crate::rule;

/// The stored elements of a sparse tensor; every position was checked to be within the shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sparse {
    /// The extents of the axes.
    pub shape: Vec<u64>,
    /// The length of an element in bytes.
    pub element_size: u64,
    /// The positions of the elements.
    pub places: Places,
    /// The elements, in the order of the file, as little-endian bytes.
    pub values: Vec<u8>,
}

impl Sparse {
    /// Builds a tensor from these parts.
    ///
    /// # Errors
    ///
    /// Returns the rule that the parts break if they do not fit each other or the shape.
    pub fn of_parts(
        shape: Vec<u64>,
        element_size: u64,
        places: Places,
        values: Vec<u8>,
    ) -> Result<Self, &'static ForeignRule> {
        let sparse = Sparse { shape, element_size, places, values };
        let count = sparse.value_count();
        if count.checked_mul(element_size) != Some(sparse.values.len() as u64) {
            return Err(&rule::PART_FIT);
        }
        sparse.places.check(&sparse.shape, count).map(|()| sparse)
    }

    /// The number of stored elements.
    #[must_use]
    pub fn value_count(&self) -> u64 {
        (self.values.len() as u64).checked_div(self.element_size).unwrap_or(0)
    }

    /// The row-major position of every stored element with its element number, in ascending order;
    /// equal positions are in the order of the file.
    pub(crate) fn ordered_places(&self) -> Vec<(u64, u64)> {
        let mut places: Vec<(u64, u64)> = Vec::new();
        self.for_places(0..u64::MAX, |place, at| places.push((place, at)));
        places.sort_unstable();
        places
    }

    /// The first stored element at the position of an earlier one.
    #[must_use]
    pub fn first_twin(&self) -> Option<u64> {
        let places = self.ordered_places();
        let twins = places.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        twins.map(|pair| pair[1].1).min()
    }

    /// Fills `out` with a range of elements, in row-major order. If two have the same position, the
    /// last one is used.
    pub fn scatter(&self, elements: Range<u64>, out: &mut [u8]) {
        out.fill(0);
        let start = elements.start;
        self.for_places(elements, |place, at| self.put(at, place - start, out));
    }

    /// Copies a stored element to a position of `out`.
    pub(crate) fn put(&self, at: u64, place: u64, out: &mut [u8]) {
        let size = usize::try_from(self.element_size).unwrap_or(1);
        let part = |at: u64| {
            let start = usize::try_from(at).ok()?.checked_mul(size)?;
            Some(start..start.checked_add(size)?)
        };
        let to = part(place).and_then(|part| out.get_mut(part));
        let from = part(at).and_then(|part| self.values.get(part));
        if let Some((to, from)) = to.zip(from) {
            to.copy_from_slice(from);
        }
    }

    /// Calls `visit` with the position and the number of every stored element in the range.
    fn for_places(&self, elements: Range<u64>, mut visit: impl FnMut(u64, u64)) {
        match &self.places {
            Places::Csr { indptr, indices } => {
                let columns = self.shape.get(1).copied().unwrap_or(0);
                let first = elements.start.checked_div(columns).unwrap_or(0);
                let before = usize::try_from(first).unwrap_or(usize::MAX);
                for (row, bounds) in (first..).zip(indptr.windows(2).skip(before)) {
                    let row_start = row.saturating_mul(columns);
                    if elements.end <= row_start {
                        break;
                    }
                    for at in bounds[0]..bounds[1] {
                        let column = usize::try_from(at).ok().and_then(|at| indices.get(at));
                        let place = row_start.saturating_add(column.copied().unwrap_or(0));
                        if elements.contains(&place) {
                            visit(place, at);
                        }
                    }
                }
            }
            Places::Coo { coords } => {
                let rank = self.shape.len().max(1);
                for (at, coords) in (0_u64..).zip(coords.chunks_exact(rank)) {
                    let axes = coords.iter().zip(&self.shape);
                    let place = axes.fold(0_u64, |place, (coord, extent)| {
                        place.saturating_mul(*extent).saturating_add(*coord)
                    });
                    if elements.contains(&place) {
                        visit(place, at);
                    }
                }
            }
        }
    }
}
