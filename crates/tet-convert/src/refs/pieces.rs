//! Arrays that a file stores in one piece, cut into slabs of one length: no slab is clipped.

use tet_io::Progress;
use tet_query::Dataset;

use super::chunks::{StoredChunks, located};
use crate::Result;

/// Bytes of a slab at most, where the extents have divisors.
const SLAB_LEN: u64 = 4 << 20;

/// The chunks of a dataset as other programs can read them: those of the file, or an array in one piece cut into slabs
/// of about 4 MiB.
///
/// # Errors
/// [`Error::NoReferences`](crate::Error::NoReferences) where other programs cannot decode them, or they are in no file; there are too many; they cannot
/// be located.
pub fn stored_chunks(dataset: &Dataset, progress: &Progress) -> Result<StoredChunks> {
    let chunks = located(dataset, progress)?;
    chunks.check_codecs(dataset)?;
    Ok(match Pieces::new(dataset, &chunks) {
        Some(pieces) => pieces.cut(&chunks, &pieces.slab(None)),
        None => chunks,
    })
}

/// An array in one piece.
#[derive(Debug)]
pub(super) struct Pieces {
    /// The extents, that of the axis that varies slowest first.
    shape: Vec<u64>,
    /// Bytes of an element.
    size: u64,
    /// Where the first element is.
    start: u64,
    /// Whether the first axis varies fastest.
    is_column_major: bool,
}

impl Pieces {
    /// The array of some chunks; `None` where these are encoded, or not one after the other.
    pub(super) fn new(dataset: &Dataset, chunks: &StoredChunks) -> Option<Pieces> {
        let is_raw = chunks.pipeline.codecs.is_empty() && chunks.recoded.is_empty();
        if !is_raw || chunks.files.len() != 1 || chunks.file.iter().any(|file| *file != 0) {
            return None;
        }
        let size = dataset.dtype.and_then(tet_format::DType::size)?;
        let is_turned = chunks.pipeline.is_column_major;
        let in_rows = !is_turned && is_dense(dataset, chunks, size, false);
        // The elements of a chunk along one axis are in both orders.
        let is_either = is_turned || is_line(dataset, chunks);
        let is_column_major = !in_rows && is_either && is_dense(dataset, chunks, size, true);
        if !in_rows && !is_column_major {
            return None;
        }
        let shape = in_order(dataset.shape(), is_column_major);
        let start = *chunks.offset.iter().min()?;
        Some(Pieces { shape, size, start, is_column_major })
    }

    /// The extents of a slab, in the order of the axes: trailing axes are whole, and one is cut by a divisor. Along
    /// `axis` the extent divides the number that is given.
    pub(super) fn slab(&self, axis: Option<(usize, u64)>) -> Vec<u64> {
        let rank = self.shape.len();
        let stop = axis
            .map(|(axis, step)| (if self.is_column_major { rank - 1 - axis } else { axis }, step));
        let mut room = (SLAB_LEN / self.size.max(1)).max(1);
        let mut slab = vec![1; rank];
        for at in (0..rank).rev() {
            let step = stop.filter(|(axis, _)| *axis == at).map(|(_, step)| step);
            let extent = step.unwrap_or_else(|| self.shape.get(at).copied().unwrap_or(1)).max(1);
            let Some(found) = slab.get_mut(at) else { break };
            if room < extent {
                *found = divisor(extent, room);
                break;
            }
            *found = extent;
            // Positions of an axis before are not next to each other where this one is not whole.
            if step.is_some() {
                break;
            }
            room /= extent;
        }
        in_order(&slab, self.is_column_major)
    }

    /// How many slabs there are.
    pub(super) fn count(&self, slab: &[u64]) -> u64 {
        let shape = in_order(&self.shape, self.is_column_major);
        let counts = shape.iter().zip(slab).map(|(extent, slab)| extent.div_ceil((*slab).max(1)));
        counts.fold(1, u64::saturating_mul)
    }

    /// The array cut into slabs.
    pub(super) fn cut(&self, chunks: &StoredChunks, slab: &[u64]) -> StoredChunks {
        let shape = in_order(&self.shape, self.is_column_major);
        let axes = shape.iter().zip(slab);
        let counts: Vec<u64> = axes.map(|(extent, slab)| extent.div_ceil((*slab).max(1))).collect();
        let len = slab.iter().copied().fold(self.size, u64::saturating_mul);
        let order = Order::new(&counts, self.is_column_major);
        let numbers: Vec<u64> = order.numbers().collect();
        let offset = |nth: &u64| self.start.saturating_add(nth.saturating_mul(len));
        let mut pipeline = chunks.pipeline.clone();
        pipeline.is_column_major = self.is_column_major;
        StoredChunks {
            chunk_shape: slab.to_vec(),
            files: chunks.files.clone(),
            file: vec![0; numbers.len()],
            offset: numbers.iter().map(offset).collect(),
            len: vec![len; numbers.len()],
            pipeline,
            is_one_piece: !self.is_column_major,
            counts,
            ..StoredChunks::default()
        }
    }
}

/// Whether chunks have more than one position along one axis at most.
fn is_line(dataset: &Dataset, chunks: &StoredChunks) -> bool {
    let extents = dataset.shape().iter().zip(&chunks.chunk_shape);
    extents.filter(|(extent, chunk)| 1 < **extent.min(chunk)).count() <= 1
}

/// Whether chunks are one after the other, and elements in order across them.
fn is_dense(dataset: &Dataset, chunks: &StoredChunks, size: u64, is_column_major: bool) -> bool {
    let shape = in_order(dataset.shape(), is_column_major);
    let chunk = in_order(&chunks.chunk_shape, is_column_major);
    let axes = || shape.iter().zip(&chunk);
    // Before the last axis that is cut, chunks have one position of each axis.
    let cut = axes().rposition(|(extent, chunk)| chunk < extent).unwrap_or(0);
    if axes().take(cut).any(|(extent, chunk)| 1 < *extent.min(chunk)) {
        return false;
    }
    let mut places: Vec<(u64, u64, u64)> = Order::new(&chunks.counts, is_column_major)
        .numbers()
        .zip(chunks.offset.iter().zip(&chunks.len))
        .map(|(number, (offset, len))| (number, *offset, *len))
        .collect();
    places.sort_unstable();
    let is_next = |pair: &[(u64, u64, u64)]| match pair {
        [(_, offset, len), (_, next, _)] => offset.checked_add(*len) == Some(*next),
        _ => true,
    };
    // The chunks of an array in one piece are never filled up.
    let wanted = shape.iter().copied().try_fold(size, u64::checked_mul);
    let len = places.iter().try_fold(0_u64, |all, (_, _, len)| all.checked_add(*len));
    !places.is_empty() && len == wanted && places.windows(2).all(is_next)
}

/// Extents in the order in which axes are stored, and back.
fn in_order(extents: &[u64], is_column_major: bool) -> Vec<u64> {
    let mut extents = extents.to_vec();
    if is_column_major {
        extents.reverse();
    }
    extents
}

/// The numbers of chunks in the order of storage, for chunks in row-major order of their grid.
struct Order {
    counts: Vec<u64>,
    steps: Vec<u64>,
}

impl Order {
    fn new(counts: &[u64], is_column_major: bool) -> Order {
        let mut steps = vec![1_u64; counts.len()];
        let mut step = 1_u64;
        let forward: Vec<usize> = (0..counts.len()).collect();
        let axes: Vec<usize> =
            if is_column_major { forward } else { forward.into_iter().rev().collect() };
        for axis in axes {
            steps[axis] = step;
            step = step.saturating_mul(counts[axis]);
        }
        Order { counts: counts.to_vec(), steps }
    }

    fn numbers(&self) -> impl Iterator<Item = u64> {
        let count: u64 = self.counts.iter().product();
        let mut at = vec![0_u64; self.counts.len()];
        (0..count).map(move |_| {
            let number = at.iter().zip(&self.steps).map(|(at, step)| at * step).sum();
            advance(&mut at, &self.counts);
            number
        })
    }
}

/// The next coordinate in row-major order.
pub(super) fn advance(at: &mut [u64], counts: &[u64]) {
    for (at, count) in at.iter_mut().zip(counts).rev() {
        *at += 1;
        if *at < *count {
            return;
        }
        *at = 0;
    }
}

/// The largest divisor that is at most `room`; all of it, where that is a small part of `room`.
fn divisor(extent: u64, room: u64) -> u64 {
    let found = (1..=room).rev().find(|count| extent.is_multiple_of(*count)).unwrap_or(1);
    if found < room / 64 { extent } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(shape: &[u64], is_column_major: bool) -> Pieces {
        let shape = in_order(shape, is_column_major);
        Pieces { shape, size: 8, start: 100, is_column_major }
    }

    #[test]
    fn slabs_divide_the_extents() {
        assert_eq!(pieces(&[7, 300_000], false).slab(None), [1, 300_000]);
        assert_eq!(pieces(&[300_000, 7], true).slab(None), [300_000, 1]);
        assert_eq!(pieces(&[1_048_583], false).slab(None), [1_048_583]);
        assert_eq!(pieces(&[], false).slab(None), [0_u64; 0]);
        assert_eq!(pieces(&[6, 5, 4], false).slab(Some((1, 5))), [1, 5, 4]);
        assert_eq!(pieces(&[6, 5, 4], false).slab(Some((0, 3))), [3, 5, 4]);
        assert_eq!(pieces(&[6, 5, 4], true).slab(Some((2, 2))), [6, 5, 2]);
    }

    #[test]
    fn slabs_follow_one_another_in_both_orders() {
        for is_column_major in [false, true] {
            let shape = [4, 3, 2];
            let pieces = pieces(&shape, is_column_major);
            let slab = if is_column_major { [4, 1, 1] } else { [1, 1, 2] };
            let cut = pieces.cut(&StoredChunks::default(), &slab);
            let mut offsets = cut.offset.clone();
            offsets.sort_unstable();
            let len = cut.len[0];
            let wanted: Vec<u64> = (0..24 * 8 / len).map(|nth| 100 + nth * len).collect();
            assert_eq!(offsets, wanted);
            // The slab of element (0, 1, 1).
            let at = if is_column_major { 3 } else { 1 };
            let start = if is_column_major { 4 + 12 } else { 2 };
            assert_eq!(cut.offset[at], 100 + start * 8);
        }
    }
}
