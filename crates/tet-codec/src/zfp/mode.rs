//! How a stream was written: how many bits a block has, and how exact it is.

use super::number::ZfpNumber;

/// The most bits of a block, and the smallest exponent, where a mode does not limit them.
const BITS_MAX: u32 = 16_658;
const EXPONENT_MIN: i32 = -1074;

/// The limits of the blocks of a stream.
///
/// ```
/// use tet_codec::{ZfpMode, ZfpNumber};
///
/// let mode = ZfpMode::fixed_rate(16.0, 1, ZfpNumber::Float64).unwrap();
/// assert_eq!((mode.min_bits, mode.max_bits), (64, 64));
/// assert!(ZfpMode::REVERSIBLE.is_reversible());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZfpMode {
    /// The fewest bits of a block.
    pub min_bits: u32,
    /// The most bits of a block.
    pub max_bits: u32,
    /// The most bit planes of a block.
    pub max_precision: u32,
    /// The exponent of the lowest bit plane.
    pub min_exponent: i32,
}

impl ZfpMode {
    /// Without loss.
    pub const REVERSIBLE: ZfpMode = ZfpMode { min_exponent: EXPONENT_MIN - 1, ..ZfpMode::ALL };

    /// Without limits.
    const ALL: ZfpMode =
        ZfpMode { min_bits: 1, max_bits: BITS_MAX, max_precision: 64, min_exponent: EXPONENT_MIN };

    /// A fixed number of bits for every block of an array of 1 to 4 dimensions: `rate` for each element.
    #[must_use]
    pub fn fixed_rate(rate: f64, rank: usize, number: ZfpNumber) -> Option<ZfpMode> {
        let count = [4.0, 16.0, 64.0, 256.0].get(rank.checked_sub(1)?)?;
        let bits = (count * rate + 0.5).floor();
        if !(0.0..=f64::from(BITS_MAX)).contains(&bits) {
            return None;
        }
        // A whole number in this range is exact.
        let bits = (bits as u32).max(number.header_bits()).max(1);
        Some(ZfpMode { min_bits: bits, max_bits: bits, ..ZfpMode::ALL })
    }

    /// This many bit planes of every block.
    #[must_use]
    pub const fn fixed_precision(precision: u32) -> ZfpMode {
        let max_precision = if 0 < precision && precision < 64 { precision } else { 64 };
        ZfpMode { max_precision, ..ZfpMode::ALL }
    }

    /// An absolute error of at most `tolerance`.
    #[must_use]
    pub fn fixed_accuracy(tolerance: f64) -> ZfpMode {
        let is_usable = tolerance.is_finite() && 0.0 < tolerance;
        let min_exponent = if is_usable { exponent(tolerance) } else { EXPONENT_MIN };
        ZfpMode { min_exponent, ..ZfpMode::ALL }
    }

    /// The mode that a header states: 12 bits, or 64 whose lowest 12 are set.
    #[must_use]
    pub fn of_header(bits: u64) -> Option<ZfpMode> {
        let part = |at: u32, count: u32| u32::try_from(bits >> at & ((1 << count) - 1)).ok();
        let short = part(0, 12)?;
        let mode = match short {
            0..2048 => ZfpMode { min_bits: short + 1, max_bits: short + 1, ..ZfpMode::ALL },
            2048..2176 => ZfpMode { max_precision: short - 2047, ..ZfpMode::ALL },
            2176 => ZfpMode::REVERSIBLE,
            2177..4095 => {
                let min_exponent = i32::try_from(short - 2177).ok()? + EXPONENT_MIN;
                ZfpMode { min_exponent, ..ZfpMode::ALL }
            }
            _ => ZfpMode {
                min_bits: part(12, 15)? + 1,
                max_bits: part(27, 15)? + 1,
                max_precision: part(42, 7)? + 1,
                min_exponent: i32::try_from(part(49, 15)?).ok()? - 16_495,
            },
        };
        let is_possible = mode.min_bits <= mode.max_bits && mode.max_precision <= 64;
        is_possible.then_some(mode)
    }

    /// Whether the elements come back bit for bit.
    #[must_use]
    pub const fn is_reversible(&self) -> bool {
        self.min_exponent < EXPONENT_MIN
    }

    /// The bit planes of a block with this exponent.
    pub(super) fn precision(&self, exponent: i32, rank: usize) -> u32 {
        let guard = i32::try_from(2 * (rank + 1)).unwrap_or(10);
        let planes = exponent.saturating_sub(self.min_exponent).saturating_add(guard);
        u32::try_from(planes).unwrap_or(0).min(self.max_precision)
    }
}

/// The exponent of the highest bit of a positive number.
fn exponent(number: f64) -> i32 {
    let bits = number.to_bits();
    let biased = i32::try_from(bits >> 52 & 0x7FF).unwrap_or(0);
    match biased {
        0 => -1011 - i32::try_from(bits.leading_zeros()).unwrap_or(0),
        biased => biased - 1023,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_those_of_the_highest_bit() {
        for (number, wanted) in [
            (1.0, 0),
            (0.75, -1),
            (1e-3, -10),
            (f64::MIN_POSITIVE, -1022),
            (5e-324, -1074),
            (1e-310, -1030),
        ] {
            assert_eq!(exponent(number), wanted, "{number}");
        }
    }

    #[test]
    fn headers_state_every_mode() {
        assert_eq!(ZfpMode::of_header(63), ZfpMode::fixed_rate(16.0, 1, ZfpNumber::Float64));
        assert_eq!(ZfpMode::of_header(2048 + 15), Some(ZfpMode::fixed_precision(16)));
        assert_eq!(ZfpMode::of_header(2176), Some(ZfpMode::REVERSIBLE));
        assert_eq!(ZfpMode::of_header(2177 + 1074 - 10), Some(ZfpMode::fixed_accuracy(1e-3)));
        assert_eq!(ZfpMode::of_header(4095 | 5 << 12 | 4 << 27 | 0x3f << 42), None);
        let wanted = ZfpMode { min_bits: 6, max_bits: 7, max_precision: 64, min_exponent: -1074 };
        let bits = 4095 | 5 << 12 | 6 << 27 | 63 << 42 | (16_495 - 1074) << 49;
        assert_eq!(ZfpMode::of_header(bits), Some(wanted));
    }
}
