//! Covariances and correlations: the means first, then blocks of observations.

use std::ops::Range;

use super::asked::{Answer, Asked};
use crate::array::Array;
use crate::covariance::{Along, Measure, matrix};
use crate::error::{Error, Result};
use crate::op::{NanPolicy, Op};
use crate::scatter;
use crate::selection::{AxisSlice, Hyperslab};
use crate::value::{Cells, Values};

/// A block of observations takes so much of the budget, at most.
const SHARE: u64 = 8;

impl Asked<'_> {
    /// The axis whose positions are the variables.
    pub(super) fn variables(&self) -> Result<usize> {
        match self.roles.shown()[..] {
            [axis] => Ok(axis),
            _ => Err(self.not_a_table()),
        }
    }

    /// The matrix of all pairs of variables.
    pub(super) fn matrix(&self) -> Result<Answer> {
        let Asked { reduction, roles, how, .. } = self;
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
        how.check_result(width.checked_mul(width).and_then(|pairs| pairs.checked_mul(16)))?;
        let (means, nan_count) = self.pass(Op::Mean, self.setup()?, None)?;
        let Cells::Float(means) = means.cells else { return Err(self.undefined()) };
        let measure = match reduction.op {
            Op::Correlation => Measure::Correlation,
            _ => Measure::Covariance { ddof: reduction.params.ddof },
        };
        let along = if observed < variables { Along::Rows } else { Along::Columns };
        let size = self.dtype.size().unwrap_or(1);
        let read_count = how.memory_budget / SHARE / width.saturating_mul(size).max(1);
        let read = |range: Range<u64>| self.observations(observed, range);
        let count = roles.counts[observed];
        let values = matrix(measure, &means, count, read_count, along, read)?;
        let values = Values::new(Cells::Float(values));
        Ok(Answer { values, nan_count, ..Answer::default() })
    }

    /// Some of the observations, all variables of each.
    fn observations(&self, axis: usize, range: Range<u64>) -> Result<Array> {
        let mut slices = self.slab.axes().to_vec();
        let AxisSlice { start, step, .. } = slices[axis];
        slices[axis].start = start + range.start * step;
        slices[axis].stop = start + (range.end - 1) * step + 1;
        let slab = Hyperslab::new(slices, self.dataset.shape());
        let slab = slab.ok_or_else(|| Error::misfit(self.dataset))?;
        scatter::read(self.source, self.dataset, &slab, self.how)
    }

    fn not_a_table(&self) -> Error {
        Error::NotATable { op: self.reduction.op.name() }
    }
}
