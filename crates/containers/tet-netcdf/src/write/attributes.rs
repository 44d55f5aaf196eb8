//! Attributes with types: text, or numbers of a type that the version has.

use tet_codec::Swapped;
use tet_format::DType;
use tet_query::AttrText;

use crate::value::{Type, Version};
use tet_container::write::netcdf::attributes::{self, TypedValue, Writing};

/// The value of an attribute.
#[derive(Debug)]
pub(in super::super) struct NcValue {
    pub(in super::super) stored: Type,
    pub(in super::super) count: usize,
    /// Its numbers, big-endian, or its text.
    pub(in super::super) bytes: Vec<u8>,
}

/// The value of an attribute of a variable of type `of`, or of the file.
pub(in super::super) fn value(
    key: &str,
    attr: &AttrText,
    of: Option<DType>,
    version: Version,
) -> (NcValue, Writing) {
    let has = |dtype: DType| {
        let stored = Type::Number(dtype);
        stored.tag().is_some() && (!stored.is_wide() || version == Version::Cdf5)
    };
    let (value, writing) = attributes::value(key, attr, of, &has);
    let value = match value {
        TypedValue::Text(text) => {
            NcValue { stored: Type::Char, count: text.len(), bytes: text.into_bytes() }
        }
        TypedValue::Numbers(dtype, mut bytes, _) => {
            let stored = Type::Number(dtype);
            Swapped::new(stored.size()).iter().for_each(|swapped| swapped.in_place(&mut bytes));
            let size = usize::try_from(stored.size()).unwrap_or(1).max(1);
            NcValue { stored, count: bytes.len() / size, bytes }
        }
    };
    (value, writing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &str, attr: &AttrText, of: Option<DType>, dtype: DType, bytes: &[u8]) {
        let (value, writing) = value(key, attr, of, Version::Cdf2);
        assert_eq!((value.stored, writing), (Type::Number(dtype), Writing::AsIs), "{attr:?}");
        assert_eq!(value.bytes, bytes, "{attr:?}");
    }

    #[test]
    fn numbers_keep_their_type_where_the_version_has_it() {
        let typed = |dtype, json: &str| AttrText::Numbers { dtype, json: json.to_owned() };
        check("n", &typed(DType::Int16, "[1,-1]"), None, DType::Int16, &[0, 1, 255, 255]);
        check("n", &typed(DType::UInt8, "255"), None, DType::Int16, &[0, 255]);
        check("n", &typed(DType::Int64, "7"), None, DType::Int32, &[0, 0, 0, 7]);
        check("n", &typed(DType::Float32, "\"NaN\""), None, DType::Float32, &[127, 192, 0, 0]);
        let json = |text: &str| AttrText::Json(text.to_owned());
        check("n", &json("7"), None, DType::Int32, &[0, 0, 0, 7]);
        check("n", &json("0.5"), None, DType::Float64, &[63, 224, 0, 0, 0, 0, 0, 0]);
        check("_FillValue", &json("-1"), Some(DType::Int8), DType::Int8, &[255]);
        let text = AttrText::Text("NaN".to_owned());
        check("_FillValue", &text, Some(DType::Float32), DType::Float32, &[127, 192, 0, 0]);
    }

    #[test]
    fn what_is_no_number_is_text() {
        for json in ["true", "[\"a\",\"b\"]", "{\"a\":1}", "null", "[[1,2]]", "9007199254740993"] {
            let attr = AttrText::Json(json.to_owned());
            let (value, writing) = value("x", &attr, None, Version::Cdf2);
            assert_eq!((value.stored, writing), (Type::Char, Writing::AsJson), "{json}");
            assert_eq!(value.bytes, json.as_bytes());
        }
    }
}
