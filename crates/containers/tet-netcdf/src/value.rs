//! Types of elements and attributes, and values of attributes.

use tet_format::DType;
use tet_query::AttrText;

/// The type of a variable or an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// Bytes of text.
    Char,
    /// A number.
    Number(DType),
}

/// The version of a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// Offsets of 64 bits.
    Cdf2,
    /// Offsets, lengths and integers of 64 bits.
    Cdf5,
}

impl Type {
    /// The type of a tag; `None` for one that the version does not have.
    pub(super) fn from_tag(tag: u32, is_wide: bool) -> Option<Type> {
        Some(Type::Number(match tag {
            1 => DType::Int8,
            2 => return Some(Type::Char),
            3 => DType::Int16,
            4 => DType::Int32,
            5 => DType::Float32,
            6 => DType::Float64,
            7 if is_wide => DType::UInt8,
            8 if is_wide => DType::UInt16,
            9 if is_wide => DType::UInt32,
            10 if is_wide => DType::Int64,
            11 if is_wide => DType::UInt64,
            _ => return None,
        }))
    }

    /// The tag of the type.
    pub(super) const fn tag(self) -> Option<u32> {
        Some(match self {
            Type::Char => 2,
            Type::Number(DType::Int8) => 1,
            Type::Number(DType::Int16) => 3,
            Type::Number(DType::Int32) => 4,
            Type::Number(DType::Float32) => 5,
            Type::Number(DType::Float64) => 6,
            Type::Number(DType::UInt8) => 7,
            Type::Number(DType::UInt16) => 8,
            Type::Number(DType::UInt32) => 9,
            Type::Number(DType::Int64) => 10,
            Type::Number(DType::UInt64) => 11,
            Type::Number(_) => return None,
        })
    }

    /// Whether only CDF-5 has the type.
    pub(super) const fn is_wide(self) -> bool {
        matches!(self.tag(), None | Some(7..))
    }

    /// The bytes of the default fill value, big-endian, with which an array ends in the last group of four.
    pub(super) const fn fill(self) -> &'static [u8] {
        match self {
            Type::Number(DType::Int8) => &[0x81],
            Type::Number(DType::Int16) => &[0x80, 1],
            Type::Number(DType::UInt8 | DType::UInt16) => &[255],
            _ => &[0],
        }
    }

    /// Bytes of one element.
    pub(super) fn size(self) -> u64 {
        self.dtype().size().unwrap_or(1)
    }

    /// The type that the elements are read as; text is read as its bytes.
    pub(super) const fn dtype(self) -> DType {
        match self {
            Type::Char => DType::UInt8,
            Type::Number(dtype) => dtype,
        }
    }

    /// The name of the type.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Type::Char => "char",
            Type::Number(dtype) => dtype.name(),
        }
    }

    /// The value of an attribute: text, a number or several.
    pub(super) fn value(self, bytes: &[u8]) -> AttrText {
        let Type::Number(dtype) = self else {
            let text = String::from_utf8_lossy(bytes);
            return AttrText::Text(text.trim_end_matches('\0').to_owned());
        };
        let size = usize::try_from(self.size()).unwrap_or(1);
        let mut numbers = bytes.to_vec();
        numbers.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        if numbers.len() == size {
            return AttrText::number(dtype, &numbers);
        }
        AttrText::numbers(dtype, &numbers)
    }
}

#[cfg(test)]
#[allow(clippy::big_endian_bytes, reason = "the numbers of NetCDF are big-endian")]
mod tests {
    use super::*;

    #[test]
    fn tags_come_back() {
        for tag in 1..=11 {
            assert_eq!(Type::from_tag(tag, true).and_then(Type::tag), Some(tag));
            assert_eq!(
                Type::from_tag(tag, true).map(Type::is_wide),
                Some(Type::from_tag(tag, false).is_none())
            );
        }
        assert_eq!(Type::Number(DType::Float16).tag(), None);
    }

    #[test]
    fn values_are_text_or_numbers() {
        let json = |dtype, text: &str| AttrText::Numbers { dtype, json: text.to_owned() };
        let of = |tag, bytes: &[u8]| Type::from_tag(tag, true).expect("a type").value(bytes);
        assert_eq!(of(2, b"degrees_north\0"), AttrText::Text("degrees_north".to_owned()));
        assert_eq!(of(1, &[255]), json(DType::Int8, "-1"));
        assert_eq!(of(3, &[1, 0, 255, 255]), json(DType::Int16, "[256,-1]"));
        assert_eq!(of(5, &0.1_f32.to_be_bytes()), json(DType::Float32, "0.1"));
        assert_eq!(of(6, &273.15_f64.to_be_bytes()), json(DType::Float64, "273.15"));
        assert_eq!(of(11, &u64::MAX.to_be_bytes()), json(DType::UInt64, "18446744073709551615"));
        assert_eq!(of(4, &[]), json(DType::Int32, "[]"));
        assert_eq!(Type::from_tag(7, false), None);
        assert_eq!(Type::from_tag(12, true), None);
    }
}
