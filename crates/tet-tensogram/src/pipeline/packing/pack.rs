//! Packs values into numbers, and chooses the parameters.

use multiversion::multiversion;

use super::{BINARY_MAX, Packing, PackingParameters, power};
use crate::error::{Error, Result};
use crate::pipeline::sized;

/// The most bits that are tried to meet an error: doubles have no more digits.
const BITS_MAX: u32 = 53;

/// The least and the largest value, which must be known before packing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ends {
    first: f64,
    least_and_largest: Option<(f64, f64)>,
}

impl Ends {
    /// The ends of all values.
    pub(crate) fn from_elements(elements: &[u8]) -> Ends {
        let mut ends = Ends::default();
        ends.widen(elements);
        ends
    }

    /// Includes the next values.
    pub(crate) fn widen(&mut self, elements: &[u8]) {
        let Some(first) = values(elements).next() else { return };
        if self.least_and_largest.is_none() {
            self.first = first;
        }
        let ends = self.least_and_largest.unwrap_or((first, first));
        let ((min, max), (low, high)) = (ends, least_and_largest(elements));
        let wider = (if low < min { low } else { min }, if max < high { high } else { max });
        self.least_and_largest = Some(wider);
    }

    fn min_max(&self) -> (f64, f64) {
        self.least_and_largest.unwrap_or_default()
    }
}

/// Which numbers of bits may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Widths {
    /// Any.
    Any,
    /// Whole bytes, which codecs that compress samples need.
    Bytes,
}

impl Packing {
    /// The packing with `bits` bits that spans the least to the largest value.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] when no valid step spans them.
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

    /// The packing with the fewest bits whose values have an error of at most `error_max`.
    /// `measure` returns the largest error, or any error that exceeds the limit.
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

    /// All values become the mean of the ends.
    fn constant(ends: &Ends) -> Packing {
        let (min, max) = ends.min_max();
        // Halve first, since the sum may overflow.
        let reference = if min == max { min } else { min / 2.0 + max / 2.0 };
        let (binary_scale, decimal_scale, bits) = (0, 0, 0);
        Packing::new(PackingParameters { reference, binary_scale, decimal_scale, bits })
    }

    /// The largest error of any value; stops at the first error over `enough`.
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

    /// The two factors that differences are multiplied by.
    fn scale(&self) -> [f64; 2] {
        let PackingParameters { binary_scale, decimal_scale, .. } = self.parameters;
        [power(10.0, decimal_scale), power(2.0, -binary_scale)]
    }

    /// The number nearest to a value: halves round away from zero, and the range is clamped.
    fn number(&self, value: f64, [tens, twos]: [f64; 2]) -> u64 {
        let exact = (value - self.parameters.reference) * tens * twos;
        let max = max_number(self.bits());
        let exact = if exact <= 0.0 { 0.0 } else { exact.min(max) };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped")]
        let whole = exact as u64;
        #[allow(clippy::cast_precision_loss, reason = "exact, as long as there are halves")]
        let is_upper = 0.5 <= exact - whole as f64;
        let number = whole.saturating_add(u64::from(is_upper));
        // From 54 bits on the largest number is not a double, and the next double is too large.
        number.min(u64::MAX >> u64::BITS.saturating_sub(self.bits()).min(63))
    }

    /// Packs values into a buffer, which may be reused.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Memory`] when it cannot be allocated.
    pub(crate) fn pack(&self, elements: &[u8], room: Vec<u8>) -> Result<Vec<u8>> {
        let values = elements.as_chunks::<8>().0;
        let mut packed = sized(room, self.packed_len(values.len() as u64))?;
        match self.bits() {
            0 => {}
            8 => self.whole(values, packed.as_chunks_mut().0, |[a, ..]| [a]),
            16 => self.whole(values, packed.as_chunks_mut().0, |[a, b, ..]| [b, a]),
            24 => self.whole(values, packed.as_chunks_mut().0, |[a, b, c, _]| [c, b, a]),
            32 => self.whole(values, packed.as_chunks_mut().0, |[a, b, c, d]| [d, c, b, a]),
            1..32 => self.narrow(values, &mut packed),
            _ => self.wide(elements, &mut packed),
        }
        Ok(packed)
    }

    /// Packs into numbers of `WIDTH` whole bytes.
    fn whole<const WIDTH: usize>(
        &self,
        values: &[[u8; 8]],
        packed: &mut [[u8; WIDTH]],
        bytes: impl Fn([u8; 4]) -> [u8; WIDTH],
    ) {
        let (scaling, mut numbers) = (self.scaling(), [0; BLOCK]);
        for (values, packed) in values.chunks(BLOCK).zip(packed.chunks_mut(BLOCK)) {
            scaling.numbers(values, &mut numbers);
            for (packed, number) in packed.iter_mut().zip(numbers) {
                *packed = bytes(number.to_le_bytes());
            }
        }
    }

    /// Packs into numbers of fewer than 32 bits, four bytes at a time.
    fn narrow(&self, values: &[[u8; 8]], packed: &mut [u8]) {
        let (scaling, mut numbers, bits) = (self.scaling(), [0; BLOCK], self.bits());
        let (mut word, mut held) = (0_u64, 0_u32);
        let (places, rest) = packed.as_chunks_mut::<4>();
        let mut places = places.iter_mut();
        for values in values.chunks(BLOCK) {
            scaling.numbers(values, &mut numbers);
            for number in numbers.iter().take(values.len()) {
                word = word << bits | u64::from(*number);
                held += bits;
                if 32 <= held {
                    held -= 32;
                    let [a, b, c, d, ..] = (word >> held).to_le_bytes();
                    if let Some(place) = places.next() {
                        *place = [d, c, b, a];
                    }
                }
            }
        }
        let last = (word << (u64::BITS - 1 - held) << 1).swap_bytes().to_le_bytes();
        let place = places.next().map_or(rest, |place| &mut place[..]);
        place.iter_mut().zip(last).for_each(|(place, byte)| *place = byte);
    }

    /// Packs into wider numbers.
    fn wide(&self, elements: &[u8], packed: &mut [u8]) {
        let (scale, bits) = (self.scale(), self.bits());
        let (mut word, mut held) = (0_u128, 0_u32);
        let mut places = packed.iter_mut();
        for value in values(elements) {
            word = word << bits | u128::from(self.number(value, scale));
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

    /// The scaling for numbers of up to 32 bits.
    fn scaling(&self) -> Scaling {
        let (reference, max) = (self.parameters.reference, max_number(self.bits()));
        Scaling { reference, scale: self.scale(), max }
    }
}

/// The number of values that are scaled together.
const BLOCK: usize = 512;
/// Doubles from 2^52 on are integers: their lowest bits are the integer above 2^52.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// Scales values to numbers of up to 32 bits: as [`Packing::number`] does, without a branch.
#[derive(Clone, Copy)]
struct Scaling {
    reference: f64,
    scale: [f64; 2],
    max: f64,
}

impl Scaling {
    fn numbers(self, values: &[[u8; 8]], out: &mut [u32; BLOCK]) {
        numbers(self, values, out);
    }

    #[inline(always)]
    fn number(self, value: f64) -> u32 {
        let [tens, twos] = self.scale;
        let exact = (value - self.reference) * tens * twos;
        let exact = if exact < self.max { exact } else { self.max };
        let exact = if exact <= 0.0 { 0.0 } else { exact };
        // The sum rounds halves to even; a half that was rounded down is corrected.
        let even = (exact + WHOLE) - WHOLE;
        let number = if exact - even == 0.5 { even + 1.0 } else { even };
        let [a, b, c, d, ..] = (number + WHOLE).to_bits().to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn numbers(scaling: Scaling, values: &[[u8; 8]], out: &mut [u32; BLOCK]) {
    for (out, value) in out.iter_mut().zip(values) {
        *out = scaling.number(f64::from_le_bytes(*value));
    }
}

fn values(elements: &[u8]) -> impl Iterator<Item = f64> {
    elements.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes))
}

/// The least and the largest value; of equal zeros the first one.
#[multiversion(targets("x86_64+avx+avx2"))]
fn least_and_largest(elements: &[u8]) -> (f64, f64) {
    const LANES: usize = 8;
    let number = |bytes: &[u8; 8]| f64::from_le_bytes(*bytes);
    let values = elements.as_chunks().0;
    let first = values.first().map_or(0.0, number);
    let least = |one: f64, other: f64| if other < one { other } else { one };
    let largest = |one: f64, other: f64| if one < other { other } else { one };
    let (mut lows, mut highs) = ([first; LANES], [first; LANES]);
    let (rows, rest) = values.as_chunks::<LANES>();
    for row in rows {
        for ((low, high), value) in lows.iter_mut().zip(&mut highs).zip(row.iter().map(number)) {
            (*low, *high) = (least(*low, value), largest(*high, value));
        }
    }
    let low = lows.into_iter().chain(rest.iter().map(number)).fold(first, least);
    let high = highs.into_iter().chain(rest.iter().map(number)).fold(first, largest);
    let found = |end: f64| {
        let same = values.iter().map(number).find(|value| *value == end && end == 0.0);
        same.unwrap_or(end)
    };
    if low == 0.0 || high == 0.0 { (found(low), found(high)) } else { (low, high) }
}

/// The error cannot be met with fewer bits than this.
fn bits_min(ends: &Ends, error_max: f64) -> u32 {
    let (min, max) = ends.min_max();
    let steps = (max / 2.0 - min / 2.0) / error_max;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped")]
    let bits = (steps.log2().floor() - 1.0).clamp(1.0, f64::from(BITS_MAX)) as u32;
    bits
}

/// The largest number of `bits` bits.
fn max_number(bits: u32) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "the nearest double, as others have it")]
    let max = (u64::MAX >> u64::BITS.saturating_sub(bits).min(63)) as f64;
    if bits == 0 { 0.0 } else { max }
}

/// A binary exponent, if it can be written.
fn exponent(power: f64) -> Option<i32> {
    let max = f64::from(BINARY_MAX);
    #[allow(clippy::cast_possible_truncation, reason = "it is whole and small")]
    (-max <= power && power <= max).then_some(power as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both conversions agree, on halves and near them.
    #[test]
    fn numbers_are_the_same_without_branches() {
        for bits in 1..=32 {
            let max = max_number(bits);
            let parameters =
                PackingParameters { reference: 0.0, binary_scale: 0, decimal_scale: 0, bits };
            let packing = Packing::new(parameters);
            let middles = [0.0, 1.0, 2.0, 3.0, 10.0, max / 2.0, max - 1.0, max, max + 1.0, -1.0];
            for middle in middles {
                for part in [0.0, 0.25, 0.499_999, 0.5, 0.500_001, 0.75] {
                    let near: f64 = middle + part;
                    for value in [near.next_down(), near, near.next_up(), -near, 1e300, 1e-300] {
                        let number = packing.number(value, packing.scale());
                        let found = packing.scaling().number(value);
                        assert_eq!(u64::from(found), number, "{value} in {bits}");
                    }
                }
            }
        }
    }

    #[test]
    fn ends_are_those_of_a_fold() {
        let mut state = 1_u64;
        for count in 0..70 {
            let values = (0..count).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(7);
                [-1.5, -0.0, 0.0, 0.25, 2.0][(state >> 33) as usize % 5]
            });
            let values: Vec<f64> = values.collect();
            let bytes: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
            let first = values.first().copied().unwrap_or(0.0);
            let low = values.iter().fold(first, |a, b| if *b < a { *b } else { a });
            let high = values.iter().fold(first, |a, b| if a < *b { *b } else { a });
            let halves = bytes.split_at(values.len() / 2 * 8);
            let mut ends = Ends::from_elements(halves.0);
            ends.widen(halves.1);
            assert_eq!(ends.min_max(), Ends::from_elements(&bytes).min_max(), "{values:?}");
            let (found_low, found_high) = Ends::from_elements(&bytes).min_max();
            let bits = [found_low, found_high].map(f64::to_bits);
            assert_eq!(bits, [low, high].map(f64::to_bits), "{values:?}");
        }
    }
}
