//! Keys of chunks: where the chunk at a coordinate is stored.

use std::fmt::Write as _;

use serde_json::Value;

use crate::error::{Broken, broken};
use crate::rule;

/// How the key of a chunk is made of its coordinate.
///
/// # Examples
///
/// ```
/// use tet_zarr::{KeyEncoding, KeyStyle};
///
/// let keys = KeyEncoding { style: KeyStyle::Default, separator: '/' };
/// assert_eq!(keys.key(&[1, 20]), "c/1/20");
/// assert_eq!(keys.coordinate("c/1/20", 2), Some(vec![1, 20]));
/// assert_eq!(keys.key(&[]), "c");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyEncoding {
    /// The prefix of the coordinate.
    pub style: KeyStyle,
    /// The separator of two numbers: `/` or `.`.
    pub separator: char,
}

/// Prefix of the coordinate in a key.
///
/// ```
/// assert_ne!(tet_zarr::KeyStyle::Default, tet_zarr::KeyStyle::V2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyStyle {
    /// `c` and a separator; `c` alone for an array without axes.
    Default,
    /// Nothing; `0` for an array without axes.
    V2,
}

impl KeyEncoding {
    /// The key of a chunk, relative to its array.
    #[must_use]
    pub fn key(&self, coordinate: &[u64]) -> String {
        let mut key = String::new();
        if self.style == KeyStyle::Default {
            key.push('c');
        }
        for (axis, at) in coordinate.iter().enumerate() {
            if axis != 0 || self.style == KeyStyle::Default {
                key.push(self.separator);
            }
            // Writing to a `String` cannot fail.
            let _ = write!(key, "{at}");
        }
        if coordinate.is_empty() && self.style == KeyStyle::V2 {
            key.push('0');
        }
        key
    }

    /// The coordinate of a key, relative to its array; `None` if it is the key of no chunk.
    #[must_use]
    pub fn coordinate(&self, key: &str, rank: usize) -> Option<Vec<u64>> {
        if rank == 0 {
            return (self.key(&[]) == key).then(Vec::new);
        }
        let numbers = match self.style {
            KeyStyle::Default => key.strip_prefix('c')?.strip_prefix(self.separator)?,
            KeyStyle::V2 => key,
        };
        let mut coordinate = Vec::with_capacity(rank.min(64));
        for number in numbers.split(self.separator) {
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            let is_canonical = number == "0" || !number.starts_with('0');
            if !is_number || !is_canonical || coordinate.len() == rank {
                return None;
            }
            coordinate.push(number.parse().ok()?);
        }
        (coordinate.len() == rank).then_some(coordinate)
    }

    /// The encoding of `dimension_separator` in a `.zarray`.
    pub(crate) fn of_v2(separator: Option<&Value>) -> Result<KeyEncoding, Broken> {
        let separator = match separator {
            None | Some(Value::Null) => '.',
            Some(value) => separator_of(value)?,
        };
        Ok(KeyEncoding { style: KeyStyle::V2, separator })
    }

    /// The encoding of `chunk_key_encoding` in a `zarr.json`.
    pub(crate) fn of_v3(value: Option<&Value>) -> Result<KeyEncoding, Broken> {
        let (name, separator) = match value {
            Some(Value::String(name)) => (Some(name.as_str()), None),
            Some(value) => {
                let configuration = value.get("configuration");
                let separator = configuration.and_then(|it| it.get("separator"));
                (value.get("name").and_then(Value::as_str), separator)
            }
            None => (None, None),
        };
        let (style, usual) = match name {
            Some("default") => (KeyStyle::Default, '/'),
            Some("v2") => (KeyStyle::V2, '.'),
            _ => return Err(broken(&rule::KEY_ENCODING, 0, 0)),
        };
        let separator = separator.map_or(Ok(usual), separator_of)?;
        Ok(KeyEncoding { style, separator })
    }
}

fn separator_of(value: &Value) -> Result<char, Broken> {
    match value.as_str() {
        Some("/") => Ok('/'),
        Some(".") => Ok('.'),
        _ => Err(broken(&rule::KEY_ENCODING, 0, 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_coordinates_go_both_ways() {
        for style in [KeyStyle::Default, KeyStyle::V2] {
            for separator in ['.', '/'] {
                let keys = KeyEncoding { style, separator };
                for coordinate in [&[][..], &[0], &[7], &[0, 0, 0], &[1, 23, 456], &[u64::MAX]] {
                    let key = keys.key(coordinate);
                    let back = keys.coordinate(&key, coordinate.len());
                    assert_eq!(back.as_deref(), Some(coordinate), "{key}");
                    assert_eq!(keys.coordinate(&key, coordinate.len() + 2), None, "{key}");
                }
            }
        }
        let keys = KeyEncoding { style: KeyStyle::V2, separator: '.' };
        for key in ["", ".", "1.", ".1", "01", "+1", "-1", "1.x", "99999999999999999999", "0.0.0"] {
            assert_eq!(keys.coordinate(key, 2), None, "{key}");
        }
    }
}
