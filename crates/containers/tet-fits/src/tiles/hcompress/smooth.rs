//! Smoothing: what was lost of differences is taken from the blocks around, so that edges of blocks are not seen.

use std::num::Wrapping;
use std::ops::RangeInclusive;

use super::block::Block;
use super::{Number, Table};

/// The sums around a block, by row; those beyond the edge are absent.
pub(super) struct Neighbors {
    sums: [[Option<Number>; 3]; 3],
}

impl Neighbors {
    pub(super) fn new(sums: &Table, row: usize, column: usize) -> Neighbors {
        let at = |row: usize, column: usize| {
            // Both count from one before the first.
            let (row, column) = (row.checked_sub(1)?, column.checked_sub(1)?);
            if column < sums.columns { sums.get(row, column) } else { None }
        };
        let line = |row: usize| [at(row, column), at(row, column + 1), at(row, column + 2)];
        Neighbors { sums: [line(row), line(row + 1), line(row + 2)] }
    }
}

/// Changes the differences of a block, each by at most `change_max`.
pub(super) fn smooth(block: &mut Block, around: &Neighbors, change_max: Number) {
    let [[a, above, b], [left, _, right], [c, below, d]] = around.sums;
    if let (Some(above), Some(below)) = (above, below) {
        block.rows = along(block.rows, [above, block.sum, below], change_max);
    }
    if let (Some(left), Some(right)) = (left, right) {
        block.columns = along(block.columns, [left, block.sum, right], change_max);
    }
    if let (Some(a), Some(b), Some(c), Some(d)) = (a, b, c, d) {
        block.both = across(block, [[a, b], [c, d]], change_max);
    }
}

/// A difference that is nearer to the slope of the sums before and after its block, where these increase or decrease.
fn along(difference: Number, [before, here, after]: [Number; 3], change_max: Number) -> Number {
    let (first, second) = (here - before, after - here);
    let most = first.min(second).max(Wrapping(0)) << 2;
    let least = first.max(second).min(Wrapping(0)) << 2;
    nearer(difference, 3, after - before, least..=most, change_max)
}

/// A difference along both axes that is nearer to that of the sums at the corners.
fn across(block: &Block, [[a, b], [c, d]]: [[Number; 2]; 2], change_max: Number) -> Number {
    let zero = Wrapping(0);
    let (rows, columns, sum) = (block.rows << 1, block.columns << 1, block.sum);
    // How far each corner may be from the sum, if the values between are between them.
    let corners = [
        (d - sum, -rows - columns),
        (sum - c, rows - columns),
        (sum - b, columns - rows),
        (a - sum, rows + columns),
    ];
    let [most, least] = [Number::max, Number::min].map(|side: fn(Number, Number) -> Number| {
        corners.map(|(slope, rest)| side(slope, zero) + rest)
    });
    let most = most.into_iter().min().unwrap_or_default() << 4;
    let least = least.into_iter().max().unwrap_or_default() << 4;
    nearer(block.both, 6, d + a - b - c, least..=most, change_max)
}

/// A value that is nearer to `wanted`, which has `bits` bits more and is kept in bounds. Where there is nothing
/// between the bounds, the value stays.
fn nearer(
    value: Number,
    bits: usize,
    wanted: Number,
    bounds: RangeInclusive<Number>,
    change_max: Number,
) -> Number {
    let (least, most) = bounds.into_inner();
    if most <= least {
        return value;
    }
    let change = wanted.clamp(least, most) - (value << bits);
    let change = change / (Wrapping(1_i64) << bits);
    value + change.clamp(-change_max, change_max)
}
