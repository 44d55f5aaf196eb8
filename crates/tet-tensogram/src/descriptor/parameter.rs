//! The parameters of codecs: numbers stored under keys of the descriptor.

use super::Descriptor;
use crate::Value;
use crate::error::Fault;
use crate::rule;

impl Descriptor {
    /// A parameter that must be an integer of this range.
    pub(crate) fn integer(&self, key: &str, min: i64, max: i64) -> Result<i64, Fault> {
        match self.value(key) {
            Some(Value::Int(number)) => {
                let number = i64::try_from(*number).ok();
                number.filter(|number| (min..=max).contains(number))
            }
            _ => None,
        }
        .ok_or_else(|| self.parameter_fault(key))
    }

    /// A parameter that must be a number.
    pub(crate) fn number(&self, key: &str) -> Result<f64, Fault> {
        match self.value(key) {
            Some(Value::Float(number)) => Ok(*number),
            // A whole number may be written as an integer; up to 2^53 they are exact.
            #[allow(clippy::cast_precision_loss, reason = "the nearest double is what it means")]
            Some(Value::Int(number)) => Ok(*number as f64),
            _ => Err(self.parameter_fault(key)),
        }
    }

    /// The array of unsigned numbers under a key, if it is one.
    pub(crate) fn offsets(&self, key: &str) -> Option<Vec<u64>> {
        let Some(Value::Array(items)) = self.value(key) else { return None };
        items.iter().map(Value::as_u64).collect()
    }

    pub(crate) fn parameter_fault(&self, key: &str) -> Fault {
        Fault { rule: &rule::CODEC_PARAMETER, at: self.place(key), found: 0, wanted: 0 }
    }
}
