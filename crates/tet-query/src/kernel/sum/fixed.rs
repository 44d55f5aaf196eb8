//! A fixed-point number wide enough for any sum of floats: adding is exact, so order never matters.
//!
//! ```text
//!   limbs   | 32 bits | 32 bits | ... | 32 bits |   each in an i64, so carries may wait
//!            2^(LOW+32(n-1))            2^LOW
//! ```

/// Additions between two propagations of carries; each adds less than 2^32 to a limb.
const CARRY_MAX: u32 = 1 << 30;
const LIMB_BITS: u32 = 32;
const LIMB_MASK: i64 = 0xffff_ffff;

/// The exact sum of any number of multiples of `2^LOW`.
#[derive(Clone, Debug)]
pub(crate) struct Fixed<const LIMBS: usize, const LOW: i32> {
    limbs: [i64; LIMBS],
    added: u32,
}

/// Holds any sum of float32 (and float16, bfloat16) values, up to 2^64 of them.
pub(crate) type FixedF32 = Fixed<12, -149>;
/// Holds any sum of float64 values, up to 2^64 of them.
pub(crate) type FixedF64 = Fixed<70, -1074>;

impl FixedF32 {
    /// Adds a finite float32: its 24 bits touch two limbs only.
    #[inline]
    pub(crate) fn add_single(&mut self, value: f32) {
        let bits = value.to_bits();
        let exponent = (bits >> 23) & 0xff;
        let mantissa = (bits & 0x7f_ffff) | (u32::from(exponent != 0) << 23);
        let shift = exponent.max(1) - 1;
        let wide = u64::from(mantissa) << (shift % LIMB_BITS);
        let limb = (shift / LIMB_BITS) as usize;
        let sign = i64::from((bits as i32) >> 31);
        self.limbs[limb] += ((wide as i64 & LIMB_MASK) ^ sign) - sign;
        self.limbs[limb + 1] += ((wide >> LIMB_BITS) as i64 ^ sign) - sign;
        self.added += 1;
        if self.added >= CARRY_MAX {
            self.carry();
        }
    }

    /// The float64 nearest to the sum divided by `count`, ties to even: rounded once. `count` is
    /// not 0.
    pub(crate) fn mean(&self, count: u64) -> f64 {
        /// Limbs below the sum's: a count has 64 bits, a float64 fewer.
        const BELOW: usize = 4;
        let (magnitude, negative) = self.magnitude();
        let count = u128::from(count);
        let (mut quotient, mut rest) = ([0; 12 + BELOW], 0);
        for (at, digit) in quotient.iter_mut().enumerate().rev() {
            let limb = at.checked_sub(BELOW).map_or(0, |at| magnitude[at]);
            let part = (rest << LIMB_BITS) | limb as u128;
            *digit = (part / count) as i64;
            rest = part % count;
        }
        let value = nearest(&quotient, rest != 0, -149 - LIMB_BITS as i32 * BELOW as i32);
        if negative { -value } else { value }
    }
}

impl<const LIMBS: usize, const LOW: i32> Fixed<LIMBS, LOW> {
    /// Zero.
    pub(crate) const fn new() -> Self {
        Self { limbs: [0; LIMBS], added: 0 }
    }

    /// Adds a finite multiple of `2^LOW`.
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        let bits = value.to_bits();
        let exponent = ((bits >> 52) & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        let hidden = u64::from(exponent != 0) << 52;
        let mut mantissa = fraction | hidden;
        let mut shift = exponent.max(1) - 1075 - LOW;
        if shift < 0 {
            // A multiple of 2^LOW has zeros where these bits go.
            mantissa = mantissa.checked_shr(shift.unsigned_abs()).unwrap_or(0);
            shift = 0;
        }
        let shift = shift.unsigned_abs();
        let limb = (shift / LIMB_BITS) as usize;
        let wide = u128::from(mantissa) << (shift % LIMB_BITS);
        let sign = (bits as i64) >> 63;
        let parts = &mut self.limbs[limb..limb + 3];
        // x ^ -1 - -1 is -x: the sign without a branch.
        parts[0] += ((wide as i64 & LIMB_MASK) ^ sign) - sign;
        parts[1] += (((wide >> 32) as i64 & LIMB_MASK) ^ sign) - sign;
        parts[2] += (((wide >> 64) as i64) ^ sign) - sign;
        self.added += 1;
        if self.added >= CARRY_MAX {
            self.carry();
        }
    }

    /// Adds another sum.
    pub(crate) fn merge(&mut self, later: &Self) {
        let mut later = later.clone();
        later.carry();
        self.carry();
        for (limb, other) in self.limbs.iter_mut().zip(later.limbs) {
            *limb += other;
        }
        self.added = 2;
    }

    /// Moves what is above 32 bits into the next limb; only the last keeps a sign.
    fn carry(&mut self) {
        let mut carry = 0;
        for limb in &mut self.limbs[..LIMBS - 1] {
            let sum = *limb + carry;
            carry = sum >> LIMB_BITS;
            *limb = sum & LIMB_MASK;
        }
        self.limbs[LIMBS - 1] += carry;
        self.added = 1;
    }

    /// The nearest float64, ties to even; infinite when past the largest.
    pub(crate) fn round(&self) -> f64 {
        let (magnitude, negative) = self.magnitude();
        let value = nearest(&magnitude, false, LOW);
        if negative { -value } else { value }
    }

    /// The limbs without their sign, each of 32 bits; whether there was one.
    fn magnitude(&self) -> ([i64; LIMBS], bool) {
        let mut magnitude = self.clone();
        magnitude.carry();
        let negative = magnitude.limbs[LIMBS - 1] < 0;
        if negative {
            for limb in &mut magnitude.limbs {
                *limb = -*limb;
            }
            magnitude.carry();
        }
        (magnitude.limbs, negative)
    }
}

/// The float64 nearest to limbs of which the first counts units of `2^low`; `rest` means that a
/// little is still missing.
fn nearest(limbs: &[i64], rest: bool, low: i32) -> f64 {
    let Some(top) = limbs.iter().rposition(|&limb| limb != 0) else {
        return 0.0;
    };
    // The leading 65 to 96 bits hold every bit that can decide; the rest is "more than that".
    let base = top.saturating_sub(2);
    let mut leading = 0_u128;
    for &limb in limbs[base..=top].iter().rev() {
        leading = (leading << LIMB_BITS) | limb as u128;
    }
    let rest = rest || limbs[..base].iter().any(|&limb| limb != 0);
    scale(leading, rest, low + 32 * base as i32)
}

/// `leading * 2^exponent` to the nearest float64; `rest` means that a little is still missing.
///
/// A result below 2^-1022 has at most 53 bits above 2^-1074, so it is never rounded twice.
fn scale(leading: u128, rest: bool, exponent: i32) -> f64 {
    let bits = 128 - leading.leading_zeros();
    let drop = bits.saturating_sub(53);
    let kept = (leading >> drop) as u64;
    let below = leading & ((1_u128 << drop) - 1);
    let half = if drop == 0 { 0 } else { 1_u128 << (drop - 1) };
    let up = drop > 0 && (below > half || (below == half && (rest || kept & 1 == 1)));
    let kept = kept + u64::from(up);
    let exponent = exponent + drop as i32;
    if exponent > 971 {
        return f64::INFINITY;
    }
    kept as f64 * power_of_two(exponent)
}

/// `2^exponent` for -1074 to 1023.
pub(crate) fn power_of_two(exponent: i32) -> f64 {
    if exponent >= -1022 {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    } else {
        f64::from_bits(1 << (exponent + 1074))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum64(values: &[f64]) -> f64 {
        let mut sum = FixedF64::new();
        values.iter().for_each(|&v| sum.add(v));
        sum.round()
    }

    #[test]
    fn one_value_comes_back() {
        let cases =
            [0.0, 1.0, -1.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, -5e-324, 1e-310];
        for value in cases {
            assert_eq!(sum64(&[value]), value, "{value:e}");
        }
        for value in [f32::MAX, f32::MIN_POSITIVE, 1e-45, -1e-45, 0.1] {
            let mut sum = FixedF32::new();
            sum.add(f64::from(value));
            assert_eq!(sum.round(), f64::from(value));
        }
    }

    #[test]
    fn rounding_is_to_nearest_even_with_a_sticky_tail() {
        let ulp = f64::EPSILON;
        let cases: &[(&[f64], f64)] = &[
            (&[1.0, ulp / 2.0], 1.0),
            (&[1.0, ulp / 2.0, 5e-324], 1.0 + ulp),
            (&[1.0 + ulp, ulp / 2.0], 1.0 + 2.0 * ulp),
            (&[1.0 + ulp, ulp / 2.0, -5e-324], 1.0 + ulp),
            (&[1e308, 1e308, -1e308], 1e308),
            (&[f64::MAX, f64::MAX], f64::INFINITY),
            (&[f64::MIN, f64::MIN], f64::NEG_INFINITY),
            (&[1e300, 1.0, -1e300], 1.0),
            (&[f64::MIN_POSITIVE, -5e-324], f64::MIN_POSITIVE - 5e-324),
        ];
        for (values, wanted) in cases {
            assert_eq!(sum64(values), *wanted, "{values:?}");
        }
    }

    #[test]
    fn a_mean_is_rounded_once() {
        let mean = |values: &[f32], count: u64| {
            let mut sum = FixedF32::new();
            values.iter().for_each(|&value| sum.add_single(value));
            sum.mean(count)
        };
        let big = 9_007_199_254_740_992.0_f32;
        let tiny = f32::from_bits(1);
        for (values, count, wanted) in [
            // The exact sum is 2^53 + 1, which is no float64; a third of it is one.
            (&[big, 1.0, 0.0][..], 3, 3_002_399_751_580_331.0),
            (&[-big, -1.0, 0.0], 3, -3_002_399_751_580_331.0),
            (&[1.0], 3, 1.0 / 3.0),
            (&[0.0, -0.0], 2, 0.0),
            (&[tiny], 1, f64::from(tiny)),
            (&[tiny], u64::MAX, f64::from(tiny) * 2_f64.powi(-64)),
            (&[f32::MAX, f32::MAX], 2, f64::from(f32::MAX)),
        ] {
            assert_eq!(mean(values, count).to_bits(), wanted.to_bits(), "{values:?} / {count}");
        }
    }

    #[test]
    fn carries_settle_in_time() {
        let mut sum = FixedF32::new();
        sum.added = CARRY_MAX - 2;
        for _ in 0..4 {
            sum.add(f64::from(f32::MAX));
        }
        assert_eq!(sum.round(), 4.0 * f64::from(f32::MAX));
    }

    proptest! {
        #[test]
        fn two_values_round_like_the_machine(a in any::<f64>(), b in any::<f64>()) {
            if a.is_finite() && b.is_finite() {
                prop_assert_eq!(sum64(&[a, b]), a + b);
            }
        }

        #[test]
        fn any_order_and_any_cut_agree(values in prop::collection::vec(any::<f64>(), 0..40), cut in 0_usize..40) {
            let values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
            let cut = cut.min(values.len());
            let whole = sum64(&values);
            let mut first = FixedF64::new();
            let mut second = FixedF64::new();
            values[..cut].iter().for_each(|&v| first.add(v));
            values[cut..].iter().rev().for_each(|&v| second.add(v));
            second.merge(&first);
            prop_assert_eq!(second.round().to_bits(), whole.to_bits());
        }

        #[test]
        fn a_sum_and_its_negation_cancel(values in prop::collection::vec(any::<f64>(), 0..40)) {
            let values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
            let both: Vec<f64> = values.iter().copied().chain(values.iter().map(|v| -v)).collect();
            prop_assert_eq!(sum64(&both).to_bits(), 0.0_f64.to_bits());
        }
    }
}
