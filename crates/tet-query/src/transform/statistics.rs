//! The two numbers of every cell that its elements are computed with.

use super::compute::Params;
use super::map::{BLOCK, Formula, Map};
use super::{Method, Transform};
use crate::budget::Execution;
use crate::cost::Cost;
use crate::decode;
use crate::error::{Error, Result};
use crate::kernel::two_sum;
use crate::lens::Lens;
use crate::op::Op;
use crate::reduction::{Axes, Reduction};
use crate::scatter;
use crate::selection::Hyperslab;

/// Bytes of a block whose exponentials are added up, at most.
const SUM_LEN_MAX: u64 = if cfg!(test) { 64 } else { 8 << 20 };

/// Shift and scale of every cell; a cell is what shares its statistics.
#[derive(Clone, Debug)]
pub(crate) struct Statistics {
    shift: Vec<f64>,
    scale: Vec<f64>,
    has_zero: bool,
    /// Cells between neighbors along each axis of the lens; 0 along folded ones.
    strides: Vec<usize>,
}

impl Statistics {
    /// Takes the statistics of a lens that maps nothing yet.
    pub(crate) fn measure(lens: &Lens<'_>, transform: &Transform, how: &Execution) -> Result<Self> {
        let method = transform.method;
        let is_empty = lens.shape().contains(&0);
        if is_empty || matches!(method, Method::Log1p | Method::Sqrt) {
            let strides = vec![0; lens.shape().rank()];
            return Ok(Statistics::new(Vec::new(), Vec::new(), strides));
        }
        let (strides, cells) = strides(lens, &transform.axes)?;
        // The shift and the scale of every cell.
        how.workers((cells as u64).saturating_mul(2 * size_of::<f64>() as u64))?;
        let measure = |op| {
            let values = measure(lens, transform, op, how)?;
            if values.len() == cells { Ok(values) } else { Err(Error::misfit(lens.dataset())) }
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
                let scale = sums_of_exp(lens, shift.clone(), &strides, how)?;
                (shift, scale)
            }
            Method::Log1p | Method::Sqrt => (Vec::new(), Vec::new()),
        };
        Ok(Statistics::new(shift, scale, strides))
    }

    /// What [`Statistics::measure`] costs.
    pub(crate) fn cost(lens: &Lens<'_>, transform: &Transform, how: &Execution) -> Result<Cost> {
        let (dataset, slab) = (lens.dataset(), lens.slab());
        let cost =
            |op| lens.catalog().reduce_cost(dataset, slab, &reduction(lens, transform, op), how);
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
        if lens.shape().contains(&0) {
            return Ok(Cost::default());
        }
        let costs = ops.iter().map(|&op| cost(op)).collect::<Result<Vec<_>>>()?;
        let all = costs.into_iter().fold(Cost::default(), Cost::then);
        let (_, cells) = strides(lens, &transform.axes)?;
        // The shift and the scale of every cell.
        let numbers = cells as u64;
        if transform.method != Method::Softmax {
            return Ok(all.with_values(numbers));
        }
        let block = scatter::cost(dataset, slab, how)?.with_held(2 * sum_len(how));
        Ok(all.then(block).with_values(numbers.saturating_mul(2)))
    }

    fn new(shift: Vec<f64>, scale: Vec<f64>, strides: Vec<usize>) -> Self {
        let has_zero = scale.contains(&0.0);
        Statistics { shift, scale, has_zero, strides }
    }

    /// Whether a cell would be divided by zero.
    pub(super) const fn has_zero(&self) -> bool {
        self.has_zero
    }

    /// How a part of the lens runs through the cells.
    pub(super) fn loops(&self, part: &Hyperslab) -> Result<Loops> {
        let mut loops = Loops { first: 0, loops: vec![Loop { count: 1, stride: 0 }] };
        for (slice, &stride) in part.axes().iter().zip(&self.strides) {
            let count = decode::len(slice.count())?;
            loops.first += decode::len(slice.start)? * stride;
            let stride = if count > 1 { decode::len(slice.step)? * stride } else { 0 };
            let last = loops.loops.last_mut().filter(|outer| {
                outer.count <= 1 || count <= 1 || outer.stride == stride.saturating_mul(count)
            });
            match last {
                // One loop serves for two that go on from each other.
                Some(outer) => {
                    outer.stride = if count > 1 { stride } else { outer.stride };
                    outer.count *= count;
                }
                None => loops.loops.push(Loop { count, stride }),
            }
        }
        Ok(loops)
    }
}

/// Cells between neighbors along each axis of the lens, and how many cells there are.
fn strides(lens: &Lens<'_>, axes: &Axes) -> Result<(Vec<usize>, usize)> {
    let is_folded = |axis: usize| match axes {
        Axes::Some(folded) if !folded.is_empty() => folded.contains(&axis),
        _ => true,
    };
    let shape = lens.shape();
    let mut strides = vec![0; shape.rank()];
    let mut cells: usize = 1;
    for (at, axis) in lens.axes().into_iter().enumerate().rev() {
        if !is_folded(axis) {
            strides[at] = cells;
            let misfit = || Error::misfit(lens.dataset());
            cells = cells.checked_mul(decode::len(shape[at])?).ok_or_else(misfit)?;
        }
    }
    Ok((strides, cells))
}

/// What is asked for a statistic of every cell.
fn reduction(lens: &Lens<'_>, transform: &Transform, op: Op) -> Reduction {
    Reduction {
        axes: transform.axes.clone(),
        nan: transform.nan,
        filter: lens.choice().filter.clone(),
        picks: lens.choice().picks.clone(),
        ..Reduction::all(op)
    }
}

/// A statistic of every cell; NaN where there is none.
fn measure(lens: &Lens<'_>, transform: &Transform, op: Op, how: &Execution) -> Result<Vec<f64>> {
    let reduction = reduction(lens, transform, op);
    let reduced = lens.catalog().reduce(lens.dataset(), lens.slab(), &reduction, how)?;
    let value = |at| reduced.values.get(at).and_then(crate::value::Scalar::to_f64);
    Ok((0..reduced.values.len()).map(|at| value(at).unwrap_or(f64::NAN)).collect())
}

/// The sum of `exp(x - shift)` over the elements of every cell that are not NaN; NaN where the
/// shift is not finite.
///
/// Elements are added one by one in row-major order, so that it does not matter how they are read.
fn sums_of_exp(
    lens: &Lens<'_>,
    shift: Vec<f64>,
    strides: &[usize],
    how: &Execution,
) -> Result<Vec<f64>> {
    let cells = shift.len();
    let unscaled = Statistics::new(shift, vec![1.0; cells], strides.to_vec());
    let filter = lens.choice().filter.clone();
    let map = Map::computing(filter, Formula::Exp, unscaled.clone(), lens.dtype()).in_float64();
    let lens = lens.mapped(map);
    let mut sums = vec![0.0; cells];
    let mut errors = vec![0.0; cells];
    let len_max = sum_len(how);
    let blocks = lens.blocks(len_max, len_max);
    for block in blocks.into_iter().flatten() {
        let array = lens.read(&block, how)?;
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
    Ok(sums.into_iter().zip(errors).zip(&unscaled.shift).map(total).collect())
}

/// Bytes of a block whose exponentials are added up.
fn sum_len(how: &Execution) -> u64 {
    (how.memory_budget / 4).clamp(size_of::<f64>() as u64, SUM_LEN_MAX)
}

/// Adds a run of numbers to its cells, and what rounding loses of them.
fn add(elements: &[f64], run: Run, sums: &mut [f64], errors: &mut [f64]) {
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

/// Elements one after the other, and the cells between neighbors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Loop {
    count: usize,
    stride: usize,
}

/// How a part of the lens runs through the cells: loops in each other.
#[derive(Clone, Debug)]
pub(super) struct Loops {
    first: usize,
    loops: Vec<Loop>,
}

/// Elements one after the other and the cells they belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    cell: usize,
    stride: usize,
    len: usize,
}

impl Loops {
    /// A walk that begins with element number `at` of the part.
    pub(super) fn walk(&self, at: usize) -> Walk<'_> {
        let mut walk = Walk {
            loops: &self.loops,
            at: vec![0; self.loops.len()],
            cell: self.first,
            room: Room::default(),
        };
        let mut rest = at;
        for (nth, level) in self.loops.iter().enumerate().rev() {
            walk.at[nth] = rest % level.count.max(1);
            walk.cell += walk.at[nth] * level.stride;
            rest /= level.count.max(1);
        }
        walk
    }
}

/// A walk through the elements of a part, with the cells they belong to.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    loops: &'a [Loop],
    at: Vec<usize>,
    cell: usize,
    room: Room,
}

/// The numbers of a block, element by element.
#[derive(Debug, Default)]
struct Room {
    shift: Vec<f64>,
    scale: Vec<f64>,
}

impl Walk<'_> {
    /// The next elements of the innermost loop, at most `most`.
    fn run(&mut self, most: usize) -> Run {
        let Some((inner, outer)) = self.loops.split_last() else {
            return Run { cell: self.cell, stride: 0, len: most };
        };
        let last = outer.len();
        let len = (inner.count - self.at[last]).min(most);
        let run = Run { cell: self.cell, stride: inner.stride, len };
        self.at[last] += len;
        self.cell += len * inner.stride;
        for level in (0..=last).rev() {
            let Loop { count, stride } = self.loops[level];
            if self.at[level] < count {
                break;
            }
            self.at[level] = 0;
            self.cell -= count * stride;
            if let Some(outer) = level.checked_sub(1) {
                self.at[outer] += 1;
                self.cell += self.loops[outer].stride;
            }
        }
        run
    }

    /// The numbers of the next `count` elements, of which there are at most [`BLOCK`].
    pub(super) fn params<'s>(&'s mut self, count: usize, from: &'s Statistics) -> Params<'s> {
        let run = self.run(count);
        if run.len == count && run.stride == 0 {
            let (shift, scale) = (from.shift[run.cell], from.scale[run.cell]);
            return Params::One { shift, scale };
        }
        if run.len == count && run.stride == 1 {
            let cells = run.cell..run.cell + count;
            return Params::Each { shift: &from.shift[cells.clone()], scale: &from.scale[cells] };
        }
        self.room.shift.resize(BLOCK, 0.0);
        self.room.scale.resize(BLOCK, 0.0);
        let (mut run, mut done) = (run, 0);
        loop {
            for nth in 0..run.len {
                let cell = run.cell + nth * run.stride;
                self.room.shift[done + nth] = from.shift[cell];
                self.room.scale[done + nth] = from.scale[cell];
            }
            done += run.len;
            if done == count {
                let (shift, scale) = (&self.room.shift[..count], &self.room.scale[..count]);
                return Params::Each { shift, scale };
            }
            run = self.run(count - done);
        }
    }
}
