//! NumPy's dtype strings (`<f4`).

use tet_codec::Swapped;
use tet_format::DType;

use super::literal::Literal;
use tet_container::model::dtype::untyped_advice;

/// Kinds of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descr {
    /// Bytes of one element in the input: 1, 2, 4, 8 or 16.
    pub(crate) size: usize,
    pub(crate) dtype: DType,
    pub(crate) order: ByteOrder,
    /// Of times: what their integers count, as the CF conventions write it.
    pub(crate) units: Option<&'static str>,
}

/// The order of an element's bytes in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

/// Why a dtype is not imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A NumPy dtype `.tet` has no word for: its name, and what to do.
    Dtype { name: String, advice: &'static str },
    /// Not a dtype string.
    Malformed(String),
}

const DTYPES: [(&str, usize, DType); 14] = [
    ("f2", 2, DType::Float16),
    ("f4", 4, DType::Float32),
    ("f8", 8, DType::Float64),
    ("i1", 1, DType::Int8),
    ("i2", 2, DType::Int16),
    ("i4", 4, DType::Int32),
    ("i8", 8, DType::Int64),
    ("u1", 1, DType::UInt8),
    ("u2", 2, DType::UInt16),
    ("u4", 4, DType::UInt32),
    ("u8", 8, DType::UInt64),
    ("b1", 1, DType::Bool),
    ("c8", 8, DType::Complex64),
    ("c16", 16, DType::Complex128),
];

/// Names of types in place of their code.
const NAMES: [(&str, &str); 15] = [
    ("?", "b1"),
    ("bool", "b1"),
    ("float16", "f2"),
    ("float32", "f4"),
    ("float64", "f8"),
    ("int8", "i1"),
    ("int16", "i2"),
    ("int32", "i4"),
    ("int64", "i8"),
    ("uint8", "u1"),
    ("uint16", "u2"),
    ("uint32", "u4"),
    ("uint64", "u8"),
    ("complex64", "c8"),
    ("complex128", "c16"),
];

/// The order of the bytes, which is that of the machine where a text gives none, and the code behind it. Machines are
/// little-endian: so are those that NumPy runs on, and a file whose order is not told is read by them.
pub(super) fn split(text: &str) -> (ByteOrder, &str) {
    match text.as_bytes().first() {
        Some(b'>') => (ByteOrder::Big, &text[1..]),
        Some(b'<' | b'|' | b'=') => (ByteOrder::Little, &text[1..]),
        _ => (ByteOrder::Little, text),
    }
}

impl Descr {
    /// Reads the `descr` of a header.
    pub(crate) fn from_literal(literal: &Literal) -> Result<Self, Refusal> {
        match literal {
            Literal::Text(text) => Self::from_text(text),
            // The (dtype, shape) of a subarray, which no array has.
            Literal::Tuple(_) => Err(Refusal::Dtype {
                name: "subarray".to_owned(),
                advice: "save it with the axes of the subarray as its last axes",
            }),
            _ => Err(Refusal::Malformed("a descr that is no dtype".to_owned())),
        }
    }

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let (order, code) = split(text);
        if let Some(units) = units(code) {
            return Ok(Self { size: 8, dtype: DType::Int64, order, units: Some(units) });
        }
        let named = NAMES.iter().find(|(name, _)| *name == code).map(|(_, code)| *code);
        // A name has no order in front of it.
        let code = named.filter(|_| code == text || code == "?").unwrap_or(code);
        let Some(&(_, size, dtype)) = DTYPES.iter().find(|row| row.0 == code) else {
            return Err(refusal(text, code));
        };
        Ok(Self { size, dtype, order, units: None })
    }

    /// Swap of a big-endian number; `None` where there is nothing to swap.
    pub(crate) fn swapped(&self) -> Option<Swapped> {
        Swapped::new(self.width_swapped())
    }

    /// Bytes that are turned around together; 1 where none are.
    pub(super) fn width_swapped(&self) -> u64 {
        let is_pair = matches!(self.dtype, DType::Complex64 | DType::Complex128);
        let parts = if is_pair { 2 } else { 1 };
        let width = u64::try_from(self.size / parts).unwrap_or(1);
        if self.order == ByteOrder::Big { width } else { 1 }
    }
}

/// Units of the integers of a time dtype: `M8` since 1970, `m8` from zero.
fn units(code: &str) -> Option<&'static str> {
    Some(match code {
        "M8[D]" => "days since 1970-01-01",
        "M8[h]" => "hours since 1970-01-01",
        "M8[m]" => "minutes since 1970-01-01",
        "M8[s]" => "seconds since 1970-01-01",
        "M8[ms]" => "milliseconds since 1970-01-01",
        "M8[us]" => "microseconds since 1970-01-01",
        "M8[ns]" => "nanoseconds since 1970-01-01",
        "m8[D]" => "days",
        "m8[h]" => "hours",
        "m8[m]" => "minutes",
        "m8[s]" => "seconds",
        "m8[ms]" => "milliseconds",
        "m8[us]" => "microseconds",
        "m8[ns]" => "nanoseconds",
        _ => return None,
    })
}

/// Names a dtype that is refused, and says what to do about it.
fn refusal(text: &str, code: &str) -> Refusal {
    let mut chars = code.chars();
    let (kind, rest) = (chars.next(), chars.as_str());
    // A time's unit follows its size: `M8[ns]`.
    let size = rest.split('[').next().unwrap_or_default().parse::<u64>();
    let bits = match size {
        Ok(size) => size.saturating_mul(8),
        // `float` is no type of this form.
        Err(_) if matches!(kind, Some('V' | 'c' | 'f')) => return Refusal::Malformed(shown(text)),
        Err(_) => 0,
    };
    let (name, advice) = match kind {
        Some('O') => ("object".to_owned(), "it is pickled Python; save it with a numeric dtype"),
        Some('V') => (format!("void{bits}"), untyped_advice(size.unwrap_or(0))),
        Some('c') => (format!("complex{bits}"), "save `a.astype('complex128')`"),
        Some('f') => (format!("float{bits}"), "save `a.astype('float64')`"),
        Some('M') => ("datetime64".to_owned(), "save `a.astype('datetime64[D]')`, or [s] or [ns]"),
        Some('m') => ("timedelta64".to_owned(), "save `a.astype('timedelta64[s]')`, or [ns]"),
        Some('U' | 'S' | 'a' | 'T') => {
            ("string".to_owned(), "texts can be the labels of an axis of another array")
        }
        _ => return Refusal::Malformed(shown(text)),
    };
    Refusal::Dtype { name: format!("{name} ({})", shown(text)), advice }
}

/// A dtype string as it may be printed: escaped and short.
pub(super) fn shown(text: &str) -> String {
    let mut shown = text.chars().take(24).flat_map(char::escape_debug).collect::<String>();
    if text.chars().count() > 24 {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Descr, Refusal> {
        Descr::from_literal(&Literal::Text(text.to_owned()))
    }

    #[test]
    fn every_numeric_dtype_is_read_in_both_orders() {
        for (code, size, dtype) in DTYPES {
            for (prefix, order) in [("<", ByteOrder::Little), (">", ByteOrder::Big)] {
                let descr = Descr { size, dtype, order, units: None };
                assert_eq!(of(&format!("{prefix}{code}")), Ok(descr), "{prefix}{code}");
            }
            for prefix in ["|", "", "="] {
                let descr = Descr { size, dtype, order: ByteOrder::Little, units: None };
                assert_eq!(of(&format!("{prefix}{code}")), Ok(descr), "{prefix}{code}");
            }
        }
    }

    #[test]
    fn names_of_types_are_their_codes() {
        for (name, code) in NAMES {
            assert_eq!(of(name), of(&format!("<{code}")), "{name}");
        }
        assert!(of("|?").is_ok() && of("<float32").is_err());
    }

    #[test]
    fn times_are_integers_with_units() {
        let descr = of("<M8[ns]").unwrap();
        assert_eq!(
            (descr.dtype, descr.units),
            (DType::Int64, Some("nanoseconds since 1970-01-01"))
        );
        let descr = of(">m8[D]").unwrap();
        assert_eq!((descr.order, descr.units), (ByteOrder::Big, Some("days")));
    }

    #[test]
    fn other_dtypes_are_refused_by_name() {
        for (text, wanted) in [
            ("|O", "object (|O)"),
            ("|V2", "void16 (|V2)"),
            ("|V8", "void64 (|V8)"),
            ("<c32", "complex256 (<c32)"),
            ("<f16", "float128 (<f16)"),
            ("<M8[Y]", "datetime64 (<M8[Y])"),
            ("<m8[25s]", "timedelta64 (<m8[25s])"),
            ("<U5", "string (<U5)"),
            ("|S3", "string (|S3)"),
        ] {
            match of(text) {
                Err(Refusal::Dtype { name, .. }) => assert_eq!(name, wanted),
                other => panic!("{text}: {other:?}"),
            }
        }
        for text in ["", "<", "<x4", "<f", "=x4", "float", "\u{202e}", "<\u{e9}4"] {
            let refused = of(text);
            assert!(
                matches!(refused, Err(Refusal::Malformed(_) | Refusal::Dtype { .. })),
                "{text:?}: {refused:?}"
            );
        }
        let subarray = Literal::Tuple(vec![]);
        assert!(matches!(Descr::from_literal(&subarray), Err(Refusal::Dtype { .. })));
        assert!(matches!(Descr::from_literal(&Literal::Int(3)), Err(Refusal::Malformed(_))));
    }

    #[test]
    fn what_a_dtype_string_shows_is_short_and_printable() {
        let Err(Refusal::Malformed(text)) = of(&"\u{1b}\u{202e}".repeat(1000)) else {
            panic!("a dtype string of control characters is malformed")
        };
        assert!(text.is_ascii() && text.len() < 300, "{text}");
    }
}
