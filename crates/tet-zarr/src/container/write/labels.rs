//! Labels of axes as arrays of the names of their axes, as xarray has coordinates.

use crate::{NewElement, text_chunk};
use tet_format::DType;

/// Bytes of the labels of an axis, at most.
const LEN_MAX: usize = 64 << 20;

/// The elements of an array of labels.
#[derive(Debug)]
pub(super) struct Labels {
    pub(super) element: NewElement,
    pub(super) bytes: Vec<u8>,
}

/// Labels as integers where all of them are, as floats where all of them are, and else as text; `None` for
/// too many bytes.
pub(super) fn encode(labels: &[String]) -> Option<Labels> {
    let integer = |text: &str| text.parse::<i64>().ok().filter(|it| it.to_string() == text);
    if let Some(numbers) = all(labels, integer) {
        let bytes = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
        return Some(Labels { element: NewElement::Number(DType::Int64), bytes });
    }
    let float = |text: &str| text.parse::<f64>().ok().filter(|it| format!("{it:?}") == text);
    if let Some(numbers) = all(labels, float) {
        let bytes = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
        return Some(Labels { element: NewElement::Number(DType::Float64), bytes });
    }
    let bytes = text_chunk(labels).filter(|bytes| bytes.len() <= LEN_MAX)?;
    Some(Labels { element: NewElement::Text, bytes })
}

fn all<T>(labels: &[String], number: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    labels.iter().map(|text| number(text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_numbers_where_all_of_them_are() {
        let encoded = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
            encode(&texts).map(|it| (it.element, it.bytes.len())).expect("few bytes")
        };
        assert_eq!(encoded(&["1", "-2"]), (NewElement::Number(DType::Int64), 16));
        assert_eq!(encoded(&["0.5"]), (NewElement::Number(DType::Float64), 8));
        assert_eq!(encoded(&["a", "bcd"]), (NewElement::Text, 4 + 8 + 4));
        assert_eq!(encoded(&["01", "2"]).0, NewElement::Text);
        assert_eq!(encoded(&[""]), (NewElement::Text, 8));
    }
}
