//! Packed and masked values, decoded as the CF conventions say (section 2.5.1 and 8.1), with the types that
//! xarray chooses.
//!
//! ```text
//!   stored -- _Unsigned --> number -- _FillValue, missing_value --> NaN -- x scale_factor, + add_offset --> decoded
//! ```
//!
//! Elements are computed in the type of the result, in this order, so they have the bits that xarray gives.
//! `valid_min`, `valid_max` and `valid_range` mask elements only where that is asked for: most programs do not
//! apply them.

mod unpacked;

use std::sync::Arc;

use tet_format::DType;
use tet_query::{AttrText, Catalog, Dataset, Meaning};

use self::unpacked::{Unpacked, Unpacking};

/// Whether elements outside of the valid range are masked.
///
/// # Examples
///
/// ```
/// use tet_convert::ValidRange;
///
/// assert_eq!(ValidRange::default(), ValidRange::Ignored);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValidRange {
    /// They are numbers like the others.
    #[default]
    Ignored,
    /// They are NaN.
    Masked,
}

/// The catalog with each dataset that has the attributes of packed or masked values decoded.
#[must_use]
pub fn decoded(catalog: Catalog, range: ValidRange) -> Catalog {
    let parts = catalog.parts().iter().cloned().map(|part| of_dataset(part, range)).collect();
    catalog.viewed(|dataset| of_dataset(dataset, range)).with_parts(parts)
}

/// A dataset decoded; as it is where it has none of the attributes, or no numbers.
fn of_dataset(dataset: Dataset, range: ValidRange) -> Dataset {
    let Some(stored) = dataset.dtype.filter(|_| dataset.fault.is_none()) else { return dataset };
    let is_number = stored.is_float() || is_integer(stored);
    if !is_number {
        return dataset;
    }
    let signed = with_sign(stored, dataset.attrs.get("_Unsigned"));
    let mut masked = Vec::new();
    let mut masks = Vec::new();
    for name in ["_FillValue", "missing_value"] {
        let values = numbers(&dataset, name).map_or_else(Vec::new, |list| list.values);
        let values = values.into_iter().filter(|value| !value.is_nan());
        let before = masks.len();
        masks.extend(values.map(|value| in_sign(value, stored, signed)));
        if before != masks.len() {
            masked.push(name);
        }
    }
    let valid = match range {
        ValidRange::Ignored => None,
        ValidRange::Masked => valid(&dataset, (stored, signed)),
    };
    if valid.is_some() {
        masked.push("valid_range");
    }
    let [scale, offset] = ["scale_factor", "add_offset"].map(|name| one(&dataset, name));
    let is_packed = scale.is_some() || offset.is_some();
    let is_masked = !masks.is_empty() || valid.is_some();
    if !is_packed && !is_masked {
        return renamed(dataset, signed);
    }
    let to = if is_packed { float_for(signed, scale, offset) } else { promoted(signed) };
    let value = |it: Option<(DType, f64)>| it.map(|(_, value)| value);
    let unpacking =
        Unpacking { from: signed, to, masks, valid, scale: value(scale), offset: value(offset) };
    let meaning = Meaning { stored, scale: unpacking.scale, offset: unpacking.offset, masked };
    let chunks = Arc::new(Unpacked { packed: Arc::clone(&dataset.chunks), unpacking });
    Dataset { chunks, meaning: Some(Arc::new(meaning)), ..renamed(dataset, to) }
}

fn renamed(dataset: Dataset, dtype: DType) -> Dataset {
    Dataset { dtype: Some(dtype), dtype_name: dtype.name().to_owned(), ..dataset }
}

const fn is_integer(dtype: DType) -> bool {
    dtype.is_signed_integer() || dtype.is_unsigned_integer()
}

/// The type with the sign that `_Unsigned` sets.
fn with_sign(stored: DType, attr: Option<&AttrText>) -> DType {
    let pairs = [
        (DType::Int8, DType::UInt8),
        (DType::Int16, DType::UInt16),
        (DType::Int32, DType::UInt32),
        (DType::Int64, DType::UInt64),
    ];
    let pair = |wanted: DType| pairs.iter().find(|(one, other)| *one == wanted || *other == wanted);
    match (attr.map(AttrText::text), pair(stored)) {
        (Some("true"), Some((_, unsigned))) => *unsigned,
        (Some("false"), Some((signed, _))) => *signed,
        _ => stored,
    }
}

/// A number of the stored type as one of the same bits with another sign.
fn in_sign(value: f64, stored: DType, signed: DType) -> f64 {
    let turn = 2_f64.powi(i32::try_from(stored.bit_width()).unwrap_or(0));
    match (stored == signed, signed.is_unsigned_integer()) {
        (true, _) => value,
        (false, true) if value < 0.0 => value + turn,
        (false, false) if value >= turn / 2.0 => value - turn,
        _ => value,
    }
}

/// Numbers of an attribute and their type.
struct Numbers {
    dtype: DType,
    values: Vec<f64>,
}

/// The numbers of an attribute; `None` where it has none.
fn numbers(dataset: &Dataset, name: &str) -> Option<Numbers> {
    let attr = dataset.attrs.get(name)?;
    let value: serde_json::Value = serde_json::from_str(attr.json()?).ok()?;
    let list = match value {
        serde_json::Value::Array(list) => list,
        value => vec![value],
    };
    // Files without types of attributes have numbers as JSON has them.
    let is_whole = list.iter().all(|value| value.is_i64() || value.is_u64());
    let dtype = match attr {
        AttrText::Numbers { dtype, .. } => *dtype,
        _ if is_whole => DType::Int64,
        _ => DType::Float64,
    };
    let number = |value: &serde_json::Value| match value {
        serde_json::Value::Number(number) => rounded(number.as_f64()?, dtype),
        serde_json::Value::String(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    };
    let values: Vec<f64> = list.iter().filter_map(number).collect();
    (!values.is_empty()).then_some(Numbers { dtype, values })
}

/// A decimal number as one of its type: the digits of a `float32` are those of the nearest one.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the nearest float32 is what the digits stand for"
)]
fn rounded(value: f64, dtype: DType) -> Option<f64> {
    Some(if dtype == DType::Float32 { f64::from(value as f32) } else { value })
}

/// The number of an attribute that is one, and its type.
fn one(dataset: &Dataset, name: &str) -> Option<(DType, f64)> {
    let numbers = numbers(dataset, name)?;
    match numbers.values.as_slice() {
        [value] => Some((numbers.dtype, *value)),
        _ => None,
    }
}

/// The smallest and the largest valid number, as stored.
fn valid(dataset: &Dataset, (stored, signed): (DType, DType)) -> Option<(f64, f64)> {
    let range = numbers(dataset, "valid_range").map(|numbers| numbers.values);
    let (low, high) = match range.as_deref() {
        Some([low, high]) => (Some(*low), Some(*high)),
        _ => {
            let [low, high] = ["valid_min", "valid_max"].map(|name| one(dataset, name));
            (low.map(|(_, value)| value), high.map(|(_, value)| value))
        }
    };
    if low.is_none() && high.is_none() {
        return None;
    }
    let bound =
        |value: Option<f64>, none: f64| value.map_or(none, |it| in_sign(it, stored, signed));
    Some((bound(low, f64::NEG_INFINITY), bound(high, f64::INFINITY)))
}

/// The type of masked values that are not packed: the least float that holds the stored ones.
fn promoted(dtype: DType) -> DType {
    match dtype {
        dtype if dtype.is_float() => dtype,
        dtype if dtype.bit_width() <= 16 => DType::Float32,
        _ => DType::Float64,
    }
}

/// The type of packed values.
fn float_for(stored: DType, scale: Option<(DType, f64)>, offset: Option<(DType, f64)>) -> DType {
    let float = |dtype: DType| if dtype == DType::Float32 { dtype } else { DType::Float64 };
    match (scale, offset) {
        // Both of one type: that type, but a float32 does not hold integers of 32 bits.
        (Some((one, _)), Some((other, _))) if one == other => {
            let is_wide = is_integer(stored) && stored.bit_width() == 32;
            if is_wide { DType::Float64 } else { float(one) }
        }
        // An offset may need more digits than a float32 has.
        (_, Some(_)) => DType::Float64,
        (Some((one, _)), None) => float(one),
        (None, None) => promoted(stored),
    }
}
