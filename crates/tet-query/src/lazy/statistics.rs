//! The statistics that a lazy array is transformed with: passes over what it shows.

use super::LazyArray;
use crate::budget::Execution;
use crate::buffer;
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::kernel::two_sum;
use crate::op::Op;
use crate::reduce;
use crate::reduction::{Axes, Reduction};
use crate::scalar::Scalar;
use crate::scatter;
use crate::transform::{CellRun, Formula, Map, Method, Statistics, Transform};

impl LazyArray {
    /// Takes the statistics of a lazy array that maps nothing yet.
    pub(super) fn statistics(&self, transform: &Transform, how: &Execution) -> Result<Statistics> {
        let method = transform.method;
        let is_empty = self.shape.contains(&0);
        if is_empty || matches!(method, Method::Log1p | Method::Sqrt) {
            let strides = vec![0; self.shape.rank()];
            return Ok(Statistics::new(Vec::new(), Vec::new(), strides));
        }
        let (strides, cells) = self.strides(&transform.axes)?;
        // The shift and the scale of every cell.
        how.workers((cells as u64).saturating_mul(2 * size_of::<f64>() as u64))?;
        let measure = |op| {
            let values = self.measure(transform, op, how)?;
            if values.len() == cells { Ok(values) } else { Err(Error::misfit(&self.dataset)) }
        };
        let (zeros, ones) = (|| vec![0.0; cells], || vec![1.0; cells]);
        let (shift, scale) = match method {
            Method::ZScore => (measure(Op::Mean)?, measure(Op::Std)?),
            Method::Center => (measure(Op::Mean)?, ones()),
            Method::Scale => (zeros(), measure(Op::Std)?),
            Method::L1 => (zeros(), measure(Op::NormL1)?),
            Method::L2 => (zeros(), measure(Op::NormL2)?),
            Method::MinMax => {
                let least = measure(Op::Min)?;
                let mut range = measure(Op::Max)?;
                range.iter_mut().zip(&least).for_each(|(range, least)| *range -= least);
                (least, range)
            }
            Method::Softmax => {
                let shift = measure(Op::Max)?;
                let scale = self.sums_of_exp(shift.clone(), &strides, how)?;
                (shift, scale)
            }
            Method::Log1p | Method::Sqrt => (Vec::new(), Vec::new()),
        };
        Ok(Statistics::new(shift, scale, strides))
    }

    /// The cost of [`LazyArray::statistics`].
    pub(super) fn statistics_cost(&self, transform: &Transform, how: &Execution) -> Result<Cost> {
        let (dataset, slab) = (&self.dataset, &self.slab);
        let cost = |op| dataset.reduce_cost(slab, &self.reduction(transform, op), how);
        let ops: &[Op] = match transform.method {
            Method::Log1p | Method::Sqrt => return Ok(Cost::default()),
            Method::ZScore => &[Op::Mean, Op::Std],
            Method::Center => &[Op::Mean],
            Method::Scale => &[Op::Std],
            Method::L1 => &[Op::NormL1],
            Method::L2 => &[Op::NormL2],
            Method::MinMax => &[Op::Min, Op::Max],
            Method::Softmax => &[Op::Max],
        };
        if self.shape.contains(&0) {
            return Ok(Cost::default());
        }
        let costs = ops.iter().map(|&op| cost(op)).collect::<Result<Vec<_>>>()?;
        let all = costs.into_iter().fold(Cost::default(), Cost::then);
        let (_, cells) = self.strides(&transform.axes)?;
        // The shift and the scale of every cell.
        let numbers = cells as u64;
        if transform.method != Method::Softmax {
            return Ok(all.with_values(numbers));
        }
        let block = scatter::cost(dataset, slab, how)?.with_held(2 * sum_len(how));
        Ok(all.then(block).with_values(numbers.saturating_mul(2)))
    }

    /// Cells between neighbors along each axis of the lazy array, and how many cells there are.
    fn strides(&self, axes: &Axes) -> Result<(Vec<usize>, usize)> {
        let is_folded = |axis: usize| match axes {
            Axes::Some(folded) if !folded.is_empty() => folded.contains(&axis),
            _ => true,
        };
        let shape = &self.shape;
        let mut strides = vec![0; shape.rank()];
        let mut cells: usize = 1;
        for (at, axis) in self.axes().into_iter().enumerate().rev() {
            if !is_folded(axis) {
                strides[at] = cells;
                let misfit = || Error::misfit(&self.dataset);
                cells = cells.checked_mul(buffer::len(shape[at])?).ok_or_else(misfit)?;
            }
        }
        Ok((strides, cells))
    }

    /// The reduction that computes a statistic of every cell.
    fn reduction(&self, transform: &Transform, op: Op) -> Reduction {
        Reduction {
            axes: transform.axes.clone(),
            nan: transform.nan,
            filter: self.choice.filter.clone(),
            picks: self.choice.picks.clone(),
            ..Reduction::all(op)
        }
    }

    /// A statistic of every cell; NaN where there is none.
    fn measure(&self, transform: &Transform, op: Op, how: &Execution) -> Result<Vec<f64>> {
        let reduction = self.reduction(transform, op);
        let reduced = reduce::reduce(&self.dataset, &self.slab, &reduction, how, &self.unverified)?;
        let value = |at| reduced.values.get(at).and_then(Scalar::to_f64);
        Ok((0..reduced.values.len()).map(|at| value(at).unwrap_or(f64::NAN)).collect())
    }

    /// The sum of `exp(x - shift)` over the elements of every cell that are not NaN; NaN where the
    /// shift is not finite.
    ///
    /// Elements are added one by one in row-major order, so that it does not matter how they are read.
    fn sums_of_exp(&self, shift: Vec<f64>, strides: &[usize], how: &Execution) -> Result<Vec<f64>> {
        let cells = shift.len();
        let unscaled = Statistics::new(shift, vec![1.0; cells], strides.to_vec());
        let filter = self.choice.filter.clone();
        let map = Map::computing(filter, Formula::Exp, unscaled.clone(), self.dtype).in_float64();
        let lazy = self.mapped(map);
        let mut sums = vec![0.0; cells];
        let mut errors = vec![0.0; cells];
        let len_max = sum_len(how);
        let blocks = lazy.blocks(len_max, len_max);
        for block in blocks.into_iter().flatten() {
            let array = lazy.read(&block, how)?;
            let mut rest = array.as_slice::<f64>().unwrap_or(&[]);
            let loops = unscaled.loops(&block)?;
            let mut walk = loops.walk(0);
            while !rest.is_empty() {
                let run = walk.run(rest.len());
                let (elements, after) = rest.split_at(run.len);
                rest = after;
                add(elements, run, &mut sums, &mut errors);
            }
        }
        let total = |((sum, error), shift): ((f64, f64), &f64)| {
            if shift.is_finite() { sum + error } else { f64::NAN }
        };
        Ok(sums.into_iter().zip(errors).zip(unscaled.shift()).map(total).collect())
    }
}

/// Bytes of a block whose exponentials are added up.
fn sum_len(how: &Execution) -> u64 {
    (how.memory_budget / 4).clamp(size_of::<f64>() as u64, how.tuning.sum_len_max)
}

/// Adds a run of numbers to its cells, and what rounding loses of them.
fn add(elements: &[f64], run: CellRun, sums: &mut [f64], errors: &mut [f64]) {
    let step = |sum: f64, error: f64, element: f64| {
        let element = if element.is_nan() { 0.0 } else { element };
        let (next, lost) = two_sum(sum, element);
        (next, error + lost)
    };
    if run.stride == 0 {
        let mut state = (sums[run.cell], errors[run.cell]);
        for &element in elements {
            state = step(state.0, state.1, element);
        }
        (sums[run.cell], errors[run.cell]) = state;
        return;
    }
    for (nth, &element) in elements.iter().enumerate() {
        let cell = run.cell + nth * run.stride;
        (sums[cell], errors[cell]) = step(sums[cell], errors[cell], element);
    }
}
