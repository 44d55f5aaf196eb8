//! A matrix of cells: the means of the elements that each of them holds.
//!
//! A cell is the arithmetic mean of its elements, as NumPy's: NaN if one of them is NaN, infinite if one is
//! infinite. So no down-sampling hides a NaN.

use crate::cells::Cells;
use crate::scale::Extremes;

/// A matrix of cells, row-major.
///
/// ```
/// let mut fold = tet_plot::FieldFold::new([2, 4], [2, 2]);
/// fold.extend(&[1.0, 3.0, 5.0, 5.0, 0.0, f64::NAN, 2.0, 4.0]);
/// let field = fold.finish();
/// assert_eq!((field.get(0, 0), field.get(0, 1), field.get(1, 1)), (2.0, 5.0, 3.0));
/// assert!(field.get(1, 0).is_nan());
/// assert_eq!((field.extremes.low, field.extremes.high), (Some(0.0), Some(5.0)));
/// ```
#[derive(Debug, Clone)]
pub struct PlotField {
    /// Rows of cells.
    pub row_count: usize,
    /// Columns of cells.
    pub column_count: usize,
    /// The means, row-major.
    pub values: Vec<f64>,
    /// Of the elements, not of their means: the same whatever the number of cells.
    pub extremes: Extremes,
}

impl PlotField {
    /// The cell of a row and a column; NaN past the end.
    #[must_use]
    pub fn get(&self, row: usize, column: usize) -> f64 {
        let inside = row < self.row_count && column < self.column_count;
        let value = self.values.get(row * self.column_count + column).filter(|_| inside);
        value.copied().unwrap_or(f64::NAN)
    }

    /// The field with rows as columns.
    #[must_use]
    pub fn transposed(&self) -> PlotField {
        let (row_count, column_count) = (self.column_count, self.row_count);
        let at = |nth: usize| self.get(nth % column_count, nth / column_count);
        let values = (0..self.values.len()).map(at).collect();
        PlotField { row_count, column_count, values, extremes: self.extremes }
    }
}

/// Makes a [`PlotField`] of elements that come in row-major order.
///
/// See [`PlotField`] for an example:
///
/// ```
/// let field = tet_plot::FieldFold::new([1000, 1000], [10, 10]).finish();
/// assert_eq!((field.row_count, field.column_count), (10, 10));
/// ```
#[derive(Debug, Clone)]
pub struct FieldFold {
    rows: Cells,
    columns: Cells,
    /// Where the next element is.
    row: u64,
    column: u64,
    field: PlotField,
    is_sampling: bool,
}

impl FieldFold {
    /// Makes at most as many cells as `cells_max` of a matrix of these extents, rows first.
    #[must_use]
    pub fn new(extents: [u64; 2], cells_max: [usize; 2]) -> FieldFold {
        let [rows, columns] = [0, 1].map(|axis| Cells::new(extents[axis], cells_max[axis]));
        let (row_count, column_count) = (rows.len(), columns.len());
        let values = vec![0.0; row_count * column_count];
        let field = PlotField { row_count, column_count, values, extremes: Extremes::default() };
        FieldFold { rows, columns, row: 0, column: 0, field, is_sampling: false }
    }

    /// Makes cells that have the element in their middle instead of a mean.
    ///
    /// ```
    /// let mut fold = tet_plot::FieldFold::sampling([1, 6], [1, 2]);
    /// fold.extend(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    /// assert_eq!(fold.finish().values, [2.0, 5.0]);
    /// ```
    #[must_use]
    pub fn sampling(extents: [u64; 2], cells_max: [usize; 2]) -> FieldFold {
        FieldFold { is_sampling: true, ..FieldFold::new(extents, cells_max) }
    }

    /// Takes the next elements in; those past the last are ignored.
    pub fn extend(&mut self, values: &[f64]) {
        self.field.extremes.extend(values);
        let mut rest = values;
        while !rest.is_empty() && self.row < self.rows.extent() {
            let left = self.columns.extent() - self.column;
            let (run, after) =
                rest.split_at(usize::try_from(left).unwrap_or(usize::MAX).min(rest.len()));
            self.add(run);
            self.column += run.len() as u64;
            if self.column == self.columns.extent() {
                (self.row, self.column) = (self.row + 1, 0);
            }
            rest = after;
        }
    }

    /// Adds elements of one row.
    fn add(&mut self, run: &[f64]) {
        let row = self.rows.cell(self.row);
        let height = len(&self.rows, row);
        if self.is_sampling && self.row != middle(&self.rows, row) {
            return;
        }
        let (columns, first) = (&self.columns, row * self.field.column_count);
        let cells = &mut self.field.values[first..];
        columns.cut(self.column, run, |column, values| {
            if self.is_sampling {
                let start = self.column.max(columns.positions(column).start);
                let at = middle(columns, column).checked_sub(start);
                let value = at.and_then(|at| values.get(usize::try_from(at).ok()?));
                cells[column] = value.copied().unwrap_or(cells[column]);
                return;
            }
            // Parts of the mean, not of the sum: a sum might overflow.
            let weight = 1.0 / (height * len(columns, column));
            cells[column] += values.iter().map(|value| value * weight).sum::<f64>();
        });
    }

    /// The field.
    #[must_use]
    pub fn finish(self) -> PlotField {
        self.field
    }
}

/// The position in the middle of a cell.
fn middle(cells: &Cells, cell: usize) -> u64 {
    let positions = cells.positions(cell);
    positions.start + (positions.end - positions.start).saturating_sub(1) / 2
}

#[allow(clippy::cast_precision_loss, reason = "as near as a float is")]
fn len(cells: &Cells, cell: usize) -> f64 {
    let positions = cells.positions(cell);
    (positions.end - positions.start) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The mean of each cell, by its definition.
    fn naive(
        values: &[f64],
        [rows, columns]: [usize; 2],
        [rows_max, columns_max]: [usize; 2],
    ) -> Vec<f64> {
        let (row_count, column_count) = (rows.min(rows_max), columns.min(columns_max));
        let mut means = Vec::new();
        for cell in 0..row_count * column_count {
            let (row, column) = (cell / column_count, cell % column_count);
            let (mut sum, mut count) = (0.0, 0.0);
            for y in row * rows / row_count..(row + 1) * rows / row_count {
                for x in column * columns / column_count..(column + 1) * columns / column_count {
                    sum += values[y * columns + x];
                    count += 1.0;
                }
            }
            means.push(sum / count);
        }
        means
    }

    fn element() -> impl Strategy<Value = f64> {
        prop_oneof![
            20 => -1e3..1e3_f64,
            1 => Just(f64::NAN),
            1 => Just(f64::INFINITY),
            1 => Just(f64::NEG_INFINITY),
        ]
    }

    proptest! {
        #[test]
        fn cells_are_means_however_the_elements_come(
            (rows, columns, values) in (1..30_usize, 1..30_usize).prop_flat_map(|(rows, columns)| {
                (Just(rows), Just(columns), prop::collection::vec(element(), rows * columns))
            }),
            cells_max in [1..35_usize, 1..35_usize],
            block_len in 1..100_usize,
        ) {
            let mut fold = FieldFold::new([rows as u64, columns as u64], cells_max);
            values.chunks(block_len).for_each(|block| fold.extend(block));
            let field = fold.finish();
            let wanted = naive(&values, [rows, columns], cells_max);
            prop_assert_eq!(field.values.len(), wanted.len());
            for (found, wanted) in field.values.iter().zip(&wanted) {
                let is_near = (found - wanted).abs() <= 1e-9;
                prop_assert!(is_near || found.to_bits() == wanted.to_bits() || (found.is_nan() && wanted.is_nan()), "{found} {wanted}");
            }
            let finite = || values.iter().copied().filter(|value| value.is_finite());
            prop_assert_eq!(field.extremes.low, finite().reduce(f64::min));
            prop_assert_eq!(field.extremes.high, finite().reduce(f64::max));
            prop_assert_eq!(field.extremes.nan_count, values.iter().filter(|value| value.is_nan()).count() as u64);
        }
    }

    #[test]
    fn means_of_the_largest_numbers_are_finite_and_single_elements_exact() {
        let mut fold = FieldFold::new([1, 8], [1, 2]);
        fold.extend(&[f64::MAX; 8]);
        assert_eq!(fold.finish().values, [f64::MAX; 2]);
        let mut fold = FieldFold::new([1, 2], [9, 9]);
        fold.extend(&[0.1, -0.7]);
        assert_eq!(fold.finish().values, [0.1, -0.7]);
    }

    #[test]
    fn a_field_is_transposed() {
        let mut fold = FieldFold::new([2, 3], [9, 9]);
        fold.extend(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let field = fold.finish().transposed();
        assert_eq!((field.row_count, field.column_count), (3, 2));
        assert_eq!(field.values, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }
}
