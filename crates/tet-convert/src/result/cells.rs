//! The cells of a reduction as an array.

use tet_format::{DType, Shape};
use tet_query::{Array, Cells, Element, Reduced, Scalar};

use crate::{Error, Note, Result};

/// The cells of a reduction of the dataset `name` as an array.
///
/// Integers become int64 where they fit, else uint64; cells without a value become NaN, and
/// integers among them float64.
///
/// # Errors
/// Integers that fit neither.
pub fn reduced_array(name: &str, reduced: &Reduced) -> Result<(Array, Vec<Note>)> {
    let shape = Shape::from(reduced.shape.as_slice());
    let memory = || Error::Memory { dataset: name.to_owned() };
    let values = &reduced.values;
    let nulls = values.nulls.as_deref().unwrap_or(&[]);
    let null_count = u64::try_from(nulls.iter().filter(|&&null| null).count()).unwrap_or(0);
    let array = match &values.cells {
        Cells::Element(array) if null_count == 0 => array.clone().with_shape(shape),
        Cells::Element(array) if array.dtype().is_float() => {
            with_nan(array.clone(), nulls).with_shape(shape)
        }
        _ if null_count > 0 => {
            let value = |at| values.get(at).and_then(Scalar::to_f64).unwrap_or(f64::NAN);
            made(shape, (0..values.len()).map(value).collect::<Vec<f64>>())
        }
        Cells::Float(floats) => made(shape, floats.clone()),
        Cells::Count(counts) => made(shape, counts.clone()),
        Cells::Truth(truths) => {
            let bytes = truths.iter().map(|&truth| u8::from(truth)).collect::<Vec<_>>();
            made(shape, bytes).and_then(|array| array.with_dtype(DType::Bool))
        }
        Cells::Int(integers) => {
            let (op, dataset) = (reduced.op.name(), name.to_owned());
            let array = fitting::<i64>(integers).and_then(|integers| made(shape.clone(), integers));
            let array = array.or_else(|| made(shape, fitting::<u64>(integers)?));
            return Ok((array.ok_or(Error::TooWide { dataset, op })?, Vec::new()));
        }
        Cells::Element(array) => array.clone().with_shape(shape),
    };
    let array = array.ok_or_else(memory)?;
    let mut notes = Vec::new();
    if null_count > 0 {
        let (dataset, to) = (name.to_owned(), array.dtype());
        notes.push(Note::NullsAsNan { dataset, count: null_count, to });
    }
    Ok((array, notes))
}

fn made<T: Element>(shape: Shape, elements: Vec<T>) -> Option<Array> {
    Array::from_elements(shape, &elements)
}

/// All integers in a narrower type, if they fit.
fn fitting<T: TryFrom<i128>>(integers: &[i128]) -> Option<Vec<T>> {
    integers.iter().map(|&integer| T::try_from(integer).ok()).collect()
}

/// Floats of which some are null.
fn with_nan(mut array: Array, nulls: &[bool]) -> Array {
    let nan: &[u8] = match array.dtype() {
        DType::Float16 => &half::f16::NAN.to_le_bytes(),
        DType::BFloat16 => &half::bf16::NAN.to_le_bytes(),
        DType::Float32 => &f32::NAN.to_le_bytes(),
        _ => &f64::NAN.to_le_bytes(),
    };
    for (element, &null) in array.bytes_mut().chunks_exact_mut(nan.len()).zip(nulls) {
        if null {
            element.copy_from_slice(nan);
        }
    }
    array
}
