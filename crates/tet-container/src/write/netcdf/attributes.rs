//! Attributes with types: text, or numbers of a type that the file has.
//!
//! Numbers of types that it lacks become those of the next type that has all of them. What the input
//! has no type for becomes an integer or a double, and in attributes of missing and valid values the type of
//! the variable, as the NetCDF conventions want.

use serde_json::Value;
use tet_format::DType;
use tet_query::AttrText;

use crate::model::attributes::OF_VARIABLE;
use crate::model::number::{Listing, le_bytes, numbers};

/// The value of an attribute.
#[derive(Debug, PartialEq, Eq)]
pub enum TypedValue {
    /// A text.
    Text(String),
    /// Numbers of a type, as little-endian bytes.
    Numbers(DType, Vec<u8>, Listing),
}

/// Whether the file has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// It does.
    AsIs,
    /// It does not: the value is JSON text.
    AsJson,
}

/// The value of an attribute of a variable of type `of`, or of the file, which has these types.
pub fn value(
    key: &str,
    attr: &AttrText,
    of: Option<DType>,
    has: &dyn Fn(DType) -> bool,
) -> (TypedValue, Writing) {
    let of = of.filter(|_| OF_VARIABLE.contains(&key));
    if let Some(value) = number_of_variable(attr, of.filter(|it| has(*it))) {
        return (value, Writing::AsIs);
    }
    let text = |text: &str| TypedValue::Text(text.to_owned());
    let Some(json) = attr.json() else { return (text(attr.text()), Writing::AsIs) };
    let Some((values, listing)) = parts(attr).or_else(|| numbers(attr)) else {
        return (text(json), Writing::AsJson);
    };
    let mut candidates = candidates(attr, &values).into_iter().filter(|it| has(*it));
    match candidates.find_map(|dtype| of_type(dtype, &values, listing)) {
        Some(value) => (value, Writing::AsIs),
        None => (text(json), Writing::AsJson),
    }
}

/// Truths as 0 and 1, and the parts of complex numbers one by one: a note on the types of attributes tells what they are.
fn parts(attr: &AttrText) -> Option<(Vec<Value>, Listing)> {
    let AttrText::Numbers { dtype, json } = attr else { return None };
    if *dtype != DType::Bool && !dtype.is_complex() {
        return None;
    }
    let (values, listing) = match serde_json::from_str(json).ok()? {
        Value::Array(values) => (values, Listing::List),
        value => (vec![value], Listing::One),
    };
    let mut parts = Vec::new();
    for value in values {
        match value {
            Value::Array(pair) => parts.extend(pair),
            Value::Bool(truth) => parts.push(Value::from(u8::from(truth))),
            value => parts.push(value),
        }
    }
    Some((parts, listing))
}

/// A value of the type of the variable, where it should be one and can be.
fn number_of_variable(attr: &AttrText, of: Option<DType>) -> Option<TypedValue> {
    let dtype = of?;
    let (values, listing) = match attr {
        // Stores of JSON have these as text.
        AttrText::Text(text) => (vec![Value::from(text.as_str())], Listing::One),
        AttrText::Numbers { dtype: own, .. } if *own != dtype && own.is_float() => return None,
        attr => numbers(attr)?,
    };
    of_type(dtype, &values, listing)
}

/// The types that the numbers of an attribute may become, the best one first.
fn candidates(attr: &AttrText, values: &[Value]) -> Vec<DType> {
    let integers = [DType::Int32, DType::Int64, DType::UInt64, DType::Float64];
    let is_whole = values.iter().all(|value| value.is_i64() || value.is_u64());
    match attr {
        AttrText::Numbers { dtype, .. } => {
            let wider = match dtype {
                DType::UInt8 => DType::Int16,
                DType::Bool => DType::Int8,
                DType::Complex64 => DType::Float32,
                DType::Complex128 => DType::Float64,
                DType::Float16 | DType::BFloat16 => DType::Float32,
                _ => DType::Int32,
            };
            vec![*dtype, wider, DType::Float64]
        }
        _ if is_whole => integers.to_vec(),
        _ => vec![DType::Float64],
    }
}

/// Numbers of a type that has all of them.
fn of_type(dtype: DType, values: &[Value], listing: Listing) -> Option<TypedValue> {
    let mut bytes = Vec::new();
    for value in values {
        bytes.extend(le_bytes(dtype, value)?);
    }
    Some(TypedValue::Numbers(dtype, bytes, listing))
}
