//! The types of attributes in containers that have none, or not all of them.
//!
//! ```text
//!   "scale_factor": 0.01, "kind": "NaN", "tet:types": "{\"kind\":\"float64\",\"scale_factor\":\"float32\"}"
//! ```
//!
//! The note (`docs/spec/attributes.md`) names the types that a value does not show itself. It is made when datasets are
//! written, and used up when they are read; one that does not fit its value is without effect.

use std::collections::BTreeMap;

use serde_json::Value;
use tet_format::DType;
use tet_query::{AttrText, Catalog, Dataset};

use super::attributes::OF_VARIABLE;
use super::number::{Listing, le_bytes};

/// The attribute of the note.
pub const TYPES_KEY: &str = "tet:types";
/// The type of a text that looks like a number.
const TEXT: &str = "text";

type Attrs = BTreeMap<String, AttrText>;

/// The types that attributes have in a container.
///
/// # Examples
///
/// ```
/// assert_eq!(tet_container::Capabilities::ARRAYS.attr_types, tet_container::AttrTypes::None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrTypes {
    /// It has no attributes, or nothing but texts.
    None,
    /// Those of JSON: texts, and numbers without types.
    Json,
    /// Those of CBOR: as JSON, and NaN and infinities.
    Cbor,
    /// Those of classic NetCDF.
    Classic,
    /// Those of NetCDF-4.
    NetCdf,
    /// Those of HDF5.
    Hdf5,
}

impl AttrTypes {
    /// Whether a number shows its type by its digits alone.
    fn is_untyped(self) -> bool {
        matches!(self, AttrTypes::Json | AttrTypes::Cbor)
    }

    /// Whether numbers keep their type.
    fn has(self, dtype: DType) -> bool {
        let is_narrow = dtype.is_float() && dtype.bit_width() == 16;
        let is_special = is_narrow || dtype == DType::Bool || dtype.is_complex();
        match self {
            AttrTypes::None | AttrTypes::Hdf5 => true,
            AttrTypes::Json | AttrTypes::Cbor => false,
            AttrTypes::NetCdf => !is_special,
            AttrTypes::Classic => {
                !is_special && dtype != DType::Int64 && !dtype.is_unsigned_integer()
            }
        }
    }
}

/// The catalog with notes on the types of attributes that a container does not have.
pub fn noted(catalog: Catalog, types: AttrTypes) -> Catalog {
    if types == AttrTypes::None {
        return catalog;
    }
    let mut attrs = catalog.attrs().clone();
    note_in(&mut attrs, None, types);
    let with_note = |dataset: Dataset| with_note(dataset, types);
    let parts = catalog.parts().iter().cloned().map(with_note).collect();
    catalog.viewed(with_note).with_parts(parts).with_attrs(attrs)
}

/// A dataset with the note.
pub fn with_note(mut dataset: Dataset, types: AttrTypes) -> Dataset {
    note_in(&mut dataset.attrs, dataset.dtype, types);
    dataset
}

/// The catalog of a container with the types that notes give to attributes.
pub fn typed(catalog: Catalog, types: AttrTypes) -> Catalog {
    let mut attrs = catalog.attrs().clone();
    type_in(&mut attrs, None, types);
    let with_types = |mut dataset: Dataset| {
        type_in(&mut dataset.attrs, dataset.dtype, types);
        dataset
    };
    let parts = catalog.parts().iter().cloned().map(with_types).collect();
    catalog.viewed(with_types).with_parts(parts).with_attrs(attrs)
}

/// The note for attributes of a dataset of type `of`, or of a file; `None` where the values show their types.
pub fn note(attrs: &Attrs, of: Option<DType>, types: AttrTypes) -> Option<AttrText> {
    let named = |(key, attr): (&String, &AttrText)| {
        let name = match attr {
            AttrText::Numbers { dtype, json } => {
                let is_shown = types.has(*dtype)
                    || types.is_untyped() && shown(key, json, of, types) == Some(*dtype);
                (!is_shown).then(|| dtype.name())?
            }
            AttrText::Text(text) => {
                let is_float =
                    of.is_some_and(DType::is_float) && OF_VARIABLE.contains(&key.as_str());
                let is_number = types.is_untyped() && is_float && is_special(text);
                is_number.then_some(TEXT)?
            }
            AttrText::Json(_) => return None,
        };
        Some((key.clone(), Value::from(name)))
    };
    let names: serde_json::Map<String, Value> =
        attrs.iter().filter(|(key, _)| *key != TYPES_KEY).filter_map(named).collect();
    (!names.is_empty()).then(|| AttrText::Text(Value::Object(names).to_string()))
}

fn note_in(attrs: &mut Attrs, of: Option<DType>, types: AttrTypes) {
    if let Some(note) = note(attrs, of, types) {
        attrs.insert(TYPES_KEY.to_owned(), note);
    }
}

/// The type that a number without a note is read as, or written as where there are types.
fn shown(key: &str, json: &str, of: Option<DType>, types: AttrTypes) -> Option<DType> {
    let value: Value = serde_json::from_str(json).ok()?;
    let attr = match value {
        Value::String(text) => AttrText::Text(text),
        _ => AttrText::Json(json.to_owned()),
    };
    if of.is_some() && OF_VARIABLE.contains(&key) {
        return match of_variable(key, &attr, of)? {
            AttrText::Numbers { dtype, .. } => Some(dtype),
            _ => None,
        };
    }
    if types == AttrTypes::Cbor && has_special(json) {
        return Some(DType::Float64);
    }
    let (values, _) = super::number::numbers(&attr)?;
    let is_whole = values.iter().all(|value| value.is_i64());
    let is_plain = values.iter().all(Value::is_number);
    let dtype = if is_whole { DType::Int32 } else { DType::Float64 };
    let has_all = values.iter().all(|value| le_bytes(dtype, value).is_some());
    (is_plain && has_all).then_some(dtype)
}

fn type_in(attrs: &mut Attrs, of: Option<DType>, types: AttrTypes) {
    let names = match attrs.get(TYPES_KEY) {
        Some(AttrText::Text(text)) => serde_json::from_str::<BTreeMap<String, String>>(text).ok(),
        _ => None,
    };
    if names.is_some() {
        attrs.remove(TYPES_KEY);
    }
    let names = names.unwrap_or_default();
    for (key, attr) in attrs.iter_mut() {
        let new = match names.get(key).map(String::as_str) {
            Some(TEXT) => None,
            Some(name) => DType::from_name(name).and_then(|dtype| of_type(attr, dtype)),
            None if types.is_untyped() => of_variable(key, attr, of),
            None => None,
        };
        if let Some(new) = new {
            *attr = new;
        }
    }
}

/// A missing or valid value of an array that has no type of its own: the conventions give it that of the array.
fn of_variable(key: &str, attr: &AttrText, of: Option<DType>) -> Option<AttrText> {
    let dtype = of.filter(|_| OF_VARIABLE.contains(&key))?;
    let is_number = |value: &Value| match value {
        Value::Number(number) => dtype.is_float() || !number.is_f64(),
        Value::String(text) => dtype.is_float() && is_special(text),
        _ => false,
    };
    let value = match attr {
        AttrText::Text(text) => Value::from(text.as_str()),
        AttrText::Json(json) | AttrText::Numbers { json, .. } => serde_json::from_str(json).ok()?,
    };
    let is_all = match &value {
        Value::Array(list) => {
            list.iter().all(is_number) && list.iter().any(|value| !value.is_string())
        }
        value => is_number(value),
    };
    // A number that the type rounds is not one of it.
    let typed = of_value(&value, dtype).filter(|_| is_all)?;
    (value.is_string() || typed.is_same(attr)).then_some(typed)
}

/// Whether a text is the name of a float that JSON has no number for.
fn is_special(text: &str) -> bool {
    matches!(text, "NaN" | "Infinity" | "-Infinity")
}

/// Whether a number, or one of a list, is none of JSON.
fn has_special(json: &str) -> bool {
    let is_one = |value: &Value| value.as_str().is_some_and(is_special);
    match serde_json::from_str(json) {
        Ok(Value::Array(list)) => list.iter().any(is_one),
        value => value.is_ok_and(|value| is_one(&value)),
    }
}

/// An attribute as one of a type; `None` where it does not fit.
fn of_type(attr: &AttrText, dtype: DType) -> Option<AttrText> {
    let value = match attr {
        AttrText::Text(text) if is_special(text) => Value::from(text.as_str()),
        // Integers of many digits are texts in JSON.
        AttrText::Text(text) | AttrText::Json(text) => serde_json::from_str(text).ok()?,
        AttrText::Numbers { dtype: own, .. } if *own == dtype => return None,
        AttrText::Numbers { json, .. } => serde_json::from_str(json).ok()?,
    };
    of_value(&value, dtype)
}

/// Numbers of a type out of JSON.
fn of_value(value: &Value, dtype: DType) -> Option<AttrText> {
    let part = match dtype {
        DType::Complex64 => Some(DType::Float32),
        DType::Complex128 => Some(DType::Float64),
        _ => None,
    };
    let one = |value: &Value| match (dtype, value) {
        (DType::Bool, Value::Bool(truth)) => Some(vec![u8::from(*truth)]),
        (DType::Bool, value) => le_bytes(DType::UInt8, value).filter(|byte| byte[0] <= 1),
        _ => le_bytes(part.unwrap_or(dtype), value),
    };
    let mut bytes = Vec::new();
    let is_pair = |list: &[Value]| list.len() == 2 && !list.iter().any(Value::is_array);
    let listing = match value {
        Value::Array(list) => {
            for value in list {
                match value {
                    Value::Array(pair) if part.is_some() && is_pair(pair) => {
                        for part in pair {
                            bytes.extend(one(part)?);
                        }
                    }
                    value => bytes.extend(one(value)?),
                }
            }
            if part.is_some() && is_pair(list) { Listing::One } else { Listing::List }
        }
        value if part.is_none() => {
            bytes.extend(one(value)?);
            Listing::One
        }
        _ => return None,
    };
    let size = usize::try_from(dtype.size()?).ok()?;
    if !bytes.len().is_multiple_of(size) {
        return None;
    }
    Some(match listing {
        Listing::One => AttrText::number(dtype, &bytes),
        Listing::List => AttrText::numbers(dtype, &bytes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An attribute as a store of JSON reads it back.
    fn bare(attr: &AttrText) -> AttrText {
        match attr {
            AttrText::Numbers { json, .. } => match serde_json::from_str(json).unwrap() {
                Value::String(text) => AttrText::Text(text),
                _ => AttrText::Json(json.clone()),
            },
            attr => attr.clone(),
        }
    }

    #[test]
    fn types_survive_stores_of_json() {
        let typed = |dtype, json: &str| AttrText::Numbers { dtype, json: json.to_owned() };
        let text = |text: &str| AttrText::Text(text.to_owned());
        let attrs: Attrs = [
            ("_FillValue", typed(DType::Float32, "\"NaN\"")),
            ("missing_value", text("NaN")),
            ("valid_max", typed(DType::Float64, "0.1")),
            ("valid_min", typed(DType::Float32, "0.1")),
            ("scale_factor", typed(DType::Float32, "0.01")),
            ("infinite", typed(DType::Float64, "[1.0,\"-Infinity\"]")),
            ("nan", typed(DType::Float64, "\"NaN\"")),
            ("text", text("NaN")),
            ("digits", text("5")),
            ("flags", typed(DType::Int8, "[1,2]")),
            ("none", typed(DType::Int16, "[]")),
            ("long", typed(DType::UInt64, "18446744073709551615")),
            ("short", typed(DType::Int64, "5")),
            ("truth", typed(DType::Bool, "[true,false]")),
            ("wave", typed(DType::Complex64, "[1.0,\"NaN\"]")),
            ("waves", typed(DType::Complex128, "[[1.0,2.0],[3.0,4.0]]")),
            ("half", typed(DType::Float16, "1.5")),
        ]
        .map(|(key, attr)| (key.to_owned(), attr))
        .into();
        let mut stored: Attrs = attrs.iter().map(|(key, attr)| (key.clone(), bare(attr))).collect();
        stored.extend(
            note(&attrs, Some(DType::Float32), AttrTypes::Json)
                .map(|it| (TYPES_KEY.to_owned(), it)),
        );
        type_in(&mut stored, Some(DType::Float32), AttrTypes::Json);
        assert_eq!(stored, attrs);
    }

    #[test]
    fn plain_numbers_need_no_note() {
        let typed = |dtype, json: &str| AttrText::Numbers { dtype, json: json.to_owned() };
        let of = |key: &str, attr| {
            note(&[(key.to_owned(), attr)].into(), Some(DType::Int16), AttrTypes::Json).is_some()
        };
        assert!(!of("version", typed(DType::Int32, "5")));
        assert!(!of("scale_factor", typed(DType::Float64, "0.5")));
        assert!(!of("_FillValue", typed(DType::Int16, "-9")));
        assert!(!of("long_name", AttrText::Text("NaN".to_owned())));
        assert!(of("valid_max", typed(DType::Float32, "5.0")));
        assert!(of("nan", typed(DType::Float64, "\"NaN\"")));
        assert!(of("version", typed(DType::Int16, "5")));
    }

    #[test]
    fn a_note_that_does_not_fit_is_without_effect() {
        let text = |text: &str| AttrText::Text(text.to_owned());
        let mut attrs: Attrs = [
            ("a", text("x")),
            ("b", AttrText::Json("300".to_owned())),
            (TYPES_KEY, text("{\"a\":\"int8\",\"b\":\"int8\",\"c\":\"int8\",\"d\":\"?\"}")),
        ]
        .map(|(key, attr)| (key.to_owned(), attr))
        .into();
        type_in(&mut attrs, None, AttrTypes::Json);
        assert_eq!(attrs.len(), 2);
        assert_eq!(attrs["b"], AttrText::Json("300".to_owned()));
        let own = text("mine");
        let mut attrs: Attrs = [(TYPES_KEY.to_owned(), own.clone())].into();
        type_in(&mut attrs, None, AttrTypes::Json);
        assert_eq!(attrs[TYPES_KEY], own);
    }
}
