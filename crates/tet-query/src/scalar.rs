//! One value out of a result or an array.

use half::{bf16, f16};

/// One value out of a result or an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// No value: the mean, minimum or maximum of nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer of any width.
    Int(i128),
    /// An IEEE half.
    Float16(f16),
    /// A brain float.
    BFloat16(bf16),
    /// A single.
    Float32(f32),
    /// A double.
    Float64(f64),
    /// Two singles.
    Complex64(f32, f32),
    /// Two doubles.
    Complex128(f64, f64),
}

impl Scalar {
    /// The value as a double, where it is a real number.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "the nearest double is what is asked for")]
    pub fn to_f64(self) -> Option<f64> {
        match self {
            Scalar::Null | Scalar::Complex64(..) | Scalar::Complex128(..) => None,
            Scalar::Bool(truth) => Some(f64::from(u8::from(truth))),
            Scalar::Int(integer) => Some(integer as f64),
            Scalar::Float16(float) => Some(float.to_f64()),
            Scalar::BFloat16(float) => Some(float.to_f64()),
            Scalar::Float32(float) => Some(f64::from(float)),
            Scalar::Float64(float) => Some(float),
        }
    }
}
