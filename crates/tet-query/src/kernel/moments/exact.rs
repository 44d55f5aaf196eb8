//! Variances of small integers, exactly: count, sum, and sum of squares.

use std::marker::PhantomData;

use super::{Measure, variance};
use crate::error::Result;
use crate::kernel::norm::{Square, Squares};
use crate::kernel::sum::{Integer, IntegerSum};
use crate::kernel::{At, Folded, Kernel, Lanes, Setup, floats_or_null};
use crate::value::Values;

/// Elements that two sums fold while they are in the nearest cache.
const BLOCK: usize = 8192;

/// Variances, or what is made of them, rounded at the end.
#[derive(Debug)]
pub(crate) struct ExactSpread<M> {
    sum: IntegerSum,
    squares: IntegerSum<Squares>,
    folded: Folded,
    ddof: u32,
    measure: PhantomData<M>,
}

impl<T: Integer + Square, M: Measure> Kernel<T> for ExactSpread<M> {
    fn new(cell_count: usize, setup: &Setup) -> Self {
        Self {
            sum: Kernel::<T>::new(cell_count, setup),
            squares: Kernel::<T>::new(cell_count, setup),
            folded: Folded::new(cell_count),
            ddof: setup.ddof,
            measure: PhantomData,
        }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        self.folded.add(at.cell, 1, elements.len() as u64);
        for block in elements.chunks(BLOCK) {
            self.sum.fold_run(at, block);
            self.squares.fold_run(at, block);
        }
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        self.folded.add(at.cell, lanes.count, lanes.rows as u64);
        self.sum.fold_lanes(at, lanes, elements);
        self.squares.fold_lanes(at, lanes, elements);
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        Kernel::<T>::take(&mut self.sum, cell, &later.sum, from);
        Kernel::<T>::take(&mut self.squares, cell, &later.squares, from);
        self.folded.take(cell, &later.folded, from);
    }

    fn merge(&mut self, later: Self) {
        Kernel::<T>::merge(&mut self.sum, later.sum);
        Kernel::<T>::merge(&mut self.squares, later.squares);
        self.folded.merge(&later.folded);
    }

    fn finish(self) -> Result<Values> {
        let cell = |(cell, &count): (usize, &u64)| {
            let m2 = (count > 0).then(|| {
                let (sum, squares) = (self.sum.total(cell), self.squares.total(cell));
                squared_distances(count, sum, squares.unsigned_abs())
            });
            m2.map(|m2| M::from_variance(variance(m2, count, self.ddof)))
        };
        Ok(floats_or_null(self.folded.counts().iter().enumerate().map(cell)))
    }
}

/// `squares - sum^2 / count`, rounded twice.
///
/// Below 2^46 elements of 16 bits both products fit; what comes above them is as exact as floats.
#[allow(clippy::cast_precision_loss, reason = "a variance is rounded")]
fn squared_distances(count: u64, sum: i128, squares: u128) -> f64 {
    let magnitude = sum.unsigned_abs();
    let whole = squares.checked_mul(u128::from(count)).zip(magnitude.checked_mul(magnitude));
    match whole {
        Some((squares, sum)) => squares.saturating_sub(sum) as f64 / count as f64,
        None => {
            let mean = magnitude as f64 / count as f64;
            (squares as f64 - mean * magnitude as f64).max(0.0)
        }
    }
}
