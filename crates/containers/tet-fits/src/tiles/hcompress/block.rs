//! A block of 2 x 2 values: its sum and differences, and back.

use std::num::Wrapping;

use super::Number;

/// The sum and the differences of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) sum: Number,
    /// The second row less the first.
    pub(super) rows: Number,
    /// The second column less the first.
    pub(super) columns: Number,
    pub(super) both: Number,
}

impl Block {
    /// Its two rows of two values. The difference along both axes is a multiple of the unit, those along one axis
    /// are stored as multiples of two units, sums of four: the bits below are equal, or follow from the others.
    pub(super) fn values(self, unit: Number) -> [[Number; 2]; 2] {
        let twice = unit << 1;
        let both = rounded(self.both, unit);
        let low = both & unit;
        let rows = nearer_zero(rounded(self.rows, twice), low);
        let columns = nearer_zero(rounded(self.columns, twice), low);
        let next = (both ^ rows ^ columns) & twice;
        let sum = match (self.sum.0 >= 0, low.0 == 0) {
            (true, _) => self.sum + low - next,
            (false, true) => self.sum + next,
            (false, false) => self.sum + low - next,
        };
        // The last values are pixels, which are not multiples of two.
        let shift = if unit.0 == 1 { 2 } else { 1 };
        [
            [(sum - rows - columns + both) >> shift, (sum - rows + columns - both) >> shift],
            [(sum + rows - columns - both) >> shift, (sum + rows + columns + both) >> shift],
        ]
    }
}

/// The nearest multiple of a power of two; of two that are equally near, the one that is greater for numbers from
/// zero and less for others.
pub(super) fn rounded(value: Number, unit: Number) -> Number {
    let half = unit >> 1;
    let added = if value.0 >= 0 || unit.0 == 1 { half } else { half - Wrapping(1) };
    (value + added) & -unit
}

/// The value, nearer to zero.
fn nearer_zero(value: Number, by: Number) -> Number {
    if value.0 >= 0 { value - by } else { value + by }
}
