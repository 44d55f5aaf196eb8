//! Compensated float64: the sum and, beside it, what rounding took away.

use multiversion::multiversion;

use super::exact::{add_lanes, padded};
use crate::element::LANES;

/// Elements folded between two looks at whether the sum is still finite.
pub(super) const BLOCK: usize = 1024;

/// `a + b` and exactly what its rounding lost.
#[inline(always)]
pub(super) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_seen = sum - a;
    let lost = (a - (sum - b_seen)) + (b - b_seen);
    (sum, lost)
}

/// A running sum with its lost part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pair {
    pub(super) sum: f64,
    pub(super) lost: f64,
}

impl Pair {
    #[inline(always)]
    pub(super) fn plus(self, other: Self) -> Self {
        let (sum, lost) = two_sum(self.sum, other.sum);
        Self { sum, lost: lost + (self.lost + other.lost) }
    }

    pub(super) fn is_finite(self) -> bool {
        self.sum.is_finite() && self.lost.is_finite()
    }
}

/// The compensated sum of one block; not finite when an element or a partial sum is not.
#[inline(always)]
fn sum_block(block: &[f64]) -> Pair {
    let mut sums = [0_f64; LANES];
    let mut losts = [0_f64; LANES];
    let mut step = |row: &[f64; LANES]| {
        for i in 0..LANES {
            let (sum, lost) = two_sum(sums[i], row[i]);
            sums[i] = sum;
            losts[i] += lost;
        }
    };
    let (rows, tail) = block.as_chunks::<LANES>();
    rows.iter().for_each(&mut step);
    if !tail.is_empty() {
        step(&padded(tail));
    }
    let mut lost = add_lanes(losts);
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            let (sum, more) = two_sum(sums[i], sums[i + half]);
            sums[i] = sum;
            lost += more;
        }
        half /= 2;
    }
    Pair { sum: sums[0], lost }
}

/// Adds whole blocks to `pair` as long as all stays finite; gives the elements not yet added.
#[multiversion(targets("x86_64+avx+avx2"))]
pub(super) fn fold_blocks<'a>(elements: &'a [f64], pair: &mut Pair) -> &'a [f64] {
    let mut rest = elements;
    while !rest.is_empty() {
        let (block, after) = rest.split_at(rest.len().min(BLOCK));
        let next = pair.plus(sum_block(block));
        if !next.is_finite() {
            return rest;
        }
        *pair = next;
        rest = after;
    }
    rest
}
