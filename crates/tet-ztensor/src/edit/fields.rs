//! The fields of an entry as bytes, so that unchanged fields stay byte for byte.

use tet_cbor::Value;

use crate::entry::Field;
use tet_cbor::{self as cbor, Head, Items, Reader};

/// A parsed entry.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    /// The head of the map.
    head: Vec<u8>,
    is_open: bool,
    count: usize,
    pairs: Vec<Pair>,
}

#[derive(Clone, Debug)]
struct Pair {
    /// The key, if it is text.
    name: Option<Vec<u8>>,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Fields {
    /// Parses an entry; `None` if it is not a map.
    pub(crate) fn read(item: &[u8], depth_max: u32) -> Option<Self> {
        let mut reader = Reader::new(item, 0, 0, depth_max);
        let Ok(Head::Map(count)) = reader.untagged(1) else { return None };
        let (head, is_open) = (reader.since(0).to_vec(), count.is_none());
        let inside = reader.deeper(1).ok()?;
        let (mut items, mut pairs) = (Items::new(count), Vec::new());
        while items.next(&mut reader) {
            let key_at = reader.at();
            let name = match reader.untagged(inside).ok()? {
                head @ Head::Text(_) => Some(reader.string(head).ok()?.into_owned()),
                head => {
                    reader.skip_rest(head, key_at, inside).ok()?;
                    None
                }
            };
            let (key, value_at) = (reader.since(key_at).to_vec(), reader.at());
            reader.skip(inside).ok()?;
            pairs.push(Pair { name, key, value: reader.since(value_at).to_vec() });
        }
        Some(Self { head, is_open, count: pairs.len(), pairs })
    }

    /// Sets the offset of the blob.
    pub(crate) fn set_offset(&mut self, offset: u64) {
        let mut bytes = Vec::new();
        cbor::unsigned(offset, &mut bytes);
        self.put(Field::Offset.key(), bytes);
    }

    /// Sets the name.
    pub(crate) fn set_name(&mut self, name: &str) {
        let mut bytes = Vec::new();
        cbor::text(name, &mut bytes);
        self.put(Field::Name.key(), bytes);
    }

    /// Sets a custom field to a value that was checked.
    pub(crate) fn set(&mut self, key: &str, value: &Value) {
        let mut bytes = Vec::new();
        cbor::encode(value, &mut bytes);
        self.put(key, bytes);
    }

    /// Removes a custom field. Returns whether it was there.
    pub(crate) fn remove(&mut self, key: &str) -> bool {
        let count = self.pairs.len();
        self.pairs.retain(|pair| !pair.is(key));
        self.pairs.len() < count
    }

    /// Replaces a field, or inserts it in order among the custom fields.
    fn put(&mut self, key: &str, value: Vec<u8>) {
        if let Some(pair) = self.pairs.iter_mut().find(|pair| pair.is(key)) {
            pair.value = value;
            return;
        }
        let mut bytes = Vec::new();
        cbor::text(key, &mut bytes);
        let comes_later = |pair: &Pair| {
            let name = pair.name.as_deref().unwrap_or_default();
            Field::from_key(name).is_none() && key.as_bytes() < name
        };
        let at = self.pairs.iter().position(comes_later).unwrap_or(self.pairs.len());
        self.pairs.insert(at, Pair { name: Some(key.into()), key: bytes, value });
    }

    /// Appends the entry.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        if self.is_open || self.count == self.pairs.len() {
            out.extend_from_slice(&self.head);
        } else {
            cbor::map_head(self.pairs.len() as u64, out);
        }
        for pair in &self.pairs {
            out.extend_from_slice(&pair.key);
            out.extend_from_slice(&pair.value);
        }
        if self.is_open {
            out.push(cbor::BREAK);
        }
    }
}

impl Pair {
    fn is(&self, key: &str) -> bool {
        self.name.as_deref() == Some(key.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(item: &[u8], change: impl FnOnce(&mut Fields)) -> Vec<u8> {
        let mut fields = Fields::read(item, 128).unwrap();
        change(&mut fields);
        let mut out = Vec::new();
        fields.encode(&mut out);
        out
    }

    /// A tag, a long head, text in pieces, a key that is not text, a repeated key.
    const ODD: &[u8] =
        b"\xc1\xb8\x05\x7f\x62na\x62me\xff\x61x\x66offset\x1b\0\0\0\0\0\0\0\x40\x07\xf6\
        \x61b\x01\x61b\x02";

    #[test]
    fn what_is_not_changed_is_the_same_bytes() {
        assert_eq!(changed(ODD, |_| {}), ODD);
        let moved = changed(ODD, |fields| fields.set_offset(256));
        let wanted = b"\xc1\xb8\x05\x7f\x62na\x62me\xff\x61x\x66offset\x19\x01\x00\x07\xf6\
            \x61b\x01\x61b\x02";
        assert_eq!(moved, wanted);
        let renamed = changed(ODD, |fields| fields.set_name("yy"));
        assert_eq!(renamed[..15], *b"\xc1\xb8\x05\x7f\x62na\x62me\xff\x62yy\x66");
    }

    #[test]
    fn a_map_with_more_or_fewer_fields_gets_another_head() {
        let more = changed(b"\xa2\x64name\x61x\x61c\x01", |fields| {
            fields.set("d", &Value::Null);
            fields.set("a", &Value::Null);
        });
        assert_eq!(more, b"\xa4\x64name\x61x\x61a\xf6\x61c\x01\x61d\xf6");
        let open = changed(b"\xbf\x64name\x61x\x61c\x01\xff", |fields| {
            fields.set("a", &Value::Bool(true));
            assert!(fields.remove("c") && !fields.remove("c"));
        });
        assert_eq!(open, b"\xbf\x64name\x61x\x61a\xf5\xff");
        assert!(Fields::read(b"\x81\x01", 128).is_none());
        assert!(Fields::read(b"\xa1\x61", 128).is_none());
    }
}
