//! Values into packed numbers, and the parameters that suit them.

use super::{BINARY_MAX, Packing, PackingParameters, len, power};
use crate::error::{Error, Result};
use crate::pipeline::buffer;

/// The widest numbers that an error is met with: beyond, doubles have no more digits.
const BITS_MAX: u32 = 53;

/// What is known of all values before they are packed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ends {
    first: f64,
    least_and_largest: Option<(f64, f64)>,
}

impl Ends {
    /// The ends of values that are all there.
    pub(crate) fn of(elements: &[u8]) -> Ends {
        let mut ends = Ends::default();
        ends.widen(elements);
        ends
    }

    /// Takes in the next values.
    pub(crate) fn widen(&mut self, elements: &[u8]) {
        let Some(first) = values(elements).next() else { return };
        if self.least_and_largest.is_none() {
            self.first = first;
        }
        let ends = self.least_and_largest.unwrap_or((first, first));
        let wider = values(elements).fold(ends, |(min, max), value| {
            (if value < min { value } else { min }, if max < value { value } else { max })
        });
        self.least_and_largest = Some(wider);
    }

    fn min_max(&self) -> (f64, f64) {
        self.least_and_largest.unwrap_or_default()
    }
}

/// Which counts of bits may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Widths {
    /// Any.
    Any,
    /// Whole bytes, which is what compressors of samples take.
    Bytes,
}

impl Packing {
    /// The packing of values in so many bits that spans from the least to the largest.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] when no step can be written that spans them.
    pub(crate) fn fit(ends: &Ends, bits: u32, decimal_scale: i32) -> Result<Packing> {
        if bits == 0 || ends.least_and_largest.is_none() {
            let (reference, binary_scale) = (ends.first, 0);
            let fixed = PackingParameters { reference, binary_scale, decimal_scale, bits };
            return Ok(Packing::new(fixed));
        }
        let (min, max) = ends.min_max();
        let steps = max_number(bits);
        let span = (max - min) * power(10.0, decimal_scale);
        let binary_scale =
            if span == 0.0 { Some(0) } else { exponent((span / steps).log2().ceil()) };
        let why = "no step that can be written spans the values";
        let binary_scale = binary_scale.ok_or(Error::Unwritable { why })?;
        let parameters = PackingParameters { reference: min, binary_scale, decimal_scale, bits };
        let packing = Packing::new(parameters);
        packing.check_writable()?;
        Ok(packing)
    }

    /// The packing with the fewest bits whose values are off by no more than `error_max`, which
    /// `measure` finds out for every value, or that it is over what is enough.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] when there is none, and what `measure` returns.
    pub(crate) fn within<E: From<Error>>(
        ends: &Ends,
        error_max: f64,
        widths: Widths,
        measure: &mut dyn FnMut(&Packing) -> Result<f64, E>,
    ) -> Result<Packing, E> {
        let why = "no packing keeps all values within the error";
        if !error_max.is_finite() || error_max < 0.0 {
            return Err(Error::Unwritable { why: "an error is a number of 0 or more" }.into());
        }
        let constant = Packing::constant(ends);
        if measure(&constant)? <= error_max {
            return Ok(constant);
        }
        let widths = |bits: &u32| widths == Widths::Any || bits.is_multiple_of(8);
        for bits in (bits_min(ends, error_max)..=BITS_MAX).filter(widths) {
            if let Ok(packing) = Packing::fit(ends, bits, 0)
                && measure(&packing)? <= error_max
            {
                return Ok(packing);
            }
        }
        Err(Error::Unwritable { why }.into())
    }

    /// All values are the one in the middle.
    fn constant(ends: &Ends) -> Packing {
        let (min, max) = ends.min_max();
        // Halved first, since the sum may be past every double.
        let reference = if min == max { min } else { min / 2.0 + max / 2.0 };
        let (binary_scale, decimal_scale, bits) = (0, 0, 0);
        Packing::new(PackingParameters { reference, binary_scale, decimal_scale, bits })
    }

    /// By how much a value is off at most; no more is looked at once that is over `enough`.
    pub(crate) fn error(&self, elements: &[u8], enough: f64) -> f64 {
        let mut worst = 0.0_f64;
        let scale = self.scale();
        for value in values(elements) {
            #[allow(clippy::cast_precision_loss, reason = "as it is unpacked")]
            let number = self.number(value, scale) as f64;
            let error = (self.parameters.reference + number * self.step - value).abs();
            if enough < error || error.is_nan() {
                return f64::INFINITY;
            }
            worst = worst.max(error);
        }
        worst
    }

    /// What differences are multiplied by, one after the other.
    fn scale(&self) -> [f64; 2] {
        let PackingParameters { binary_scale, decimal_scale, .. } = self.parameters;
        [power(10.0, decimal_scale), power(2.0, -binary_scale)]
    }

    /// The number that is nearest to a value: halves away from zero, and none past the ends.
    fn number(&self, value: f64, [tens, twos]: [f64; 2]) -> u64 {
        let exact = (value - self.parameters.reference) * tens * twos;
        let max = max_number(self.bits());
        let exact = if exact <= 0.0 { 0.0 } else { exact.min(max) };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped")]
        let whole = exact as u64;
        #[allow(clippy::cast_precision_loss, reason = "exact, as long as there are halves")]
        let is_upper = 0.5 <= exact - whole as f64;
        let number = whole.saturating_add(u64::from(is_upper));
        // From 54 bits on the largest number is no double, and the next one is too large.
        number.min(u64::MAX >> u64::BITS.saturating_sub(self.bits()).min(63))
    }

    /// Packs values.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Memory`] when there is none.
    pub(crate) fn pack(&self, elements: &[u8]) -> Result<Vec<u8>> {
        let count = (elements.len() / 8) as u64;
        let mut packed = buffer(self.packed_len(count))?;
        let scale = self.scale();
        let numbers = values(elements).map(|value| self.number(value, scale));
        match self.bits() {
            0 => {}
            16 => {
                for (out, number) in packed.as_chunks_mut::<2>().0.iter_mut().zip(numbers) {
                    let [a, b, ..] = number.to_le_bytes();
                    *out = [b, a];
                }
            }
            bits => {
                let (mut word, mut held) = (0_u128, 0_u32);
                let mut places = packed.iter_mut();
                for number in numbers {
                    word = word << bits | u128::from(number);
                    held += bits;
                    while 8 <= held {
                        held -= 8;
                        if let Some(place) = places.next() {
                            *place = (word >> held).to_le_bytes()[0];
                        }
                    }
                    word &= (1 << held) - 1;
                }
                if let Some(place) = places.next() {
                    *place = (word << (8 - held)).to_le_bytes()[0];
                }
            }
        }
        debug_assert_eq!(packed.len(), len(self.packed_len(count)));
        Ok(packed)
    }
}

fn values(elements: &[u8]) -> impl Iterator<Item = f64> {
    elements.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes))
}

/// Fewer bits than these cannot meet the error.
fn bits_min(ends: &Ends, error_max: f64) -> u32 {
    let (min, max) = ends.min_max();
    let steps = (max / 2.0 - min / 2.0) / error_max;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped")]
    let bits = (steps.log2().floor() - 1.0).clamp(1.0, f64::from(BITS_MAX)) as u32;
    bits
}

/// The largest number of so many bits.
fn max_number(bits: u32) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "the nearest double, as others have it")]
    let max = (u64::MAX >> u64::BITS.saturating_sub(bits).min(63)) as f64;
    if bits == 0 { 0.0 } else { max }
}

/// A power of 2 that can be written.
fn exponent(power: f64) -> Option<i32> {
    let max = f64::from(BINARY_MAX);
    #[allow(clippy::cast_possible_truncation, reason = "it is whole and small")]
    (-max <= power && power <= max).then_some(power as i32)
}
