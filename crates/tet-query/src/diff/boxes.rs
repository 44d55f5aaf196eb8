//! The boxes that two arrays are compared in.

use tet_format::{Grid, Shape};

use crate::budget::{DigestPolicy, Execution};
use crate::catalog::{ChunkPlace, Dataset};
use crate::error::{Error, Result};
use crate::lazy::LazyArray;
use crate::plan::starts_in_ranges;
use crate::selection::Hyperslab;

/// Bytes of a box that is worth a task: two of them fit the caches of a core.
const BOX_LEN: u64 = 1 << 20;
/// Chunks that are looked up together.
const BATCH: u64 = 8192;

/// Boxes of the shape of two arrays, all of them or some.
#[derive(Debug)]
pub(super) struct Boxes {
    grid: Grid,
    /// The numbers of those that are compared, where others are known to be equal.
    only: Option<Vec<u64>>,
    skipped: u64,
    element_size: u64,
}

impl Boxes {
    /// The boxes of two arrays of one shape. Chunks of equal digests are left out where that makes their elements
    /// equal.
    pub(super) fn new(arrays: [&LazyArray; 2], is_bitwise: bool, how: &Execution) -> Result<Boxes> {
        let element_size = arrays[0].dtype().size().unwrap_or(1).max(1);
        let shape = arrays[0].shape();
        let grid_of = |of: Vec<u64>| {
            Grid::new(shape.clone(), of.into()).ok_or_else(|| Error::misfit(arrays[0].dataset()))
        };
        let mut boxes = Boxes {
            grid: grid_of(box_shape(arrays, element_size))?,
            only: None,
            skipped: 0,
            element_size,
        };
        if !is_bitwise || how.digests == DigestPolicy::Always {
            return Ok(boxes);
        }
        if let Some(differing) = differing_chunks(arrays.map(LazyArray::dataset), arrays, how)? {
            let chunks = &arrays[0].dataset().grid;
            boxes.skipped = skipped(chunks, &differing);
            // Where most differ, boxes are read as if nothing were known of them.
            if boxes.skipped > shape.element_count().unwrap_or(u64::MAX) / 2 {
                boxes.grid = grid_of(chunks.chunk_shape().clone().into_vec())?;
                boxes.only = Some(differing);
            } else {
                boxes.skipped = 0;
            }
        }
        Ok(boxes)
    }

    pub(super) fn count(&self) -> u64 {
        self.only.as_ref().map_or(self.grid.chunk_count(), |only| only.len() as u64)
    }

    /// Elements that are not compared, because they are known to be equal.
    pub(super) const fn skipped(&self) -> u64 {
        self.skipped
    }

    pub(super) const fn element_size(&self) -> u64 {
        self.element_size
    }

    /// The most elements of a box.
    pub(super) fn elements_max(&self) -> u64 {
        self.grid.chunk_shape().element_count().unwrap_or(u64::MAX)
    }

    /// A box, as a part of the arrays.
    pub(super) fn part(&self, nth: u64) -> Hyperslab {
        let linear = match &self.only {
            None => nth,
            Some(only) => {
                usize::try_from(nth).ok().and_then(|nth| only.get(nth)).copied().unwrap_or(0)
            }
        };
        Hyperslab::of_chunk(&self.grid, linear)
            .unwrap_or_else(|| Hyperslab::whole(self.grid.shape()))
    }

    /// The number in the shape, row-major, of an element of a part.
    pub(super) fn linear(&self, part: &Hyperslab, nth: u64) -> u64 {
        let (mut rest, mut linear, mut stride) = (nth, 0, 1_u64);
        for (axis, &extent) in part.axes().iter().zip(self.grid.shape().iter()).rev() {
            let count = axis.count().max(1);
            linear += (axis.start + rest % count) * stride;
            rest /= count;
            stride = stride.saturating_mul(extent);
        }
        linear
    }
}

/// The extents of boxes which take few chunks apart, and are worth a task.
fn box_shape(arrays: [&LazyArray; 2], element_size: u64) -> Vec<u64> {
    let shape = arrays[0].shape();
    let wanted = (BOX_LEN / element_size).max(1);
    let chunks = arrays.map(LazyArray::chunk_shape);
    let is_ranged = arrays.map(|array| starts_in_ranges(array.dataset(), array.slab()));
    let elements = |chunk: &Shape| chunk.element_count().unwrap_or(u64::MAX);
    let larger = usize::from(elements(&chunks[1]) > elements(&chunks[0]));
    let mut found = match is_ranged {
        [false, false] => covering(&chunks, wanted.saturating_mul(16)),
        [false, true] => chunks[0].clone().into_vec(),
        [true, false] => chunks[1].clone().into_vec(),
        // Digests are of whole chunks.
        [true, true] if elements(&chunks[larger]) <= wanted.saturating_mul(4) => {
            chunks[larger].clone().into_vec()
        }
        [true, true] => cut_down(chunks[larger].clone().into_vec(), wanted),
    };
    grow(&mut found, shape, wanted);
    found
}

/// The least box of whole chunks of both arrays, unless it has more than `most` elements; then the larger chunk.
fn covering(chunks: &[Shape; 2], most: u64) -> Vec<u64> {
    let lcm = |(&a, &b): (&u64, &u64)| a / gcd(a, b) * b;
    let both: Shape = chunks[0].iter().zip(chunks[1].iter()).map(lcm).collect();
    let elements = |shape: &Shape| shape.element_count().unwrap_or(u64::MAX);
    if elements(&both) <= most {
        return both.into_vec();
    }
    let larger = usize::from(elements(&chunks[1]) > elements(&chunks[0]));
    chunks[larger].clone().into_vec()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

/// Fewer positions along the first axes, until there are at most `wanted` elements.
fn cut_down(mut extents: Vec<u64>, wanted: u64) -> Vec<u64> {
    for axis in 0..extents.len() {
        let inner = extents[axis + 1..].iter().copied().fold(1, u64::saturating_mul);
        extents[axis] = extents[axis].min((wanted / inner.max(1)).max(1));
    }
    extents
}

/// More positions along the last axes, until there are `wanted` elements; multiples of what was there.
fn grow(extents: &mut [u64], shape: &Shape, wanted: u64) {
    for axis in (0..extents.len()).rev() {
        let all = extents.iter().copied().fold(1, u64::saturating_mul);
        let times = (wanted / all.max(1)).max(1);
        extents[axis] = extents[axis].saturating_mul(times).min(shape[axis]).max(1);
    }
}

/// The numbers of chunks whose elements may differ; `None` where digests do not tell: chunks of another shape, stored
/// in another way, or not all of them selected.
fn differing_chunks(
    datasets: [&Dataset; 2],
    arrays: [&LazyArray; 2],
    how: &Execution,
) -> Result<Option<Vec<u64>>> {
    let [left, right] = datasets;
    let is_whole = datasets
        .iter()
        .zip(arrays)
        .all(|(dataset, array)| *array.slab() == Hyperslab::whole(dataset.shape()));
    let has_digests = datasets.iter().all(|dataset| dataset.chunks.has_digests());
    // Two types may be decoded to one.
    let is_one_type = left.dtype == right.dtype
        && left.dtype_name == right.dtype_name
        && left.is_decoded_as(right);
    if !is_whole || !has_digests || left.grid != right.grid || !is_one_type {
        return Ok(None);
    }
    let mut differing = Vec::new();
    let count = left.grid.chunk_count();
    for first in (0..count).step_by(BATCH as usize) {
        how.progress.check()?;
        let linear: Vec<u64> = (first..count.min(first + BATCH)).collect();
        let mut places = [Vec::new(), Vec::new()];
        for (dataset, places) in datasets.iter().zip(&mut places) {
            dataset.locate(&linear, places)?;
        }
        for (&linear, places) in linear.iter().zip(places[0].iter().zip(&places[1])) {
            if !is_same_chunk(datasets, linear, places.into())? {
                differing.push(linear);
            }
        }
    }
    Ok(Some(differing))
}

/// Whether the stored bytes of a chunk have the same digest in both files and are decoded in the same way.
fn is_same_chunk(
    [left, right]: [&Dataset; 2],
    linear: u64,
    [a, b]: [&ChunkPlace; 2],
) -> Result<bool> {
    let is_absent = a.is_absent() || b.is_absent();
    if is_absent || a.stored.len() != b.stored.len() || a.decoded_len != b.decoded_len {
        return Ok(false);
    }
    let names = [left.chunks.decoder(linear, a), right.chunks.decoder(linear, b)];
    if names[0].name() != names[1].name() {
        return Ok(false);
    }
    let digests = [left.chunks.digest(a)?, right.chunks.digest(b)?];
    Ok(digests[0].is_some() && digests[0] == digests[1])
}

/// The elements of the chunks that are not listed.
fn skipped(grid: &Grid, listed: &[u64]) -> u64 {
    let all = grid.shape().element_count().unwrap_or(u64::MAX);
    let elements = |&linear: &u64| {
        grid.extents_of(&grid.coord_of(linear)).into_iter().fold(1, u64::saturating_mul)
    };
    all.saturating_sub(listed.iter().map(elements).fold(0, u64::saturating_add))
}
