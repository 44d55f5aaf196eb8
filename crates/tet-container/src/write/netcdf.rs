//! Rules that NetCDF files of all versions share: names, types, labels of axes, attributes.

pub mod attributes;
pub mod labels;
pub mod names;

use tet_format::DType;
use tet_query::{AttrText, Dataset};

use crate::model::logical::{self, DTYPE_KEY, Physical};
use crate::{Note, Result};

/// A dataset as the format stores it, and the note of a type that it lacks. Types without a sign of their
/// own, and floats of 16 bits, are the bits of signed integers, which all versions have.
///
/// # Errors
/// No type of the format holds the bits, or the dataset cannot be read.
pub fn to_physical(dataset: &Dataset, encoding: &'static str) -> Result<(Dataset, Option<Note>)> {
    let as_bits = match dataset.dtype.filter(|_| dataset.fault.is_none()) {
        Some(DType::Bool) => Some(DType::Int8),
        Some(DType::Float16 | DType::BFloat16) => Some(DType::Int16),
        _ => None,
    };
    let Some(to) = as_bits else {
        let has = |dtype: DType| {
            dtype.is_signed_integer()
                || dtype.is_unsigned_integer()
                || matches!(dtype, DType::Float32 | DType::Float64)
        };
        let physical = logical::to_physical(dataset, encoding, has)?;
        let note = Physical::note(&physical);
        return Ok((physical.view, note));
    };
    let (name, from) = (dataset.name.clone(), dataset.dtype_name.clone());
    let mut view = Dataset { dtype: Some(to), ..dataset.clone() };
    view.attrs.insert(DTYPE_KEY.to_owned(), AttrText::Text(from.clone()));
    Ok((view, Some(Note::AsBits { dataset: name, from, to })))
}
