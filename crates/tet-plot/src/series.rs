//! A row of elements in columns: what is seen of a line, however many elements a column holds.

use crate::cells::Cells;
use crate::scale::Extremes;

/// The elements of one column of a line: joined in this order they cover what all of them would.
///
/// ```
/// let mut fold = tet_plot::SeriesFold::new(4, 1);
/// fold.extend(&[2.0, 9.0, f64::NAN, 4.0]);
/// let column = fold.finish().columns[0];
/// assert_eq!((column.first, column.low, column.high, column.last), (2.0, 2.0, 9.0, 4.0));
/// assert!(column.has_nan);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesColumn {
    /// The first element.
    pub first: f64,
    /// The least element but for NaN; NaN if there is none.
    pub low: f64,
    /// The greatest element but for NaN; NaN if there is none.
    pub high: f64,
    /// The last element.
    pub last: f64,
    /// Whether an element is NaN.
    pub has_nan: bool,
}

/// A line in columns.
///
/// ```
/// let mut fold = tet_plot::SeriesFold::new(1_000_000, 100);
/// (0..1000_u32).for_each(|at| fold.extend(&[f64::from(at); 1000]));
/// let series = fold.finish();
/// assert_eq!(series.columns.len(), 100);
/// assert_eq!((series.columns[99].low, series.columns[99].high), (990.0, 999.0));
/// ```
#[derive(Debug, Clone)]
pub struct Series {
    /// The columns.
    pub columns: Vec<SeriesColumn>,
    /// The least and the greatest finite element.
    pub extremes: Extremes,
    /// How many elements there are.
    pub len: u64,
}

/// Makes a [`Series`] of elements that come in order.
///
/// ```
/// assert_eq!(tet_plot::SeriesFold::new(7, 100).finish().columns.len(), 7);
/// ```
#[derive(Debug, Clone)]
pub struct SeriesFold {
    cells: Cells,
    at: u64,
    series: Series,
}

impl SeriesFold {
    /// Makes at most `columns_max` columns of `len` elements.
    #[must_use]
    pub fn new(len: u64, columns_max: usize) -> SeriesFold {
        let cells = Cells::new(len, columns_max);
        let (first, low, high, last) = (f64::NAN, f64::NAN, f64::NAN, f64::NAN);
        let empty = SeriesColumn { first, low, high, last, has_nan: false };
        let columns = vec![empty; cells.len()];
        SeriesFold { cells, at: 0, series: Series { columns, extremes: Extremes::default(), len } }
    }

    /// Takes the next elements in; those past the last are ignored.
    pub fn extend(&mut self, values: &[f64]) {
        let (cells, columns) = (&self.cells, &mut self.series.columns);
        self.series.extremes.extend(values);
        let mut at = self.at;
        cells.cut(at, values, |cell, values| {
            let column = &mut columns[cell];
            if at == cells.positions(cell).start {
                column.first = values.first().copied().unwrap_or(f64::NAN);
            }
            at += values.len() as u64;
            // The least of NaN and a number is the number.
            column.low = values.iter().copied().fold(column.low, f64::min);
            column.high = values.iter().copied().fold(column.high, f64::max);
            column.last = values.last().copied().unwrap_or(f64::NAN);
            column.has_nan |= values.iter().any(|value| value.is_nan());
        });
        self.at = at;
    }

    /// The series.
    #[must_use]
    pub fn finish(self) -> Series {
        self.series
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn columns_hold_their_extremes_however_the_elements_come(
            values in prop::collection::vec(prop_oneof![9 => -1e3..1e3_f64, 1 => Just(f64::NAN)], 1..200),
            columns_max in 1..50_usize,
            block_len in 1..70_usize,
        ) {
            let mut fold = SeriesFold::new(values.len() as u64, columns_max);
            values.chunks(block_len).for_each(|block| fold.extend(block));
            let series = fold.finish();
            let count = values.len().min(columns_max);
            prop_assert_eq!(series.columns.len(), count);
            for (nth, column) in series.columns.iter().enumerate() {
                let part = &values[nth * values.len() / count..(nth + 1) * values.len() / count];
                let known = || part.iter().copied().filter(|value| !value.is_nan());
                let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
                prop_assert!(same(column.low, known().reduce(f64::min).unwrap_or(f64::NAN)));
                prop_assert!(same(column.high, known().reduce(f64::max).unwrap_or(f64::NAN)));
                prop_assert!(same(column.first, part[0]) && same(column.last, part[part.len() - 1]));
                prop_assert_eq!(column.has_nan, part.iter().any(|value| value.is_nan()));
            }
        }
    }
}
