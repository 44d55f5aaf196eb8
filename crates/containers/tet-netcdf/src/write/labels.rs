//! Labels of axes as variables, texts as rows of characters.

use tet_codec::Swapped;
use tet_format::DType;

use crate::value::Type;
use tet_container::write::netcdf::labels::{Coordinates, coordinates};

/// Bytes of the labels of an axis, at most.
const LEN_MAX: usize = 64 << 20;

/// Up to this all integers are numbers of 64-bit floats.
const EXACT_MAX: u64 = 1 << 53;

/// The elements of a variable of labels.
#[derive(Debug)]
pub(super) struct Labels {
    pub(super) stored: Type,
    /// The extent of the second axis, which texts have.
    pub(super) width: Option<u64>,
    /// Big-endian.
    pub(super) bytes: Vec<u8>,
}

/// Labels as numbers where all of them are, and else as rows of characters; `None` for too many bytes.
pub(super) fn encode(labels: &[String]) -> Option<Labels> {
    if let Coordinates::Numbers(dtype, bytes) = coordinates(labels) {
        let (dtype, mut bytes) = narrowed(dtype, bytes);
        let stored = Type::Number(dtype);
        Swapped::new(stored.size()).iter().for_each(|swapped| swapped.in_place(&mut bytes));
        return Some(Labels { stored, width: None, bytes });
    }
    let width = labels.iter().map(String::len).max().unwrap_or(0).max(1);
    let len = width.checked_mul(labels.len()).filter(|&len| len <= LEN_MAX)?;
    let mut bytes = Vec::with_capacity(len);
    for (text, end) in labels.iter().zip(1..) {
        bytes.extend(text.as_bytes());
        bytes.resize(width.checked_mul(end)?, 0);
    }
    Some(Labels { stored: Type::Char, width: u64::try_from(width).ok(), bytes })
}

/// Integers that CDF-2 does not have, as floats where these are the numbers; CDF-5 has them as they are.
fn narrowed(dtype: DType, bytes: Vec<u8>) -> (DType, Vec<u8>) {
    let numbers = || bytes.as_chunks().0.iter().map(|it| i64::from_le_bytes(*it));
    if dtype != DType::Int64 || numbers().any(|it| EXACT_MAX < it.unsigned_abs()) {
        return (dtype, bytes);
    }
    #[allow(clippy::cast_precision_loss, reason = "numbers up to 2^53 are exact")]
    let floats = numbers().flat_map(|it| (it as f64).to_le_bytes()).collect();
    (DType::Float64, floats)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_numbers_where_all_of_them_are() {
        let encoded = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
            let labels = encode(&texts).expect("few bytes");
            (labels.stored, labels.width, labels.bytes)
        };
        assert_eq!(encoded(&["1", "-2"]), {
            (Type::Number(DType::Int32), None, vec![0, 0, 0, 1, 255, 255, 255, 254])
        });
        assert_eq!(encoded(&["3000000000"]).0, Type::Number(DType::Float64));
        assert_eq!(encoded(&["9007199254740993"]).0, Type::Number(DType::Int64));
        assert_eq!(encoded(&["0.5"]).0, Type::Number(DType::Float64));
        assert_eq!(encoded(&["a", "bcd"]), (Type::Char, Some(3), b"a\0\0bcd".to_vec()));
        assert_eq!(encoded(&["01", "2"]).0, Type::Char, "01 is not how 1 is written");
        assert_eq!(encoded(&[""]), (Type::Char, Some(1), vec![0]));
    }
}
