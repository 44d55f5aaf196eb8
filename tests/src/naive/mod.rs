//! The oracle: the same answers by the plainest way, to compare with.
//!
//! It decodes whole chunks straight from their places, walks the selection index by index, and does
//! its arithmetic exactly: integers in 128 bits, floats in a fixed-point number as wide as the
//! range of a double. It shares nothing with planning, coalescing, scattering or the kernels, and
//! it is slow. The unit tests of
//! `tet-query` and `tet-document` compile these files too.

mod cell;
mod exact;
mod fold;
mod lane;
mod moment;
mod order;
mod sieve;

use std::collections::HashMap;

use half::{bf16, f16};
use tet_format::{DType, Shape};
use tet_query::{Axes, Dataset, Error, Hyperslab, NanPolicy, Number, Op, Reduction, Result};

pub use self::cell::Cell;
pub use self::exact::ExactSum;
use self::fold::Members;
use self::lane::{AxisLanes, Lane};

/// The selected elements as little-endian bytes, row-major.
///
/// # Errors
///
/// Whatever stands in the way of reading a chunk.
pub fn read(dataset: &Dataset, slab: &Hyperslab) -> Result<Vec<u8>> {
    let mut chunks = Chunks::new(dataset)?;
    let mut bytes = Vec::new();
    walk(slab, |position, _| {
        bytes.extend_from_slice(chunks.element(position)?);
        Ok(())
    })?;
    Ok(bytes)
}

/// The reduction: the cells in the order of the engine's values.
///
/// # Errors
///
/// As [`read`], when the dtype is not one of numbers, and when a product is too large.
pub fn reduce(dataset: &Dataset, slab: &Hyperslab, reduction: &Reduction) -> Result<Vec<Cell>> {
    let elements = Selected::read(dataset, slab, reduction)?;
    let dtype = elements.dtype;
    let params = &reduction.params;
    if matches!(reduction.op, Op::Covariance | Op::Correlation) {
        let rows = elements.rows(slab, reduction);
        return Ok(match reduction.op {
            Op::Covariance => moment::covariances(&rows, params.ddof),
            _ => moment::correlations(&rows),
        });
    }
    let cells = elements.cells(&lane::slab_lanes(slab, reduction), reduction);
    let floats = cells.iter().flat_map(|cell| cell.elements.iter());
    let floats: Vec<f64> = floats.map(|(element, _)| element.to_f64()).collect();
    let edges = order::edges(dtype, &floats, params.bins, params.range);
    let least = reduction.window.as_ref().and_then(|window| window.min_count).unwrap_or(0);
    let values = cells.iter().map(|members| {
        let values = fold::values(dtype, reduction, members, &edges)?;
        Ok(if members.real < least { vec![Cell::Null; values.len()] } else { values })
    });
    let values: Vec<Vec<Cell>> = values.collect::<Result<_>>()?;
    if reduction.op == Op::Quantile {
        // The quantiles are the first axis of the result.
        let row = |nth: usize| values.iter().map(move |cell| cell[nth]);
        return Ok((0..params.q.len()).flat_map(row).collect());
    }
    Ok(values.concat())
}

/// The selected elements as numbers, row-major over all axes.
struct Selected {
    dtype: DType,
    counts: Vec<u64>,
    elements: Vec<Cell>,
}

impl Selected {
    fn read(dataset: &Dataset, slab: &Hyperslab, reduction: &Reduction) -> Result<Selected> {
        let mut chunks = Chunks::new(dataset)?;
        let dtype = chunks.dtype;
        let undefined = || Error::Undefined { op: reduction.op.name(), dtype };
        number(dtype, &[0; 16]).ok_or_else(undefined)?;
        let mut elements = Vec::new();
        walk(slab, |position, _| {
            elements.push(number(dtype, chunks.element(position)?).ok_or_else(undefined)?);
            Ok(())
        })?;
        Ok(Selected { dtype, counts: slab.counts(), elements })
    }

    fn at(&self, position: &[u64]) -> Cell {
        let linear =
            position.iter().zip(&self.counts).fold(0, |at, (&nth, &count)| at * count + nth);
        self.elements[index(linear)]
    }

    /// Elements of each cell of the result.
    fn cells(&self, axes: &[AxisLanes], reduction: &Reduction) -> Vec<Members> {
        // Operations on NaN do not skip them.
        let asks = matches!(reduction.op, Op::NanCount | Op::AnyNan | Op::AllFinite);
        let nan = if asks { NanPolicy::Propagate } else { reduction.nan_policy() };
        let pad = reduction.window.as_ref().and_then(|window| window.pad);
        let passes = |element: Cell| {
            let filter = reduction.filter.as_ref();
            filter.is_none_or(|filter| sieve::passes(self.dtype, element, filter))
        };
        let mut cells = Vec::new();
        let lanes: Vec<Vec<&Lane>> = axes.iter().map(|axis| axis.lanes.iter().collect()).collect();
        for cell in product(&lanes) {
            let mut members = Members::default();
            let places: Vec<Vec<Option<u64>>> = cell.into_iter().cloned().collect();
            for place in product(&places) {
                let position: Option<Vec<u64>> = place.into_iter().collect();
                match (position, pad) {
                    (Some(position), _) => {
                        let element = self.at(&position);
                        if passes(element) {
                            members.take(element, self.place(axes, &position), nan);
                            members.real = members.elements.len() as u64;
                        }
                    }
                    (None, Some(pad)) => members.pads.push(self.pad(pad)),
                    (None, None) => {}
                }
            }
            for pad in std::mem::take(&mut members.pads) {
                members.take(pad, 0, nan);
            }
            cells.push(members);
        }
        cells
    }

    /// The position along the axes that tell the elements of a cell apart.
    fn place(&self, axes: &[AxisLanes], position: &[u64]) -> u64 {
        let told = axes.iter().zip(position.iter().zip(&self.counts)).filter(|it| it.0.indexed);
        told.fold(0, |at, (_, (&nth, &count))| at * count + nth)
    }

    /// A pad as an element.
    #[allow(clippy::cast_precision_loss, reason = "a float is wanted")]
    fn pad(&self, pad: Number) -> Cell {
        match pad {
            Number::Int(integer) if self.dtype.is_float() => Cell::Float(integer as f64),
            Number::Int(integer) => Cell::Int(integer),
            Number::Float(float) => Cell::Float(float),
        }
    }

    /// The variables of a matrix, each with all its observations.
    fn rows(&self, slab: &Hyperslab, reduction: &Reduction) -> Vec<Vec<f64>> {
        let observed = |axis: usize| match &reduction.axes {
            Axes::Some(axes) => axes.contains(&axis),
            Axes::All => false,
        };
        let kept: Vec<usize> =
            (0..self.counts.len()).filter(|&at| slab.axes()[at].is_kept()).collect();
        let variable = kept.iter().copied().find(|&axis| !observed(axis)).unwrap_or(0);
        let mut rows = vec![Vec::new(); index(self.counts[variable])];
        let every: Vec<Vec<u64>> = self.counts.iter().map(|&count| (0..count).collect()).collect();
        for position in product(&every) {
            rows[index(position[variable])].push(self.at(&position).to_f64());
        }
        rows
    }
}

/// Every choice of one item of each list, the last list fastest.
fn product<T: Copy>(lists: &[Vec<T>]) -> Vec<Vec<T>> {
    let mut choices = vec![Vec::new()];
    for list in lists {
        let longer = |choice: &Vec<T>| {
            let choice = choice.clone();
            list.iter().map(move |&item| [choice.as_slice(), &[item]].concat()).collect::<Vec<_>>()
        };
        choices = choices.iter().flat_map(longer).collect();
    }
    choices
}

/// Calls `visit` with every selected position and its number along each axis, last axis fastest.
fn walk(slab: &Hyperslab, mut visit: impl FnMut(&[u64], &[u64]) -> Result<()>) -> Result<()> {
    let counts = slab.counts();
    let mut nth = vec![0; counts.len()];
    let mut position = vec![0; counts.len()];
    if slab.is_empty() {
        return Ok(());
    }
    loop {
        for (axis, slice) in slab.axes().iter().enumerate() {
            position[axis] = slice.start + nth[axis] * slice.step;
        }
        visit(&position, &nth)?;
        let Some(axis) = (0..counts.len()).rev().find(|&axis| nth[axis] + 1 < counts[axis]) else {
            return Ok(());
        };
        nth[axis] += 1;
        nth[axis + 1..].fill(0);
    }
}

/// The decoded chunks of one dataset, each decoded when it is first touched.
struct Chunks<'a> {
    dataset: &'a Dataset,
    dtype: DType,
    element_size: usize,
    decoded: HashMap<u64, Vec<u8>>,
}

impl<'a> Chunks<'a> {
    fn new(dataset: &'a Dataset) -> Result<Self> {
        let unknown = || Error::UnknownDType {
            dataset: dataset.name.clone(),
            dtype: dataset.dtype_name.clone(),
        };
        let dtype = dataset.dtype.ok_or_else(unknown)?;
        let element_size =
            index(dtype.size().ok_or_else(|| Error::Undefined { op: "read", dtype })?);
        Ok(Chunks { dataset, dtype, element_size, decoded: HashMap::new() })
    }

    /// The bytes of one element.
    fn element(&mut self, position: &[u64]) -> Result<&[u8]> {
        let grid = &self.dataset.grid;
        let (mut linear, mut within) = (0, 0);
        for (axis, &at) in position.iter().enumerate() {
            let (extent, chunk) = (grid.shape()[axis], grid.chunk_shape()[axis]);
            let coord = at / chunk;
            let clipped = chunk.min(extent - coord * chunk);
            linear = linear * extent.div_ceil(chunk) + coord;
            within = within * clipped + at % chunk;
        }
        if !self.decoded.contains_key(&linear) {
            let decoded = self.decode(linear)?;
            self.decoded.insert(linear, decoded);
        }
        let start = index(within) * self.element_size;
        Ok(&self.decoded[&linear][start..start + self.element_size])
    }

    fn decode(&self, linear: u64) -> Result<Vec<u8>> {
        let mut places = Vec::new();
        self.dataset.chunks.locate(&[linear], &mut places)?;
        let chunk = || Shape::from(self.dataset.grid.coord_of(linear));
        let missing = || Error::MissingChunk { dataset: self.dataset.name.clone(), chunk: chunk() };
        let place = places.first().ok_or_else(missing)?;
        let mut stored = vec![0; index(place.stored.len())];
        self.dataset.source.read_exact_at(place.stored.start(), &mut stored)?;
        let mut decoded = vec![0; index(place.decoded_len)];
        let codec = self.dataset.chunks.decoder(linear, place);
        codec.decode(&stored, &mut decoded).map_err(|fault| Error::Codec {
            dataset: self.dataset.name.clone(),
            chunk: chunk(),
            at: place.stored.start(),
            fault,
        })?;
        Ok(decoded)
    }
}

/// The oracle keeps everything in memory, so what it counts fits.
fn index(count: u64) -> usize {
    usize::try_from(count).expect("a small world fits in memory")
}

/// The first element in `bytes`; `None` for a dtype without numbers.
fn number(dtype: DType, bytes: &[u8]) -> Option<Cell> {
    macro_rules! le {
        ($T:ty) => {
            <$T>::from_le_bytes(*bytes.first_chunk()?)
        };
    }
    Some(match dtype {
        DType::Float16 => Cell::Float(le!(f16).to_f64()),
        DType::BFloat16 => Cell::Float(le!(bf16).to_f64()),
        DType::Float32 => Cell::Float(le!(f32).into()),
        DType::Float64 => Cell::Float(le!(f64)),
        DType::Int8 => Cell::Int(le!(i8).into()),
        DType::Int16 => Cell::Int(le!(i16).into()),
        DType::Int32 => Cell::Int(le!(i32).into()),
        DType::Int64 => Cell::Int(le!(i64).into()),
        DType::UInt8 => Cell::Int(le!(u8).into()),
        DType::Bool => Cell::Int((le!(u8) != 0).into()),
        DType::UInt16 => Cell::Int(le!(u16).into()),
        DType::UInt32 => Cell::Int(le!(u32).into()),
        DType::UInt64 => Cell::Int(le!(u64).into()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use tet_query::{NoLabels, Selection};

    use super::*;

    #[test]
    fn a_walk_is_row_major() {
        let selection = Selection::parse("::2, 1:, -1").unwrap();
        let slab = selection.resolve_axes(&[3, 3, 2], &[], &NoLabels).unwrap();
        let mut seen = Vec::new();
        walk(&slab, |position, nth| {
            seen.push((position.to_vec(), nth.to_vec()));
            Ok(())
        })
        .unwrap();
        let wanted = [
            ([0, 1, 1], [0, 0, 0]),
            ([0, 2, 1], [0, 1, 0]),
            ([2, 1, 1], [1, 0, 0]),
            ([2, 2, 1], [1, 1, 0]),
        ];
        assert_eq!(seen, wanted.map(|(position, nth)| (position.to_vec(), nth.to_vec())));
    }
}
