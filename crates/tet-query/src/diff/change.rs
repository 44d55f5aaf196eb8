//! How large a difference is in all: sums over the pairs of finite elements.
//!
//! ```text
//!   rows of a box -> lanes of sums, each with the part that rounding lost -> exact sums of all boxes -> figures
//! ```
//!
//! The sums of boxes are added exactly and rounded once, so the figures are the same bits in any order of the boxes.

#[cfg(test)]
mod tests;

use half::{bf16, f16};
use multiversion::multiversion;

use crate::kernel::{FixedF64, two_sum};

/// Pairs that are added side by side.
const LANES: usize = 8;
/// Sums over pairs: of squares of a - b, of b and of a, and of a * b.
const SUMS: usize = 4;
/// The sum of squares of b.
const SECOND: usize = 1;

/// How far two datasets are apart in all, over the pairs of which both elements are finite and not missing.
///
/// Tolerances change none of these numbers. Integers are subtracted and multiplied exactly, floats of 32 bits and fewer
/// as float64. Complex numbers count by their parts.
///
/// # Examples
///
/// ```
/// use tet_query::DiffNorms;
///
/// let found = DiffNorms { count: 4, unmeasured: 0, rms: Some(0.5), relative_l2: Some(0.1), cosine: Some(0.995) };
/// assert!(found.relative_l2 < Some(0.2));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiffNorms {
    /// The pairs that count.
    pub count: u64,
    /// Pairs that differ and do not count, because an element is not finite or is missing.
    pub unmeasured: u64,
    /// The root of the mean of the square of a - b; `None` without pairs.
    pub rms: Option<f64>,
    /// The norm of a - b divided by the norm of b: the root of the sum of squares of each; infinite where b is 0, `None`
    /// where both are.
    pub relative_l2: Option<f64>,
    /// The sum of a * b divided by the norms of both; `None` where one of them is 0.
    pub cosine: Option<f64>,
}

impl DiffNorms {
    /// A number that sorts changes, the largest last: elements that are not finite in one dataset alone are larger
    /// than any other change.
    #[must_use]
    pub fn rank(&self) -> f64 {
        if self.unmeasured > 0 { f64::INFINITY } else { self.relative_l2.unwrap_or(0.0) }
    }
}

/// The sums of one box.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BoxSums {
    count: u64,
    sums: [[f64; 2]; SUMS],
}

impl BoxSums {
    /// The sums of pairs of one type; those that `is_missing` are left out.
    pub(super) fn from_pairs<T: Measured>(
        [left, right]: [&[u8]; 2],
        is_missing: Option<&dyn Fn([T; 2]) -> bool>,
    ) -> BoxSums {
        let mut lanes = Lanes::default();
        match is_missing {
            None if left == right => lanes.add_equal::<T>(right),
            None => add_rows::<T>(&mut lanes, left, right),
            Some(is_missing) => add_present(&mut lanes, [left, right], is_missing),
        }
        let row_len = size_of::<[T; LANES]>();
        let padded = (left.len().next_multiple_of(row_len) - left.len()) / size_of::<T>();
        lanes.finish(padded as u64)
    }
}

/// The sums of any number of boxes.
#[derive(Debug)]
pub(super) struct ChangeSums {
    count: u64,
    sums: [FixedF64; SUMS],
    is_finite: [bool; SUMS],
}

impl ChangeSums {
    pub(super) fn new() -> ChangeSums {
        let sums = [const { FixedF64::new() }; SUMS];
        ChangeSums { count: 0, sums, is_finite: [true; SUMS] }
    }

    pub(super) fn add(&mut self, found: &BoxSums) {
        self.count += found.count;
        for (nth, [sum, lost]) in found.sums.iter().enumerate() {
            if sum.is_finite() && lost.is_finite() {
                self.sums[nth].add(*sum);
                self.sums[nth].add(*lost);
            } else {
                self.is_finite[nth] = false;
            }
        }
    }

    /// The figures, next to pairs that differ and are not in the sums.
    #[allow(clippy::cast_precision_loss, reason = "a mean is a double")]
    pub(super) fn finish(&self, unmeasured: u64) -> DiffNorms {
        let sum = |nth: usize| match self.is_finite[nth] {
            true => self.sums[nth].round(),
            false => f64::INFINITY,
        };
        let [apart, right, left] = [sum(0), sum(SECOND), sum(2)].map(f64::sqrt);
        let is_known = |value: &f64| !value.is_nan();
        let norms = left * right;
        DiffNorms {
            count: self.count,
            unmeasured,
            rms: (self.count > 0).then(|| (sum(0) / self.count as f64).sqrt()),
            relative_l2: Some(apart / right).filter(is_known),
            cosine: (norms.is_normal() && sum(3).is_finite())
                .then(|| (sum(3) / norms).clamp(-1.0, 1.0)),
        }
    }
}

/// An element of which differences and products are taken.
pub(super) trait Measured: bytemuck::Pod {
    fn is_finite(self) -> bool;

    /// Terms that a pair adds to the sums: the square of the difference, those of the second and of the first, the
    /// product.
    fn terms(self, other: Self) -> [f64; SUMS];

    /// The square.
    fn square(self) -> f64 {
        self.terms(self)[SECOND]
    }
}

/// Sums side by side, and what their additions lost.
#[derive(Default)]
struct Lanes {
    counts: [u64; LANES],
    sums: [[f64; LANES]; SUMS],
    losts: [[f64; LANES]; SUMS],
}

impl Lanes {
    #[inline(always)]
    fn add_row<T: Measured>(&mut self, left: [T; LANES], right: [T; LANES]) {
        let mut terms = [[0.0; LANES]; SUMS];
        for lane in 0..LANES {
            let (a, b) = (left[lane], right[lane]);
            let counts = a.is_finite() & b.is_finite();
            self.counts[lane] += u64::from(counts);
            let found = a.terms(b);
            for (terms, term) in terms.iter_mut().zip(found) {
                terms[lane] = if counts { term } else { 0.0 };
            }
        }
        for (nth, terms) in terms.iter().enumerate() {
            add_lanes(&mut self.sums[nth], &mut self.losts[nth], terms);
        }
    }

    /// Adds elements that are the same in both datasets.
    fn add_equal<T: Measured>(&mut self, elements: &[u8]) {
        add_squares::<T>(self, elements);
        for nth in 2..SUMS {
            self.sums[nth] = self.sums[SECOND];
            self.losts[nth] = self.losts[SECOND];
        }
    }

    /// One sum of all lanes, always in the same order, without pairs of zeros that filled rows up.
    fn finish(&self, padded: u64) -> BoxSums {
        let count = self.counts.iter().sum::<u64>().saturating_sub(padded);
        let mut found = BoxSums { count, ..BoxSums::default() };
        for (nth, found) in found.sums.iter_mut().enumerate() {
            for (&sum, &lost) in self.sums[nth].iter().zip(&self.losts[nth]) {
                let (total, more) = two_sum(found[0], sum);
                *found = [total, found[1] + (lost + more)];
            }
            if !found[0].is_finite() {
                found[1] = 0.0;
            }
        }
        found
    }
}

#[inline(always)]
fn add_lanes(sums: &mut [f64; LANES], losts: &mut [f64; LANES], terms: &[f64; LANES]) {
    for lane in 0..LANES {
        let (sum, lost) = two_sum(sums[lane], terms[lane]);
        sums[lane] = sum;
        losts[lane] += lost;
    }
}

/// A row of elements; zeros fill up the last one.
#[inline(always)]
fn row<T: Measured>(bytes: &[u8]) -> [T; LANES] {
    if bytes.len() == size_of::<[T; LANES]>() {
        return bytemuck::pod_read_unaligned(bytes);
    }
    let mut row = [T::zeroed(); LANES];
    let elements = bytes.chunks_exact(size_of::<T>());
    row.iter_mut().zip(elements).for_each(|(to, from)| *to = bytemuck::pod_read_unaligned(from));
    row
}

// The lanes live with the caller: with their last steps in sight, the compiler takes them apart.
#[multiversion(targets("x86_64+avx+avx2"))]
fn add_rows<T: Measured>(lanes: &mut Lanes, left: &[u8], right: &[u8]) {
    let row_len = size_of::<[T; LANES]>();
    for (left, right) in left.chunks(row_len).zip(right.chunks(row_len)) {
        lanes.add_row::<T>(row(left), row(right));
    }
}

#[multiversion(targets("x86_64+avx+avx2"))]
fn add_squares<T: Measured>(lanes: &mut Lanes, elements: &[u8]) {
    for bytes in elements.chunks(size_of::<[T; LANES]>()) {
        let row: [T; LANES] = row(bytes);
        let mut squares = [0.0; LANES];
        for lane in 0..LANES {
            let counts = row[lane].is_finite();
            lanes.counts[lane] += u64::from(counts);
            squares[lane] = if counts { row[lane].square() } else { 0.0 };
        }
        add_lanes(&mut lanes.sums[SECOND], &mut lanes.losts[SECOND], &squares);
    }
}

/// Adds pairs of which none is a missing one.
fn add_present<T: Measured>(
    lanes: &mut Lanes,
    [left, right]: [&[u8]; 2],
    is_missing: &dyn Fn([T; 2]) -> bool,
) {
    let row_len = size_of::<[T; LANES]>();
    for (left_bytes, right_bytes) in left.chunks(row_len).zip(right.chunks(row_len)) {
        let [mut left, mut right] = [row::<T>(left_bytes), row::<T>(right_bytes)];
        let pairs = left.iter_mut().zip(&mut right).take(left_bytes.len() / size_of::<T>());
        let mut missing = [0; LANES];
        for (missing, (left, right)) in missing.iter_mut().zip(pairs) {
            if is_missing([*left, *right]) {
                (*left, *right, *missing) = (T::zeroed(), T::zeroed(), 1);
            }
        }
        lanes.add_row(left, right);
        // A pair of zeros was counted in place of a missing one.
        lanes.counts.iter_mut().zip(missing).for_each(|(count, missing)| *count -= missing);
    }
}

/// The terms of two numbers whose difference, squares and product are those of float64.
#[inline(always)]
fn float_terms(a: f64, b: f64) -> [f64; SUMS] {
    let apart = a - b;
    [apart * apart, b * b, a * a, a * b]
}

macro_rules! narrow {
    ($($type:ty, $double:expr, $is_finite:expr);+ $(;)?) => {$(
        impl Measured for $type {
            #[inline(always)]
            fn is_finite(self) -> bool {
                ($is_finite)(self)
            }

            #[inline(always)]
            fn terms(self, other: Self) -> [f64; SUMS] {
                float_terms(($double)(self), ($double)(other))
            }
        }
    )+};
}

// Differences and products of integers of 32 bits are exact in float64, or rounded once.
narrow! {
    f16, f16::to_f64, f16::is_finite;
    bf16, |it: bf16| f64::from(f32::from_bits(u32::from(it.to_bits()) << 16)), bf16::is_finite;
    f32, <f64 as From<f32>>::from, f32::is_finite;
    f64, |it: f64| it, f64::is_finite;
    i8, <f64 as From<i8>>::from, |_| true;
    i16, <f64 as From<i16>>::from, |_| true;
    i32, <f64 as From<i32>>::from, |_| true;
    u8, <f64 as From<u8>>::from, |_| true;
    u16, <f64 as From<u16>>::from, |_| true;
    u32, <f64 as From<u32>>::from, |_| true;
}

macro_rules! integers {
    ($($type:ty),+) => {$(
        impl Measured for $type {
            fn is_finite(self) -> bool {
                true
            }

            #[allow(clippy::cast_precision_loss, reason = "each product is rounded once")]
            fn terms(self, other: Self) -> [f64; SUMS] {
                let (a, b) = (i128::from(self), i128::from(other));
                let product = |a: u128, b: u128| match a.checked_mul(b) {
                    Some(product) => product as f64,
                    None => a as f64 * b as f64,
                };
                let (apart, size_a, size_b) = (a.abs_diff(b), a.unsigned_abs(), b.unsigned_abs());
                let sign = if (a < 0) == (b < 0) { 1.0 } else { -1.0 };
                let both = sign * product(size_a, size_b);
                [product(apart, apart), product(size_b, size_b), product(size_a, size_a), both]
            }
        }
    )+};
}

integers!(i64, u64, i128);

macro_rules! complex {
    ($($part:ty),+) => {$(
        impl Measured for [$part; 2] {
            #[inline(always)]
            fn is_finite(self) -> bool {
                self[0].is_finite() & self[1].is_finite()
            }

            #[inline(always)]
            fn terms(self, other: Self) -> [f64; SUMS] {
                let mut terms = self[0].terms(other[0]);
                let imaginary = self[1].terms(other[1]);
                terms.iter_mut().zip(imaginary).for_each(|(term, more)| *term += more);
                terms
            }
        }
    )+};
}

complex!(f32, f64);
