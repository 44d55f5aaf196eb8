//! A reduction of a dataset, and the passes over the selection that compute it.

use tet_format::DType;

use super::histogram::{self, Range};
use super::pad::check_filled;
use super::pass::ReductionPass;
use super::role::Roles;
use super::zone;
use crate::budget::Execution;
use crate::buffer;
use crate::catalog::{Dataset, ReadRange};
use crate::coalesce::Coalesce;
use crate::cost::{Cost, VALUE_LEN};
use crate::error::{Error, Result};
use crate::fetch::Unverified;
use crate::fill::fill_of;
use crate::kernel::{CellCount, Maker, Setup, Test, maker};
use crate::op::{NanPolicy, Op};
use crate::plan::ReadPlan;
use crate::reduction::{AxisPicks, Number, Reduction};
use crate::scalar::Scalar;
use crate::selection::Hyperslab;
use crate::value::{Cells, Values};

/// A reduction, with its dataset, its selection and the roles of the axes.
pub(super) struct ReductionQuery<'a> {
    pub dataset: &'a Dataset,
    pub dtype: DType,
    pub slab: &'a Hyperslab,
    pub reduction: &'a Reduction,
    pub how: &'a Execution,
    pub unverified: &'a Unverified,
    pub roles: Roles,
}

/// Result of the passes.
#[derive(Default)]
pub(super) struct ReductionResult {
    /// The values of all cells.
    pub values: Values,
    /// How many NaN were met.
    pub nan_count: Option<u64>,
    /// The edges of a histogram.
    pub edges: Vec<f64>,
}

/// The answers to several questions, in their order. Those about the same cells as the first that
/// takes one pass are answered in that pass, if they take one too and are cut alike: each answer is
/// what it is alone.
pub(super) fn answers(all: &[ReductionQuery<'_>]) -> Result<Vec<ReductionResult>> {
    let Some(first) = all.iter().find(|query| query.is_pass()) else {
        return all.iter().map(ReductionQuery::answer).collect();
    };
    let plan = first.plan()?;
    let cut = |maker: &Maker| first.reduction_pass(&plan, std::slice::from_ref(maker), None).cut();
    let (mut makers, mut joins) = (Vec::new(), vec![false; all.len()]);
    for (query, joins) in all.iter().zip(&mut joins) {
        if query.is_pass() && query.reduction.has_cells_of(first.reduction) {
            query.check_cells()?;
            let maker = query.maker(query.reduction.op.plain(), query.setup()?)?;
            *joins = makers.first().is_none_or(|first| cut(first) == cut(&maker));
            makers.extend(joins.then_some(maker));
        }
    }
    let plan = first.judged(plan, &makers)?;
    let mut found = first.reduction_pass(&plan, &makers, None).run()?.into_iter();
    let answer =
        |(query, joins): (&ReductionQuery<'_>, bool)| match joins.then(|| found.next()).flatten() {
            Some((values, nan_count)) => {
                Ok(ReductionResult { values, nan_count, ..ReductionResult::default() })
            }
            None => query.answer(),
        };
    all.iter().zip(joins).map(answer).collect()
}

impl ReductionQuery<'_> {
    /// Runs as many passes as it takes.
    pub(super) fn answer(&self) -> Result<ReductionResult> {
        self.check_cells()?;
        match self.reduction.op.plain() {
            Op::Count if self.counts_all() => {
                let counts = self.roles.element_counts(self.pad().is_some());
                let values = self.with_min_count(Values::new(Cells::Count(counts)))?;
                Ok(ReductionResult { values, ..ReductionResult::default() })
            }
            Op::Median | Op::Quantile => self.order_statistics(),
            Op::Histogram => self.histogram(),
            Op::Covariance | Op::Correlation => self.matrix(),
            op => {
                let (values, nan_count) = self.pass(op, self.setup()?, self.pad())?;
                let values = self.with_min_count(values)?;
                Ok(ReductionResult { values, nan_count, ..ReductionResult::default() })
            }
        }
    }

    /// Checks that neither the values are too many nor the elements of a cell.
    fn check_cells(&self) -> Result<()> {
        if let Some(window) = self.reduction.window.as_ref().filter(|window| window.pad.is_some()) {
            check_filled(window.size, self.roles.folded_elements())?;
        }
        let params = &self.reduction.params;
        let width = match self.reduction.op {
            Op::Histogram => u64::from(params.bins) + 2,
            Op::Quantile => params.q.len().max(1) as u64,
            _ => 1,
        };
        let len = self.roles.shape().into_iter().try_fold(width, u64::checked_mul);
        self.check_values(len)
    }

    /// Checks the number of values before they are allocated. No bytes of the file stand behind the
    /// values of an empty selection, so the memory budget bounds them.
    pub(super) fn check_values(&self, count: Option<u64>) -> Result<()> {
        if self.roles.shape().contains(&0) {
            return Ok(());
        }
        let len = count.and_then(|count| count.checked_mul(VALUE_LEN));
        self.how.check_result(len)?;
        if self.roles.counts.contains(&0) {
            self.how.workers(len.unwrap_or(u64::MAX))?;
        }
        Ok(())
    }

    /// Whether one pass with one kernel gives the answer.
    fn is_pass(&self) -> bool {
        let is_one = match self.reduction.op {
            Op::Count => !self.counts_all(),
            Op::Median | Op::Quantile | Op::Histogram | Op::Covariance | Op::Correlation => false,
            _ => true,
        };
        is_one && self.reduction.window.is_none()
    }

    /// The cost of [`ReductionQuery::answer`].
    pub(super) fn cost(&self) -> Result<Cost> {
        self.check_cells()?;
        match self.reduction.op.plain() {
            Op::Count if self.counts_all() => {
                let cells = self.roles.shape().into_iter().fold(1, u64::saturating_mul);
                Ok(Cost::default().with_values(cells))
            }
            Op::Median | Op::Quantile => self.order_cost(),
            Op::Histogram => self.histogram_cost(),
            Op::Covariance | Op::Correlation => self.matrix_cost(),
            op => Ok(self.pass_cost(op, self.setup()?)?.then(self.min_count_cost()?)),
        }
    }

    /// Calls `visit` with every run that a pass over the selection reads, the first where there are
    /// several.
    pub(super) fn runs(&self, visit: &mut dyn FnMut(ReadRange)) -> Result<()> {
        self.check_cells()?;
        match self.reduction.op.plain() {
            Op::Count if self.counts_all() => Ok(()),
            Op::Median | Op::Quantile => self.order_runs(visit),
            Op::Histogram if self.reduction.params.range.is_none() => {
                let mut reduction = Reduction::all(Op::Min);
                let whole = self.whole(&mut reduction)?;
                whole.maker_runs(&whole.maker(Op::Min, Setup::default())?, visit)
            }
            Op::Histogram => {
                self.maker_runs(&self.maker(Op::Histogram, self.bins_setup()?)?, visit)
            }
            Op::Covariance | Op::Correlation => {
                self.maker_runs(&self.maker(Op::Mean, self.setup()?)?, visit)
            }
            op => self.maker_runs(&self.maker(op, self.setup()?)?, visit),
        }
    }

    /// The runs of a pass with the kernel of a maker.
    pub(super) fn maker_runs(&self, maker: &Maker, visit: &mut dyn FnMut(ReadRange)) -> Result<()> {
        let makers = std::slice::from_ref(maker);
        self.reduction_pass(&self.plan_of(makers)?, makers, None).runs(visit)
    }

    /// The parameters of kernels.
    pub(super) fn setup(&self) -> Result<Setup> {
        let params = &self.reduction.params;
        let test = match self.reduction.op {
            Op::NullCount => {
                let fill = params.fill.or_else(|| fill_of(self.dataset));
                let (dataset, dtype) = (self.dataset.name.clone(), self.dtype);
                Some(Test::Fill(fill.ok_or(Error::NoFill { dataset, dtype })?))
            }
            _ => None,
        };
        let (nan, ddof, q) = (self.reduction.nan_policy(), params.ddof, params.q.clone());
        Ok(Setup { nan, ddof, q, between: params.between, test, ..Setup::default() })
    }

    /// Whether every selected element counts.
    fn counts_all(&self) -> bool {
        let skips = self.reduction.nan_policy() == NanPolicy::Skip && self.dtype.is_float();
        self.reduction.filter.is_none() && !skips
    }

    /// The number that windows are padded with.
    fn pad(&self) -> Option<Number> {
        self.reduction.window.as_ref().and_then(|window| window.pad)
    }

    /// Which elements reach the kernels.
    pub(super) fn filter(&self) -> Option<Test> {
        self.reduction.filter.clone().map(Test::Filter)
    }

    /// One pass over the selection with the kernel of an operation.
    pub(super) fn pass(
        &self,
        op: Op,
        setup: Setup,
        pad: Option<Number>,
    ) -> Result<(Values, Option<u64>)> {
        self.run(&self.maker(op, setup)?, pad)
    }

    /// The cost of a pass with the kernel of an operation.
    pub(super) fn pass_cost(&self, op: Op, setup: Setup) -> Result<Cost> {
        self.run_cost(&self.maker(op, setup)?)
    }

    /// The maker of an operation's states.
    pub(super) fn maker(&self, op: Op, setup: Setup) -> Result<Maker> {
        let shown = !self.roles.shown().is_empty();
        let cells = if shown { CellCount::Many } else { CellCount::One };
        let maker = maker(self.dtype, op, cells, setup, self.filter());
        maker.ok_or_else(|| self.undefined())
    }

    /// One pass over the selection with the kernel of a maker.
    pub(super) fn run(&self, maker: &Maker, pad: Option<Number>) -> Result<(Values, Option<u64>)> {
        let makers = std::slice::from_ref(maker);
        let plan = self.plan_of(makers)?;
        // One kernel gives one result.
        Ok(self.reduction_pass(&plan, makers, pad).run()?.swap_remove(0))
    }

    /// The cost of a pass with the kernel of a maker.
    pub(super) fn run_cost(&self, maker: &Maker) -> Result<Cost> {
        let makers = std::slice::from_ref(maker);
        let plan = self.plan_of(makers)?;
        self.reduction_pass(&plan, makers, None).cost()
    }

    fn plan(&self) -> Result<ReadPlan> {
        self.dataset.plan(self.slab, self.how)
    }

    /// The plan of a pass of these kernels.
    fn plan_of(&self, makers: &[Maker]) -> Result<ReadPlan> {
        self.judged(self.plan()?, makers)
    }

    /// A plan with what becomes of its chunks, and the gaps that tasks read through, in a pass of these kernels.
    fn judged(&self, plan: ReadPlan, makers: &[Maker]) -> Result<ReadPlan> {
        let mut plan = zone::judged(self.dataset, plan, &self.roles, makers, self.how)?;
        if self.reduction_pass(&plan, makers, None).shares_rows() {
            plan.policy.gap_max = plan.policy.gap_max.min(Coalesce::DEFAULT.gap_max);
        }
        Ok(plan)
    }

    /// How many steps a pass with the kernel of an operation takes.
    #[cfg(test)]
    pub(super) fn step_count(&self, op: Op) -> Result<u64> {
        let maker = self.maker(op, self.setup()?)?;
        let makers = std::slice::from_ref(&maker);
        Ok(self.reduction_pass(&self.plan_of(makers)?, makers, None).step_count())
    }

    fn reduction_pass<'a>(
        &'a self,
        plan: &'a ReadPlan,
        makers: &'a [Maker],
        pad: Option<Number>,
    ) -> ReductionPass<'a> {
        let ReductionQuery { dataset, how, unverified, roles, .. } = self;
        ReductionPass { dataset, plan, how, unverified, roles, makers, pad }
    }

    /// The operation is not for elements of this type.
    pub(super) fn undefined(&self) -> Error {
        Error::Undefined { op: self.reduction.op.name(), dtype: self.dtype }
    }

    /// The reduction of all elements to one cell.
    pub(super) fn whole<'a>(&'a self, reduction: &'a mut Reduction) -> Result<ReductionQuery<'a>> {
        *reduction = Reduction { filter: self.reduction.filter.clone(), ..Reduction::all(Op::Min) };
        reduction.picks = self.reduction.picks.clone();
        reduction.picks.extend(self.reduction.groups.iter().map(|groups| {
            let counts = |&(_, &group): &(u64, &u32)| group != crate::reduction::AxisGroups::NONE;
            let positions = (0..).zip(groups.group_of.iter()).filter(counts).map(|(at, _)| at);
            AxisPicks { axis: groups.axis, positions: positions.collect() }
        }));
        let (roles, _) = Roles::new(self.dataset, self.slab, reduction)?;
        let ReductionQuery { dataset, dtype, slab, how, unverified, .. } = *self;
        Ok(ReductionQuery { dataset, dtype, slab, reduction, how, unverified, roles })
    }

    /// A histogram: its edges, by a pass for each end unless they are given, and the counts.
    fn histogram(&self) -> Result<ReductionResult> {
        let params = &self.reduction.params;
        let range = match params.range {
            Some((min, max)) => Range::Given(min, max),
            None => {
                let mut reduction = Reduction::all(Op::Min);
                let whole = self.whole(&mut reduction)?;
                let setup = Setup { nan: NanPolicy::Skip, ..Setup::default() };
                let end = |op| {
                    let (values, _) = whole.pass(op, setup.clone(), None)?;
                    Ok::<_, Error>(values.get(0).and_then(Scalar::to_f64))
                };
                Range::Found(end(Op::Min)?.zip(end(Op::Max)?))
            }
        };
        let edges = histogram::edges(self.dtype, range, params.bins)?;
        let setup = Setup { edges: edges.clone(), ..self.setup()? };
        let (values, nan_count) = self.pass(Op::Histogram, setup, self.pad())?;
        Ok(ReductionResult { values, nan_count, edges })
    }

    /// The setup of a histogram whose edges are not known yet, but how many there are.
    fn bins_setup(&self) -> Result<Setup> {
        let edges = vec![0.0; buffer::len(u64::from(self.reduction.params.bins) + 1)?];
        Ok(Setup { edges, ..self.setup()? })
    }

    /// The cost of a histogram.
    fn histogram_cost(&self) -> Result<Cost> {
        let counts = self.pass_cost(Op::Histogram, self.bins_setup()?)?;
        if self.reduction.params.range.is_some() {
            return Ok(counts);
        }
        let mut reduction = Reduction::all(Op::Min);
        let whole = self.whole(&mut reduction)?;
        let end = |op| whole.pass_cost(op, Setup::default());
        Ok(end(Op::Min)?.then(end(Op::Max)?).then(counts))
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

    /// The cost of counting the elements of windows.
    fn min_count_cost(&self) -> Result<Cost> {
        let window = self.reduction.window.as_ref();
        match window.and_then(|window| window.min_count) {
            Some(_) if !self.counts_all() => {
                let setup = Setup { nan: self.reduction.nan_policy(), ..Setup::default() };
                self.pass_cost(Op::Count, setup)
            }
            _ => Ok(Cost::default()),
        }
    }

    /// The values in the dataset's own dtype and the result's shape, where they are elements.
    pub(super) fn own(&self, values: Values, shape: &[u64]) -> Result<Values> {
        let Cells::Element(array) = values.cells else { return Ok(values) };
        let array = array.with_dtype(self.dtype).and_then(|array| array.with_shape(shape.into()));
        let cells = Cells::Element(array.ok_or_else(|| Error::misfit(self.dataset))?);
        Ok(Values { cells, ..values })
    }
}
