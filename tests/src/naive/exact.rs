//! A sum of doubles without any rounding until the end.

/// Bits below the binary point: the smallest double is 2^-1074.
const FRACTION_BITS: u32 = 1074;
/// Words of the number: 1074 bits of fraction, 1024 of integer, the rest for carries and the sign.
const WORD_COUNT: usize = 40;
/// Bits of a double's mantissa, the hidden one included.
const MANTISSA_BITS: u32 = 53;

/// The exact sum of doubles, as a fixed-point number in two's complement, low word first.
#[derive(Clone, Debug, Default)]
pub struct ExactSum {
    words: Words,
    /// The sum of the infinities and NaN among the elements, by plain addition.
    special: Option<f64>,
}

#[derive(Clone, Debug)]
struct Words([u64; WORD_COUNT]);

impl Default for Words {
    fn default() -> Self {
        Words([0; WORD_COUNT])
    }
}

impl ExactSum {
    /// Adds one element.
    pub fn add(&mut self, element: f64) {
        if !element.is_finite() {
            self.special = Some(self.special.unwrap_or(0.0) + element);
            return;
        }
        let bits = element.to_bits();
        let exponent = ((bits >> (MANTISSA_BITS - 1)) & 0x7ff) as u32;
        let fraction = bits & ((1 << (MANTISSA_BITS - 1)) - 1);
        let hidden = u64::from(exponent != 0) << (MANTISSA_BITS - 1);
        // The mantissa counts units of 2^-1074, shifted up by the exponent.
        let shift = exponent.max(1) - 1;
        let mantissa = u128::from(fraction | hidden) << (shift % 64);
        let at = (shift / 64) as usize;
        let low = (mantissa & u128::from(u64::MAX)) as u64;
        let high = (mantissa >> 64) as u64;
        if element.is_sign_negative() {
            self.words.subtract(at, [low, high]);
        } else {
            self.words.add(at, [low, high]);
        }
    }

    /// The double nearest to the sum, ties to even; infinite past the largest double.
    ///
    /// With an infinity or NaN among the elements, what plain addition gives.
    #[must_use]
    pub fn round(&self) -> f64 {
        if let Some(special) = self.special {
            return special;
        }
        let (magnitude, negative) = self.magnitude();
        let rounded = magnitude.round(0);
        if negative { -rounded } else { rounded }
    }

    /// The double nearest to the sum divided by `count`, which is not 0; of specials as above.
    #[must_use]
    pub fn mean(&self, count: u64) -> f64 {
        if let Some(special) = self.special {
            return special;
        }
        let (magnitude, negative) = self.magnitude();
        // A word more below: enough digits that the last can tell of all that follow.
        let (mut quotient, mut rest) = (Words::default(), 0);
        for at in (0..WORD_COUNT * 64).rev() {
            let bit = at.checked_sub(64).map_or(0, |at| u128::from(magnitude.bit(at as u32)));
            rest = rest << 1 | bit;
            if u128::from(count) <= rest {
                rest -= u128::from(count);
                quotient.0[at / 64] |= 1 << (at % 64);
            }
        }
        quotient.0[0] |= u64::from(rest != 0);
        let rounded = quotient.round(64);
        if negative { -rounded } else { rounded }
    }

    /// The sum without its sign; whether there is one.
    fn magnitude(&self) -> (Words, bool) {
        if self.words.0[WORD_COUNT - 1] >> 63 == 0 {
            return (self.words.clone(), false);
        }
        let mut magnitude = Words::default();
        for (at, &word) in self.words.0.iter().enumerate() {
            magnitude.subtract(at, [word, 0]);
        }
        (magnitude, true)
    }
}

impl Words {
    fn add(&mut self, at: usize, value: [u64; 2]) {
        let mut carry = false;
        for (place, word) in self.0.iter_mut().enumerate().skip(at) {
            let more = value.get(place - at).copied().unwrap_or(0);
            let (sum, over) = word.overflowing_add(more);
            let (sum, over_again) = sum.overflowing_add(u64::from(carry));
            *word = sum;
            carry = over || over_again;
        }
    }

    fn subtract(&mut self, at: usize, value: [u64; 2]) {
        let mut borrow = false;
        for (place, word) in self.0.iter_mut().enumerate().skip(at) {
            let less = value.get(place - at).copied().unwrap_or(0);
            let (rest, under) = word.overflowing_sub(less);
            let (rest, under_again) = rest.overflowing_sub(u64::from(borrow));
            *word = rest;
            borrow = under || under_again;
        }
    }

    fn bit(&self, at: u32) -> u64 {
        self.0[(at / 64) as usize] >> (at % 64) & 1
    }

    /// The nearest double to a number that is not negative, with so many bits below 2^-1074.
    fn round(&self, below: u32) -> f64 {
        let Some(top) = (0..WORD_COUNT as u32 * 64).rev().find(|&at| self.bit(at) == 1) else {
            return 0.0;
        };
        // The lowest bit that is kept; all bits are kept of a number this small.
        let lowest = (top + 1).saturating_sub(MANTISSA_BITS).max(below);
        let mut mantissa = (lowest..=top).rev().fold(0, |kept, at| kept << 1 | self.bit(at));
        if 0 < lowest {
            let half = self.bit(lowest - 1) == 1;
            let more = (0..lowest - 1).any(|at| self.bit(at) == 1);
            mantissa += u64::from(half && (more || mantissa & 1 == 1));
        }
        scale(mantissa, lowest - below)
    }
}

/// `mantissa * 2^(shift - 1074)`, exactly or infinite. The mantissa is at most 2^53.
fn scale(mantissa: u64, shift: u32) -> f64 {
    if mantissa < 1 << (MANTISSA_BITS - 1) {
        return f64::from_bits(mantissa);
    }
    let (mantissa, shift) = match mantissa >> MANTISSA_BITS {
        0 => (mantissa, shift),
        _ => (mantissa >> 1, shift + 1),
    };
    // With its hidden bit set the number's biased exponent is one more than its shift.
    let exponent = u64::from(shift) + 1;
    let bits = (mantissa & ((1 << (MANTISSA_BITS - 1)) - 1)) | exponent << (MANTISSA_BITS - 1);
    if u64::from(FRACTION_BITS) + 972 < exponent { f64::INFINITY } else { f64::from_bits(bits) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(elements: &[f64]) -> f64 {
        let mut sum = ExactSum::default();
        elements.iter().for_each(|&element| sum.add(element));
        sum.round()
    }

    #[test]
    fn hard_sums_are_right() {
        let (tiny, max, half_step) = (f64::from_bits(1), f64::MAX, 2f64.powi(970));
        for (elements, wanted) in [
            (vec![], 0.0),
            (vec![1e100, 1.0, -1e100], 1.0),
            (vec![0.1; 10], 1.0),
            (vec![tiny; 3], f64::from_bits(3)),
            (vec![tiny, -tiny], 0.0),
            (vec![max, max, -max], max),
            (vec![max, max], f64::INFINITY),
            (vec![-max, -max], f64::NEG_INFINITY),
            (vec![f64::MIN_POSITIVE, -tiny], f64::from_bits((1 << 52) - 1)),
            // Halfway between two doubles goes to the even one, and a hair decides.
            (vec![9_007_199_254_740_992.0, 1.0], 9_007_199_254_740_992.0),
            (vec![9_007_199_254_740_992.0, 1.0, tiny], 9_007_199_254_740_994.0),
            (vec![9_007_199_254_740_994.0, 1.0], 9_007_199_254_740_996.0),
            (vec![9_007_199_254_740_994.0, 1.0, -tiny], 9_007_199_254_740_994.0),
            // Half a step past the largest double is infinite, a hair less is not.
            (vec![max, half_step], f64::INFINITY),
            (vec![max, half_step, -tiny], max),
        ] {
            assert_eq!(sum(&elements).to_bits(), f64::to_bits(wanted), "{elements:?}");
        }
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        let mut odd = ExactSum::default();
        [9_007_199_254_740_992.0, 1.0].into_iter().for_each(|element| odd.add(element));
        assert_eq!(odd.mean(3), 3_002_399_751_580_331.0);
        let mut least = ExactSum::default();
        least.add(-tiny);
        assert_eq!((least.mean(1), least.mean(2), least.mean(u64::MAX)), (-tiny, -0.0, -0.0));
        least.add(-tiny * 2.0);
        assert_eq!((least.mean(2), least.mean(4)), (-tiny * 2.0, -tiny));
        assert_eq!(sum(&[f64::NEG_INFINITY, 5.0]), f64::NEG_INFINITY);
        assert!(sum(&[f64::NAN, f64::INFINITY]).is_nan());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn one_element_is_its_own_sum(element in any::<f64>()) {
            prop_assert_eq!(sum(&[element, 0.0]), element + 0.0);
        }

        #[test]
        fn sums_of_small_integers_are_those_of_integers(
            elements in proptest::collection::vec(-(1i64 << 52)..1 << 52, 0..40),
            shift in -900i32..900,
        ) {
            let scale = 2f64.powi(shift);
            let floats: Vec<f64> = elements.iter().map(|&it| it as f64 * scale).collect();
            let wanted: i128 = elements.iter().map(|&it| i128::from(it)).sum();
            prop_assert_eq!(sum(&floats), wanted as f64 * scale);
        }

        #[test]
        fn two_elements_round_as_one_addition_does(a in any::<f64>(), b in any::<f64>()) {
            let (found, wanted) = (sum(&[a, b]), a + b);
            prop_assert!(found == wanted || (found.is_nan() && wanted.is_nan()), "{} {}", found, wanted);
        }

        #[test]
        fn order_does_not_matter(mut elements in proptest::collection::vec(any::<f64>(), 0..20)) {
            elements.retain(|element| element.is_finite());
            let forward = sum(&elements);
            elements.reverse();
            prop_assert_eq!(forward.to_bits(), sum(&elements).to_bits());
        }
    }
}
