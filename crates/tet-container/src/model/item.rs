//! Items of CBOR as attributes, and back: JSON where it has the value, else an object of one member
//! whose name begins with `$`.

use serde_json::{Map, Number, Value as Json, json};
use tet_cbor::Value;
use tet_format::DType;
use tet_query::AttrText;

use super::wide::with_wide;

/// An item as an attribute.
pub fn attr(value: Value) -> AttrText {
    match value {
        Value::Text(text) => AttrText::Text(text),
        Value::Array(items) if has_special(&items) => {
            let number = |item: &Value| match item {
                Value::Float(it) => it.to_le_bytes(),
                #[allow(clippy::cast_precision_loss, reason = "what is no double is JSON")]
                Value::Int(it) => (*it as f64).to_le_bytes(),
                _ => f64::NAN.to_le_bytes(),
            };
            let bytes: Vec<u8> = items.iter().flat_map(number).collect();
            AttrText::numbers(DType::Float64, &bytes)
        }
        Value::Float(it) if !it.is_finite() => AttrText::number(DType::Float64, &it.to_le_bytes()),
        value => AttrText::Json(json_of_field(value).to_string()),
    }
}

/// Whether all are numbers that a double has, and one of them is none of JSON.
fn has_special(items: &[Value]) -> bool {
    let is_number = |item: &Value| match item {
        Value::Float(_) => true,
        Value::Int(it) => it.unsigned_abs() <= 1 << 53,
        _ => false,
    };
    let is_special = |item: &Value| matches!(item, Value::Float(it) if !it.is_finite());
    items.iter().all(is_number) && items.iter().any(is_special)
}

/// An item as JSON, from which [`to_value`] makes it again.
fn json_of_field(value: Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(it) => Json::Bool(it),
        Value::Int(it) => match Number::from_i128(it) {
            Some(number) => Json::Number(number),
            None => json!({ "$int": it.to_string() }),
        },
        Value::Float(it) => match Number::from_f64(it) {
            Some(number) => Json::Number(number),
            None => json!({ "$float": it.to_string().to_lowercase() }),
        },
        Value::Text(text) => Json::String(text),
        Value::Bytes(bytes) => json!({ "$bytes": hex(&bytes) }),
        Value::Array(items) => Json::Array(items.into_iter().map(json_of_field).collect()),
        Value::Map(pairs) => of_map(pairs),
        Value::Tag(tag, item) => json!({ "$tag": [tag, json_of_field(*item)] }),
        Value::Simple(number) => json!({ "$simple": number }),
        _ => json!({ "$undefined": true }),
    }
}

/// An object if the keys are text, each is there once, and none looks like one of ours.
fn of_map(pairs: Vec<(Value, Value)>) -> Json {
    let mut object = Map::new();
    let is_plain = pairs.iter().all(|(key, _)| {
        let key = key.as_text().filter(|key| !key.starts_with('$'));
        key.is_some_and(|key| object.insert(key.to_owned(), Json::Null).is_none())
    });
    if !is_plain {
        let pair = |(key, value)| Json::Array(vec![json_of_field(key), json_of_field(value)]);
        return json!({ "$map": pairs.into_iter().map(pair).collect::<Vec<_>>() });
    }
    let text = |key: Value| key.as_text().unwrap_or_default().to_owned();
    Json::Object(pairs.into_iter().map(|(key, value)| (text(key), json_of_field(value))).collect())
}

/// The item of an attribute: what [`attr`] made of it came from.
pub fn field(attr: &AttrText) -> Value {
    match attr {
        AttrText::Text(text) => Value::Text(text.clone()),
        AttrText::Numbers { json, .. } => match serde_json::from_str(json) {
            Ok(value) => to_number(value),
            Err(_) => Value::Text(json.clone()),
        },
        AttrText::Json(text) => serde_json::from_str(&with_wide(text))
            .map_or_else(|_| Value::Text(text.clone()), to_value),
    }
}

/// The item of a number that an attribute has, or of a list of them: names of numbers that JSON lacks are no texts.
fn to_number(json: Json) -> Value {
    match json {
        Json::Array(items) => Value::Array(items.into_iter().map(to_number).collect()),
        Json::String(name) => Value::Float(match name.as_str() {
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            _ => f64::NAN,
        }),
        number => to_value(number),
    }
}

fn to_value(json: Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(it) => Value::Bool(it),
        Json::Number(number) => match (number.as_i128(), number.as_f64()) {
            (Some(it), _) => Value::Int(it),
            (None, Some(it)) => Value::Float(it),
            (None, None) => Value::Text(number.to_string()),
        },
        Json::String(text) => Value::Text(text),
        Json::Array(items) => Value::Array(items.into_iter().map(to_value).collect()),
        Json::Object(object) => marked(&object).unwrap_or_else(|| {
            let pair = |(key, value)| (Value::Text(key), to_value(value));
            Value::Map(object.into_iter().map(pair).collect())
        }),
    }
}

/// The value of an object of one member that is one of ours.
fn marked(object: &Map<String, Json>) -> Option<Value> {
    let (key, value) = object.iter().next().filter(|_| object.len() == 1)?;
    Some(match key.as_str() {
        "$undefined" => Value::Undefined,
        "$float" => Value::Float(match value.as_str()? {
            "nan" => f64::NAN,
            "inf" => f64::INFINITY,
            "-inf" => f64::NEG_INFINITY,
            _ => return None,
        }),
        "$int" => Value::Int(value.as_str()?.parse().ok()?),
        "$bytes" => Value::Bytes(unhex(value.as_str()?)?),
        "$simple" => Value::Simple(u8::try_from(value.as_u64()?).ok()?),
        "$tag" => {
            let [tag, item] = value.as_array()?.as_slice() else { return None };
            Value::Tag(tag.as_u64()?, Box::new(to_value(item.clone())))
        }
        "$map" => {
            let pair = |pair: &Json| match pair.as_array()?.as_slice() {
                [key, value] => Some((to_value(key.clone()), to_value(value.clone()))),
                _ => None,
            };
            Value::Map(value.as_array()?.iter().map(pair).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.0.iter().map(byte).collect::<Option<_>>().filter(|_| digits.1.is_empty())
}
