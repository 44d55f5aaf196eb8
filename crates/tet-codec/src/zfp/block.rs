//! Decodes one block: bit planes to coefficients, coefficients to elements.

use super::bits::Bits;
use super::mode::ZfpMode;
use super::order;

/// The most elements of a block.
pub(super) const LEN_MAX: usize = 256;

/// The bits that a block may take.
struct Budget {
    used: u32,
    mode: ZfpMode,
}

impl Budget {
    fn left(&self) -> u32 {
        self.mode.max_bits.saturating_sub(self.used)
    }

    /// Passes over what is left of a block that is shorter than it must be.
    fn pad(&self, bits: &mut Bits<'_>) {
        bits.skip(self.mode.min_bits.saturating_sub(self.used).into());
    }
}

/// Reads `precision` bit planes into `out`, the highest of `width` first; gives the number of bits that were read.
fn planes(bits: &mut Bits<'_>, max_bits: u32, width: u32, precision: u32, out: &mut [u64]) -> u32 {
    let lowest = width.saturating_sub(precision);
    let (mut left, mut known) = (max_bits, 0_usize);
    out.fill(0);
    let mut plane = width;
    while 0 < left && lowest < plane && !bits.is_past_end() {
        plane -= 1;
        // Coefficients that have a higher bit have one bit each.
        let first = u32::try_from(known).unwrap_or(u32::MAX).min(left);
        left -= first;
        for coefficient in out.iter_mut().take(usize::try_from(first).unwrap_or(0)) {
            *coefficient |= u64::from(bits.bit()) << plane;
        }
        // The others are in groups: a bit says whether one follows, then zeros up to it.
        while 0 < left && known < out.len() {
            left -= 1;
            if !bits.bit() {
                break;
            }
            while 0 < left && known < out.len() - 1 {
                left -= 1;
                if bits.bit() {
                    break;
                }
                known += 1;
            }
            if let Some(coefficient) = out.get_mut(known) {
                *coefficient |= 1 << plane;
            }
            known += 1;
        }
    }
    max_bits - left
}

/// The power of two with this exponent; 0 where it is too small.
fn power(exponent: i32) -> f64 {
    match exponent {
        -1022.. => f64::from_bits(u64::try_from(exponent.min(1023) + 1023).unwrap_or(0) << 52),
        -1074..-1022 => f64::from_bits(1 << u32::try_from(exponent + 1074).unwrap_or(0)),
        _ => 0.0,
    }
}

/// The decoders of blocks of numbers of one width.
macro_rules! decoders {
    ($module:ident, $int:ty, $float:ty, $exponent_bits:literal, $bias:literal, $precision_bits:literal) => {
        pub(in super::super) mod $module {
            use super::*;

            const WIDTH: u32 = <$int>::BITS;

            /// Decodes a block of integers of `rank` dimensions.
            pub(in super::super) fn integers(
                bits: &mut Bits<'_>,
                mode: ZfpMode,
                rank: usize,
                out: &mut [$int],
            ) {
                let mut budget = Budget { used: 0, mode };
                if mode.is_reversible() {
                    reversible(bits, &mut budget, rank, out);
                } else {
                    lossy(bits, &mut budget, rank, mode.max_precision, out);
                }
                budget.pad(bits);
            }

            /// Decodes a block of floats.
            pub(in super::super) fn floats(
                bits: &mut Bits<'_>,
                mode: ZfpMode,
                rank: usize,
                out: &mut [$float],
            ) {
                let mut budget = Budget { used: 1, mode };
                let mut held = [0; LEN_MAX];
                let numbers = &mut held[..out.len()];
                if !bits.bit() {
                    out.fill(0.0);
                    budget.pad(bits);
                    return;
                }
                if mode.is_reversible() {
                    budget.used += 1;
                    if bits.bit() {
                        reversible(bits, &mut budget, rank, numbers);
                        for (float, number) in out.iter_mut().zip(numbers.iter()) {
                            // Numbers below zero are those of sign and magnitude.
                            let folded = if *number < 0 { *number ^ <$int>::MAX } else { *number };
                            *float = <$float>::from_le_bytes(folded.to_le_bytes());
                        }
                        budget.pad(bits);
                        return;
                    }
                }
                let stored = i32::try_from(bits.number($exponent_bits)).unwrap_or(0);
                budget.used += $exponent_bits;
                let exponent = stored - $bias;
                if mode.is_reversible() {
                    reversible(bits, &mut budget, rank, numbers);
                } else {
                    let precision = mode.precision(exponent, rank);
                    lossy(bits, &mut budget, rank, precision, numbers);
                }
                // Powers of two are exact, or rounded as a number of this width is.
                let is_zero = mode.is_reversible() && stored == 0;
                let scale = power(exponent - (WIDTH as i32 - 2)) as $float;
                let scale = if is_zero { 0.0 } else { scale };
                for (float, number) in out.iter_mut().zip(numbers.iter()) {
                    *float = scale * *number as $float;
                }
                budget.pad(bits);
            }

            fn lossy(
                bits: &mut Bits<'_>,
                budget: &mut Budget,
                rank: usize,
                precision: u32,
                out: &mut [$int],
            ) {
                coefficients(bits, budget, rank, precision, out);
                each_line(rank, out, inverse);
            }

            fn reversible(bits: &mut Bits<'_>, budget: &mut Budget, rank: usize, out: &mut [$int]) {
                let precision = bits.number($precision_bits);
                let precision = u32::try_from(precision).unwrap_or(0) + 1;
                budget.used += $precision_bits;
                coefficients(bits, budget, rank, precision, out);
                each_line(rank, out, inverse_reversible);
            }

            /// Reads the coefficients, which are in negabinary.
            fn coefficients(
                bits: &mut Bits<'_>,
                budget: &mut Budget,
                rank: usize,
                precision: u32,
                out: &mut [$int],
            ) {
                let mut held = [0; LEN_MAX];
                let stored = &mut held[..out.len()];
                budget.used += planes(bits, budget.left(), WIDTH, precision, stored);
                for (number, at) in stored.iter().zip(order::of_rank(rank)) {
                    const MASK: u64 = 0xAAAA_AAAA_AAAA_AAAA;
                    let number = (number ^ MASK).wrapping_sub(MASK);
                    if let Some(coefficient) = out.get_mut(usize::from(*at)) {
                        // The lowest bits are those of a number of this width.
                        *coefficient = number as $int;
                    }
                }
            }

            /// Transforms every line of a block, along its last axis first.
            fn each_line(rank: usize, block: &mut [$int], transform: fn([$int; 4]) -> [$int; 4]) {
                for axis in (0..rank).rev() {
                    let stride = 1 << (2 * axis);
                    for start in 0..block.len() {
                        if start / stride % 4 != 0 {
                            continue;
                        }
                        let at = |step: usize| start + step * stride;
                        let line =
                            [0, 1, 2, 3].map(|step| block.get(at(step)).copied().unwrap_or(0));
                        for (step, value) in transform(line).into_iter().enumerate() {
                            if let Some(element) = block.get_mut(at(step)) {
                                *element = value;
                            }
                        }
                    }
                }
            }

            /// Undoes the transform of four coefficients.
            fn inverse([mut x, mut y, mut z, mut w]: [$int; 4]) -> [$int; 4] {
                y = y.wrapping_add(w >> 1);
                w = w.wrapping_sub(y >> 1);
                y = y.wrapping_add(w);
                w = (w << 1).wrapping_sub(y);
                z = z.wrapping_add(x);
                x = (x << 1).wrapping_sub(z);
                y = y.wrapping_add(z);
                z = (z << 1).wrapping_sub(y);
                w = w.wrapping_add(x);
                x = (x << 1).wrapping_sub(w);
                [x, y, z, w]
            }

            /// Undoes the transform of four coefficients that loses nothing.
            fn inverse_reversible([x, mut y, mut z, mut w]: [$int; 4]) -> [$int; 4] {
                w = w.wrapping_add(z);
                z = z.wrapping_add(y);
                w = w.wrapping_add(z);
                y = y.wrapping_add(x);
                z = z.wrapping_add(y);
                w = w.wrapping_add(z);
                [x, y, z, w]
            }
        }
    };
}

decoders!(narrow, i32, f32, 8, 127, 5);
decoders!(wide, i64, f64, 11, 1023, 6);
