//! Encodes values in one form: the shortest heads, floats in the fewest bytes, map keys in the
//! order of their bytes (RFC 8949, section 4.2.1).

use half::f16;

use crate::value::Value;

/// The head of a map without a count, as used for every entry.
pub const MAP_OPEN: u8 = 0xbf;
/// The end of a container without a count.
pub const BREAK: u8 = 0xff;

/// The deepest value, so that every reader accepts it inside an array and a map.
const DEPTH_MAX: usize = 120;

const UNSIGNED: u8 = 0;
const NEGATIVE: u8 = 1;
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
const MAP: u8 = 5;
const TAG: u8 = 6;
const OTHER: u8 = 7;

const FALSE: u8 = 0xf4;
const TRUE: u8 = 0xf5;
const NULL: u8 = 0xf6;
const UNDEFINED: u8 = 0xf7;
const HALF: u8 = 0xf9;
const SINGLE: u8 = 0xfa;
const DOUBLE: u8 = 0xfb;

/// Appends an unsigned integer.
pub fn unsigned(number: u64, out: &mut Vec<u8>) {
    head(UNSIGNED, number, out);
}

/// Appends text.
pub fn text(text: &str, out: &mut Vec<u8>) {
    head(TEXT, text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

/// Appends the head of an array of `count` items.
pub fn array_head(count: u64, out: &mut Vec<u8>) {
    head(ARRAY, count, out);
}

/// Appends the head of a map of `count` pairs.
pub fn map_head(count: u64, out: &mut Vec<u8>) {
    head(MAP, count, out);
}

/// Appends a value that was checked by [`check_value`] or [`check_wide_value`].
pub fn encode(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(NULL),
        Value::Undefined => out.push(UNDEFINED),
        Value::Bool(truth) => out.push(if *truth { TRUE } else { FALSE }),
        Value::Int(number) => integer(*number, out),
        Value::Float(number) => float(*number, out),
        Value::Text(string) => text(string, out),
        Value::Bytes(bytes) => {
            head(BYTES, bytes.len() as u64, out);
            out.extend_from_slice(bytes);
        }
        Value::Array(items) => {
            array_head(items.len() as u64, out);
            items.iter().for_each(|item| encode(item, out));
        }
        Value::Map(pairs) => map(pairs, out),
        Value::Tag(number, item) => {
            head(TAG, *number, out);
            encode(item, out);
        }
        Value::Simple(number) if *number < 24 => out.push(OTHER << 5 | number),
        Value::Simple(number) => out.extend([0xf8, *number]),
    }
}

/// Checks that common readers accept the value: a depth of at most 120, integers from -2^63 to 2^64
/// - 1, named simple values, and no repeated key in a map.
///
/// # Errors
///
/// Returns the reason why they do not.
pub fn check_value(value: &Value) -> Result<(), &'static str> {
    check_at(value, DEPTH_MAX, &SIGNED)
}

/// As `check_value`, for readers that support all integers of CBOR, from -2^64 on.
///
/// # Errors
///
/// Returns the reason why they do not.
pub fn check_wide_value(value: &Value) -> Result<(), &'static str> {
    check_at(value, DEPTH_MAX, &WIDE)
}

/// The range of integers that readers accept.
struct Integers {
    min: i128,
    /// The reason for refusing others.
    why: &'static str,
}

const SIGNED: Integers = Integers { min: -1 << 63, why: "an integer is outside -2^63 to 2^64 - 1" };
const WIDE: Integers = Integers { min: -1 << 64, why: "an integer is outside -2^64 to 2^64 - 1" };

fn check_at(value: &Value, depth_left: usize, integers: &Integers) -> Result<(), &'static str> {
    let Some(depth_left) = depth_left.checked_sub(1) else {
        return Err("a value nests more than 120 deep");
    };
    match value {
        Value::Int(number) if !(integers.min..1 << 64).contains(number) => Err(integers.why),
        Value::Simple(_) => Err("a simple value is not false, true, null or undefined"),
        Value::Array(items) => {
            items.iter().try_for_each(|item| check_at(item, depth_left, integers))
        }
        Value::Map(pairs) => {
            for (key, value) in pairs {
                check_at(key, depth_left, integers)?;
                check_at(value, depth_left, integers)?;
            }
            let keys = ordered(pairs);
            let twice = keys.iter().zip(keys.iter().skip(1)).any(|(one, next)| one.0 == next.0);
            if twice { Err("a key is repeated in a map") } else { Ok(()) }
        }
        Value::Tag(_, item) => check_at(item, depth_left, integers),
        _ => Ok(()),
    }
}

/// Appends the shortest head of an item.
fn head(major: u8, argument: u64, out: &mut Vec<u8>) {
    let major = major << 5;
    let bytes = argument.swap_bytes().to_le_bytes();
    let (code, len) = match argument {
        0..24 => {
            out.push(major | bytes[7]);
            return;
        }
        24..=0xff => (24, 1),
        0x100..=0xffff => (25, 2),
        0x1_0000..=0xffff_ffff => (26, 4),
        _ => (27, 8),
    };
    out.push(major | code);
    out.extend(bytes.iter().skip(8 - len));
}

fn integer(number: i128, out: &mut Vec<u8>) {
    let (major, argument) = if number < 0 { (NEGATIVE, !number) } else { (UNSIGNED, number) };
    head(major, u64::try_from(argument).unwrap_or(u64::MAX), out);
}

/// Appends a float in the fewest bytes that represent it; all NaN become one.
fn float(number: f64, out: &mut Vec<u8>) {
    if number.is_nan() {
        out.extend([HALF, 0x7e, 0x00]);
        return;
    }
    #[allow(clippy::cast_possible_truncation, reason = "the result is compared")]
    let single = number as f32;
    if f64::from(single).to_bits() != number.to_bits() {
        out.push(DOUBLE);
        out.extend(number.to_bits().swap_bytes().to_le_bytes());
        return;
    }
    let half = f16::from_f32(single);
    if half.to_f32().to_bits() == single.to_bits() {
        out.push(HALF);
        out.extend(half.to_bits().swap_bytes().to_le_bytes());
    } else {
        out.push(SINGLE);
        out.extend(single.to_bits().swap_bytes().to_le_bytes());
    }
}

fn map(pairs: &[(Value, Value)], out: &mut Vec<u8>) {
    map_head(pairs.len() as u64, out);
    for (key, value) in ordered(pairs) {
        out.extend(&key);
        encode(value, out);
    }
}

/// The pairs in the order of the bytes of their keys, that is by type, then by value or length.
fn ordered(pairs: &[(Value, Value)]) -> Vec<(Vec<u8>, &Value)> {
    let mut keyed: Vec<_> = pairs.iter().map(|(key, value)| (bytes_of(key), value)).collect();
    keyed.sort_by(|one, other| one.0.cmp(&other.0));
    keyed
}

fn bytes_of(key: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(key, &mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(value: &Value) -> Vec<u8> {
        assert_eq!(check_wide_value(value), Ok(()));
        let mut out = Vec::new();
        encode(value, &mut out);
        out
    }

    #[test]
    fn heads_are_as_short_as_they_can_be() {
        let cases: [(i128, &[u8]); 13] = [
            (0, &[0x00]),
            (23, &[0x17]),
            (24, &[0x18, 24]),
            (255, &[0x18, 255]),
            (256, &[0x19, 1, 0]),
            (65_536, &[0x1a, 0, 1, 0, 0]),
            (1 << 32, &[0x1b, 0, 0, 0, 1, 0, 0, 0, 0]),
            ((1 << 64) - 1, &[0x1b, 255, 255, 255, 255, 255, 255, 255, 255]),
            (-1, &[0x20]),
            (-24, &[0x37]),
            (-25, &[0x38, 24]),
            (-(1 << 63), &[0x3b, 127, 255, 255, 255, 255, 255, 255, 255]),
            (-(1 << 64), &[0x3b, 255, 255, 255, 255, 255, 255, 255, 255]),
        ];
        for (number, wanted) in cases {
            assert_eq!(bytes(&Value::Int(number)), wanted, "{number}");
        }
    }

    #[test]
    fn floats_take_the_fewest_bytes_that_hold_them() {
        let cases: [(f64, &[u8]); 9] = [
            (1.5, &[0xf9, 0x3e, 0x00]),
            (-0.0, &[0xf9, 0x80, 0x00]),
            (f64::INFINITY, &[0xf9, 0x7c, 0x00]),
            (f64::NEG_INFINITY, &[0xf9, 0xfc, 0x00]),
            (f64::NAN, &[0xf9, 0x7e, 0x00]),
            (-f64::NAN, &[0xf9, 0x7e, 0x00]),
            (100_000.0, &[0xfa, 0x47, 0xc3, 0x50, 0x00]),
            (1.1, &[0xfb, 0x3f, 0xf1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a]),
            (1e300, &[0xfb, 0x7e, 0x37, 0xe4, 0x3c, 0x88, 0x00, 0x75, 0x9c]),
        ];
        for (number, wanted) in cases {
            assert_eq!(bytes(&Value::Float(number)), wanted, "{number}");
        }
    }

    #[test]
    fn keys_stand_by_kind_then_length_then_bytes() {
        let text = |text: &str| Value::Text(text.to_owned());
        let keys = [text("b"), text("aa"), text("a"), Value::Int(-1), Value::Null, Value::Int(300)];
        let pairs = keys.map(|key| (key, Value::Int(0))).to_vec();
        let wanted = b"\xa6\x19\x01\x2c\x00\x20\x00\x61a\x00\x61b\x00\x62aa\x00\xf6\x00";
        assert_eq!(bytes(&Value::Map(pairs)), wanted);
    }

    #[test]
    fn what_old_readers_refuse_is_not_written() {
        let mut deep = Value::Null;
        for _ in 0..DEPTH_MAX - 1 {
            deep = Value::Array(vec![deep]);
        }
        assert_eq!(check_value(&deep), Ok(()));
        let twice = vec![(Value::Int(1), Value::Null), (Value::Int(1), Value::Null)];
        let refused = [
            Value::Array(vec![deep]),
            Value::Int(1 << 64),
            Value::Int(-(1 << 63) - 1),
            Value::Simple(99),
            Value::Array(vec![Value::Simple(0)]),
            Value::Map(twice),
        ];
        for value in refused {
            assert!(check_value(&value).is_err(), "{value:?}");
            let is_wide = value == Value::Int(-(1 << 63) - 1);
            assert_eq!(check_wide_value(&value).is_ok(), is_wide, "{value:?}");
        }
        let bounds = [-(1_i128 << 64), (1 << 64) - 1].map(Value::Int);
        assert!(bounds.iter().all(|bound| check_wide_value(bound).is_ok()));
        assert!(check_wide_value(&Value::Int(-(1 << 64) - 1)).is_err());
    }
}
