//! The metadata of an object: its name, and its attributes as keys and back.

use crate::{Metadata, RESERVED_KEY, Value};
use tet_query::AttrText;

use tet_container::model::axes::{COORDS_KEY, DIMS_KEY};

/// The key of the name of an object.
pub(crate) const NAME_KEY: &str = "name";
/// The prefix of a key with a meaning of its own when it is that of an attribute.
const ESCAPE: &str = "attr:";

fn is_own(key: &str) -> bool {
    [NAME_KEY, DIMS_KEY, COORDS_KEY, RESERVED_KEY].contains(&key) || key.starts_with(ESCAPE)
}

/// The key of an attribute whose name means something else.
pub(crate) fn escaped(key: &str) -> String {
    if is_own(key) { format!("{ESCAPE}{key}") } else { key.to_owned() }
}

/// The attribute of a key.
pub(crate) fn unescaped(key: String) -> String {
    let meant = key.strip_prefix(ESCAPE).filter(|key| is_own(key)).map(str::to_owned);
    meant.unwrap_or(key)
}

/// Whether a value is read as the name of an object.
pub(crate) fn is_name(value: Option<&AttrText>) -> bool {
    matches!(value, Some(AttrText::Text(_)))
}

/// The name of an object of a message: the one in its metadata, or one of the two numbers.
pub(super) fn name(metadata: &Metadata, message: usize, number: usize) -> String {
    given(metadata, number).unwrap_or_else(|| format!("m{message}_o{number}"))
}

/// The name that metadata give to an object of a message.
pub(super) fn given(metadata: &Metadata, number: usize) -> Option<String> {
    metadata.base.get(number).and_then(|entry| name_of(entry)).map(str::to_owned)
}

/// The name in the metadata of an object: `name`, or `param` of `mars`.
pub(crate) fn name_of(entry: &[(String, Value)]) -> Option<&str> {
    let value = |key: &str| entry.iter().find(|(found, _)| found == key).map(|(_, value)| value);
    if let Some(name) = value(NAME_KEY).and_then(Value::as_text) {
        return Some(name);
    }
    let Some(Value::Map(mars)) = value("mars") else { return None };
    let (_, param) = mars.iter().find(|(key, _)| key.as_text() == Some("param"))?;
    param.as_text()
}
