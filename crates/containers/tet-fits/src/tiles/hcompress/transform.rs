//! The inverse transform: sums and differences of blocks of 2 x 2 become their four values, level by level.
//!
//! ```text
//!   sums of the level before | differences along columns        one of each is a block of 2 x 2; blocks at the
//!   differences along rows   | differences along both           edge have less, and zeros for what they lack
//! ```

use std::num::Wrapping;

use tet_codec::Result;

use super::block::{Block, rounded};
use super::smooth::{self, Neighbors};
use super::{Number, Table, levels};

/// The values whose coefficients these are. Smoothing changes a coefficient by at most `change_max`.
pub(super) fn inverse(coefficients: &Table, change_max: Option<Number>) -> Result<Table> {
    let count = levels(coefficients.rows.max(coefficients.columns));
    let mut sums = Table::new(1, 1)?;
    let total = coefficients.values.first().copied().unwrap_or_default();
    sums.values = vec![rounded(total, Wrapping(2_i64) << level_bits(count))];
    for level in (0..count).rev() {
        sums = step(coefficients, &sums, level, change_max)?;
    }
    Ok(sums)
}

fn level_bits(level: u32) -> usize {
    super::super::index(level.into())
}

/// The values of the next level: `level` of them follow.
fn step(
    coefficients: &Table,
    sums: &Table,
    level: u32,
    change_max: Option<Number>,
) -> Result<Table> {
    let extent = |extent: usize| extent.div_ceil(1 << level);
    let mut values = Table::new(extent(coefficients.rows), extent(coefficients.columns))?;
    let (rows, columns) = (values.rows, values.columns);
    let unit = Wrapping(1_i64) << level_bits(level);
    let difference = |row: usize, column: usize| {
        let is_inside = row < rows && column < columns;
        if is_inside { coefficients.get(row, column).unwrap_or_default() } else { Wrapping(0) }
    };
    for (row, pair) in values.values.chunks_mut(2 * columns).enumerate() {
        let (upper, lower) = pair.split_at_mut(columns);
        let mut lower = lower.chunks_mut(2);
        for (column, upper) in upper.chunks_mut(2).enumerate() {
            let mut block = Block {
                sum: sums.get(row, column).unwrap_or_default(),
                rows: difference(sums.rows + row, column),
                columns: difference(row, sums.columns + column),
                both: difference(sums.rows + row, sums.columns + column),
            };
            if let Some(change_max) = change_max {
                smooth::smooth(&mut block, &Neighbors::new(sums, row, column), change_max);
            }
            let [first, second] = block.values(unit);
            upper.iter_mut().zip(first).for_each(|(to, value)| *to = value);
            let lower = lower.next().unwrap_or_default();
            lower.iter_mut().zip(second).for_each(|(to, value)| *to = value);
        }
    }
    Ok(values)
}
