//! Who made a message, and when.

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
    /// The time, in seconds of Unix.
    pub time: u64,
}

impl Maker {
    /// The pairs of `_reserved_` of a message that says this besides and has tensors of these hashes:
    /// the same ones for the same message at the same time.
    pub(crate) fn says(self, mut metadata: Vec<u8>, hashes: &[u64]) -> Pairs {
        metadata.extend(hashes.iter().flat_map(|hash| hash.to_le_bytes()));
        let text = |text: &str| Value::Text(text.to_owned());
        let encoder = vec![(text("name"), text(self.name)), (text("version"), text(self.version))];
        vec![
            ("encoder".to_owned(), Value::Map(encoder)),
            ("time".to_owned(), Value::Text(time_text(self.time))),
            ("uuid".to_owned(), Value::Text(uuid(self.time, &metadata))),
        ]
    }
}

/// A UUID of version 8 (RFC 9562): made of what the message is, not of chance.
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

/// A time as `2023-11-14T22:13:20Z`.
fn time_text(time: u64) -> String {
    let (days, seconds) = (time / 86400, time % 86400);
    // The calendar repeats every 400 years of 146097 days; years start in March here.
    let shifted = days.saturating_add(719_468);
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        let cases = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_700_000_000, "2023-11-14T22:13:20Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ];
        for (time, text) in cases {
            assert_eq!(time_text(time), text);
        }
        assert!(!time_text(u64::MAX).is_empty());
    }

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
