//! The program that wrote a message, and the time.

use tet_cbor::Value;
use tet_codec::{Digester, Strength};

use crate::metadata::Pairs;

/// A program that makes messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maker {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The time, in seconds since the Unix epoch.
    pub time: u64,
}

impl Maker {
    /// The pairs of `_reserved_` for a message with this metadata and tensors of these hashes:
    /// equal for the same message at the same time.
    pub(crate) fn says(self, mut metadata: Vec<u8>, hashes: &[u64]) -> Pairs {
        metadata.extend(hashes.iter().flat_map(|hash| hash.to_le_bytes()));
        let text = |text: &str| Value::Text(text.to_owned());
        let encoder = vec![(text("name"), text(self.name)), (text("version"), text(self.version))];
        vec![
            ("encoder".to_owned(), Value::Map(encoder)),
            ("time".to_owned(), Value::Text(tet_io::utc(self.time))),
            ("uuid".to_owned(), Value::Text(uuid(self.time, &metadata))),
        ]
    }
}

/// A UUID of version 8 (RFC 9562), derived from the content of the message, not random.
fn uuid(time: u64, digested: &[u8]) -> String {
    let half = |which: u8| {
        let mut digester = Digester::new(Strength::Fast);
        digester.update(&[which]);
        digester.update(&time.to_le_bytes());
        digester.update(digested);
        digester.finish().xxh3
    };
    let high = half(0) & 0xFFFF_FFFF_FFFF_0FFF | 0x8000;
    let low = half(1) & 0x3FFF_FFFF_FFFF_FFFF | 1 << 63;
    let (node, clock) = (low & 0xFFFF_FFFF_FFFF, low >> 48);
    format!(
        "{:08x}-{:04x}-{:04x}-{clock:04x}-{node:012x}",
        high >> 32,
        high >> 16 & 0xFFFF,
        high & 0xFFFF
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_has_its_version_and_is_that_of_the_bytes() {
        let one = uuid(1, b"a");
        assert_eq!(one.len(), 36);
        assert_eq!(&one[14..15], "8");
        assert!("89ab".contains(&one[19..20]));
        assert_eq!(one, uuid(1, b"a"));
        assert_ne!(one, uuid(2, b"a"));
        assert_ne!(one, uuid(1, b"b"));
    }
}
