//! Texts of NumPy: `<U5` and `|S5`.

use tet_query::FixedText;

use super::descr::{ByteOrder, split};
use super::literal::Literal;

/// The type of an array of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextType {
    /// How bytes become a text.
    pub(crate) kind: FixedText,
    /// Bytes of one text.
    pub(crate) size: u64,
}

impl TextType {
    /// Type of a dtype string, if it is one of texts.
    pub(super) fn from_descr(descr: &Literal) -> Option<Self> {
        let Literal::Text(text) = descr else { return None };
        let (order, code) = split(text);
        let points = FixedText::Points { is_big: order == ByteOrder::Big };
        let (kind, width, count) = match code.as_bytes() {
            [b'U', ..] => (points, 4, code.get(1..)?),
            [b'S' | b'a', ..] => (FixedText::Bytes, 1, code.get(1..)?),
            _ => return None,
        };
        Some(TextType { kind, size: count.parse::<u64>().ok()?.checked_mul(width)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_strings_of_texts_are_known() {
        let of = |text: &str| TextType::from_descr(&Literal::Text(text.to_owned()));
        let points = |is_big| FixedText::Points { is_big };
        assert_eq!(of("|S2"), Some(TextType { kind: FixedText::Bytes, size: 2 }));
        assert_eq!(of("<U3"), Some(TextType { kind: points(false), size: 12 }));
        assert_eq!(of(">U0"), Some(TextType { kind: points(true), size: 0 }));
        assert_eq!((of("S2"), of("=U3")), (of("|S2"), of("<U3")));
        for text in ["<f4", "|S", "<U-1", "<U99999999999999999999", "S", ""] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
