//! The cells of a reduction as elements that are read: they are in memory once, as the reduction has them.

use std::io;
use std::sync::Arc;

use half::{bf16, f16};
use tet_format::{DType, Shape};
use tet_io::{ReadAt, Writers};
use tet_query::{Array, Cells, Reduced, Scalar, Values, WithIntegrity};

use crate::{Error, Note, Result};

/// The cells of a reduction of the dataset `name` as an array.
///
/// Integers become int64 where they fit, else uint64; cells without a value become NaN, and
/// integers among them float64.
///
/// # Errors
/// Integers that fit neither.
pub fn reduced_array(name: &str, reduced: &Reduced) -> Result<(Array, Vec<Note>)> {
    let (dtype, notes) = stored_as(name, reduced)?;
    let memory = |_| Error::Memory { dataset: name.to_owned() };
    let mut array = Array::zeroed(dtype, Shape::from(reduced.shape.as_slice())).map_err(memory)?;
    put(&reduced.values, dtype, 0, array.bytes_mut());
    Ok((array, notes))
}

/// The type of the elements that cells become, and notes on what they do not keep.
///
/// # Errors
/// As [`reduced_array`].
pub(super) fn stored_as(name: &str, reduced: &Reduced) -> Result<(DType, Vec<Note>)> {
    let values = &reduced.values;
    let null_count = values.nulls.iter().flatten().filter(|&&null| null).count();
    let dtype = match &values.cells {
        Cells::Element(array) if null_count == 0 || array.dtype().is_float() => array.dtype(),
        Cells::Float(_) => DType::Float64,
        _ if null_count > 0 => DType::Float64,
        Cells::Count(_) => DType::UInt64,
        Cells::Truth(_) => DType::Bool,
        Cells::Int(integers) if fit::<i64>(integers) => DType::Int64,
        Cells::Int(integers) if fit::<u64>(integers) => DType::UInt64,
        Cells::Int(_) => {
            let (op, dataset) = (reduced.op.name(), name.to_owned());
            return Err(Error::TooWide { dataset, op });
        }
        Cells::Element(array) => array.dtype(),
    };
    let count = u64::try_from(null_count).unwrap_or(u64::MAX);
    let note = || Note::NullsAsNan { dataset: name.to_owned(), count, to: dtype };
    Ok((dtype, (0 < count).then(note).into_iter().collect()))
}

/// Whether all integers are of a narrower type.
fn fit<T: TryFrom<i128>>(integers: &[i128]) -> bool {
    integers.iter().all(|&integer| T::try_from(integer).is_ok())
}

/// The cells of a reduction as bytes that are made when they are read.
pub(super) struct CellBytes {
    reduced: Arc<WithIntegrity<Reduced>>,
    dtype: DType,
}

impl CellBytes {
    /// Those of elements of this type, which is that of [`stored_as`].
    pub(super) fn new(reduced: &Arc<WithIntegrity<Reduced>>, dtype: DType) -> CellBytes {
        CellBytes { reduced: Arc::clone(reduced), dtype }
    }
}

impl ReadAt for CellBytes {
    fn len(&self) -> u64 {
        let count = u64::try_from(self.reduced.values.len()).unwrap_or(u64::MAX);
        count.saturating_mul(self.dtype.size().unwrap_or(1))
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let at = usize::try_from(offset).ok();
        let end = at.and_then(|at| at.checked_add(out.len()));
        match at.zip(end) {
            Some((at, end)) if u64::try_from(end).is_ok_and(|end| end <= self.len()) => {
                put(&self.reduced.values, self.dtype, at, out);
                Ok(())
            }
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn writers(&self) -> Writers {
        Writers::Absent
    }
}

/// Writes the bytes of cells as elements of a type, from byte `start` on.
fn put(values: &Values, dtype: DType, start: usize, out: &mut [u8]) {
    let size = dtype.size().and_then(|size| usize::try_from(size).ok()).unwrap_or(1);
    let (mut at, mut within, mut rest) = (start / size, start % size, out);
    while !rest.is_empty() {
        let element = element(values, dtype, at);
        let piece = element.get(within..size).unwrap_or_default();
        let len = piece.len().min(rest.len());
        let (now, after) = rest.split_at_mut(len);
        now.copy_from_slice(&piece[..len]);
        (at, within, rest) = (at + 1, 0, after);
    }
}

/// The bytes of a cell as an element of a type, and zeros behind them.
fn element(values: &Values, dtype: DType, at: usize) -> [u8; 16] {
    if values.nulls.as_ref().is_some_and(|nulls| nulls.get(at) == Some(&true)) {
        return nan(dtype);
    }
    match &values.cells {
        Cells::Float(floats) => wide(floats.get(at).copied().unwrap_or_default().to_le_bytes()),
        Cells::Element(array) if array.dtype() == dtype => {
            let size = dtype.size().and_then(|size| usize::try_from(size).ok()).unwrap_or(1);
            let mut bytes = [0; 16];
            if let Some(stored) = array.bytes().chunks_exact(size).nth(at) {
                bytes[..size].copy_from_slice(stored);
            }
            bytes
        }
        _ if dtype == DType::Float64 => {
            let value = values.get(at).and_then(Scalar::to_f64).unwrap_or(f64::NAN);
            wide(value.to_le_bytes())
        }
        Cells::Count(counts) => wide(counts.get(at).copied().unwrap_or_default().to_le_bytes()),
        Cells::Truth(truths) => wide([u8::from(truths.get(at) == Some(&true))]),
        // The lower half is the number as int64 or as uint64, whichever it fits.
        Cells::Int(integers) => integers.get(at).copied().unwrap_or_default().to_le_bytes(),
        Cells::Element(_) => [0; 16],
    }
}

/// A cell without a value.
fn nan(dtype: DType) -> [u8; 16] {
    match dtype {
        DType::Float16 => wide(f16::NAN.to_le_bytes()),
        DType::BFloat16 => wide(bf16::NAN.to_le_bytes()),
        DType::Float32 => wide(f32::NAN.to_le_bytes()),
        _ => wide(f64::NAN.to_le_bytes()),
    }
}

fn wide<const LEN: usize>(bytes: [u8; LEN]) -> [u8; 16] {
    let mut all = [0; 16];
    all[..LEN].copy_from_slice(&bytes);
    all
}
