//! Order statistics: the elements of small cells are kept in memory, others are searched in several passes.

use crate::catalog::ReadRange;

use super::quantile::{Passing, outlook, quantiles};
use super::query::{ReductionQuery, ReductionResult};
use super::role::{Role, Roles};
use crate::cost::{Cost, Passes};
use crate::error::{Error, Result};
use crate::interpolation::Between;
use crate::kernel::{Pass, RankStep, Setup, rank_maker};
use crate::op::Op;
use crate::reduction::{AxisPicks, Reduction};
use crate::selection::Hyperslab;
use crate::tuning::Tuning;
use crate::value::{Cells, Values};

/// The largest part of the budget for the elements of a cell that are kept.
const SHARE: u64 = 32;
/// The largest part for the ranks of those that are put in order after a search.
const CANDIDATES_SHARE: u64 = 4;

impl ReductionQuery<'_> {
    /// Medians and quantiles.
    pub(super) fn order_statistics(&self) -> Result<ReductionResult> {
        let setup = self.order_setup()?;
        let shape = self.roles.shape();
        if shape.is_empty() {
            return self.sought(&setup);
        }
        if self.is_kept() {
            let (values, nan_count) = self.pass(self.reduction.op, setup, None)?;
            return Ok(ReductionResult { values, nan_count, ..ReductionResult::default() });
        }
        self.cell_by_cell(&shape, &setup)
    }

    /// The cost of [`ReductionQuery::order_statistics`].
    pub(super) fn order_cost(&self) -> Result<Cost> {
        let setup = self.order_setup()?;
        let shape = self.roles.shape();
        if shape.is_empty() {
            return self.sought_cost(&setup, self.roles.cell_elements());
        }
        if self.is_kept() {
            return self.pass_cost(self.reduction.op, setup);
        }
        let count: u64 = shape.iter().product();
        if count == 0 {
            return Ok(Cost::default());
        }
        let (slab, reduction) = self.cell(&shape, 0)?;
        let one = self.one(&slab, &reduction)?;
        let cost = one.sought_cost(&setup, self.roles.cell_elements())?;
        let values = count.saturating_mul(setup.q.len() as u64);
        let passes = cost.passes.times(self.roles.turns());
        Ok(Cost { passes, ..cost }.with_values(values))
    }

    /// The runs of the first pass of [`ReductionQuery::order_statistics`] over each cell.
    pub(super) fn order_runs(&self, visit: &mut dyn FnMut(ReadRange)) -> Result<()> {
        let setup = self.order_setup()?;
        let shape = self.roles.shape();
        if !shape.is_empty() && self.is_kept() {
            return self.maker_runs(&self.maker(self.reduction.op, setup)?, visit);
        }
        if shape.is_empty() {
            let count = self.roles.cell_elements();
            let tuning = self.rank_tuning(count);
            let outlook = outlook(self.dtype, count, setup.q.len(), &tuning);
            let digits = outlook.ok_or_else(|| self.undefined())?.digits;
            let setup = Setup { digits, ..setup };
            let maker = rank_maker(self.dtype, RankStep::Digits, setup, self.filter());
            return self.maker_runs(&maker.ok_or_else(|| self.undefined())?, visit);
        }
        (0..shape.iter().product()).try_for_each(|cell| {
            let (slab, reduction) = self.cell(&shape, cell)?;
            self.one(&slab, &reduction)?.order_runs(visit)
        })
    }

    /// The setup of a search in each cell.
    fn order_setup(&self) -> Result<Setup> {
        let mut setup = self.setup()?;
        if self.reduction.op == Op::Median {
            (setup.q, setup.between) = (vec![0.5], Between::Middle);
        }
        Ok(setup)
    }

    /// Whether the elements of a cell are kept, as the budget allows it.
    fn is_kept(&self) -> bool {
        let size = self.dtype.size().unwrap_or(1);
        let cell_len = self.roles.cell_elements().saturating_mul(size);
        cell_len <= self.how.memory_budget / SHARE
    }

    /// The sizes that a search among `count` elements is cut by: what a pass keeps is within the budget, whatever
    /// the elements are.
    fn rank_tuning(&self, count: u64) -> Tuning {
        let tuning = self.how.tuning.among(count);
        let held = self.how.memory_budget / CANDIDATES_SHARE / size_of::<u64>() as u64;
        Tuning { candidates_max: tuning.candidates_max.min(held), ..tuning }
    }

    /// The cost of [`ReductionQuery::sought`] among at most `count` elements.
    fn sought_cost(&self, setup: &Setup, count: u64) -> Result<Cost> {
        let outlook = outlook(self.dtype, count, setup.q.len(), &self.rank_tuning(count))
            .ok_or_else(|| self.undefined())?;
        let cost = |step, digits| {
            let setup = Setup { digits, ..setup.clone() };
            let maker = rank_maker(self.dtype, step, setup, self.filter());
            self.run_cost(&maker.ok_or_else(|| self.undefined())?)
        };
        let mut whole = cost(RankStep::Digits, outlook.digits)?;
        if whole.passes == Passes::ONE {
            // Whether the last pass keeps as much as it may depends on the elements.
            if outlook.passes.most > 1
                && let Ok(last) = cost(RankStep::Candidates, outlook.candidates)
            {
                whole = whole.then(last);
            }
            whole.passes = outlook.passes;
        }
        Ok(whole)
    }

    /// The order statistics of the one cell there is.
    fn sought(&self, setup: &Setup) -> Result<ReductionResult> {
        let tuning = self.rank_tuning(self.roles.cell_elements());
        let mut passes = RankPasses { query: self, setup, tuning };
        let found = quantiles(self.dtype, setup, &mut passes).ok_or_else(|| self.undefined())??;
        Ok(ReductionResult {
            values: found.values,
            nan_count: found.nan_count,
            ..ReductionResult::default()
        })
    }

    /// Seeks in one cell after the other, each by itself out of core.
    fn cell_by_cell(&self, shape: &[u64], setup: &Setup) -> Result<ReductionResult> {
        let count: u64 = shape.iter().product();
        let (mut floats, mut nulls, mut nan_count) = (Vec::new(), Vec::new(), None);
        for cell in 0..count {
            let (slab, reduction) = self.cell(shape, cell)?;
            let answer = self.one(&slab, &reduction)?.sought(setup)?;
            let Values { cells: Cells::Float(values), nulls: missing } = answer.values else {
                return Err(self.undefined());
            };
            nulls.extend(missing.unwrap_or_else(|| vec![false; values.len()]));
            floats.extend(values);
            nan_count = answer.nan_count.map(|more| nan_count.unwrap_or(0) + more).or(nan_count);
        }
        let nulls = nulls.contains(&true).then_some(nulls);
        let values = Values { cells: Cells::Float(floats), nulls };
        Ok(ReductionResult { values, nan_count, ..ReductionResult::default() })
    }

    /// One cell by itself.
    fn one<'a>(
        &'a self,
        slab: &'a Hyperslab,
        reduction: &'a Reduction,
    ) -> Result<ReductionQuery<'a>> {
        let (roles, _) = Roles::new(self.dataset, slab, reduction)?;
        let ReductionQuery { dataset, dtype, how, unverified, .. } = *self;
        Ok(ReductionQuery { dataset, dtype, slab, reduction, how, unverified, roles })
    }

    /// The selection of one cell of the result, and its reduction.
    fn cell(&self, shape: &[u64], cell: u64) -> Result<(Hyperslab, Reduction)> {
        let mut slices = self.slab.axes().to_vec();
        let mut reduction = Reduction {
            filter: self.reduction.filter.clone(),
            ..Reduction::all(self.reduction.op)
        };
        let folded = |picks: &&AxisPicks| !self.roles.is_shown(picks.axis);
        reduction.picks = self.reduction.picks.iter().filter(folded).cloned().collect();
        let mut rest = cell;
        for (&axis, &extent) in self.roles.shown().iter().zip(shape).rev() {
            let nth = rest % extent;
            rest /= extent;
            match &self.roles.axes[axis] {
                Role::Each => slices[axis] = slices[axis].part(nth..nth + 1),
                Role::Map(map) => {
                    let in_cell = |&(_, &of): &(u64, &u32)| u64::from(of) == nth;
                    let positions = (0..).zip(map.cell_of.iter()).filter(in_cell);
                    let positions = positions.map(|(at, _)| at).collect();
                    reduction.picks.push(AxisPicks { axis, positions });
                }
                Role::Folded | Role::Windows(_) => {}
            }
        }
        let slab = Hyperslab::new(slices, self.dataset.shape());
        Ok((slab.ok_or_else(|| Error::misfit(self.dataset))?, reduction))
    }
}

/// Passes over the elements of one cell.
struct RankPasses<'a> {
    query: &'a ReductionQuery<'a>,
    setup: &'a Setup,
    tuning: Tuning,
}

impl Passing for RankPasses<'_> {
    fn run(&mut self, step: RankStep, pass: &Pass) -> Result<(Values, Option<u64>)> {
        let setup = Setup { digits: pass.clone(), ..self.setup.clone() };
        let maker = rank_maker(self.query.dtype, step, setup, self.query.filter());
        self.query.run(&maker.ok_or_else(|| self.query.undefined())?, None)
    }

    fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    fn changed(&self) -> Error {
        Error::changed(&self.query.dataset.source)
    }
}
