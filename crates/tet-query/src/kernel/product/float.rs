//! Products of floats: a mantissa between 1 and 2, and an exponent that no order of the elements
//! can overflow.
//!
//! Zeros, infinities and NaN are noted and multiply by 1, with their signs; what they make of the
//! product is decided at the end.

use multiversion::multiversion;

use crate::element::LANES;
use crate::element::Widened;
use crate::error::Result;
use crate::kernel::special::{Float, Found, Specials};
use crate::kernel::strip::Strip;
use crate::kernel::sum::power_of_two;
use crate::kernel::{At, Kernel, Lanes, Setup, floats};
use crate::value::Values;

/// Elements multiplied in lanes: a product of 256 mantissas is below 2^256.
const BLOCK: usize = 256 * LANES;
/// Lanes of a strip multiplied together.
const N: usize = 8;

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
    /// Of a float that is neither zero nor infinite nor NaN.
    fn of(value: f64) -> Self {
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

/// Whether the exponent of a float is all it says: not for 0, denormals, infinities, NaN.
#[inline(always)]
fn is_plain(value: f64) -> bool {
    let exponent = value.to_bits() >> FRACTION_BITS & EXPONENT_MAX;
    0 < exponent && exponent < EXPONENT_MAX
}

/// Products.
#[derive(Debug)]
pub(crate) struct FloatProduct {
    mantissas: Vec<f64>,
    exponents: Vec<i64>,
    zeros: Vec<bool>,
    specials: Specials,
    room: Vec<f32>,
}

impl FloatProduct {
    fn factor(&self, cell: usize) -> Factor {
        Factor { mantissa: self.mantissas[cell], exponent: self.exponents[cell] }
    }

    #[inline]
    fn multiply(&mut self, cell: usize, by: Factor) {
        let product = self.factor(cell).times(by);
        (self.mantissas[cell], self.exponents[cell]) = (product.mantissa, product.exponent);
    }

    fn multiply_any(&mut self, cell: usize, value: f64) {
        let (nan, infinite) = value.look();
        if nan || infinite != 0 {
            let mut found = Found::default();
            found.add(u64::from(nan), infinite);
            self.specials.note(cell, found);
        }
        self.zeros[cell] |= value == 0.0;
        // The sign of a NaN says nothing.
        if infinite != 0 || value == 0.0 {
            self.multiply(cell, Factor { mantissa: 1.0_f64.copysign(value), exponent: 0 });
        } else if !nan {
            self.multiply(cell, Factor::of(value));
        }
    }

    fn product(&self, cell: usize) -> f64 {
        let infinite = self.specials.has_infinity(cell);
        let sign = self.mantissas[cell];
        match (self.zeros[cell], infinite) {
            _ if self.specials.spoils(cell) => f64::NAN,
            (true, true) => f64::NAN,
            (true, false) => 0.0_f64.copysign(sign),
            (false, true) => f64::INFINITY.copysign(sign),
            (false, false) => self.factor(cell).value(),
        }
    }
}

impl<T: Widened<Wide: Into<f64>>> Kernel<T> for FloatProduct {
    fn new(cell_count: usize, setup: &Setup) -> Self {
        Self {
            mantissas: vec![1.0; cell_count],
            exponents: vec![0; cell_count],
            zeros: vec![false; cell_count],
            specials: Specials::new(cell_count, setup.nan),
            room: vec![0.0; T::ROOM_LEN],
        }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        let mut room = std::mem::take(&mut self.room);
        let len = if T::ROOM_LEN > 0 { T::ROOM_LEN.min(BLOCK) } else { BLOCK };
        for block in elements.chunks(len) {
            let block = T::wide_all(block, &mut room);
            let (rows, tail) = block.as_chunks::<LANES>();
            let (mut mantissas, mut exponents) = ([1.0; LANES], [0; LANES]);
            if multiply_rows(&mut mantissas, &mut exponents, rows) {
                for (mantissa, exponent) in mantissas.into_iter().zip(exponents) {
                    let factor = Factor { mantissa: 1.0, exponent };
                    self.multiply(at.cell, factor.times(Factor { mantissa, exponent: 0 }));
                }
            } else {
                let values = rows.as_flattened().iter();
                values.for_each(|&value| self.multiply_any(at.cell, value.into()));
            }
            tail.iter().for_each(|&value| self.multiply_any(at.cell, value.into()));
        }
        self.room = room;
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        for strip in Strip::cut(elements, lanes) {
            for lane in (0..strip.lanes).step_by(N) {
                let first = at.cell + strip.first_lane + lane;
                let cells = first..first + N.min(strip.lanes - lane);
                let mantissas = &mut self.mantissas[cells.clone()];
                if !multiply_lanes(&strip, lane, mantissas, &mut self.exponents[cells.clone()]) {
                    for (i, cell) in cells.enumerate() {
                        let column = strip.column(lane + i);
                        column.for_each(|value| self.multiply_any(cell, value.wide().into()));
                    }
                }
            }
        }
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.multiply(cell, later.factor(from));
        self.zeros[cell] |= later.zeros[from];
        self.specials.take(cell, &later.specials, from);
    }

    fn merge(&mut self, later: Self) {
        for cell in 0..self.mantissas.len() {
            self.multiply(cell, later.factor(cell));
            self.zeros[cell] |= later.zeros[cell];
        }
        self.specials.merge(later.specials);
    }

    fn nan_count(&self) -> Option<u64> {
        Some(self.specials.nan_count())
    }

    fn finish(self) -> Result<Values> {
        Ok(floats((0..self.mantissas.len()).map(|cell| self.product(cell)).collect()))
    }
}

/// Multiplies rows into lanes and says whether all of them are plain.
#[multiversion(targets("x86_64+avx+avx2"))]
fn multiply_rows<V: Copy + Into<f64>>(
    mantissas: &mut [f64; LANES],
    exponents: &mut [i64; LANES],
    rows: &[[V; LANES]],
) -> bool {
    let (mut products, mut sums) = (*mantissas, *exponents);
    let mut plain = [true; LANES];
    for row in rows {
        for i in 0..LANES {
            let value: f64 = row[i].into();
            let (mantissa, exponent) = split(value);
            products[i] *= mantissa;
            sums[i] += exponent;
            plain[i] &= is_plain(value);
        }
    }
    (*mantissas, *exponents) = (products, sums);
    plain.into_iter().all(|plain| plain)
}

/// Multiplies lanes of a strip into cells, or nothing when one is not plain.
#[multiversion(targets("x86_64+avx+avx2"))]
fn multiply_lanes<T: Widened<Wide: Into<f64>>>(
    strip: &Strip<'_, T>,
    lane: usize,
    mantissas: &mut [f64],
    exponents: &mut [i64],
) -> bool {
    let (mut products, mut sums) = ([1.0; N], [0; N]);
    let mut plain = [true; N];
    for row in 0..strip.rows {
        let row = strip.row::<N>(row, lane, T::zeroed());
        for i in 0..N {
            let value: f64 = row[i].wide().into();
            let (mantissa, exponent) = split(value);
            products[i] *= mantissa;
            sums[i] += exponent;
            plain[i] &= is_plain(value);
        }
    }
    if !plain[..mantissas.len()].iter().all(|&plain| plain) {
        return false;
    }
    for (i, (mantissa, exponent)) in mantissas.iter_mut().zip(exponents).enumerate() {
        let (product, more) = split(*mantissa * products[i]);
        *mantissa = product;
        *exponent += sums[i] + more;
    }
    true
}
