//! Compares the metadata of header and footer, for keys that both contain.

use std::collections::HashMap;

use tet_cbor::Value;

use crate::metadata::{Metadata, Pairs};

/// Whether a key has different values in header and footer.
pub(super) fn differ(header: &Metadata, footer: &Metadata) -> bool {
    let mut entries = header.base.iter().zip(&footer.base);
    pairs_differ(&header.reserved, &footer.reserved)
        || pairs_differ(&header.extra, &footer.extra)
        || entries.any(|(header, footer)| pairs_differ(header, footer))
}

fn pairs_differ(header: &Pairs, footer: &Pairs) -> bool {
    let values: HashMap<&str, &Value> =
        header.iter().map(|(key, value)| (key.as_str(), value)).collect();
    footer
        .iter()
        .any(|(key, value)| values.get(key.as_str()).is_some_and(|it| values_differ(it, value)))
}

fn values_differ(header: &Value, footer: &Value) -> bool {
    match (header, footer) {
        (Value::Map(header), Value::Map(footer)) => {
            let values: HashMap<&str, &Value> =
                header.iter().filter_map(|(key, value)| text_key(key, value)).collect();
            let mut pairs = footer.iter().filter_map(|(key, value)| text_key(key, value));
            pairs.any(|(key, value)| values.get(key).is_some_and(|it| values_differ(it, value)))
        }
        (Value::Array(header), Value::Array(footer)) => {
            let mut items = header.iter().zip(footer);
            header.len() != footer.len() || items.any(|(one, other)| values_differ(one, other))
        }
        (Value::Float(header), Value::Float(footer)) => header.to_bits() != footer.to_bits(),
        (header, footer) => header != footer,
    }
}

fn text_key<'v>(key: &'v Value, value: &'v Value) -> Option<(&'v str, &'v Value)> {
    Some((key.as_text()?, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{map, text, uints};

    #[test]
    fn only_common_keys_can_differ() {
        let nan = || Value::Float(f64::NAN);
        let (int_key, other) =
            [1, 2].map(|n| Value::Map(vec![(Value::Int(1), Value::Int(n))])).into();
        let cases = [
            (Value::Int(1), Value::Int(1), false),
            (Value::Int(1), Value::Int(2), true),
            (Value::Int(1), Value::Float(1.0), true),
            (nan(), nan(), false),
            (Value::Float(0.0), Value::Float(-0.0), true),
            (uints(&[1, 2]), uints(&[1, 2]), false),
            (uints(&[1, 2]), uints(&[1, 2, 3]), true),
            (uints(&[1, 2]), uints(&[1, 3]), true),
            (map(&[("a", nan())]), map(&[("b", nan())]), false),
            (map(&[("a", text("x"))]), map(&[("a", text("y"))]), true),
            (map(&[("a", map(&[("b", nan())]))]), map(&[("a", map(&[("c", nan())]))]), false),
            (map(&[]), uints(&[]), true),
            (int_key, other, false),
        ];
        for (header, footer, wanted) in cases {
            let pairs = |value: &Value| vec![("key".to_owned(), value.clone())];
            let one = Metadata { extra: pairs(&header), ..Metadata::default() };
            let other = Metadata { extra: pairs(&footer), ..Metadata::default() };
            assert_eq!(differ(&one, &other), wanted, "{header:?} {footer:?}");
            let at_base =
                |value: &Value| Metadata { base: vec![pairs(value)], ..Metadata::default() };
            assert_eq!(differ(&at_base(&header), &at_base(&footer)), wanted);
            assert!(!differ(&one, &at_base(&footer)), "they have no common keys");
        }
    }
}
