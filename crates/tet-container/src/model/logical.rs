//! Types that a container lacks: stored as bits of one that it has, with two attributes.
//!
//! ```text
//!   bfloat16  uint16   bool  uint8   int8  int16   float8_...  uint8      logical_dtype
//!   complex64  float32 with a last axis of 2       float4_...  packed     logical_shape
//!
//! Floats of eight and four bits are computed with as float32, and stay what they are when they are written.
//! ```

mod narrow;

use std::sync::Arc;

use tet_codec::NumberBlock;
use tet_format::{DType, Grid, Shape};
use tet_query::{AttrText, Dataset, rescaled};

use self::narrow::Narrowed;
use crate::model::attributes::{SCALAR_KEY, is_scalar, shape_of_text, shape_text};
use crate::model::blocks::{BlockChunks, UnreadChunks};
use crate::model::dtype::{Unit, bits_of, unit_of};
use crate::{Error, Note, Result};

/// The attribute of the type that the bits are of.
pub const DTYPE_KEY: &str = "logical_dtype";
/// The attribute of the shape, where the stored one is another.
pub const SHAPE_KEY: &str = "logical_shape";
/// The type of the characters of texts of NetCDF.
pub const CHAR: &str = "char";
/// The name of the axis that the two parts of complex numbers are stored along.
pub const PARTS_DIM: &str = "complex";

/// A dataset as a container stores it.
#[derive(Debug)]
pub struct Physical {
    /// Its elements, of a type that can be read.
    pub view: Dataset,
    /// The type in the container; another than that of `view` where elements are widened.
    pub stored: DType,
    /// Axes of the container behind those of the dataset, which its elements are made of.
    pub inner: usize,
    /// The name of the type of its elements, where the container has no such type.
    from: Option<String>,
}

impl Physical {
    /// The note that the bits are stored under another type, if they are.
    pub fn note(&self) -> Option<Note> {
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

/// Bytes of all elements, as they are stored.
#[must_use]
pub fn byte_len(dataset: &Dataset) -> u64 {
    let count = u128::from(dataset.grid.shape().element_count().unwrap_or(u64::MAX));
    let len = match (bits_of(&dataset.dtype_name), dataset.blocks()) {
        (None, Some(it)) => count.div_ceil(u128::from(it.count.max(1))) * u128::from(it.len),
        (bits, _) => (u128::from(bits.unwrap_or(8)) * count).div_ceil(8),
    };
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// A dataset as a container with these types stores it; `encoding` is the container's name.
///
/// # Errors
/// No type of the container holds the bits, or their number is not known.
pub fn to_physical(
    dataset: &Dataset,
    encoding: &'static str,
    has: impl Fn(DType) -> bool,
) -> Result<Physical> {
    let dtype = match (dataset.dtype, dataset.why()) {
        _ if stays_in_blocks(dataset) => return packed(dataset, encoding),
        (Some(dtype), None) => dtype,
        _ => return Err(unreadable(dataset, encoding)),
    };
    let as_is = |dataset, dtype| Physical {
        view: Dataset { dtype: Some(dtype), ..dataset },
        stored: dtype,
        inner: 0,
        from: None,
    };
    let dataset = numbers_of(dataset.clone());
    if has(dtype) {
        return Ok(as_is(dataset, dtype));
    }
    let dataset = &dataset;
    let mut physical = match dtype {
        DType::Bool => as_is(dataset.clone(), DType::UInt8),
        DType::BFloat16 => as_is(dataset.clone(), DType::UInt16),
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
pub fn of_parts(fill: &[u8], size: usize) -> Option<Vec<u8>> {
    let (first, _) = fill.split_at_checked(size)?;
    let is_one = size != 0 && fill.len().is_multiple_of(size);
    (is_one && fill.chunks_exact(size).all(|part| part == first)).then(|| first.to_vec())
}

/// The elements of a dataset that no number of whole bytes holds, as the bytes of their blocks, with the attributes
/// that say what they are; `None` for any other dataset, and for one that is written as the numbers that it is decoded
/// to.
#[must_use]
pub fn as_bytes(dataset: &Dataset) -> Option<Dataset> {
    let packed = stays_in_blocks(dataset).then(|| packed(dataset, "raw"));
    packed.and_then(Result::ok).map(|physical| physical.view)
}

/// Whether nothing here computes with the elements of a dataset, which is sound.
#[must_use]
pub fn is_opaque(dataset: &Dataset) -> bool {
    matches!(dataset.why(), Some(tet_query::Error::Opaque { .. }))
}

/// Whether the elements of a dataset are decoded from quantized blocks, and written as the numbers that they are.
#[must_use]
pub fn is_dequantized(dataset: &Dataset) -> bool {
    dataset.blocks().is_some() && !stays_in_blocks(dataset)
}

/// A dataset of quantized blocks as the numbers that they are decoded to; another dataset as it is.
pub fn numbers_of(dataset: Dataset) -> Dataset {
    match dataset.dtype.filter(|_| is_dequantized(&dataset)) {
        Some(dtype) => Dataset { dtype_name: dtype.name().to_owned(), ..dataset },
        None => dataset,
    }
}

/// Whether the elements of a dataset are written as the blocks that they are stored in.
fn stays_in_blocks(dataset: &Dataset) -> bool {
    let is_float = |name| bits_of(name).is_some() && DType::from_name(name).is_none();
    is_opaque(dataset) || dataset.blocks().is_some() && is_float(&dataset.dtype_name)
}

/// The elements of a dataset that nothing computes with, as if they were bytes: to be counted, and not
/// to be read. `None` for any other dataset.
#[must_use]
pub fn as_counted(dataset: &Dataset) -> Option<Dataset> {
    let counted = || {
        let chunks = Arc::new(UnreadChunks::new(dataset.grid.clone()));
        Dataset { dtype: Some(DType::UInt8), fault: None, chunks, ..dataset.clone() }
    };
    is_opaque(dataset).then(counted)
}

/// Elements in blocks, as bytes.
fn packed(dataset: &Dataset, encoding: &'static str) -> Result<Physical> {
    let mut view = dataset.block_bytes().ok_or_else(|| unknown(dataset, encoding))?;
    set_logical_dtype(&mut view, dataset);
    if view.shape() != dataset.shape() {
        view.attrs.insert(SHAPE_KEY.to_owned(), shape_text(dataset.shape()));
    }
    Ok(Physical { view, stored: DType::UInt8, inner: 0, from: Some(dataset.dtype_name.clone()) })
}

/// A dataset whose elements are in blocks of a known type: decoded, where they can be.
fn in_blocks(dataset: Dataset) -> Dataset {
    if !is_opaque(&dataset) || dataset.blocks().is_some() {
        return dataset;
    }
    let Some(Unit { count, len }) = unit_of(&dataset.dtype_name) else { return dataset };
    if rescaled(&dataset.grid, count, len).is_none() {
        return dataset;
    }
    let bytes = Arc::clone(&dataset.chunks);
    match NumberBlock::from_name(&dataset.dtype_name) {
        Some(number) => {
            let chunks = Arc::new(BlockChunks::decoded(bytes, number, &dataset.grid));
            let (dtype, fault, fill) = (Some(DType::Float32), None, None);
            Dataset { dtype, chunks, fault, fill, ..dataset }
        }
        None => Dataset { chunks: Arc::new(BlockChunks::opaque(bytes, count, len)), ..dataset },
    }
}

/// A dataset as what its attributes set_logical_dtype that it is; as it is where they do not fit it.
pub fn to_logical(dataset: Dataset) -> Dataset {
    in_blocks(of_attributes(dataset))
}

fn of_attributes(dataset: Dataset) -> Dataset {
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
            let grid = unpacked(dataset, unit_of(name)?)?;
            let opaque =
                tet_query::Error::Opaque { dataset: dataset.name.clone(), dtype: name.to_owned() };
            Some(Dataset { grid, fill: None, fault: Some(Arc::new(opaque)), ..named(None) })
        }
        _ => None,
    }
}

/// The grid of packed elements.
fn unpacked(dataset: &Dataset, unit: Unit) -> Option<Grid> {
    let Unit { count, len } = unit;
    let Some(shape) = dataset.attrs.get(SHAPE_KEY) else {
        // Where there are no elements any width fills whole bytes.
        let is_same = count == len || dataset.shape().contains(&0);
        return is_same.then(|| dataset.grid.clone());
    };
    let shape = shape_of_text(shape.text())?;
    let along = rescaled(&dataset.grid, len, count).filter(|grid| grid.shape().as_slice() == shape);
    along.or_else(|| {
        let chunk = shape.iter().map(|&extent| extent.max(1)).collect();
        let grid = Grid::new(shape.into(), chunk)?;
        let back = rescaled(&grid, count, len)?;
        (back.shape() == dataset.grid.shape() && dataset.grid.chunk_count() <= 1).then_some(grid)
    })
}
