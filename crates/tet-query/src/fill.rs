//! The fill value of a dataset: what stands where nothing was measured.
//!
//! It comes from the attributes `_FillValue`, `missing_value` and `fill_value`, the first of them
//! that says a number.

use crate::catalog::{AttrText, Dataset};
use crate::reduction::Number;

/// The attributes that may say the fill value, the one that counts most first.
const ATTRS: [&str; 3] = ["_FillValue", "missing_value", "fill_value"];

/// The fill value of a dataset, if its attributes say one.
#[must_use]
pub fn fill_of(dataset: &Dataset) -> Option<Number> {
    ATTRS.iter().find_map(|&name| number(dataset.attrs.get(name)?))
}

/// The number an attribute says, be it a number, a list of one, or text.
fn number(attr: &AttrText) -> Option<Number> {
    let text = match attr {
        AttrText::Text(text) => text.trim(),
        AttrText::Json(json) => {
            let json = json.trim();
            let single = json.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            let text = single.unwrap_or(json).trim();
            text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text).trim()
        }
    };
    let float = || text.parse::<f64>().ok().map(Number::Float);
    text.parse::<i128>().ok().map(Number::Int).or_else(float)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_numbers_lists_and_text() {
        let text = |text: &str| number(&AttrText::Text(text.to_owned()));
        let json = |json: &str| number(&AttrText::Json(json.to_owned()));
        for (found, wanted) in [
            (text("-9999"), Some(Number::Int(-9999))),
            (text(" 1e20 "), Some(Number::Float(1e20))),
            (text("-9999.0"), Some(Number::Float(-9999.0))),
            (text("none"), None),
            (text(""), None),
            (json("18446744073709551615"), Some(Number::Int(u64::MAX.into()))),
            (json("[ -32768 ]"), Some(Number::Int(-32768))),
            (json("\"0.5\""), Some(Number::Float(0.5))),
            (json("[1, 2]"), None),
            (json("null"), None),
            (json("true"), None),
            (json("{}"), None),
        ] {
            assert_eq!(found, wanted);
        }
        assert!(matches!(text("NaN"), Some(Number::Float(float)) if float.is_nan()));
        assert!(matches!(json("\"nan\""), Some(Number::Float(float)) if float.is_nan()));
    }
}
