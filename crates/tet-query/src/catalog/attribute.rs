//! Values of attributes: text, numbers with their type, or any JSON.

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

/// A little-endian number as JSON; complex numbers are pairs.
fn number(dtype: DType, bytes: &[u8]) -> String {
    fn of<const N: usize>(bytes: &[u8]) -> [u8; N] {
        bytes.first_chunk().copied().unwrap_or([0; N])
    }
    let pair = |part: DType, len: usize| {
        let (real, imaginary) = bytes.split_at_checked(len).unwrap_or_default();
        format!("[{},{}]", number(part, real), number(part, imaginary))
    };
    match dtype {
        DType::Int8 => i8::from_le_bytes(of(bytes)).to_string(),
        DType::Int16 => i16::from_le_bytes(of(bytes)).to_string(),
        DType::Int32 => i32::from_le_bytes(of(bytes)).to_string(),
        DType::Int64 => i64::from_le_bytes(of(bytes)).to_string(),
        DType::UInt16 => u16::from_le_bytes(of(bytes)).to_string(),
        DType::UInt32 => u32::from_le_bytes(of(bytes)).to_string(),
        DType::UInt64 => u64::from_le_bytes(of(bytes)).to_string(),
        DType::Bool => (u8::from_le_bytes(of(bytes)) != 0).to_string(),
        DType::Float16 => float(f64::from(half::f16::from_le_bytes(of(bytes)))),
        DType::BFloat16 => float(f64::from(half::bf16::from_le_bytes(of(bytes)))),
        DType::Float32 => {
            let value = f32::from_le_bytes(of(bytes));
            if value.is_finite() { format!("{value:?}") } else { float(f64::from(value)) }
        }
        DType::Float64 => float(f64::from_le_bytes(of(bytes))),
        DType::Complex64 => pair(DType::Float32, 4),
        DType::Complex128 => pair(DType::Float64, 8),
        DType::UInt8 | DType::Bitmask => u8::from_le_bytes(of(bytes)).to_string(),
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
