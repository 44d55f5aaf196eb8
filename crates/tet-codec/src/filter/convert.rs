//! Conversions of numbers, as numcodecs makes them: `delta`, `fixedscaleoffset`, `astype`,
//! `quantize`.
//!
//! An encoded number and a decoded one have types of their own; NumPy's rules convert between them.

mod number;

pub use number::NumberType;
use number::{Value, each};

use crate::error::{Error, Result};
use crate::pipeline::{Room, Stage};
use crate::scratch::{index, resize};

/// Undoes a conversion of numbers.
///
/// ```
/// use tet_codec::{Convert, NumberType, Stage};
///
/// let [u2, i1] = ["<u2", "|i1"].map(|name| NumberType::parse(name).expect("a type"));
/// let mut out = [0; 6];
/// Convert::delta(u2, i1).undo_into(&[100, 100, 0xFF], &mut out)?;
/// assert_eq!(out, [100, 0, 200, 0, 199, 0]);
///
/// let [f4, u1] = ["<f4", "|u1"].map(|name| NumberType::parse(name).expect("a type"));
/// let mut out = [0; 4];
/// Convert::scaled(f4, u1, 10.0, 1000.0).undo_into(&[5], &mut out)?;
/// assert_eq!(out, 1000.5_f32.to_le_bytes());
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convert {
    decoded: NumberType,
    stored: NumberType,
    rule: Rule,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    Delta,
    Scaled { scale: f64, offset: f64 },
    Cast,
}

impl Convert {
    /// `delta`: the first number, then differences to the one before.
    #[must_use]
    pub const fn delta(decoded: NumberType, stored: NumberType) -> Convert {
        Convert { decoded, stored, rule: Rule::Delta }
    }

    /// `fixedscaleoffset`: a number is `stored / scale + offset`.
    #[must_use]
    pub const fn scaled(
        decoded: NumberType,
        stored: NumberType,
        scale: f64,
        offset: f64,
    ) -> Convert {
        Convert { decoded, stored, rule: Rule::Scaled { scale, offset } }
    }

    /// `astype`, and `quantize`, whose rounding stays: numbers of another type.
    #[must_use]
    pub const fn cast(decoded: NumberType, stored: NumberType) -> Convert {
        Convert { decoded, stored, rule: Rule::Cast }
    }

    /// Converts every number, in order; both sides have equally many.
    fn convert(self, stored: &[u8], out: &mut [u8]) {
        let Convert { decoded, stored: from, rule } = self;
        match rule {
            Rule::Delta => {
                let mut last: Option<Value> = None;
                each(from, stored, decoded, out, |value| {
                    // A sum has the type of decoded numbers.
                    let value = decoded.cast(value);
                    let sum = last.map_or(value, |last| decoded.cast(last.plus(value)));
                    last = Some(sum);
                    sum
                });
            }
            // NumPy computes with the precision of the array.
            Rule::Scaled { scale, offset } if from.is_single() => {
                let (scale, offset) = (scale as f32, offset as f32);
                each(from, stored, decoded, out, |value| {
                    Value::Float((value.float() as f32 / scale + offset).into())
                });
            }
            Rule::Scaled { scale, offset } => {
                each(from, stored, decoded, out, |value| {
                    Value::Float(value.float() / scale + offset)
                });
            }
            Rule::Cast => each(from, stored, decoded, out, |value| value),
        }
    }
}

impl Stage for Convert {
    fn name(&self) -> &'static str {
        match self.rule {
            Rule::Delta => "delta",
            Rule::Scaled { .. } => "fixedscaleoffset",
            Rule::Cast => "astype",
        }
    }

    fn written_len(&self, len: u64) -> Option<u64> {
        (len / self.decoded.size()).checked_mul(self.stored.size())
    }

    fn decoded_max(&self, stored_len: u64) -> u64 {
        (stored_len / self.stored.size()).saturating_mul(self.decoded.size())
    }

    fn undo(&self, stored: &[u8], room: Room, out: &mut Vec<u8>) -> Result<()> {
        let len = self.decoded_max(stored.len() as u64);
        room.check(self.name(), len)?;
        resize(self.name(), out, index(len))?;
        self.undo_into(stored, out)
    }

    fn undo_into(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        if !(stored.len() as u64).is_multiple_of(self.stored.size()) {
            return Err(Error::Corrupt { codec: self.name(), reason: "a number is cut short" });
        }
        let len = self.decoded_max(stored.len() as u64);
        Room::Exact(out.len() as u64).check(self.name(), len)?;
        self.convert(stored, out);
        Ok(())
    }
}
