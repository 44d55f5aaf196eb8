//! The oracle: the same answers by the plainest way, to compare with.
//!
//! It decodes whole chunks straight from their places, walks the selection index by index, and does
//! its arithmetic exactly: integers in 128 bits, floats in a fixed-point number as wide as the
//! range of a double. It shares nothing with planning, coalescing, scattering or the kernels, and
//! it is slow. Tests use it; programs should not.

mod exact;

use std::collections::HashMap;

use half::{bf16, f16};
use tet_format::{DType, Shape};

pub use self::exact::ExactSum;
use crate::catalog::{Catalog, Dataset};
use crate::error::{Error, Result};
use crate::op::{NanPolicy, Op};
use crate::reduction::{Axes, Reduction};
use crate::selection::Hyperslab;

/// One cell of a reduction, by plain means.
#[derive(Clone, Copy, Debug)]
pub enum Cell {
    /// No value: the mean, minimum or maximum of nothing.
    Null,
    /// An integer.
    Int(i128),
    /// A float, widened without loss.
    Float(f64),
}

impl PartialEq for Cell {
    /// The same kind and value; any NaN equals any NaN and zeros are equal whatever their sign.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Cell::Null, Cell::Null) => true,
            (Cell::Int(a), Cell::Int(b)) => a == b,
            (Cell::Float(a), Cell::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
            _ => false,
        }
    }
}

/// The selected elements as little-endian bytes, row-major.
///
/// # Errors
///
/// Whatever stands in the way of reading a chunk.
pub fn read(catalog: &Catalog, dataset: &Dataset, slab: &Hyperslab) -> Result<Vec<u8>> {
    let mut chunks = Chunks::new(catalog, dataset)?;
    let mut bytes = Vec::new();
    walk(slab, |position, _| {
        bytes.extend_from_slice(chunks.element(position)?);
        Ok(())
    })?;
    Ok(bytes)
}

/// The reduction, one cell per position along the axes that are neither reduced nor dropped.
///
/// # Errors
///
/// As [`read`], and when the dtype is not one of numbers.
pub fn reduce(
    catalog: &Catalog,
    dataset: &Dataset,
    slab: &Hyperslab,
    reduction: &Reduction,
) -> Result<Vec<Cell>> {
    let mut chunks = Chunks::new(catalog, dataset)?;
    let dtype = chunks.dtype;
    let undefined = || Error::Undefined { op: reduction.op.name(), dtype };
    number(dtype, &[0; 16]).ok_or_else(undefined)?;
    let kept = kept_axes(slab, &reduction.axes);
    let counts = slab.counts();
    let cell_count: u64 = kept.iter().map(|&axis| counts[axis]).product();
    let mut states = vec![State::default(); index(cell_count)];
    walk(slab, |position, nth| {
        let mut cell = 0;
        for &axis in &kept {
            cell = cell * counts[axis] + nth[axis];
        }
        let element = number(dtype, chunks.element(position)?).ok_or_else(undefined)?;
        states[index(cell)].fold(element, reduction.nan);
        Ok(())
    })?;
    let floats = matches!(number(dtype, &[0; 16]), Some(Cell::Float(_)));
    Ok(states.iter().map(|state| state.finish(reduction.op, floats)).collect())
}

fn kept_axes(slab: &Hyperslab, axes: &Axes) -> Vec<usize> {
    let reduced = |axis: &usize| match axes {
        Axes::All => true,
        Axes::Some(axes) => axes.is_empty() || axes.contains(axis),
    };
    let all = 0..slab.axes().len();
    all.filter(|axis| slab.axes()[*axis].is_kept() && !reduced(axis)).collect()
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
    catalog: &'a Catalog,
    dataset: &'a Dataset,
    dtype: DType,
    element_size: usize,
    decoded: HashMap<u64, Vec<u8>>,
}

impl<'a> Chunks<'a> {
    fn new(catalog: &'a Catalog, dataset: &'a Dataset) -> Result<Self> {
        let unknown = || Error::UnknownDType {
            dataset: dataset.name.clone(),
            dtype: dataset.dtype_name.clone(),
        };
        let dtype = dataset.dtype.ok_or_else(unknown)?;
        let element_size = index(dtype.size().ok_or_else(|| Error::no_bytes(dtype))?);
        Ok(Chunks { catalog, dataset, dtype, element_size, decoded: HashMap::new() })
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
        self.catalog.source().read_exact_at(place.stored.start(), &mut stored)?;
        let mut decoded = vec![0; index(place.decoded_len)];
        let codec = &self.dataset.codecs()[usize::from(place.codec)];
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
        DType::UInt8 | DType::Bool => Cell::Int(le!(u8).into()),
        DType::UInt16 => Cell::Int(le!(u16).into()),
        DType::UInt32 => Cell::Int(le!(u32).into()),
        DType::UInt64 => Cell::Int(le!(u64).into()),
        _ => return None,
    })
}

/// Everything the reductions need to know of the elements of one cell.
#[derive(Clone, Debug, Default)]
struct State {
    count: u64,
    integers: i128,
    floats: ExactSum,
    extrema: Option<(Cell, Cell)>,
}

impl State {
    fn fold(&mut self, element: Cell, nan: NanPolicy) {
        if nan == NanPolicy::Skip && matches!(element, Cell::Float(float) if float.is_nan()) {
            return;
        }
        self.count += 1;
        match element {
            Cell::Int(integer) => self.integers += integer,
            Cell::Float(float) => self.floats.add(float),
            Cell::Null => {}
        }
        self.extrema = Some(match self.extrema {
            None => (element, element),
            Some((min, max)) => (smaller(min, element), larger(max, element)),
        });
    }

    #[allow(clippy::cast_precision_loss, reason = "a mean is rounded")]
    fn finish(&self, op: Op, floats: bool) -> Cell {
        match op {
            Op::Count => Cell::Int(self.count.into()),
            Op::Sum if floats => Cell::Float(self.floats.round()),
            Op::Sum => Cell::Int(self.integers),
            Op::Mean if self.count == 0 => Cell::Null,
            Op::Mean if floats => Cell::Float(self.floats.round() / self.count as f64),
            Op::Mean => Cell::Float(self.integers as f64 / self.count as f64),
            Op::Min => self.extrema.map_or(Cell::Null, |(min, _)| min),
            Op::Max => self.extrema.map_or(Cell::Null, |(_, max)| max),
            _ => Cell::Null,
        }
    }
}

/// The smaller of two elements; NaN if one is, and -0.0 below 0.0.
fn smaller(a: Cell, b: Cell) -> Cell {
    match (a, b) {
        (Cell::Int(x), Cell::Int(y)) => Cell::Int(x.min(y)),
        (Cell::Float(x), _) if x.is_nan() => a,
        (_, Cell::Float(y)) if y.is_nan() => b,
        (Cell::Float(x), Cell::Float(y)) if x.total_cmp(&y).is_le() => a,
        _ => b,
    }
}

/// The larger of two elements; NaN if one is, and 0.0 above -0.0.
fn larger(a: Cell, b: Cell) -> Cell {
    match (a, b) {
        (Cell::Int(x), Cell::Int(y)) => Cell::Int(x.max(y)),
        (Cell::Float(x), _) if x.is_nan() => a,
        (_, Cell::Float(y)) if y.is_nan() => b,
        (Cell::Float(x), Cell::Float(y)) if x.total_cmp(&y).is_ge() => a,
        _ => b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::NoLabels;
    use crate::selection::Selection;

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

    fn finished(op: Op, nan: NanPolicy, elements: &[f64]) -> Cell {
        let mut state = State::default();
        elements.iter().for_each(|&element| state.fold(Cell::Float(element), nan));
        state.finish(op, true)
    }

    #[test]
    fn cells_follow_the_rules_of_nan_and_nothing() {
        let (nan, keep, skip) = (f64::NAN, NanPolicy::Propagate, NanPolicy::Skip);
        for (op, policy, elements, wanted) in [
            (Op::Sum, keep, &[][..], Cell::Float(0.0)),
            (Op::Mean, keep, &[], Cell::Null),
            (Op::Min, keep, &[], Cell::Null),
            (Op::Count, keep, &[], Cell::Int(0)),
            (Op::Count, keep, &[1.0, nan], Cell::Int(2)),
            (Op::Count, skip, &[1.0, nan], Cell::Int(1)),
            (Op::Sum, keep, &[1.0, nan], Cell::Float(nan)),
            (Op::Sum, skip, &[1.0, nan], Cell::Float(1.0)),
            (Op::Mean, skip, &[nan], Cell::Null),
            (Op::Max, keep, &[1.0, nan, 3.0], Cell::Float(nan)),
            (Op::Max, skip, &[1.0, nan, 3.0], Cell::Float(3.0)),
            (Op::Mean, keep, &[1.0, 2.0], Cell::Float(1.5)),
            (Op::Sum, keep, &[f64::INFINITY, 1.0], Cell::Float(f64::INFINITY)),
            (Op::Sum, keep, &[f64::INFINITY, f64::NEG_INFINITY], Cell::Float(nan)),
        ] {
            assert_eq!(finished(op, policy, elements), wanted, "{op:?} {policy:?} {elements:?}");
        }
        let Cell::Float(zero) = finished(Op::Min, keep, &[0.0, -0.0, 0.0]) else { panic!() };
        assert!(zero.is_sign_negative());
    }
}
