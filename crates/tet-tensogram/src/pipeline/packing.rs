//! simple_packing: doubles as integer multiples of a step above a reference value.
//!
//! ```text
//!   value = reference + number * (2^binary * 10^-decimal)      numbers of 0 to 64 bits, highest first
//! ```
//!
//! The two powers are multiplied first, so every value equals that of the reference implementation
//! bit for bit.

mod numbers;
mod pack;

use std::ops::Range;

use crate::Value;
use crate::descriptor::Descriptor;
use crate::encode::Readers;
use crate::error::{Error, Fault, Result};
use numbers::Numbers;
pub(crate) use pack::{Ends, Widths};

/// The prefix of the keys since 0.19; releases 0.17 and 0.18 have none.
const PREFIX: &str = "sp_";
const REFERENCE: &str = "sp_reference_value";
const BINARY: &str = "sp_binary_scale_factor";
const DECIMAL: &str = "sp_decimal_scale_factor";
const BITS: &str = "sp_bits_per_value";

/// The largest scale that is written.
const BINARY_MAX: i32 = 256;

/// The parameters of simple_packing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PackingParameters {
    /// The value of the number 0.
    pub reference: f64,
    /// The binary exponent of the step.
    pub binary_scale: i32,
    /// Values are multiplied by 10 to this power before packing.
    pub decimal_scale: i32,
    /// Bits of a number, 0 to 64; with 0 bits, all values equal the reference.
    pub bits: u32,
}

/// Converts packed numbers to values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packing {
    parameters: PackingParameters,
    step: f64,
    spelling: Spelling,
}

/// How the keys are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spelling {
    New,
    Old,
}

impl Packing {
    pub(super) fn from_descriptor(descriptor: &Descriptor) -> Result<Packing, Fault> {
        let mut spelling = Spelling::New;
        let mut key = |key: &'static str| {
            let bare = key.trim_start_matches(PREFIX);
            if descriptor.value(key).is_none() && descriptor.value(bare).is_some() {
                spelling = Spelling::Old;
                return bare;
            }
            key
        };
        let scale = |key| {
            let number = descriptor.integer(key, i32::MIN.into(), i32::MAX.into())?;
            i32::try_from(number).map_err(|_| descriptor.parameter_fault(key))
        };
        let bits = descriptor.integer(key(BITS), 0, 64)?;
        let parameters = PackingParameters {
            reference: descriptor.number(key(REFERENCE))?,
            binary_scale: scale(key(BINARY))?,
            decimal_scale: scale(key(DECIMAL))?,
            bits: u32::try_from(bits).map_err(|_| descriptor.parameter_fault(BITS))?,
        };
        Ok(Packing { spelling, ..Packing::new(parameters) })
    }

    pub(crate) fn new(parameters: PackingParameters) -> Packing {
        let PackingParameters { binary_scale, decimal_scale, .. } = parameters;
        let tens = power(10.0, decimal_scale.checked_neg().unwrap_or(i32::MAX));
        let step = power(2.0, binary_scale) * tens;
        Packing { parameters, step, spelling: Spelling::New }
    }

    pub(super) fn is_old_spelling(&self) -> bool {
        self.spelling == Spelling::Old
    }

    pub(crate) const fn bits(&self) -> u32 {
        self.parameters.bits
    }

    /// Whether the smallest or the largest number unpacks to a value that is not finite.
    pub(super) fn overflows(&self) -> bool {
        let PackingParameters { reference, bits, .. } = self.parameters;
        let exponent = i32::try_from(bits).unwrap_or(i32::MAX);
        let number_max = if bits == 0 { 0.0 } else { power(2.0, exponent) - 1.0 };
        let value = reference + if bits == 0 { 0.0 } else { number_max * self.step };
        !reference.is_finite() || !value.is_finite()
    }

    /// The length in bytes of `count` numbers.
    pub(crate) fn packed_len(&self, count: u64) -> u64 {
        let (byte, bit) = self.bit(count);
        byte + u64::from(bit != 0)
    }

    /// The position of a number: the byte, and the bit in it.
    pub(super) fn bit(&self, element: u64) -> (u64, u32) {
        // 2^63 bytes hold fewer than 2^60 doubles, so nothing here overflows.
        let bits = u64::from(self.bits());
        let rest = element % 8 * bits;
        let bit = u32::try_from(rest % 8).unwrap_or_default();
        (element / 8 * bits + rest / 8, bit)
    }

    /// The bytes that hold the numbers of `elements`.
    pub(super) fn bytes(&self, elements: &Range<u64>) -> Range<u64> {
        self.bit(elements.start).0..self.packed_len(elements.end)
    }

    /// Unpacks numbers into values that fill `out`. The first number starts in the first byte, at
    /// `first_bit`.
    pub(crate) fn unpack(&self, packed: &[u8], first_bit: u32, out: &mut [u8]) {
        let (reference, step) = (self.parameters.reference, self.step);
        let value = |number: f64| (reference + number * step).to_le_bytes();
        let out = out.as_chunks_mut::<8>().0;
        match (self.bits(), first_bit) {
            (0, _) => out.fill(reference.to_le_bytes()),
            (8, 0) => each(packed, out, |[a]| value(f64::from(a))),
            (16, 0) => each(packed, out, |[a, b]| value(f64::from(u16::from_le_bytes([b, a])))),
            (24, 0) => {
                each(packed, out, |[a, b, c]| value(f64::from(u32::from_le_bytes([c, b, a, 0]))));
            }
            (32, 0) => {
                each(packed, out, |[a, b, c, d]| value(f64::from(u32::from_le_bytes([d, c, b, a]))))
            }
            (bits, _) => {
                #[allow(clippy::cast_precision_loss, reason = "the nearest double is the number")]
                Numbers::new(packed, bits, first_bit).each(out, |number| value(number as f64));
            }
        }
    }

    /// The descriptor with the parameters, under the keys that these readers know.
    pub(crate) fn describe(&self, descriptor: Descriptor, readers: Readers) -> Descriptor {
        let PackingParameters { reference, binary_scale, decimal_scale, bits } = self.parameters;
        let parameters = [
            (REFERENCE, Value::Float(reference)),
            (BINARY, Value::Int(binary_scale.into())),
            (DECIMAL, Value::Int(decimal_scale.into())),
            (BITS, Value::Int(bits.into())),
        ];
        parameters.into_iter().fold(descriptor, |descriptor, (key, value)| match readers {
            Readers::Since019 => descriptor.with(key, value),
            Readers::All => {
                descriptor.with(key.trim_start_matches(PREFIX), value.clone()).with(key, value)
            }
        })
    }

    /// Refuses parameters that are not written.
    pub(crate) fn check_writable(&self) -> Result<()> {
        let PackingParameters { reference, binary_scale, bits, .. } = self.parameters;
        let is_sound = reference.is_finite()
            && (-BINARY_MAX..=BINARY_MAX).contains(&binary_scale)
            && bits <= 64
            && self.step.is_finite()
            && self.step != 0.0;
        let why = "simple_packing has no such parameters";
        if is_sound { Ok(()) } else { Err(Error::Unwritable { why }) }
    }
}

fn each<const WIDTH: usize>(
    packed: &[u8],
    out: &mut [[u8; 8]],
    value: impl Fn([u8; WIDTH]) -> [u8; 8],
) {
    for (out, number) in out.iter_mut().zip(packed.as_chunks::<WIDTH>().0) {
        *out = value(*number);
    }
}

/// A power by squaring, and its reciprocal for a negative exponent. This is what the reference
/// implementation computes; it is not always the double nearest to the power.
fn power(base: f64, exponent: i32) -> f64 {
    let (mut factor, mut product, mut left) = (base, 1.0, exponent.unsigned_abs());
    while left != 0 {
        if left & 1 == 1 {
            product *= factor;
        }
        left >>= 1;
        if left != 0 {
            factor *= factor;
        }
    }
    if exponent < 0 { 1.0 / product } else { product }
}
