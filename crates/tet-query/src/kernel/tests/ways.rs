//! Folds of the same elements in every way that the engine has: runs, lanes, cuts, cells taken.

use super::is_nan;
use crate::element::Element;
use crate::error::Result;
use crate::kernel::{At, Kernel, Lanes, Runs, Scatter, Setup};
use crate::scalar::Scalar;
use crate::value::Values;

/// Rows of lanes; the elements of a lane belong to one cell and count on row by row.
pub(in crate::kernel) struct Ways<'a, T> {
    pub(in crate::kernel) lanes: usize,
    pub(in crate::kernel) elements: &'a [T],
    /// The row at which the elements are cut in two.
    pub(in crate::kernel) cut: usize,
}

impl<T: Element> Ways<'_, T> {
    fn rows(&self) -> usize {
        self.elements.len() / self.lanes
    }

    fn cut(&self) -> usize {
        self.cut.min(self.rows())
    }

    fn column(&self, lane: usize) -> Vec<T> {
        self.elements.iter().skip(lane).step_by(self.lanes).copied().collect()
    }

    /// Some rows of every lane as a run each.
    fn runs<K: Kernel<T>>(&self, setup: &Setup, rows: std::ops::Range<usize>) -> K {
        let mut kernel = K::new(self.lanes, setup);
        for cell in 0..self.lanes {
            let at = At { cell, index: rows.start as u64 };
            kernel.fold_run(at, &self.column(cell)[rows.clone()]);
        }
        kernel
    }

    /// Some rows as rows of lanes, with others between them that do not count.
    fn lanes<K: Kernel<T>>(&self, setup: &Setup, rows: std::ops::Range<usize>) -> K {
        let mut kernel = K::new(self.lanes, setup);
        let mut spread = Vec::new();
        for row in self.elements.chunks(self.lanes).take(self.rows()) {
            spread.extend_from_slice(row);
            spread.extend_from_slice(&row[..row.len().min(3)]);
        }
        let distance = self.lanes + self.lanes.min(3);
        let at = At { cell: 0, index: rows.start as u64 };
        let lanes = Lanes { count: self.lanes, rows: rows.len(), distance, index: 1 };
        kernel.fold_lanes(at, lanes, &spread[rows.start * distance..rows.end * distance]);
        kernel
    }

    /// All rows in runs of four, the rest as it comes.
    fn short_runs<K: Kernel<T>>(&self, setup: &Setup) -> K {
        let mut kernel = K::new(self.lanes, setup);
        for cell in 0..self.lanes {
            let column = self.column(cell);
            let runs = Runs { count: column.len() / 4, len: 4, distance: 4, cells: 0, index: 4 };
            kernel.fold_runs(At { cell, index: 0 }, runs, &column);
            let done = runs.count * 4;
            kernel.fold_run(At { cell, index: done as u64 }, &column[done..]);
        }
        kernel
    }

    /// All rows as a run for each of neighboring cells, in one call.
    fn side_by_side<K: Kernel<T>>(&self, setup: &Setup) -> K {
        let mut kernel = K::new(self.lanes, setup);
        let columns: Vec<T> = (0..self.lanes).flat_map(|lane| self.column(lane)).collect();
        let len = self.rows();
        let runs = Runs { count: self.lanes, len, distance: len, cells: 1, index: 0 };
        kernel.fold_runs(At::default(), runs, &columns);
        kernel
    }

    /// Every element for itself, the last lane's cell first.
    fn scattered<K: Kernel<T>>(&self, setup: &Setup) -> K {
        let mut kernel = K::new(self.lanes, setup);
        let cells: Vec<u32> =
            (0..self.lanes as u32).rev().flat_map(|cell| [cell, u32::MAX]).collect();
        for (row, elements) in self.elements.chunks(self.lanes).take(self.rows()).enumerate() {
            let elements: Vec<T> =
                elements.iter().rev().flat_map(|&element| [element; 4]).collect();
            let scatter = Scatter { cells: &cells, stride: 1, distance: 2, index: 0 };
            kernel.fold_scattered(At { cell: 0, index: row as u64 }, scatter, &elements);
        }
        kernel
    }

    /// The results of every way, and how many NaN each met.
    fn all<K: Kernel<T>>(&self, setup: &Setup) -> Vec<(Result<Values>, Option<u64>)> {
        let (rows, cut) = (self.rows(), self.cut());
        let merged = |mut first: K, last: K| {
            first.merge(last);
            first
        };
        let mut taken = K::new(self.lanes, setup);
        let (first, last) = (self.lanes::<K>(setup, 0..cut), self.runs::<K>(setup, cut..rows));
        for lane in (0..self.lanes).rev() {
            taken.take(lane, &last, lane);
            taken.take(lane, &first, lane);
        }
        let mut taken_lanes = K::new(self.lanes, setup);
        taken_lanes.take_lanes(0, &last, 0, self.lanes);
        taken_lanes.take_lanes(0, &first, 0, self.lanes);
        let ways: [K; 11] = [
            self.runs(setup, 0..rows),
            self.lanes(setup, 0..rows),
            self.short_runs(setup),
            merged(self.runs(setup, 0..cut), self.runs(setup, cut..rows)),
            merged(self.lanes(setup, 0..cut), self.lanes(setup, cut..rows)),
            merged(self.lanes(setup, cut..rows), self.runs(setup, 0..cut)),
            merged(self.runs(setup, 0..rows), K::new(self.lanes, setup)),
            taken,
            taken_lanes,
            self.side_by_side(setup),
            self.scattered(setup),
        ];
        let finished = ways.into_iter().map(|kernel| {
            let nan_count = kernel.nan_count();
            (kernel.finish(), nan_count)
        });
        finished.collect()
    }

    /// Holds the result of every way against the elements of its cell.
    pub(in crate::kernel) fn check<K: Kernel<T>>(
        &self,
        setup: &Setup,
        wanted: impl Fn(&[T], Scalar),
    ) {
        let nans = self.elements.iter().filter(|element| is_nan(**element)).count() as u64;
        let columns: Vec<Vec<T>> = (0..self.lanes).map(|lane| self.column(lane)).collect();
        for (values, nan_count) in self.all::<K>(setup) {
            assert_eq!(nan_count, T::DTYPE.is_float().then_some(nans));
            let values = values.expect("the results fit");
            assert_eq!(values.len(), self.lanes);
            for (lane, column) in columns.iter().enumerate() {
                wanted(column, values.get(lane).expect("a cell per lane"));
            }
        }
    }

    /// Whether the results overflow in every way; in one way alone they must not.
    pub(in crate::kernel) fn overflows<K: Kernel<T>>(&self, setup: &Setup) -> bool {
        let all = self.all::<K>(setup);
        let overflows = all.iter().filter(|(values, _)| values.is_err()).count();
        assert!(overflows == 0 || overflows == all.len(), "{overflows} of {}", all.len());
        overflows > 0
    }
}
