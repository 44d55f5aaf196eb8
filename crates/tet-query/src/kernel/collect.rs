//! Order statistics of many cells: all elements are kept, then put in order cell by cell.

use std::cell::OnceCell;

use super::extrema::count_nan;
use super::rank::Numeric;
use super::{At, Kernel, Lanes, Setup, floats_or_null};
use crate::error::Result;
use crate::interpolation::{Between, quantile_positions, select};
use crate::op::NanPolicy;
use crate::value::Values;

/// Lanes whose elements are brought together at once.
const SPAN: usize = 64;
/// At most this many elements list their cells one by one: two parts, their own and one for those
/// behind them, take no less.
const FEW: usize = 2 * size_of::<CellRows>() / size_of::<u32>();

/// The quantiles [`Setup::q`] of every cell; null where there is no element.
#[derive(Debug)]
pub(crate) struct Collect<T> {
    cell_count: usize,
    q: Vec<f64>,
    between: Between,
    nan: NanPolicy,
    elements: Vec<T>,
    /// Runs of the elements, in order.
    parts: Vec<CellRows>,
    /// The cells of scattered elements, in order.
    cells: Vec<u32>,
    nan_count: u64,
    /// The elements cell by cell, arranged on demand and dropped by the next fold.
    arranged: OnceCell<Arranged<T>>,
}

/// Rows of neighboring cells; without lanes as many elements as rows, each of its own cell.
#[derive(Clone, Copy, Debug)]
struct CellRows {
    cell: usize,
    lanes: usize,
    rows: usize,
}

impl CellRows {
    const fn is_scattered(self) -> bool {
        self.lanes == 0
    }
}

/// Elements cell by cell.
#[derive(Debug)]
struct Arranged<T> {
    /// Where each cell starts, and where the last one ends.
    starts: Vec<usize>,
    elements: Vec<T>,
}

impl<T: Numeric> Collect<T> {
    /// Keeps a run of one cell.
    fn keep(&mut self, cell: usize, run: &[T]) {
        self.arranged.take();
        self.elements.extend_from_slice(run);
        match self.parts.last_mut() {
            Some(part) if part.cell == cell && part.lanes == 1 => part.rows += run.len(),
            _ => self.lay(CellRows { cell, lanes: 1, rows: run.len() }),
        }
    }

    /// Lists the cells of the elements kept last, in at most 4 bytes for each.
    fn lay(&mut self, part: CellRows) {
        let CellRows { cell, lanes, rows } = part;
        let (count, end) = (lanes * rows, u32::try_from(cell + lanes));
        if count == 0 {
            return;
        }
        if FEW < count || end.is_err() {
            return self.parts.push(part);
        }
        let cells = (0..rows).flat_map(|_| cell..cell + lanes);
        self.cells.extend(cells.map(|cell| cell as u32));
        match self.parts.last_mut() {
            Some(part) if part.is_scattered() => part.rows += count,
            _ => self.parts.push(CellRows { cell: 0, lanes: 0, rows: count }),
        }
    }

    fn count_nan(&mut self, elements: &[T]) {
        if T::DTYPE.is_float() {
            self.nan_count += count_nan(elements);
        }
    }

    fn arranged(&self) -> &Arranged<T> {
        let arrange = || arrange(self.cell_count, &self.elements, &self.parts, &self.cells);
        self.arranged.get_or_init(arrange)
    }

    /// Writes the quantiles of a cell; `keys` is room.
    fn finish_cell(&self, cell: &[T], keys: &mut Vec<T::Key>, values: &mut Vec<Option<f64>>) {
        keys.clear();
        let numbers = cell.iter().filter(|element| element.nan_mask() == T::ZERO);
        keys.extend(numbers.map(|element| element.key()));
        let spoiled = self.nan == NanPolicy::Propagate && keys.len() < cell.len();
        if spoiled || keys.is_empty() {
            let value = spoiled.then_some(f64::NAN);
            return values.extend(self.q.iter().map(|_| value));
        }
        let places = quantile_positions(keys.len() as u64, &self.q, self.between);
        let wanted = places.iter().flat_map(|place| [place.low as usize, place.high as usize]);
        let mut wanted: Vec<usize> = wanted.collect();
        wanted.sort_unstable();
        wanted.dedup();
        select(keys, &wanted);
        let value = |at: u64| T::from_key(keys[at as usize]).wide();
        values.extend(places.iter().map(|place| Some(place.value(value))));
    }
}

/// Puts elements together cell by cell, those of a cell in the order they came in.
fn arrange<T: Numeric>(
    cell_count: usize,
    elements: &[T],
    parts: &[CellRows],
    cells: &[u32],
) -> Arranged<T> {
    let mut starts = vec![0; cell_count + 1];
    cells.iter().for_each(|&cell| starts[cell as usize + 1] += 1);
    for part in parts {
        let counts = &mut starts[part.cell + 1..][..part.lanes];
        counts.iter_mut().for_each(|count| *count += part.rows);
    }
    let mut start = 0;
    for count in &mut starts {
        start += *count;
        *count = start;
    }
    let mut next = starts[..cell_count].to_vec();
    let mut arranged = vec![T::zeroed(); elements.len()];
    let (mut rest, mut cells) = (elements, cells.iter());
    for &part in parts {
        let CellRows { cell, lanes, rows } = part;
        let (here, after) = rest.split_at(lanes.max(1) * rows);
        rest = after;
        if lanes == 1 {
            arranged[next[cell]..][..rows].copy_from_slice(here);
            next[cell] += rows;
            continue;
        }
        if part.is_scattered() {
            for (&element, &cell) in here.iter().zip(&mut cells) {
                arranged[next[cell as usize]] = element;
                next[cell as usize] += 1;
            }
            continue;
        }
        for first in (0..lanes).step_by(SPAN) {
            let span = first..lanes.min(first + SPAN);
            for row in here.chunks_exact(lanes) {
                for (lane, &element) in span.clone().zip(&row[span.clone()]) {
                    arranged[next[cell + lane]] = element;
                    next[cell + lane] += 1;
                }
            }
        }
    }
    Arranged { starts, elements: arranged }
}

impl<T: Numeric> Kernel<T> for Collect<T> {
    const KEEPS: bool = true;

    fn width(setup: &Setup) -> usize {
        setup.q.len()
    }

    fn new(cell_count: usize, setup: &Setup) -> Self {
        Self {
            cell_count,
            q: setup.q.clone(),
            between: setup.between,
            nan: setup.nan,
            elements: Vec::new(),
            parts: Vec::new(),
            cells: Vec::new(),
            nan_count: 0,
            arranged: OnceCell::new(),
        }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        self.count_nan(elements);
        self.keep(at.cell, elements);
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        self.arranged.take();
        for row in lanes.rows(elements) {
            self.count_nan(row);
            self.elements.extend_from_slice(row);
        }
        self.lay(CellRows { cell: at.cell, lanes: lanes.count, rows: lanes.rows });
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        let Arranged { starts, elements } = later.arranged();
        let run = &elements[starts[from]..starts[from + 1]];
        self.count_nan(run);
        self.keep(cell, run);
    }

    fn merge(&mut self, later: Self) {
        self.arranged.take();
        self.elements.extend(later.elements);
        self.parts.extend(later.parts);
        self.cells.extend(later.cells);
        self.nan_count += later.nan_count;
    }

    fn nan_count(&self) -> Option<u64> {
        T::DTYPE.is_float().then_some(self.nan_count)
    }

    fn finish(self) -> Result<Values> {
        let Arranged { starts, elements } = self.arranged();
        let mut values = Vec::with_capacity(self.cell_count * self.q.len());
        let mut keys = Vec::new();
        for cell in starts.windows(2) {
            self.finish_cell(&elements[cell[0]..cell[1]], &mut keys, &mut values);
        }
        Ok(floats_or_null(values.into_iter()))
    }
}

#[cfg(test)]
mod tests;
