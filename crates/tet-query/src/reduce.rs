//! Folding a selection into values: tasks, states, a fixed order of merging.
//!
//! ```text
//!   roles   what each axis is: folded, kept, grouped, windowed     cut     tiles and parts
//!   layout  where positions fold to                                fold    strips into states
//!   slide   overlapping windows out of positions                   board, assemble: the cells
//! ```
//!
//! Cuts depend on selection, grid, codecs and what is asked only, so the same bits come out whatever
//! the threads, the budget, the coalescing and the source.

mod assemble;
mod board;
mod cut;
mod fold;
mod job;
mod layout;
mod role;
mod slide;
mod window;

use tet_format::DType;
use tet_io::Source;

use self::job::Job;
use self::role::Roles;
use crate::budget::Execution;
use crate::catalog::Dataset;
use crate::error::{Error, Result};
use crate::kernel::{CellCount, Setup, Test, maker};
use crate::op::{NanPolicy, Op};
use crate::plan::plan;
use crate::reduction::{Number, Reduction};
use crate::selection::Hyperslab;
use crate::value::{Cells, Details, Reduced, Values};

/// Bytes of the state of one cell of the result, at most.
const STATE_LEN: u64 = 32;

/// Reduces a selection.
pub(crate) fn reduce(
    source: &Source,
    dataset: &Dataset,
    slab: &Hyperslab,
    reduction: &Reduction,
    how: &Execution,
) -> Result<Reduced> {
    if let Some(cause) = &dataset.fault {
        return Err(Error::Unreadable { dataset: dataset.name.clone(), cause: cause.clone() });
    }
    let dtype = dataset.dtype.ok_or_else(|| Error::unknown_dtype(dataset))?;
    let (roles, axes) = Roles::new(dataset, slab, reduction)?;
    let asked = Asked { source, dataset, dtype, slab, reduction, how, roles };
    let (values, nan_count) = asked.answer()?;
    let shape = asked.roles.shape();
    Ok(Reduced {
        op: reduction.op,
        axes,
        along: asked.roles.along(),
        values: asked.own(values, &shape)?,
        shape,
        count: slab.element_count().ok_or_else(|| Error::misfit(dataset))?,
        nan_count,
        details: Details::None,
    })
}

/// A reduction and everything it is asked of.
struct Asked<'a> {
    source: &'a Source,
    dataset: &'a Dataset,
    dtype: DType,
    slab: &'a Hyperslab,
    reduction: &'a Reduction,
    how: &'a Execution,
    roles: Roles,
}

impl Asked<'_> {
    fn answer(&self) -> Result<(Values, Option<u64>)> {
        let cells = self.roles.shape().into_iter().try_fold(1_u64, u64::checked_mul);
        self.how.check_result(cells.and_then(|cells| cells.checked_mul(STATE_LEN)))?;
        if self.reduction.op == Op::Count && self.counts_all() {
            let padded = self.pad().is_some();
            return Ok((Values::new(Cells::Count(self.roles.element_counts(padded))), None));
        }
        let setup = Setup { nan: self.reduction.nan_policy(), ..Setup::default() };
        let (values, nan_count) = self.pass(self.reduction.op, setup, self.pad())?;
        Ok((self.with_min_count(values)?, nan_count))
    }

    /// Whether every selected element counts.
    fn counts_all(&self) -> bool {
        let skips = self.reduction.nan_policy() == NanPolicy::Skip && self.dtype.is_float();
        self.reduction.filter.is_none() && !skips
    }

    /// What windows are filled up with.
    fn pad(&self) -> Option<Number> {
        self.reduction.window.as_ref().and_then(|window| window.pad)
    }

    /// One pass over the selection with the kernel of an operation.
    fn pass(&self, op: Op, setup: Setup, pad: Option<Number>) -> Result<(Values, Option<u64>)> {
        let shown = !self.roles.shown().is_empty();
        let cells = if shown { CellCount::Many } else { CellCount::One };
        let filter = self.reduction.filter.clone().map(Test::Filter);
        let undefined = || Error::Undefined { op: op.name(), dtype: self.dtype };
        let maker = maker(self.dtype, op, cells, setup, filter).ok_or_else(undefined)?;
        let plan = plan(self.dataset, self.slab, self.how.coalesce)?;
        let job = Job {
            source: self.source,
            dataset: self.dataset,
            plan: &plan,
            how: self.how,
            roles: &self.roles,
            maker: &maker,
            pad,
        };
        job.run()
    }

    /// Nulls where a window has too few elements of its own.
    fn with_min_count(&self, mut values: Values) -> Result<Values> {
        let window = self.reduction.window.as_ref();
        let Some(least) = window.and_then(|window| window.min_count) else { return Ok(values) };
        let counts = if self.counts_all() {
            self.roles.element_counts(false)
        } else {
            let setup = Setup { nan: self.reduction.nan_policy(), ..Setup::default() };
            match self.pass(Op::Count, setup, None)?.0.cells {
                Cells::Count(counts) => counts,
                _ => Vec::new(),
            }
        };
        let mut nulls = values.nulls.take().unwrap_or_else(|| vec![false; values.len()]);
        nulls.iter_mut().zip(counts).for_each(|(null, count)| *null |= count < least);
        values.nulls = nulls.contains(&true).then_some(nulls);
        Ok(values)
    }

    /// The values in the dataset's own dtype and the result's shape, where they are elements.
    fn own(&self, values: Values, shape: &[u64]) -> Result<Values> {
        let Cells::Element(array) = values.cells else { return Ok(values) };
        let array = array.with_dtype(self.dtype).and_then(|array| array.with_shape(shape.into()));
        let cells = Cells::Element(array.ok_or_else(|| Error::misfit(self.dataset))?);
        Ok(Values { cells, ..values })
    }
}

#[cfg(test)]
mod tests;
