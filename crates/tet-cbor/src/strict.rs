//! Checks the core deterministic encoding (RFC 8949, section 4.2.1): one form for each item.
//!
//! Lengths are definite, heads and floats have their shortest form, and the keys of a map are in the
//! order of their bytes, each once. Tags and simple values other than false, true and null are refused
//! too, as by the formats that demand this encoding.

use std::fmt;

use crate::decode::{Head, Items, Reader};
use crate::encode::encode;
use crate::value::Value;

/// Why bytes are not one item in deterministic encoding.
///
/// ```
/// use tet_cbor::{Irregular, check_deterministic};
///
/// let twice = check_deterministic(b"\xa2\x01\x00\x01\x00", 0, 32).unwrap_err();
/// assert_eq!(twice.irregular, Irregular::KeyTwice);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Irregular {
    /// They are truncated, not well-formed, or of a type that is refused.
    Syntax,
    /// Items nest deeper than allowed.
    Depth,
    /// A text is not UTF-8.
    Text,
    /// A head or a float is longer than needed, or a length is indefinite.
    Form,
    /// A key comes before an earlier one.
    Order,
    /// A key of a map is repeated.
    KeyTwice,
    /// Bytes follow the item.
    Trailing,
}

/// The first place where bytes are not in deterministic encoding.
///
/// ```
/// use tet_cbor::{Irregular, check_deterministic};
///
/// assert!(check_deterministic(b"\xa1\x61a\x01", 0, 32).is_ok());
/// let fault = check_deterministic(b"\xa1\x61a\x18\x01", 100, 32).unwrap_err();
/// assert_eq!((fault.irregular, fault.at), (Irregular::Form, 103));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrictFault {
    /// The reason.
    pub irregular: Irregular,
    /// Where in the file, in bytes from its start.
    pub at: u64,
}

impl fmt::Display for StrictFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no CBOR item in deterministic encoding at byte {}: {:?}",
            self.at, self.irregular
        )
    }
}

impl std::error::Error for StrictFault {}

/// Checks that `bytes`, which start at the file offset `base`, are one item in deterministic encoding,
/// with no item more than `depth_max` containers deep.
///
/// # Errors
///
/// Returns the first fault.
pub fn check_deterministic(bytes: &[u8], base: u64, depth_max: u32) -> Result<(), StrictFault> {
    // The depth is counted here: an empty container may be at the maximum.
    let mut reader = Reader::new(bytes, 0, base, u32::MAX);
    check_item(&mut reader, 0, depth_max)?;
    if reader.is_at_end() { Ok(()) } else { Err(fault(&reader, Irregular::Trailing, reader.at())) }
}

fn fault(reader: &Reader<'_>, irregular: Irregular, at: usize) -> StrictFault {
    StrictFault { irregular, at: reader.place(at) }
}

fn check_item(reader: &mut Reader<'_>, depth: u32, depth_max: u32) -> Result<(), StrictFault> {
    let start = reader.at();
    if depth_max < depth {
        return Err(fault(reader, Irregular::Depth, start));
    }
    let syntax = |it: crate::Fault| StrictFault { irregular: Irregular::Syntax, at: it.at };
    let head = reader.head().map_err(syntax)?;
    let head_len = reader.at().saturating_sub(start);
    let irregular = match head {
        Head::Unsigned(number) | Head::Negative(number) => long(number, head_len),
        Head::Bytes(Some(number))
        | Head::Text(Some(number))
        | Head::Array(Some(number))
        | Head::Map(Some(number)) => long(number, head_len),
        Head::Bytes(None) | Head::Text(None) | Head::Array(None) | Head::Map(None) => {
            Some(Irregular::Form)
        }
        Head::Simple(20..=22) => None,
        Head::Simple(_) | Head::Tag(_) | Head::Break => Some(Irregular::Syntax),
        Head::Float(number) => {
            let stored = reader.since(start);
            let mut shortest = Vec::new();
            encode(&Value::Float(number), &mut shortest);
            let is_shortest = if number.is_nan() { stored == NAN } else { stored == shortest };
            (!is_shortest).then_some(Irregular::Form)
        }
    };
    if let Some(irregular) = irregular {
        return Err(fault(reader, irregular, start));
    }
    match head {
        Head::Bytes(_) | Head::Text(_) => {
            reader.string(head).map_err(syntax)?;
            match reader.take_bad_text() {
                Some(at) => Err(fault(reader, Irregular::Text, at)),
                None => Ok(()),
            }
        }
        Head::Array(count) => {
            let mut items = Items::new(count);
            while items.next(reader) {
                check_item(reader, depth.saturating_add(1), depth_max)?;
            }
            Ok(())
        }
        Head::Map(count) => check_pairs(reader, count, depth.saturating_add(1), depth_max),
        _ => Ok(()),
    }
}

/// The only encoding of NaN.
const NAN: [u8; 3] = [0xF9, 0x7E, 0x00];

fn check_pairs(
    reader: &mut Reader<'_>,
    count: Option<u64>,
    depth: u32,
    depth_max: u32,
) -> Result<(), StrictFault> {
    let mut items = Items::new(count);
    let mut before: Option<&[u8]> = None;
    while items.next(reader) {
        let start = reader.at();
        check_item(reader, depth, depth_max)?;
        let key = reader.since(start);
        match before.map(|before| before.cmp(key)) {
            Some(std::cmp::Ordering::Equal) => {
                return Err(fault(reader, Irregular::KeyTwice, start));
            }
            Some(std::cmp::Ordering::Greater) => {
                return Err(fault(reader, Irregular::Order, start));
            }
            _ => before = Some(key),
        }
        check_item(reader, depth, depth_max)?;
    }
    Ok(())
}

/// Whether a head of this many bytes is longer than its number needs.
fn long(number: u64, head_len: usize) -> Option<Irregular> {
    let shortest = match number {
        0..24 => 1,
        24..=0xFF => 2,
        0x100..=0xFFFF => 3,
        0x1_0000..=0xFFFF_FFFF => 5,
        _ => 9,
    };
    (head_len != shortest).then_some(Irregular::Form)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(bytes: &[u8]) -> Option<(Irregular, u64)> {
        check_deterministic(bytes, 0, 3).err().map(|fault| (fault.irregular, fault.at))
    }

    #[test]
    fn each_irregularity_is_found_and_its_twin_is_not() {
        let cases: [(&[u8], &[u8], Irregular, u64); 14] = [
            (b"\x17", b"\x18\x17", Irregular::Form, 0),
            (b"\x18\x18", b"\x19\x00\x18", Irregular::Form, 0),
            (b"\x19\x01\x00", b"\x1a\x00\x00\x01\x00", Irregular::Form, 0),
            (b"\x1a\x00\x01\x00\x00", b"\x1b\0\0\0\0\0\x01\0\0", Irregular::Form, 0),
            (b"\x61a", b"\x7f\x61a\xff", Irregular::Form, 0),
            (b"\x81\x01", b"\x9f\x01\xff", Irregular::Form, 0),
            (b"\xf9\x3c\x00", b"\xfa\x3f\x80\x00\x00", Irregular::Form, 0),
            (b"\xf9\x7e\x00", b"\xf9\x7e\x01", Irregular::Form, 0),
            (b"\xa2\x61a\x01\x61b\x01", b"\xa2\x61b\x01\x61a\x01", Irregular::Order, 4),
            (b"\xa2\x61b\x01\x62aa\x01", b"\xa2\x61b\x01\x61b\x02", Irregular::KeyTwice, 4),
            (b"\x61a", b"\x61\xff", Irregular::Text, 1),
            (b"\xf6", b"\xf7", Irregular::Syntax, 0),
            (b"\x01", b"\xc1\x01", Irregular::Syntax, 0),
            (b"\x01", b"\x01\x01", Irregular::Trailing, 1),
        ];
        for (twin, bytes, irregular, at) in cases {
            assert_eq!(found(twin), None, "{twin:x?}");
            assert_eq!(found(bytes), Some((irregular, at)), "{bytes:x?}");
        }
        assert_eq!(found(b"\x81\x81\x81\x80"), None);
        assert_eq!(found(b"\x81\x81\x81\x81\x01"), Some((Irregular::Depth, 4)));
        assert_eq!(found(b"\x62a"), Some((Irregular::Syntax, 1)));
        assert_eq!(found(b""), Some((Irregular::Syntax, 0)));
        assert_eq!(found(b"\xfb\x3f\xf1\x99\x99\x99\x99\x99\x9a"), None, "1.1 needs 64 bits");
    }
}
