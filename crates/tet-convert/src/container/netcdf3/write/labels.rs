//! Labels of axes as variables of the names of their dimensions, as the CF conventions have coordinates.

#![allow(clippy::big_endian_bytes, reason = "the numbers of NetCDF are big-endian")]

use tet_format::DType;

use crate::container::netcdf3::value::Type;

/// Bytes of the labels of an axis, at most.
const LEN_MAX: usize = 64 << 20;

/// The elements of a variable of labels.
#[derive(Debug)]
pub(super) struct Labels {
    pub(super) stored: Type,
    /// The extent of the second axis, which texts have.
    pub(super) width: Option<u64>,
    /// Big-endian.
    pub(super) bytes: Vec<u8>,
}

/// Labels as integers where all of them are, as floats where all of them are, and else as rows of
/// characters; `None` for too many bytes.
pub(super) fn of(labels: &[String]) -> Option<Labels> {
    if let Some(numbers) = all(labels, same::<i32>) {
        let bytes = numbers.iter().flat_map(|it| it.to_be_bytes()).collect();
        return Some(Labels { stored: Type::Number(DType::Int32), width: None, bytes });
    }
    let float = |text: &str| text.parse::<f64>().ok().filter(|it| format!("{it:?}") == text);
    if let Some(numbers) = all(labels, float) {
        let bytes = numbers.iter().flat_map(|it| it.to_be_bytes()).collect();
        return Some(Labels { stored: Type::Number(DType::Float64), width: None, bytes });
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

fn all<T>(labels: &[String], number: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    labels.iter().map(|text| number(text)).collect()
}

/// The number that a text is, written as that number is.
fn same<T: std::str::FromStr + ToString>(text: &str) -> Option<T> {
    text.parse::<T>().ok().filter(|it| it.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_numbers_where_all_of_them_are() {
        let of = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
            let labels = of(&texts).expect("few bytes");
            (labels.stored, labels.width, labels.bytes)
        };
        assert_eq!(of(&["1", "-2"]), {
            (Type::Number(DType::Int32), None, vec![0, 0, 0, 1, 255, 255, 255, 254])
        });
        assert_eq!(of(&["0.5"]).0, Type::Number(DType::Float64));
        assert_eq!(of(&["a", "bcd"]), (Type::Char, Some(3), b"a\0\0bcd".to_vec()));
        assert_eq!(of(&["01", "2"]).0, Type::Char, "01 is not how 1 is written");
        assert_eq!(of(&[""]), (Type::Char, Some(1), vec![0]));
    }
}
