//! Covariances and correlations: the means first, then blocks of observations.

use std::ops::Range;

use tet_format::DType;

use super::covariance::{Along, Measure, matrix, memory_len};
use super::query::{ReductionQuery, ReductionResult};
use crate::array::Array;
use crate::cost::Cost;
use crate::element::make_truths;
use crate::error::{Error, Result};
use crate::op::{NanPolicy, Op};
use crate::scatter;
use crate::selection::Hyperslab;
use crate::value::{Cells, Values};

/// A block of observations takes so much of the budget, at most.
const SHARE: u64 = 8;

impl ReductionQuery<'_> {
    /// The axis whose positions are the variables.
    pub(super) fn variables(&self) -> Result<usize> {
        match self.roles.shown()[..] {
            [axis] => Ok(axis),
            _ => Err(self.not_a_table()),
        }
    }

    /// The matrix of all pairs of variables.
    pub(super) fn matrix(&self) -> Result<ReductionResult> {
        let ReductionQuery { reduction, roles, .. } = self;
        let (variables, observed) = self.table()?;
        let width = roles.counts[variables];
        let (means, nan_count) = self.pass(Op::Mean, self.setup()?, None)?;
        let Cells::Float(means) = means.cells else { return Err(self.undefined()) };
        let measure = match reduction.op {
            Op::Correlation => Measure::Correlation,
            _ => Measure::Covariance { ddof: reduction.params.ddof },
        };
        let along = if observed < variables { Along::Rows } else { Along::Columns };
        let read = |range: Range<u64>| self.observations(observed, range);
        let count = roles.counts[observed];
        let values = matrix(measure, &means, count, self.block_count(width), along, read)?;
        let values = Values::new(Cells::Float(values));
        Ok(ReductionResult { values, nan_count, ..ReductionResult::default() })
    }

    /// The cost of [`ReductionQuery::matrix`]: a pass for the means, and one in blocks of
    /// observations.
    pub(super) fn matrix_cost(&self) -> Result<Cost> {
        let (variables, observed) = self.table()?;
        let (width, count) = (self.roles.counts[variables], self.roles.counts[observed]);
        let means = self.pass_cost(Op::Mean, self.setup()?)?;
        if count == 0 {
            return Ok(means);
        }
        let block_count = count.min(self.block_count(width));
        let slab = self.observed(observed, 0..block_count)?;
        let block_len = self.observation_len(width).saturating_mul(block_count);
        let blocks = scatter::cost(self.dataset, &slab, self.how)?;
        let held = memory_len(width).saturating_add(block_len);
        Ok(means.then(blocks.with_held(held)))
    }

    /// The axis of the variables and that of the observations; the matrix is not too large.
    fn table(&self) -> Result<(usize, usize)> {
        let ReductionQuery { reduction, roles, .. } = self;
        let variables = self.variables()?;
        let kept = |&axis: &usize| axis != variables && self.slab.axes()[axis].is_kept();
        let others: Vec<usize> = (0..roles.axes.len()).filter(kept).collect();
        let [observed] = others[..] else { return Err(self.not_a_table()) };
        let plain = reduction.filter.is_none()
            && reduction.picks.is_empty()
            && reduction.groups.is_empty()
            && reduction.window.is_none();
        if !plain || reduction.nan == NanPolicy::Skip {
            return Err(self.not_a_table());
        }
        let width = roles.counts[variables];
        self.check_values(width.checked_mul(width))?;
        Ok((variables, observed))
    }

    /// Bytes of one observation of all variables.
    fn observation_len(&self, width: u64) -> u64 {
        width.saturating_mul(self.dtype.size().unwrap_or(1)).max(1)
    }

    /// How many observations are read at once.
    fn block_count(&self, width: u64) -> u64 {
        (self.how.memory_budget / SHARE / self.observation_len(width)).max(1)
    }

    /// Some of the observations, all variables of each.
    fn observations(&self, axis: usize, range: Range<u64>) -> Result<Array> {
        let slab = self.observed(axis, range)?;
        let mut array = scatter::read(self.dataset, &slab, self.how, self.unverified)?;
        if array.dtype() == DType::Bool {
            make_truths(array.bytes_mut());
        }
        Ok(array)
    }

    /// The selection of some of the observations.
    fn observed(&self, axis: usize, range: Range<u64>) -> Result<Hyperslab> {
        let mut slices = self.slab.axes().to_vec();
        slices[axis] = slices[axis].part(range);
        let slab = Hyperslab::new(slices, self.dataset.shape());
        slab.ok_or_else(|| Error::misfit(self.dataset))
    }

    fn not_a_table(&self) -> Error {
        Error::NotATable { op: self.reduction.op.name() }
    }
}
