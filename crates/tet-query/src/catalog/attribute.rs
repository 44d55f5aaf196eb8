//! Values of attributes: text, numbers with their type, or any JSON.

use half::{bf16, f16};
use tet_format::DType;

/// The value of an attribute.
///
/// # Examples
///
/// ```
/// use tet_format::DType;
/// use tet_query::AttrText;
///
/// let scale = AttrText::number(DType::Float32, &0.1_f32.to_le_bytes());
/// assert_eq!(scale.json(), Some("0.1"));
/// let range = AttrText::numbers(DType::Int16, &[0, 0, 100, 0]);
/// assert_eq!(range.json(), Some("[0,100]"));
/// assert_eq!(AttrText::Text("K".to_owned()).text(), "K");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttrText {
    /// A string.
    Text(String),
    /// Any other value, as JSON text.
    Json(String),
    /// A number or a list of them, in files that have types of attributes.
    Numbers {
        /// Their type.
        dtype: DType,
        /// Their values, as JSON text from which they are read back exactly; what JSON has no number
        /// for is a string: `"NaN"`, `"Infinity"`, `"-Infinity"`.
        json: String,
    },
}

impl AttrText {
    /// A number of this type, from its little-endian bytes.
    #[must_use]
    pub fn number(dtype: DType, bytes: &[u8]) -> AttrText {
        AttrText::Numbers { dtype, json: number(dtype, bytes) }
    }

    /// A list of numbers of this type, from their little-endian bytes.
    #[must_use]
    pub fn numbers(dtype: DType, bytes: &[u8]) -> AttrText {
        let size = dtype.size().and_then(|size| usize::try_from(size).ok()).unwrap_or(1);
        let numbers = bytes.chunks_exact(size).map(|bytes| number(dtype, bytes));
        let json = format!("[{}]", numbers.collect::<Vec<String>>().join(","));
        AttrText::Numbers { dtype, json }
    }

    /// Whether two attributes have the same value. Numbers are compared by their values, whatever their types are, and NaN
    /// is the same as NaN; a list of one number is that number. Texts are no numbers.
    ///
    /// # Examples
    ///
    /// ```
    /// use tet_format::DType;
    /// use tet_query::AttrText;
    ///
    /// let nan = AttrText::number(DType::Float32, &f32::NAN.to_le_bytes());
    /// assert!(nan.is_same(&AttrText::number(DType::Float64, &f64::NAN.to_le_bytes())));
    /// assert!(!nan.is_same(&AttrText::Text("NaN".to_owned())));
    /// assert!(AttrText::number(DType::Int8, &[5]).is_same(&AttrText::Json("5.0".to_owned())));
    /// ```
    #[must_use]
    pub fn is_same(&self, other: &AttrText) -> bool {
        if self == other {
            return true;
        }
        match (self.values(), other.values()) {
            (Some(one), Some(two)) => {
                let mut pairs = one.iter().zip(&two);
                self.is_complex() == other.is_complex()
                    && one.len() == two.len()
                    && pairs.all(|(one, two)| one.is_same(*two))
            }
            _ => self.json().is_some_and(|json| Some(json) == other.json()),
        }
    }

    /// Two values that differ, for a message: texts in quotes, and types where the digits are the same.
    #[must_use]
    pub fn shown_apart(one: &AttrText, two: &AttrText) -> [String; 2] {
        let shown = [one, two].map(AttrText::shown);
        if shown[0] != shown[1] {
            return shown;
        }
        let typed = |(attr, shown): (&AttrText, &String)| match attr {
            AttrText::Numbers { dtype, .. } => format!("{shown} ({})", dtype.name()),
            AttrText::Text(_) => format!("{shown} (text)"),
            AttrText::Json(_) => format!("{shown} (JSON)"),
        };
        [typed((one, &shown[0])), typed((two, &shown[1]))]
    }

    /// The value for a message: a text is in quotes, and numbers are not.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            AttrText::Text(text) => format!("{text:?}"),
            AttrText::Json(json) => json.clone(),
            AttrText::Numbers { json, .. } => json.replace('"', ""),
        }
    }

    fn is_complex(&self) -> bool {
        matches!(self, AttrText::Numbers { dtype, .. } if dtype.is_complex())
    }

    /// The numbers of the attribute, parts of complex ones one by one; `None` where it is no number or list of them.
    fn values(&self) -> Option<Vec<Value>> {
        let (json, dtype) = match self {
            AttrText::Text(_) => return None,
            AttrText::Json(json) => (json.trim(), None),
            AttrText::Numbers { json, dtype } => (json.as_str(), Some(*dtype)),
        };
        let is_list = |json: &str| json.starts_with('[') && json.ends_with(']');
        let inner = if is_list(json) { json.get(1..json.len() - 1)?.trim() } else { json };
        let parts: Vec<&str> = match inner {
            "" => Vec::new(),
            inner => inner.split(',').collect(),
        };
        let is_complex = self.is_complex();
        let part = |part: &str| {
            let part = if is_complex { part.trim_matches(['[', ']']) } else { part };
            Value::parse(part.trim(), dtype)
        };
        let values: Vec<Value> = parts.iter().map(|it| part(it)).collect::<Option<_>>()?;
        // A list of names alone is one of texts, where types are not known.
        let has_digits = parts.iter().any(|part| !part.trim().starts_with('"'));
        (dtype.is_some() || has_digits).then_some(values)
    }

    /// The value as JSON text; `None` for a string.
    #[must_use]
    pub fn json(&self) -> Option<&str> {
        match self {
            AttrText::Text(_) => None,
            AttrText::Json(json) | AttrText::Numbers { json, .. } => Some(json),
        }
    }

    /// The string, or the JSON text of another value.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            AttrText::Text(text) => text,
            AttrText::Json(json) | AttrText::Numbers { json, .. } => json,
        }
    }
}

/// A number of an attribute.
#[derive(Clone, Copy, Debug)]
enum Value {
    Whole(i128),
    Float(f64),
}

impl Value {
    /// The number that JSON text is, or a name of one that JSON lacks; as a float of its type.
    fn parse(json: &str, dtype: Option<DType>) -> Option<Value> {
        if let Some(name) = json.strip_prefix('"') {
            return Some(Value::Float(match name {
                "NaN\"" => f64::NAN,
                "Infinity\"" => f64::INFINITY,
                "-Infinity\"" => f64::NEG_INFINITY,
                _ => return None,
            }));
        }
        if !json.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
            return None;
        }
        if let Ok(whole) = json.parse::<i128>() {
            return Some(Value::Whole(whole));
        }
        let float = match dtype {
            Some(DType::Float32 | DType::Complex64) => f64::from(json.parse::<f32>().ok()?),
            Some(DType::Float16) => f16::from_f64(json.parse().ok()?).to_f64(),
            Some(DType::BFloat16) => bf16::from_f64(json.parse().ok()?).to_f64(),
            _ => json.parse::<f64>().ok()?,
        };
        Some(Value::Float(float))
    }

    fn is_same(self, other: Value) -> bool {
        match (self, other) {
            (Value::Whole(one), Value::Whole(two)) => one == two,
            (Value::Float(one), Value::Float(two)) => one == two || one.is_nan() && two.is_nan(),
            // The digits of a float are all there, so that they are those of the same integer.
            (Value::Whole(whole), Value::Float(float))
            | (Value::Float(float), Value::Whole(whole)) => {
                float.to_string().parse::<i128>() == Ok(whole)
            }
        }
    }
}

/// A little-endian number as JSON; complex numbers are pairs.
fn number(dtype: DType, bytes: &[u8]) -> String {
    fn first_bytes<const N: usize>(bytes: &[u8]) -> [u8; N] {
        bytes.first_chunk().copied().unwrap_or([0; N])
    }
    let pair = |part: DType, len: usize| {
        let (real, imaginary) = bytes.split_at_checked(len).unwrap_or_default();
        format!("[{},{}]", number(part, real), number(part, imaginary))
    };
    match dtype {
        DType::Int8 => i8::from_le_bytes(first_bytes(bytes)).to_string(),
        DType::Int16 => i16::from_le_bytes(first_bytes(bytes)).to_string(),
        DType::Int32 => i32::from_le_bytes(first_bytes(bytes)).to_string(),
        DType::Int64 => i64::from_le_bytes(first_bytes(bytes)).to_string(),
        DType::UInt16 => u16::from_le_bytes(first_bytes(bytes)).to_string(),
        DType::UInt32 => u32::from_le_bytes(first_bytes(bytes)).to_string(),
        DType::UInt64 => u64::from_le_bytes(first_bytes(bytes)).to_string(),
        DType::Bool => (u8::from_le_bytes(first_bytes(bytes)) != 0).to_string(),
        DType::Float16 => float(f64::from(half::f16::from_le_bytes(first_bytes(bytes)))),
        DType::BFloat16 => float(f64::from(half::bf16::from_le_bytes(first_bytes(bytes)))),
        DType::Float32 => {
            let value = f32::from_le_bytes(first_bytes(bytes));
            if value.is_finite() { format!("{value:?}") } else { float(f64::from(value)) }
        }
        DType::Float64 => float(f64::from_le_bytes(first_bytes(bytes))),
        DType::Complex64 => pair(DType::Float32, 4),
        DType::Complex128 => pair(DType::Float64, 8),
        DType::UInt8 | DType::Bitmask => u8::from_le_bytes(first_bytes(bytes)).to_string(),
    }
}

/// The shortest digits of a float, or its name where JSON has no number.
fn float(value: f64) -> String {
    match value {
        value if value.is_finite() => format!("{value:?}"),
        f64::INFINITY => "\"Infinity\"".to_owned(),
        f64::NEG_INFINITY => "\"-Infinity\"".to_owned(),
        _ => "\"NaN\"".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_and_not_their_texts() {
        let typed = |dtype, json: &str| AttrText::Numbers { dtype, json: json.to_owned() };
        let json = |json: &str| AttrText::Json(json.to_owned());
        for (one, two) in [
            (typed(DType::Float32, "\"NaN\""), typed(DType::Float64, "[\"NaN\"]")),
            (typed(DType::Float32, "0.1"), json("0.10000000149011612")),
            (typed(DType::Int8, "[1,2]"), json("[1, 2.0]")),
            (typed(DType::UInt64, "18446744073709551615"), json("18446744073709551615")),
            (typed(DType::Float64, "1e20"), json("100000000000000000000")),
            (typed(DType::Bool, "true"), json("true")),
            (json("[1, \"NaN\"]"), typed(DType::Float64, "[1.0,\"NaN\"]")),
            (typed(DType::Complex64, "[1.0,2.0]"), typed(DType::Complex128, "[[1.0,2.0]]")),
        ] {
            assert!(one.is_same(&two) && two.is_same(&one), "{one:?} {two:?}");
        }
        for (one, two) in [
            (typed(DType::Float32, "\"NaN\""), AttrText::Text("NaN".to_owned())),
            (typed(DType::Float32, "0.1"), typed(DType::Float64, "0.1")),
            (json("5"), AttrText::Text("5".to_owned())),
            (json("[\"NaN\"]"), typed(DType::Float32, "\"NaN\"")),
            (typed(DType::Bool, "true"), typed(DType::Int8, "1")),
            (typed(DType::Complex64, "[1.0,2.0]"), typed(DType::Float32, "[1.0,2.0]")),
            (typed(DType::Int64, "9007199254740993"), typed(DType::Float64, "9007199254740992.0")),
        ] {
            assert!(!one.is_same(&two) && !two.is_same(&one), "{one:?} {two:?}");
            let shown = AttrText::shown_apart(&one, &two);
            assert_ne!(shown[0], shown[1]);
        }
    }

    #[test]
    fn numbers_have_the_shortest_digits_that_are_exact() {
        let json = |dtype, bytes: &[u8]| AttrText::number(dtype, bytes).text().to_owned();
        assert_eq!(json(DType::Int8, &[255]), "-1");
        assert_eq!(json(DType::Float32, &0.1_f32.to_le_bytes()), "0.1");
        assert_eq!(json(DType::Float32, &1e20_f32.to_le_bytes()), "1e20");
        assert_eq!(json(DType::Float64, &273.15_f64.to_le_bytes()), "273.15");
        assert_eq!(json(DType::Float64, &f64::NAN.to_le_bytes()), "\"NaN\"");
        assert_eq!(json(DType::Float32, &f32::NEG_INFINITY.to_le_bytes()), "\"-Infinity\"");
        assert_eq!(json(DType::Float16, &[0, 0x3c]), "1.0");
        assert_eq!(json(DType::UInt64, &u64::MAX.to_le_bytes()), "18446744073709551615");
        assert_eq!(json(DType::Complex64, &[0; 8]), "[0.0,0.0]");
        assert_eq!(AttrText::numbers(DType::Int32, &[]).json(), Some("[]"));
        assert_eq!(AttrText::numbers(DType::Int16, &[0, 1, 255, 255]).json(), Some("[256,-1]"));
    }
}
