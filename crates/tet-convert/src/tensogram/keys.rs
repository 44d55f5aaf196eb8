//! Attributes as keys of what is said of an object, and back.

use tet_query::AttrText;
use tet_tensogram::RESERVED_KEY;

use crate::ztensor::{COORDS_KEY, DIMS_KEY};

/// The key of the name of an object.
pub(crate) const NAME_KEY: &str = "name";
/// What stands before a key with a meaning of its own when it is that of an attribute.
const ESCAPE: &str = "attr:";

fn is_own(key: &str) -> bool {
    [NAME_KEY, DIMS_KEY, COORDS_KEY, RESERVED_KEY].contains(&key) || key.starts_with(ESCAPE)
}

/// The key of an attribute whose name means something else.
pub(crate) fn escaped(key: &str) -> String {
    if is_own(key) { format!("{ESCAPE}{key}") } else { key.to_owned() }
}

/// The attribute that a key stands for.
pub(crate) fn unescaped(key: String) -> String {
    let meant = key.strip_prefix(ESCAPE).filter(|key| is_own(key)).map(str::to_owned);
    meant.unwrap_or(key)
}

/// Whether a value is read as the name of an object.
pub(crate) fn is_name(value: Option<&AttrText>) -> bool {
    matches!(value, Some(AttrText::Text(_)))
}
