//! One value as text and as JSON: exact, shortest, and readable by other programs.

use std::fmt;

use half::{bf16, f16};
use serde::{Serialize, Serializer};
use tet_query::{Array, Scalar};

/// Texts of at most this many characters fit into a table.
const BRIEF_LEN: usize = 8;

/// One value of any dtype, exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    /// No value, such as the mean of an empty set.
    Null,
    /// A missing time among times that are integers.
    NotATime,
    /// A bool.
    Bool(bool),
    /// Any integer.
    Int(i128),
    /// An IEEE half.
    F16(f16),
    /// A bfloat16.
    BF16(bf16),
    /// A float32.
    F32(f32),
    /// A float64.
    F64(f64),
    /// A complex64.
    C64(f32, f32),
    /// A complex128.
    C128(f64, f64),
}

impl From<Scalar> for Number {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Null => Number::Null,
            Scalar::Bool(value) => Number::Bool(value),
            Scalar::Int(value) => Number::Int(value),
            Scalar::Float16(value) => Number::F16(value),
            Scalar::BFloat16(value) => Number::BF16(value),
            Scalar::Float32(value) => Number::F32(value),
            Scalar::Float64(value) => Number::F64(value),
            Scalar::Complex64(re, im) => Number::C64(re, im),
            Scalar::Complex128(re, im) => Number::C128(re, im),
        }
    }
}

impl Number {
    /// An element of an array, in which `masked` stands for a missing time; null past the end.
    #[must_use]
    pub(crate) fn element(array: &Array, at: usize, masked: Option<i64>) -> Number {
        match array.get(at) {
            Some(Scalar::Int(value)) if masked.map(i128::from) == Some(value) => Number::NotATime,
            Some(value) => value.into(),
            None => Number::Null,
        }
    }

    /// The value as a float64, for bars and layouts; NaN if there is no value.
    #[must_use]
    pub(crate) fn to_f64(self) -> f64 {
        match self {
            Number::Null | Number::NotATime => f64::NAN,
            Number::Bool(value) => f64::from(u8::from(value)),
            #[allow(clippy::cast_precision_loss, reason = "a bar has fewer levels than that")]
            Number::Int(value) => value as f64,
            Number::F16(value) => value.to_f64(),
            Number::BF16(value) => value.to_f64(),
            Number::F32(value) => value.into(),
            Number::F64(value) => value,
            Number::C64(re, im) => f64::from(re).hypot(im.into()),
            Number::C128(re, im) => re.hypot(im),
        }
    }

    /// Whether this is a real floating-point number.
    #[must_use]
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Number::F16(_) | Number::BF16(_) | Number::F32(_) | Number::F64(_))
    }

    /// The fewest digits that read back to the same value of the same dtype, as `1.5` or `1e300`.
    #[must_use]
    pub(crate) fn shortest(self) -> String {
        match self {
            Number::Null => "null".to_owned(),
            Number::NotATime => "NaT".to_owned(),
            Number::Bool(value) => value.to_string(),
            Number::Int(value) => value.to_string(),
            Number::F16(value) => half_text(value.to_f32(), |near| f16::from_f32(near) == value),
            Number::BF16(value) => half_text(value.to_f32(), |near| bf16::from_f32(near) == value),
            Number::F32(value) if value.is_finite() => format!("{value:?}"),
            Number::F64(value) if value.is_finite() => format!("{value:?}"),
            Number::F32(value) => non_finite(value.into()).to_owned(),
            Number::F64(value) => non_finite(value).to_owned(),
            Number::C64(re, im) => complex(Number::F32(re), Number::F32(im)),
            Number::C128(re, im) => complex(Number::F64(re), Number::F64(im)),
        }
    }
}

impl Number {
    /// The digits that read back to exactly this value, also as a float64: all digits of a float32 `0.1`.
    #[must_use]
    pub(crate) fn exact(self) -> String {
        match self {
            Number::F16(_) | Number::BF16(_) | Number::F32(_) => {
                Number::F64(self.to_f64()).shortest()
            }
            Number::C64(re, im) => Number::C128(re.into(), im.into()).shortest(),
            _ => self.shortest(),
        }
    }

    /// The value with few digits, for tables; integers are exact.
    #[must_use]
    pub(crate) fn brief(self) -> String {
        let shortest = self.shortest();
        let value = self.to_f64();
        if !self.is_float() || shortest.len() <= BRIEF_LEN || !value.is_finite() {
            return shortest;
        }
        let exact = format!("{value:.5e}");
        let exponent = exact.split_once('e').and_then(|(_, text)| text.parse::<i32>().ok());
        let text = match exponent {
            Some(exponent @ -4..=5) => {
                let digits = usize::try_from(5 - exponent).unwrap_or(0);
                format!("{value:.digits$}")
            }
            _ => return exact,
        };
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    }
}

fn complex(re: Number, im: Number) -> String {
    let (re, im) = (re.shortest(), im.shortest());
    let sign = if im.starts_with('-') { "" } else { "+" };
    format!("{re}{sign}{im}j")
}

fn non_finite(value: f64) -> &'static str {
    if value.is_nan() {
        "nan"
    } else if value > 0.0 {
        "inf"
    } else {
        "-inf"
    }
}

/// The shortest text of a 16-bit float: the first precision that reads back to it.
fn half_text(value: f32, same: impl Fn(f32) -> bool) -> String {
    if !value.is_finite() {
        return non_finite(value.into()).to_owned();
    }
    let near = (0..=8)
        .filter_map(|digits| format!("{value:.digits$e}").parse::<f32>().ok())
        .find(|&near| same(near));
    format!("{:?}", near.unwrap_or(value))
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.shortest())
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let float = |serializer: S, value: f64| match value {
            value if value.is_nan() => serializer.serialize_str("NaN"),
            value if value > 0.0 => serializer.serialize_str("Infinity"),
            _ => serializer.serialize_str("-Infinity"),
        };
        match *self {
            Number::Null => serializer.serialize_unit(),
            Number::NotATime => serializer.serialize_str("NaT"),
            Number::Bool(value) => serializer.serialize_bool(value),
            Number::Int(value) => serializer.serialize_i128(value),
            // Programs read a JSON number as a float64, so its digits must be exact for a float64.
            _ if self.is_float() && self.to_f64().is_finite() => {
                serializer.serialize_f64(self.to_f64())
            }
            Number::C64(re, im) => [Number::F32(re), Number::F32(im)].serialize(serializer),
            Number::C128(re, im) => [Number::F64(re), Number::F64(im)].serialize(serializer),
            _ => float(serializer, self.to_f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_prints_the_shortest_text_that_reads_back() {
        for bits in 0..=u16::MAX {
            let value = f16::from_bits(bits);
            let text = Number::F16(value).shortest();
            let back: f32 = text.parse().expect("a number");
            let same = f16::from_f32(back);
            assert!(same == value || (same.is_nan() && value.is_nan()), "{bits:#06x}: {text}");
            let value = bf16::from_bits(bits);
            let text = Number::BF16(value).shortest();
            let same = bf16::from_f32(text.parse().expect("a number"));
            assert!(same == value || (same.is_nan() && value.is_nan()), "{bits:#06x}: {text}");
        }
        assert_eq!(Number::F16(f16::from_f32(0.1)).shortest(), "0.1");
    }

    #[test]
    fn exact_numbers_read_back_as_doubles() {
        for (number, want) in [
            (Number::F16(f16::MAX), "65504.0"),
            (Number::F32(0.1), "0.10000000149011612"),
            (Number::BF16(bf16::from_f32(1e30)), "1.0002555517425873e30"),
            (Number::F64(0.1), "0.1"),
            (Number::F32(f32::NAN), "nan"),
            (Number::C64(0.5, 0.1), "0.5+0.10000000149011612j"),
        ] {
            assert_eq!(number.exact(), want);
        }
    }

    #[test]
    fn numbers_are_exact_in_json() {
        let cases = [
            (Number::Int(i128::from(u64::MAX)), "18446744073709551615"),
            (Number::Int(i128::MIN), "-170141183460469231731687303715884105728"),
            (Number::F32(0.1), "0.10000000149011612"),
            (Number::F64(0.1), "0.1"),
            (Number::F16(f16::from_f32(0.1)), "0.0999755859375"),
            (Number::F64(f64::NAN), "\"NaN\""),
            (Number::F32(f32::INFINITY), "\"Infinity\""),
            (Number::F64(f64::NEG_INFINITY), "\"-Infinity\""),
            (Number::F64(-0.0), "-0.0"),
            (Number::Null, "null"),
            (Number::Bool(true), "true"),
            (Number::C64(1.5, f32::NAN), "[1.5,\"NaN\"]"),
        ];
        for (number, want) in cases {
            assert_eq!(serde_json::to_string(&number).expect("serializes"), want);
        }
    }

    #[test]
    fn tables_have_six_digits_of_a_float() {
        let cases = [
            (Number::F64(3.170_788_881_905_308), "3.17079"),
            (Number::F64(-123_456.789_012), "-123457"),
            (Number::F64(1234.5), "1234.5"),
            (Number::F64(0.000_123_456_789), "0.000123457"),
            (Number::F64(1.234_567_89e-9), "1.23457e-9"),
            (Number::F64(f64::NAN), "nan"),
            (Number::Int(1 << 60), "1152921504606846976"),
        ];
        for (number, want) in cases {
            assert_eq!(number.brief(), want);
        }
    }

    #[test]
    fn texts_read_back_in_other_programs() {
        let cases = [
            (Number::F64(1e300), "1e300"),
            (Number::F64(2.0), "2.0"),
            (Number::F64(f64::NAN), "nan"),
            (Number::F32(f32::NEG_INFINITY), "-inf"),
            (Number::C128(1.0, -2.5), "1.0-2.5j"),
        ];
        for (number, want) in cases {
            assert_eq!(number.shortest(), want);
        }
    }
}
