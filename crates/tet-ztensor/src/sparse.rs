//! Sparse tensors (section 6): stored elements and their places.
//!
//! ```text
//!   csr   | indptr: rows + 1 | indices: count | values: count |     numbers of places are u64
//!   coo   | coordinates, value | coordinates, value | ... |
//! ```
//!
//! Under the layout `sparse` the places may stand in the entry instead, and the blob is values.

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

/// The stored elements of a sparse tensor, checked: every place lies in the shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sparse {
    /// The extents of the axes.
    pub shape: Vec<u64>,
    /// Bytes of an element.
    pub element_size: u64,
    /// Where the elements belong.
    pub places: Places,
    /// The elements, in the order of the file, as little-endian bytes.
    pub values: Vec<u8>,
}

/// Where stored elements belong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Places {
    /// Row by row.
    Csr {
        /// Where each row starts among the elements, and one past the last.
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
    /// The tensor that has these parts.
    ///
    /// # Errors
    ///
    /// Returns the rule that they break: they do not fit each other or the shape.
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

    /// How many elements are stored.
    #[must_use]
    pub fn value_count(&self) -> u64 {
        (self.values.len() as u64).checked_div(self.element_size).unwrap_or(0)
    }

    /// The places of all stored elements, counted in row-major order, each with the number of its
    /// element: in ascending order, those of one place in the order of the file.
    fn ordered_places(&self) -> Vec<(u64, u64)> {
        let mut places: Vec<(u64, u64)> = Vec::new();
        self.for_places(0..u64::MAX, |place, at| places.push((place, at)));
        places.sort_unstable();
        places
    }

    /// The first stored element whose place an earlier one has too.
    pub(crate) fn first_twin(&self) -> Option<u64> {
        let places = self.ordered_places();
        let twins = places.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        twins.map(|pair| pair[1].1).min()
    }

    /// Fills `out` with some elements, in row-major order. Where two have one place, the last one
    /// counts.
    pub fn scatter(&self, elements: Range<u64>, out: &mut [u8]) {
        out.fill(0);
        let start = elements.start;
        self.for_places(elements, |place, at| self.put(at, place - start, out));
    }

    /// Copies a stored element to a place in `out`.
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

    /// Calls `visit` with the place of every stored element among `elements`, and its number.
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

/// Stored elements that are found by their places, for tensors that are read in parts.
#[derive(Debug)]
pub struct Scattered {
    sparse: Sparse,
    /// The places of elements that come one by one, in ascending order, each with the element's number.
    order: Vec<(u64, u64)>,
}

impl Scattered {
    /// Puts the places of `sparse` in order.
    #[must_use]
    pub fn new(sparse: Sparse) -> Self {
        let order = match &sparse.places {
            Places::Coo { .. } => sparse.ordered_places(),
            Places::Csr { .. } => Vec::new(),
        };
        Scattered { sparse, order }
    }

    /// The elements as they are stored.
    #[must_use]
    pub const fn sparse(&self) -> &Sparse {
        &self.sparse
    }

    /// Fills `out` as [`Sparse::scatter`] does, looking only at what belongs there.
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

/// Whether the blob may decode to `len` bytes, where `inline` has the places of the entry.
fn check_blob_len(sound: &Sound<'_>, inline: Option<&Places>, len: u64) -> Result<(), Fault> {
    match inline {
        Some(places) => judge::inline_lens(sound, places, len),
        None => judge::blob_len(sound, len),
    }
}

/// Whether the blob of a sparse tensor holds places too, once it is known to decode to `len` bytes
/// and places in the entry are found to be right.
pub(crate) fn check_outside(sound: &Sound<'_>, len: u64) -> Result<bool, Fault> {
    let inline = inline::read(&sound.tensor)?;
    check_blob_len(sound, inline.as_ref(), len)?;
    match &inline {
        Some(places) => judge::places(sound, places).map(|()| false),
        None => Ok(true),
    }
}

/// Bounds what a sparse tensor comes to (ZT-L3).
pub(crate) fn check_len(tensor: &Tensor<'_>, wanted: u64, found: u64) -> Result<()> {
    if found <= wanted {
        return Ok(());
    }
    let (rule, at) = (&rule::LIMIT_SPARSE, tensor.offset().unwrap_or_default());
    Err(tensor.broken(Fault { rule, at, found, wanted }))
}
