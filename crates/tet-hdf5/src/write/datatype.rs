//! Datatype messages (section IV.A.2.d).

use tet_format::DType;

use super::{DraftEnum, DraftType};

/// The message of an enumeration: the type of its values, the names, the values. Names are padded to a multiple of eight
/// bytes, as readers of version 1 want them.
pub(super) fn enumeration(of: &DraftEnum) -> Option<Vec<u8>> {
    let base = number(of.dtype)?;
    let [low, high] = u16::try_from(of.members.len()).ok()?.to_le_bytes();
    let mut bytes = head(8, 1, [low, high, 0], width(of.dtype)?.into());
    bytes.extend(base);
    for (name, _) in &of.members {
        bytes.extend(name.as_bytes());
        bytes.resize(bytes.len() + 8 - name.len() % 8, 0);
    }
    of.members.iter().for_each(|(_, value)| bytes.extend(value));
    Some(bytes)
}

/// The type of references to objects.
pub(super) fn reference() -> Vec<u8> {
    head(7, 1, [0, 0, 0], 8)
}

/// A text of this many bytes, padded by zeros.
pub(super) fn text(len: u32, is_ascii: bool) -> Vec<u8> {
    head(3, 1, [1 | if is_ascii { 0 } else { 0x10 }, 0, 0], len)
}

/// A text that ends with a zero, in UTF-8 or ASCII.
pub(super) fn ended_text(len: u32) -> Vec<u8> {
    head(3, 1, [0, 0, 0], len)
}

/// Texts of any length, in UTF-8.
pub(super) fn long_text() -> Vec<u8> {
    let mut bytes = head(9, 1, [1, 1, 0], 16);
    bytes.extend(head(3, 1, [0x10, 0, 0], 1));
    bytes
}

/// Lists of elements of a type.
pub(super) fn list(of: &[u8]) -> Vec<u8> {
    let mut bytes = head(9, 1, [0, 0, 0], 16);
    bytes.extend(of);
    bytes
}

/// A compound of members: name, offset, type. Offsets and the size are less than 256.
pub(super) fn compound(size: u8, members: &[(&str, u8, Vec<u8>)]) -> Vec<u8> {
    let count = u8::try_from(members.len()).unwrap_or(u8::MAX);
    let mut bytes = head(6, 3, [count, 0, 0], size.into());
    for (name, offset, datatype) in members {
        bytes.extend(name.as_bytes());
        bytes.extend([0, *offset]);
        bytes.extend(datatype);
    }
    bytes
}

/// The message of a type; `None` for one that files are not written with.
pub(super) fn message(datatype: DraftType) -> Option<Vec<u8>> {
    match datatype {
        DraftType::Char => Some(text(1, true)),
        DraftType::Text => Some(long_text()),
        DraftType::Dimension => {
            let mut bytes = float(4)?;
            if let Some(order) = bytes.get_mut(1) {
                *order |= 1;
            }
            Some(bytes)
        }
        DraftType::Number(dtype) => number(dtype),
    }
}

/// The message of a number.
pub(super) fn number(dtype: DType) -> Option<Vec<u8>> {
    Some(match dtype {
        DType::Bool => {
            let mut bytes = head(8, 3, [2, 0, 0], 1);
            bytes.extend(integer(1, true));
            bytes.extend(b"FALSE\0TRUE\0\0\x01");
            bytes
        }
        DType::Complex64 => compound(8, &[("r", 0, float(4)?), ("i", 4, float(4)?)]),
        DType::Complex128 => compound(16, &[("r", 0, float(8)?), ("i", 8, float(8)?)]),
        DType::BFloat16 => float_of(2, [8, 7, 127]),
        DType::Float16 | DType::Float32 | DType::Float64 => float(width(dtype)?)?,
        dtype if dtype.is_signed_integer() || dtype.is_unsigned_integer() => {
            integer(width(dtype)?, dtype.is_signed_integer())
        }
        _ => return None,
    })
}

fn width(dtype: DType) -> Option<u8> {
    dtype.size().and_then(|size| u8::try_from(size).ok())
}

fn head(class: u8, version: u8, bits: [u8; 3], size: u32) -> Vec<u8> {
    let mut bytes = vec![version << 4 | class];
    bytes.extend(bits);
    bytes.extend(size.to_le_bytes());
    bytes
}

fn integer(width: u8, is_signed: bool) -> Vec<u8> {
    let mut bytes = head(0, 1, [u8::from(is_signed) << 3, 0, 0], width.into());
    bytes.extend([0, 0]);
    bytes.extend((u16::from(width) * 8).to_le_bytes());
    bytes
}

fn float(width: u8) -> Option<Vec<u8>> {
    Some(match width {
        2 => float_of(2, [5, 10, 15]),
        4 => float_of(4, [8, 23, 127]),
        8 => float_of(8, [11, 52, 1023]),
        _ => return None,
    })
}

/// A float by the widths of its exponent and mantissa, and the bias.
fn float_of(width: u8, [exponent, mantissa, bias]: [u16; 3]) -> Vec<u8> {
    let bits = u16::from(width) * 8;
    let low = |number: u16| number.to_le_bytes()[0];
    let mut bytes = head(1, 1, [0x20, low(bits - 1), 0], width.into());
    bytes.extend([0, 0]);
    bytes.extend(bits.to_le_bytes());
    bytes.extend([low(mantissa), low(exponent), 0, low(mantissa)]);
    bytes.extend(u32::from(bias).to_le_bytes());
    bytes
}

impl DraftType {
    /// Whether files are written with this type.
    #[must_use]
    pub fn is_known(self) -> bool {
        message(self).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::datatype::{Class, Datatype, FloatBits, read};
    use crate::reader::{Reader, Sizes};
    use crate::rule;

    fn back(bytes: Vec<u8>) -> Datatype {
        let source = tet_io::Source::from_bytes(bytes.clone());
        let reader = Reader::new(source, 0, Sizes { offset: 8, length: 8 });
        let piece = reader.piece(0, bytes.len() as u64, &rule::MESSAGE_CUT).unwrap();
        read(&mut piece.fields()).unwrap()
    }

    #[test]
    fn types_come_back() {
        for (dtype, size) in [(DType::Int8, 1), (DType::UInt64, 8)] {
            let found = back(number(dtype).unwrap());
            assert!(found.is_plain_integer() && found.size == size, "{found:?}");
        }
        for (dtype, wanted) in [
            (DType::Float16, FloatBits::FLOAT16),
            (DType::BFloat16, FloatBits::BFLOAT16),
            (DType::Float32, FloatBits::FLOAT32),
            (DType::Float64, FloatBits::FLOAT64),
        ] {
            let Class::Float { bits, .. } = back(number(dtype).unwrap()).class else {
                panic!("no float")
            };
            assert_eq!(bits, wanted);
        }
        assert!(matches!(back(number(DType::Bool).unwrap()).class, Class::Enum { .. }));
        let Class::Compound(parts) = back(number(DType::Complex64).unwrap()).class else {
            panic!("no compound")
        };
        assert_eq!(parts.iter().map(|it| it.offset).collect::<Vec<_>>(), [0, 4]);
        assert!(matches!(back(long_text()).class, Class::VariableText { .. }));
        assert!(matches!(back(list(&reference())).class, Class::List(_)));
        assert!(message(DraftType::Number(DType::Bitmask)).is_none());
        let members = vec![("clear".to_owned(), vec![0]), ("overcast".to_owned(), vec![7])];
        let of = DraftEnum { path: None, dtype: DType::UInt8, members: members.clone() };
        let Class::Enum { members: found, .. } = back(enumeration(&of).unwrap()).class else {
            panic!("no enumeration")
        };
        assert_eq!(found, members);
    }
}
