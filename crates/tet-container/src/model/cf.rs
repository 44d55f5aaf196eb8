//! Packed and masked values, decoded as the CF conventions say (section 2.5.1 and 8.1), with the types that
//! xarray chooses.
//!
//! ```text
//!   stored -- _Unsigned --> number -- _FillValue, missing_value --> NaN -- x scale_factor, + add_offset --> decoded
//! ```
//!
//! Bytes with xarray's attribute `dtype` of "bool" are truths.
//!
//! Elements are computed in the type of the result, in this order, so they have the bits that xarray gives.
//! `valid_min`, `valid_max` and `valid_range` mask elements only where that is asked for: most programs do not
//! apply them.
//!
//! Decoded datasets do not have the attributes any longer by which they were decoded, so that nothing decodes them
//! again. Integers that are times stay integers where floats would round them.

mod choice;
mod dates;
mod unpacked;

use std::collections::BTreeMap;
use std::sync::Arc;

use tet_format::DType;
use tet_query::{AttrText, Catalog, Dataset, Meaning};

pub use self::choice::{Decoding, ValueChoice};
pub use self::dates::dated;
use self::dates::units_of_bounds;
use self::unpacked::{Bound, Unpacked, Unpacking};
use super::attributes::{FILL_KEY, UNITS_KEY, not_a_time};

type Attrs = BTreeMap<String, AttrText>;

/// The attributes that name masked elements.
const MASKS: [&str; 2] = ["_FillValue", "missing_value"];
/// The attributes of the valid range, in the units of stored elements.
const RANGE: [&str; 3] = ["valid_range", "valid_min", "valid_max"];

/// Whether elements outside of the valid range are masked.
///
/// # Examples
///
/// ```
/// use tet_container::ValidRange;
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
    let units = units_of_bounds(&catalog);
    let decode = |dataset: Dataset| {
        let is_time = dataset.is_time_by(units.get(&dataset.index).unwrap_or(&dataset.attrs));
        of_dataset(dataset, range, is_time)
    };
    let parts = catalog.parts().iter().cloned().map(decode).collect();
    catalog.viewed(decode).with_parts(parts)
}

/// A dataset whose values are labels, decoded.
pub fn coordinates(dataset: Dataset) -> Dataset {
    let is_time = dataset.is_time_by(&dataset.attrs);
    of_dataset(dataset, ValidRange::Ignored, is_time)
}

/// A dataset decoded; as it is where it has none of the attributes, or no numbers, or is decoded.
fn of_dataset(dataset: Dataset, range: ValidRange, is_time: bool) -> Dataset {
    let is_stored = dataset.fault.is_none() && dataset.meaning.is_none();
    let Some(stored) = dataset.dtype.filter(|_| is_stored) else { return dataset };
    if !stored.is_float() && !is_integer(stored) {
        return dataset;
    }
    let unsigned = dataset.attrs.get("_Unsigned");
    let signed = with_sign(stored, unsigned);
    let (masks, mut masked) = masks(&dataset, stored, signed);
    let valid = match range {
        ValidRange::Ignored => None,
        ValidRange::Masked => valid(&dataset, stored, signed),
    };
    if valid.is_some() {
        masked.push("valid_range");
    }
    let [scale, offset] = ["scale_factor", "add_offset"].map(|name| one(&dataset, name));
    let is_packed = scale.is_some() || offset.is_some();
    let is_masked = !masks.is_empty() || valid.is_some();
    let to = if is_packed {
        float_for(signed, scale, offset)
    } else if is_masked {
        promoted(signed)
    } else if is_truth(&dataset) {
        DType::Bool
    } else {
        signed
    };
    let mut attrs: Vec<&str> = masked.iter().copied().filter(|name| MASKS.contains(name)).collect();
    attrs.extend(scale.map(|_| "scale_factor").into_iter().chain(offset.map(|_| "add_offset")));
    let has_sign = matches!(unsigned.map(AttrText::text), Some("true" | "false"));
    attrs.extend((has_sign && is_integer(stored)).then_some("_Unsigned"));
    attrs.extend((to == DType::Bool).then_some("dtype"));
    if attrs.is_empty() && valid.is_none() {
        return dataset;
    }
    if is_packed || signed != stored || valid.is_some() {
        attrs.extend(RANGE.into_iter().filter(|name| dataset.attrs.contains_key(*name)));
    }
    // Floats of 64 bits do not have all integers of 64 bits. NumPy has differences of times with a mark of its own.
    let is_marked = masks.iter().all(|mask| *mask == Bound::Whole(i64::MIN.into()));
    let is_plain = !is_packed && is_masked && is_integer(signed) && signed != DType::UInt64;
    let is_exact = is_plain && (is_time || is_difference(&dataset) && is_marked);
    let value = |it: Option<(DType, Bound)>| it.map(|(_, value)| value.to_f64());
    let unpacking =
        Unpacking { from: signed, to, masks, valid, scale: value(scale), offset: value(offset) };
    let exact = is_exact.then(|| {
        let unpacking = Unpacking { to: DType::Int64, ..unpacking.clone() };
        let mut times = without(unpacking.of(&dataset), &attrs);
        times.attrs.insert(FILL_KEY.to_owned(), not_a_time());
        times
    });
    let (scale, offset) = (unpacking.scale, unpacking.offset);
    let view = if is_packed || is_masked || to == DType::Bool {
        unpacking.of(&dataset)
    } else {
        renamed(dataset.clone(), signed)
    };
    let view = without(view, &attrs);
    let meaning = Meaning { stored: Arc::new(dataset), times: None, scale, offset, masked, attrs };
    let times =
        exact.map(|times| Arc::new(Dataset { meaning: Some(Arc::new(meaning.clone())), ..times }));
    Dataset { meaning: Some(Arc::new(Meaning { times, ..meaning })), ..view }
}

impl Unpacking {
    /// A dataset, decoded like this.
    fn of(self, dataset: &Dataset) -> Dataset {
        let view = Dataset { fill: None, ..renamed(dataset.clone(), self.to) };
        Dataset {
            chunks: Arc::new(Unpacked { packed: Arc::clone(&dataset.chunks), unpacking: self }),
            ..view
        }
    }
}

fn renamed(dataset: Dataset, dtype: DType) -> Dataset {
    Dataset { dtype: Some(dtype), dtype_name: dtype.name().to_owned(), ..dataset }
}

fn without(mut dataset: Dataset, attrs: &[&str]) -> Dataset {
    dataset.attrs.retain(|key, _| !attrs.contains(&key.as_str()));
    dataset
}

/// The values that mark masked elements, and the attributes that name any.
fn masks(dataset: &Dataset, stored: DType, signed: DType) -> (Vec<Bound>, Vec<&'static str>) {
    let (mut masks, mut names) = (Vec::new(), Vec::new());
    for name in MASKS {
        let values = numbers(dataset, name).map_or_else(Vec::new, |list| list.values);
        // NaN is masked as it is.
        let (plain, marks): (Vec<Bound>, Vec<Bound>) =
            values.into_iter().partition(|value| value.to_f64().is_nan());
        if !marks.is_empty() || !plain.is_empty() && stored.is_float() {
            names.push(name);
        }
        masks.extend(marks.into_iter().map(|value| in_sign(value, stored, signed)));
    }
    (masks, names)
}

/// Whether a dataset of bytes has truths in them, as xarray says with the attribute `dtype`.
fn is_truth(dataset: &Dataset) -> bool {
    let is_named = dataset.attrs.get("dtype").is_some_and(|name| name.text() == "bool");
    is_named && dataset.dtype.is_some_and(|dtype| dtype.bit_width() == 8)
}

/// Whether numbers are differences of times, as NumPy and xarray have them.
fn is_difference(dataset: &Dataset) -> bool {
    const UNITS: [&str; 7] =
        ["days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"];
    dataset.attrs.get(UNITS_KEY).is_some_and(|unit| UNITS.contains(&unit.text()))
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
fn in_sign(value: Bound, stored: DType, signed: DType) -> Bound {
    let turn = 1_i128 << stored.bit_width().min(64);
    let Some(whole) = value.to_whole().filter(|_| stored != signed) else { return value };
    match signed.is_unsigned_integer() {
        true if whole < 0 => Bound::Whole(whole.saturating_add(turn)),
        false if turn / 2 <= whole => Bound::Whole(whole.saturating_sub(turn)),
        _ => value,
    }
}

/// Numbers of an attribute and their type.
struct Numbers {
    dtype: DType,
    values: Vec<Bound>,
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
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) if !dtype.is_float() => Some(Bound::Whole(whole.into())),
            (_, Some(whole)) if !dtype.is_float() => Some(Bound::Whole(whole.into())),
            _ => rounded(number.as_f64()?, dtype).map(Bound::Float),
        },
        serde_json::Value::String(text) => match text.as_str() {
            "NaN" => Some(Bound::Float(f64::NAN)),
            "Infinity" => Some(Bound::Float(f64::INFINITY)),
            "-Infinity" => Some(Bound::Float(f64::NEG_INFINITY)),
            _ => None,
        },
        _ => None,
    };
    let values: Vec<Bound> = list.iter().filter_map(number).collect();
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
fn one(dataset: &Dataset, name: &str) -> Option<(DType, Bound)> {
    let numbers = numbers(dataset, name)?;
    match numbers.values.as_slice() {
        [value] => Some((numbers.dtype, *value)),
        _ => None,
    }
}

/// The smallest and the largest valid number, as stored.
fn valid(dataset: &Dataset, stored: DType, signed: DType) -> Option<(Bound, Bound)> {
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
    let bound = |value: Option<Bound>, none: f64| {
        value.map_or(Bound::Float(none), |it| in_sign(it, stored, signed))
    };
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
fn float_for(
    stored: DType,
    scale: Option<(DType, Bound)>,
    offset: Option<(DType, Bound)>,
) -> DType {
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
