//! The numbers that stand for missing elements, by the attributes of a dataset.

use tet_format::DType;

use crate::catalog::{AttrText, Dataset};
use crate::element::{nearest_bf16, nearest_f16};
use crate::scalar::Scalar;

/// The attributes that name them.
const KEYS: [&str; 2] = ["_FillValue", "missing_value"];

/// The numbers that stand for missing elements of a dataset, as elements of its type; where it is decoded, missing
/// elements are NaN, or the integer of masked times.
pub(super) fn missing(dataset: &Dataset) -> Vec<Scalar> {
    let Some(dtype) = dataset.dtype.filter(|_| dataset.meaning.is_none()) else {
        return dataset.masked_integer().map(|it| Scalar::Int(it.into())).into_iter().collect();
    };
    let attrs = KEYS.iter().filter_map(|key| dataset.attrs.get(*key));
    let texts = attrs.filter_map(AttrText::json).flat_map(words);
    texts.filter_map(|text| scalar(dtype, text)).collect()
}

/// The numbers of a JSON text that is one or a list of them.
fn words(json: &str) -> impl Iterator<Item = &str> {
    json.trim_matches(['[', ']']).split(',').map(str::trim)
}

#[allow(clippy::cast_possible_truncation, reason = "the number is one of the narrower type")]
fn scalar(dtype: DType, text: &str) -> Option<Scalar> {
    if dtype.is_integer() {
        return text.parse().ok().map(Scalar::Int);
    }
    let value: f64 = text.parse().ok()?;
    Some(match dtype {
        DType::Float16 => Scalar::Float16(nearest_f16(value)),
        DType::BFloat16 => Scalar::BFloat16(nearest_bf16(value)),
        DType::Float32 => Scalar::Float32(value as f32),
        DType::Float64 => Scalar::Float64(value),
        _ => return None,
    })
}
