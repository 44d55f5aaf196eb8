//! Sparse tensors (section 6): stored elements and their positions.
//!
//! ```text
//!   csr   | indptr: rows + 1 | indices: count | values: count |     position numbers are u64
//!   coo   | coordinates, value | coordinates, value | ... |
//! ```
//!
//! In the layout `sparse` the positions may be in the entry instead; the blob then has only values.

mod blob;
mod inline;
pub(crate) mod judge;

use std::ops::Range;

use tet_format::ForeignRule;
use tet_io::Source;

use crate::error::{Fault, Result};
use crate::limits::Limits;
use crate::rule;
use crate::stored::{Check, Sound};
use crate::tensor::Tensor;

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

/// The positions of stored elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Places {
    /// Row by row.
    Csr {
        /// The first element of each row, and the total count.
        indptr: Vec<u64>,
        /// The column of each element.
        indices: Vec<u64>,
    },
    /// One by one.
    Coo {
        /// The coordinates of each element, one element after the other.
        coords: Vec<u64>,
    },
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
        judge::parts(&sparse.shape, &sparse.places, count).map(|()| sparse)
    }

    /// The number of stored elements.
    #[must_use]
    pub fn value_count(&self) -> u64 {
        (self.values.len() as u64).checked_div(self.element_size).unwrap_or(0)
    }

    /// The row-major position of every stored element with its element number, in ascending order;
    /// equal positions are in the order of the file.
    fn ordered_places(&self) -> Vec<(u64, u64)> {
        let mut places: Vec<(u64, u64)> = Vec::new();
        self.for_places(0..u64::MAX, |place, at| places.push((place, at)));
        places.sort_unstable();
        places
    }

    /// The first stored element at the position of an earlier one.
    pub(crate) fn first_twin(&self) -> Option<u64> {
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
    fn put(&self, at: u64, place: u64, out: &mut [u8]) {
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

/// Reads the stored elements of a sparse tensor.
pub(crate) fn read(
    source: &Source,
    sound: &Sound<'_>,
    limits: &Limits,
    check: Check,
) -> Result<Sparse> {
    let shape = sound.tensor.shape();
    let fault = |fault: Fault| sound.tensor.broken(fault);
    let inline = inline::read(&sound.tensor).map_err(fault)?;
    let bytes = blob::read(source, sound, limits, check, |len| {
        check_blob_len(sound, inline.as_ref(), len).map_err(fault)
    })?;
    let (places, values) = match inline {
        Some(places) => (places, bytes),
        None if sound.layout.is_csr() => judge::csr(sound, &bytes).map_err(fault)?,
        None => judge::coo(sound, &bytes).map_err(fault)?,
    };
    judge::places(sound, &places).map_err(fault)?;
    let (shape, element_size) = (shape.to_vec(), sound.element_size);
    Ok(Sparse { shape, element_size, places, values })
}

/// Whether the blob may decode to `len` bytes; `inline` has the positions of the entry.
fn check_blob_len(sound: &Sound<'_>, inline: Option<&Places>, len: u64) -> Result<(), Fault> {
    match inline {
        Some(places) => judge::inline_lens(sound, places, len),
        None => judge::blob_len(sound, len),
    }
}

/// Checks positions in the entry, if any, for a blob that decodes to `len` bytes. Returns whether
/// the blob holds positions too.
pub(crate) fn check_outside(sound: &Sound<'_>, len: u64) -> Result<bool, Fault> {
    let inline = inline::read(&sound.tensor)?;
    check_blob_len(sound, inline.as_ref(), len)?;
    match &inline {
        Some(places) => judge::places(sound, places).map(|()| false),
        None => Ok(true),
    }
}

/// Checks the length of a sparse tensor (ZT-L3).
pub(crate) fn check_len(tensor: &Tensor<'_>, wanted: u64, found: u64) -> Result<()> {
    if found <= wanted {
        return Ok(());
    }
    let (rule, at) = (&rule::LIMIT_SPARSE, tensor.offset().unwrap_or_default());
    Err(tensor.broken(Fault { rule, at, found, wanted }))
}
