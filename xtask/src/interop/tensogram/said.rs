//! Metadata of messages and objects, as JSON and as items of CBOR.

use serde_json::Value as Json;
use tet_tensogram::{Pairs, Value};

/// JSON as an item.
pub(super) fn item(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::Int(number.into()),
            (None, Some(number)) => Value::Int(number.into()),
            (None, None) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::Array(items.iter().map(item).collect()),
        Json::Object(pairs) => {
            let pair = |(key, it): (&String, &Json)| (Value::Text(key.clone()), item(it));
            let mut pairs: Vec<_> = pairs.iter().map(pair).collect();
            sort(&mut pairs);
            Value::Map(pairs)
        }
    }
}

/// Pairs of a JSON object.
pub(super) fn pairs(json: &Json) -> Pairs {
    let pairs = json.as_object().into_iter().flatten();
    pairs.map(|(key, it)| (key.clone(), item(it))).collect()
}

/// Whether a file says just what a sheet says, in whatever order; but for what the library says.
pub(super) fn is_same(found: &Pairs, wanted: &Json) -> bool {
    let text = |(key, it): &(String, Value)| (Value::Text(key.clone()), sorted(it));
    let ours = found.iter().filter(|(key, _)| key != tet_tensogram::RESERVED_KEY);
    let mut ours: Vec<_> = ours.map(text).collect();
    sort(&mut ours);
    Value::Map(ours) == item(wanted)
}

/// The value with the keys of maps in one order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Map(pairs) => {
            let mut pairs: Vec<_> =
                pairs.iter().map(|(key, it)| (key.clone(), sorted(it))).collect();
            sort(&mut pairs);
            Value::Map(pairs)
        }
        other => other.clone(),
    }
}

fn sort(pairs: &mut [(Value, Value)]) {
    pairs.sort_by_key(|(key, _)| key.as_text().map(str::to_owned));
}
