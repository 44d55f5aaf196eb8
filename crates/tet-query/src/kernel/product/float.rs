//! Products of floats: a mantissa between 1 and 2, and an exponent that no order of the elements
//! can overflow.
//!
//! Zeros, infinities and NaN are noted and multiply by 1, with their signs; what they make of the
//! product is decided at the end.

use multiversion::multiversion;

use crate::element::LANES;
use crate::error::Result;
use crate::kernel::rank::Ranked;
use crate::kernel::special::{Float, NonFinite, Specials};
use crate::kernel::sum::power_of_two;
use crate::kernel::{At, Kernel, Lanes, Setup, floats};
use crate::value::Values;

/// Elements multiplied in lanes, without which memory would wait for a run: a product of 256
/// mantissas is below 2^256.
const BLOCK: usize = 256 * LANES;

const FRACTION_BITS: u32 = 52;
const EXPONENT_MAX: u64 = 0x7ff;
const BIAS: i64 = 1023;
/// All but the exponent.
const MANTISSA: u64 = !(EXPONENT_MAX << FRACTION_BITS);
const ONE: u64 = (BIAS as u64) << FRACTION_BITS;

/// A product `mantissa * 2^exponent`, the mantissa between 1 and 2, with a sign.
#[derive(Clone, Copy, Debug)]
struct Factor {
    mantissa: f64,
    exponent: i64,
}

impl Factor {
    const ONE: Self = Self { mantissa: 1.0, exponent: 0 };

    /// Of a float that is neither zero nor infinite nor NaN.
    fn from_float(value: f64) -> Self {
        let scale = if value.abs() < f64::MIN_POSITIVE { 64 } else { 0 };
        let (mantissa, exponent) = split(value * power_of_two(scale));
        Self { mantissa, exponent: exponent - i64::from(scale) }
    }

    fn times(self, other: Self) -> Self {
        let (mantissa, exponent) = split(self.mantissa * other.mantissa);
        Self { mantissa, exponent: exponent + self.exponent + other.exponent }
    }

    /// Rounded once, to 0 or infinity where it must.
    fn value(self) -> f64 {
        let Factor { mantissa, exponent } = self;
        match i32::try_from(exponent) {
            Ok(exponent @ -1022..=1023) => mantissa * power_of_two(exponent),
            Ok(exponent @ -1080..-1022) => {
                mantissa * power_of_two(exponent + 100) * power_of_two(-100)
            }
            _ if exponent > 0 => f64::INFINITY.copysign(mantissa),
            _ => 0.0_f64.copysign(mantissa),
        }
    }
}

/// Mantissa and exponent of a normal float.
#[inline(always)]
fn split(value: f64) -> (f64, i64) {
    let bits = value.to_bits();
    let exponent = (bits >> FRACTION_BITS & EXPONENT_MAX) as i64 - BIAS;
    (f64::from_bits(bits & MANTISSA | ONE), exponent)
}

/// Whether a float is normal: not 0, denormal, infinite or NaN.
#[inline(always)]
fn is_plain(value: f64) -> bool {
    let exponent = value.to_bits() >> FRACTION_BITS & EXPONENT_MAX;
    0 < exponent && exponent < EXPONENT_MAX
}

/// Products.
#[derive(Debug)]
pub(crate) struct FloatProduct {
    factors: Vec<Factor>,
    zeros: Vec<bool>,
    specials: Specials,
}

impl FloatProduct {
    fn multiply(&mut self, cell: usize, value: f64) {
        let (nan, infinite) = value.look();
        if nan || infinite != 0 {
            let mut found = NonFinite::default();
            found.add(u64::from(nan), infinite);
            self.specials.note(cell, found);
        }
        self.zeros[cell] |= value == 0.0;
        let factor = match value {
            // Its sign has no meaning.
            _ if nan => return,
            _ if infinite != 0 || value == 0.0 => {
                Factor { mantissa: 1.0_f64.copysign(value), ..Factor::ONE }
            }
            _ => Factor::from_float(value),
        };
        self.factors[cell] = self.factors[cell].times(factor);
    }

    fn product(&self, cell: usize) -> f64 {
        let infinite = self.specials.has_infinity(cell);
        let factor = self.factors[cell];
        match (self.zeros[cell], infinite) {
            _ if self.specials.spoils(cell) => f64::NAN,
            (true, true) => f64::NAN,
            (true, false) => 0.0_f64.copysign(factor.mantissa),
            (false, true) => f64::INFINITY.copysign(factor.mantissa),
            (false, false) => factor.value(),
        }
    }
}

impl<T: Ranked> Kernel<T> for FloatProduct {
    fn new(cell_count: usize, setup: &Setup) -> Self {
        Self {
            factors: vec![Factor::ONE; cell_count],
            zeros: vec![false; cell_count],
            specials: Specials::new(cell_count, setup.nan),
        }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        for block in elements.chunks(BLOCK) {
            let (rows, tail) = block.as_chunks();
            let (mut mantissas, mut exponents) = ([1.0; LANES], [0; LANES]);
            let rest = if !rows.is_empty() && multiply_rows(&mut mantissas, &mut exponents, rows) {
                for (mantissa, exponent) in mantissas.into_iter().zip(exponents) {
                    let (mantissa, more) = split(mantissa);
                    let factor = Factor { mantissa, exponent: exponent + more };
                    self.factors[at.cell] = self.factors[at.cell].times(factor);
                }
                tail
            } else {
                block
            };
            rest.iter().for_each(|element| self.multiply(at.cell, element.wide()));
        }
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        for row in lanes.rows(elements) {
            (at.cell..).zip(row).for_each(|(cell, element)| self.multiply(cell, element.wide()));
        }
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.factors[cell] = self.factors[cell].times(later.factors[from]);
        self.zeros[cell] |= later.zeros[from];
        self.specials.take(cell, &later.specials, from);
    }

    fn merge(&mut self, later: Self) {
        (0..self.factors.len()).for_each(|cell| Kernel::<T>::take(self, cell, &later, cell));
    }

    fn nan_count(&self) -> Option<u64> {
        Some(self.specials.nan_count())
    }

    fn finish(self) -> Result<Values> {
        Ok(floats((0..self.factors.len()).map(|cell| self.product(cell)).collect()))
    }
}

/// Multiplies rows into lanes; returns whether all of them are plain.
#[multiversion(targets("x86_64+avx+avx2"))]
fn multiply_rows<T: Ranked>(
    mantissas: &mut [f64; LANES],
    exponents: &mut [i64; LANES],
    rows: &[[T; LANES]],
) -> bool {
    let (mut products, mut sums) = (*mantissas, *exponents);
    let mut plain = [true; LANES];
    for row in rows {
        for i in 0..LANES {
            let value = row[i].wide();
            let (mantissa, exponent) = split(value);
            products[i] *= mantissa;
            sums[i] += exponent;
            plain[i] &= is_plain(value);
        }
    }
    (*mantissas, *exponents) = (products, sums);
    plain.into_iter().all(|plain| plain)
}
