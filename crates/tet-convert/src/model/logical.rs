//! Types that a container lacks: stored as bits of one that it has, with two attributes.
//!
//! ```text
//!   bfloat16  uint16   bool  uint8   int8  int16   float8_...  uint8      logical_dtype
//!   complex64  float32 with a last axis of 2       float4_...  packed     logical_shape
//! ```

mod narrow;

use std::sync::Arc;

use tet_format::{DType, Grid, Shape};
use tet_query::{AttrText, Dataset};

use self::narrow::Narrowed;
use crate::model::attributes::{SCALAR_KEY, is_scalar, shape_of_text, shape_text};
use crate::model::dtype::bits_of;
use crate::{Error, Note, Result};

/// The attribute of the type that the bits are of.
pub(crate) const DTYPE_KEY: &str = "logical_dtype";
/// The attribute of the shape, where the stored one is another.
pub(crate) const SHAPE_KEY: &str = "logical_shape";
/// The name of the axis that the two parts of complex numbers are stored along.
pub(crate) const PARTS_DIM: &str = "complex";

/// A dataset as a container stores it.
#[derive(Debug)]
pub(crate) struct Physical {
    /// Its elements, of a type that can be read.
    pub(crate) view: Dataset,
    /// The type in the container; another than that of `view` where elements are widened.
    pub(crate) stored: DType,
    /// Axes of the container behind those of the dataset, which its elements are made of.
    pub(crate) inner: usize,
    /// What its elements are, where the container has no word for that.
    from: Option<String>,
}

impl Physical {
    /// The note that the bits are stored under another type, if they are.
    pub(crate) fn note(&self) -> Option<Note> {
        let (dataset, from, to) = (self.view.name.clone(), self.from.clone()?, self.stored);
        let is_widened = self.view.dtype == Some(DType::Int8);
        let note = if is_widened {
            Note::Widened { dataset, from, to }
        } else {
            Note::AsBits { dataset, from, to }
        };
        Some(note)
    }
}

/// Bytes of all elements.
pub(crate) fn byte_len(dataset: &Dataset) -> u64 {
    let count = dataset.grid.shape().element_count().unwrap_or(u64::MAX);
    let bits = u128::from(bits_of(&dataset.dtype_name).unwrap_or(8)) * u128::from(count);
    u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX)
}

/// A dataset as a container with these types stores it; `encoding` is the container's name.
///
/// # Errors
/// No type of the container holds the bits, or their number is not known.
pub(crate) fn to_physical(
    dataset: &Dataset,
    encoding: &'static str,
    has: impl Fn(DType) -> bool,
) -> Result<Physical> {
    let dtype = match (dataset.dtype, dataset.why()) {
        (Some(dtype), None) => dtype,
        (None, Some(tet_query::Error::Opaque { .. })) => return packed(dataset, encoding),
        _ => return Err(unreadable(dataset, encoding)),
    };
    let as_is = |dtype| Physical {
        view: Dataset { dtype: Some(dtype), ..dataset.clone() },
        stored: dtype,
        inner: 0,
        from: None,
    };
    if has(dtype) {
        return Ok(as_is(dtype));
    }
    let mut physical = match dtype {
        DType::Bool => as_is(DType::UInt8),
        DType::BFloat16 => as_is(DType::UInt16),
        DType::Int8 => {
            Physical { view: dataset.clone(), stored: DType::Int16, inner: 0, from: None }
        }
        DType::Complex64 => in_pairs(dataset, DType::Float32, encoding)?,
        DType::Complex128 => in_pairs(dataset, DType::Float64, encoding)?,
        _ => return Err(Error::NoDType { dataset: dataset.name.clone(), dtype, encoding }),
    };
    set_logical_dtype(&mut physical.view, dataset);
    physical.from = Some(dataset.dtype_name.clone());
    Ok(physical)
}

/// The error for a dataset whose elements cannot be read.
fn unreadable(dataset: &Dataset, encoding: &'static str) -> Error {
    match &dataset.fault {
        Some(cause) => {
            let (dataset, cause) = (dataset.name.clone(), Arc::clone(cause));
            tet_query::Error::Unreadable { dataset, cause }.into()
        }
        None => unknown(dataset, encoding),
    }
}

fn unknown(dataset: &Dataset, encoding: &'static str) -> Error {
    let (dataset, dtype) = (dataset.name.clone(), dataset.dtype_name.clone());
    Error::NoSuchDType { dataset, dtype, encoding }
}

/// Sets the attribute of the type that the bits are of.
fn set_logical_dtype(view: &mut Dataset, dataset: &Dataset) {
    let name = AttrText::Text(dataset.dtype_name.clone());
    view.attrs.insert(DTYPE_KEY.to_owned(), name);
}

/// Complex numbers as a last axis of two.
fn in_pairs(dataset: &Dataset, part: DType, encoding: &'static str) -> Result<Physical> {
    let is_scalar = encoding != "tet" && is_scalar(dataset);
    let longer = |extents: &Shape| {
        let extents = extents.iter().copied().filter(|_| !is_scalar);
        extents.chain([2]).collect::<Shape>()
    };
    let grid = &dataset.grid;
    let grid = grid.reshaped(longer(grid.shape()), longer(grid.chunk_shape()));
    let grid = grid.ok_or_else(|| unknown(dataset, encoding))?;
    let mut dims = dataset.dims.clone();
    dims.extend((!dims.is_empty() && !is_scalar).then(|| PARTS_DIM.to_owned()));
    let fill = dataset.fill.as_deref().and_then(|fill| of_parts(fill, fill.len() / 2));
    let mut view = Dataset { dtype: Some(part), grid, dims, fill, ..dataset.clone() };
    if is_scalar {
        view.attrs.remove(SCALAR_KEY);
    }
    Ok(Physical { view, stored: part, inner: 1, from: None })
}

/// The fill value of parts of `size` bytes, where those of an element are the same.
pub(crate) fn of_parts(fill: &[u8], size: usize) -> Option<Vec<u8>> {
    let (first, _) = fill.split_at_checked(size)?;
    let is_one = size != 0 && fill.len().is_multiple_of(size);
    (is_one && fill.chunks_exact(size).all(|part| part == first)).then(|| first.to_vec())
}

/// The elements of a dataset that nothing computes with, as the bytes that hold them; `None` for any
/// other dataset.
#[must_use]
pub fn as_bytes(dataset: &Dataset) -> Option<Dataset> {
    packed(dataset, "raw").ok().filter(|_| is_opaque(dataset)).map(|physical| physical.view)
}

/// Whether nothing here computes with the elements of a dataset, which is sound.
#[must_use]
pub fn is_opaque(dataset: &Dataset) -> bool {
    matches!(dataset.why(), Some(tet_query::Error::Opaque { .. }))
}

/// The elements of a dataset that nothing computes with, as if they were bytes: to be counted, and not
/// to be read. `None` for any other dataset.
#[must_use]
pub fn as_counted(dataset: &Dataset) -> Option<Dataset> {
    let counted = || Dataset { dtype: Some(DType::UInt8), fault: None, ..dataset.clone() };
    is_opaque(dataset).then(counted)
}

/// Elements that nothing computes with, as bytes.
fn packed(dataset: &Dataset, encoding: &'static str) -> Result<Physical> {
    let bits = bits_of(&dataset.dtype_name).ok_or_else(|| unknown(dataset, encoding))?;
    let grid = rescaled(&dataset.grid, bits, 8).ok_or_else(|| unknown(dataset, encoding))?;
    let is_other = grid.shape() != dataset.grid.shape();
    let (dtype, fault, fill) = (Some(DType::UInt8), None, None);
    let mut view = Dataset { dtype, grid, fault, fill, ..dataset.clone() };
    set_logical_dtype(&mut view, dataset);
    if is_other {
        view.attrs.insert(SHAPE_KEY.to_owned(), shape_text(dataset.shape()));
    }
    Ok(Physical { view, stored: DType::UInt8, inner: 0, from: Some(dataset.dtype_name.clone()) })
}

/// The grid of the same bits as elements of another width: along the last axis where these fill
/// whole elements there, else as one line of one chunk.
fn rescaled(grid: &Grid, from: u64, to: u64) -> Option<Grid> {
    if from == to {
        return Some(grid.clone());
    }
    let scale = |extent: u64| {
        let bits = extent.checked_mul(from)?;
        bits.is_multiple_of(to).then_some(bits / to)
    };
    let (shape, chunk) = (grid.shape().as_slice(), grid.chunk_shape().as_slice());
    if let (Some((last, head)), Some((last_chunk, chunk_head))) =
        (shape.split_last(), chunk.split_last())
        && let in_chunk = if grid.is_padded() { last_chunk } else { last_chunk.min(last) }
        && let Some((last, last_chunk)) = scale(*last).zip(scale(*in_chunk))
    {
        let shape = head.iter().copied().chain([last]).collect();
        let chunk = chunk_head.iter().copied().chain([last_chunk.max(1)]).collect();
        return grid.reshaped(shape, chunk);
    }
    let bits = grid.shape().element_count()?.checked_mul(from)?;
    let len = bits.is_multiple_of(to).then_some(bits / to)?;
    let is_one = grid.chunk_count() <= 1 && !grid.is_padded();
    if is_one { Grid::new([len].into(), [len.max(1)].into()) } else { None }
}

/// A dataset as what its attributes set_logical_dtype that it is; as it is where they do not fit it.
pub(crate) fn to_logical(dataset: Dataset) -> Dataset {
    let Some(AttrText::Text(name)) = dataset.attrs.get(DTYPE_KEY) else { return dataset };
    match of_name(&dataset, name) {
        Some(mut logical) => {
            logical.attrs.remove(DTYPE_KEY);
            logical.attrs.remove(SHAPE_KEY);
            logical
        }
        None => dataset,
    }
}

fn of_name(dataset: &Dataset, name: &str) -> Option<Dataset> {
    let stored = dataset.dtype.filter(|_| dataset.fault.is_none())?;
    let logical = DType::from_name(name);
    let named = |dtype| {
        let dtype_name = name.to_owned();
        Dataset { dtype, dtype_name, ..dataset.clone() }
    };
    match (stored, logical) {
        (DType::UInt8 | DType::Int8, Some(DType::Bool))
        | (DType::UInt16 | DType::Int16, Some(DType::BFloat16))
        | (DType::Int16, Some(DType::Float16)) => Some(named(logical)),
        (DType::Int16, Some(DType::Int8)) => {
            let chunks = Arc::new(Narrowed { wide: Arc::clone(&dataset.chunks) });
            let narrow = |wide: &[u8]| {
                let wide = i16::from_le_bytes(wide.try_into().ok()?);
                Some(i8::try_from(wide).ok()?.to_le_bytes().to_vec())
            };
            let fill = dataset.fill.as_deref().and_then(narrow);
            Some(Dataset { chunks, fill, ..named(logical) })
        }
        (DType::Float32, Some(DType::Complex64)) | (DType::Float64, Some(DType::Complex128)) => {
            let (last, shape) = dataset.grid.shape().split_last()?;
            let (last_chunk, chunk) = dataset.grid.chunk_shape().split_last()?;
            let grid = dataset.grid.reshaped(Shape::from(shape), Shape::from(chunk))?;
            let dims = dataset.dims.iter().take(grid.rank()).cloned().collect();
            let fill = dataset.fill.as_ref().map(|part| part.repeat(2));
            (*last == 2 && *last_chunk == 2).then(|| Dataset { grid, dims, fill, ..named(logical) })
        }
        (DType::UInt8, None) => {
            let grid = unpacked(dataset, bits_of(name)?)?;
            let opaque =
                tet_query::Error::Opaque { dataset: dataset.name.clone(), dtype: name.to_owned() };
            Some(Dataset { grid, fill: None, fault: Some(Arc::new(opaque)), ..named(None) })
        }
        _ => None,
    }
}

/// The grid of packed elements.
fn unpacked(dataset: &Dataset, bits: u64) -> Option<Grid> {
    let Some(shape) = dataset.attrs.get(SHAPE_KEY) else {
        // Where there are no elements any width fills whole bytes.
        let is_same = bits == 8 || dataset.shape().contains(&0);
        return is_same.then(|| dataset.grid.clone());
    };
    let shape = shape_of_text(shape.text())?;
    let along = rescaled(&dataset.grid, 8, bits).filter(|grid| grid.shape().as_slice() == shape);
    along.or_else(|| {
        let chunk = shape.iter().map(|&extent| extent.max(1)).collect();
        let grid = Grid::new(shape.into(), chunk)?;
        let back = rescaled(&grid, bits, 8)?;
        (back.shape() == dataset.grid.shape() && dataset.grid.chunk_count() <= 1).then_some(grid)
    })
}
