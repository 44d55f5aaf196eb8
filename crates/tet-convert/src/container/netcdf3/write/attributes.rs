//! Attributes with types: text, or numbers of a type that the version has.
//!
//! Numbers of types that CDF-2 lacks become those of the next type that has all of them. What the input
//! has no type for becomes an integer or a double, and in attributes of missing and valid values the type of
//! the variable, as the NetCDF conventions want.

use serde_json::Value;
use tet_format::DType;
use tet_query::AttrText;

use crate::container::netcdf3::value::{Type, Version};
use crate::model::number::{le_bytes, numbers};

/// Attributes whose numbers are of the type of their variable.
const OF_VARIABLE: [&str; 6] =
    ["_FillValue", "missing_value", "valid_min", "valid_max", "valid_range", "actual_range"];

/// The value of an attribute.
#[derive(Debug)]
pub(super) struct NcValue {
    pub(super) stored: Type,
    pub(super) count: usize,
    /// Its numbers, big-endian, or its text.
    pub(super) bytes: Vec<u8>,
}

/// Whether the format has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    /// It does.
    AsIs,
    /// It does not: the value is JSON text.
    AsJson,
}

/// The value of an attribute of a variable of type `of`, or of the file.
pub(super) fn value(
    key: &str,
    attr: &AttrText,
    of: Option<DType>,
    version: Version,
) -> (NcValue, Writing) {
    let of = of.filter(|_| OF_VARIABLE.contains(&key));
    if let Some(value) = number_of_variable(attr, of) {
        return (value, Writing::AsIs);
    }
    let Some(json) = attr.json() else { return (text(attr.text()), Writing::AsIs) };
    let Some((values, _)) = numbers(attr) else { return (text(json), Writing::AsJson) };
    let candidates = candidates(attr, &values, version);
    match candidates.iter().find_map(|&dtype| of_type(dtype, &values)) {
        Some(value) => (value, Writing::AsIs),
        None => (text(json), Writing::AsJson),
    }
}

/// A value of the type of the variable, where it should be one and can be.
fn number_of_variable(attr: &AttrText, of: Option<DType>) -> Option<NcValue> {
    let dtype = of?;
    let values = match attr {
        // Stores of JSON have these as text.
        AttrText::Text(text) => vec![Value::from(text.as_str())],
        AttrText::Numbers { dtype: own, .. } if *own != dtype && own.is_float() => return None,
        attr => numbers(attr)?.0,
    };
    of_type(dtype, &values)
}

/// The types that the numbers of an attribute may become, the best one first.
fn candidates(attr: &AttrText, values: &[Value], version: Version) -> Vec<DType> {
    let has = |dtype: &DType| !Type::Number(*dtype).is_wide() || version == Version::Cdf5;
    let integers = [DType::Int32, DType::Int64, DType::UInt64, DType::Float64];
    let is_whole = values.iter().all(|value| value.is_i64() || value.is_u64());
    let all = match attr {
        AttrText::Numbers { dtype, .. } => {
            let wider = match dtype {
                DType::UInt8 => DType::Int16,
                DType::Float16 | DType::BFloat16 => DType::Float32,
                _ => DType::Int32,
            };
            vec![*dtype, wider, DType::Float64]
        }
        _ if is_whole => integers.to_vec(),
        _ => vec![DType::Float64],
    };
    all.into_iter().filter(has).collect()
}

fn text(text: &str) -> NcValue {
    NcValue { stored: Type::Char, count: text.len(), bytes: text.as_bytes().to_vec() }
}

/// Numbers of a type that has all of them.
fn of_type(dtype: DType, values: &[Value]) -> Option<NcValue> {
    let stored = Type::Number(dtype);
    stored.tag()?;
    let mut bytes = Vec::new();
    for value in values {
        bytes.extend(le_bytes(dtype, value)?.iter().rev());
    }
    Some(NcValue { stored, count: values.len(), bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &str, attr: &AttrText, of: Option<DType>, wanted: (DType, &[u8])) {
        let (value, writing) = value(key, attr, of, Version::Cdf2);
        assert_eq!((value.stored, writing), (Type::Number(wanted.0), Writing::AsIs), "{attr:?}");
        assert_eq!(value.bytes, wanted.1, "{attr:?}");
    }

    #[test]
    fn numbers_keep_their_type_where_the_version_has_it() {
        let typed = |dtype, json: &str| AttrText::Numbers { dtype, json: json.to_owned() };
        check("n", &typed(DType::Int16, "[1,-1]"), None, (DType::Int16, &[0, 1, 255, 255]));
        check("n", &typed(DType::UInt8, "255"), None, (DType::Int16, &[0, 255]));
        check("n", &typed(DType::Int64, "7"), None, (DType::Int32, &[0, 0, 0, 7]));
        check("n", &typed(DType::Float32, "\"NaN\""), None, (DType::Float32, &[127, 192, 0, 0]));
        let json = |text: &str| AttrText::Json(text.to_owned());
        check("n", &json("7"), None, (DType::Int32, &[0, 0, 0, 7]));
        check("n", &json("0.5"), None, (DType::Float64, &[63, 224, 0, 0, 0, 0, 0, 0]));
        check("_FillValue", &json("-1"), Some(DType::Int8), (DType::Int8, &[255]));
        let text = AttrText::Text("NaN".to_owned());
        check("_FillValue", &text, Some(DType::Float32), (DType::Float32, &[127, 192, 0, 0]));
    }

    #[test]
    fn what_is_no_number_is_text() {
        for json in ["true", "[\"a\",\"b\"]", "{\"a\":1}", "null", "[[1,2]]", "9007199254740993"] {
            let attr = AttrText::Json(json.to_owned());
            let (value, writing) = value("x", &attr, None, Version::Cdf2);
            assert_eq!((value.stored, writing), (Type::Char, Writing::AsJson), "{json}");
            assert_eq!(value.bytes, json.as_bytes());
        }
    }
}
