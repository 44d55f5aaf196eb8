//! Folding a selection into values: tasks, states, a fixed order of merging.
//!
//! ```text
//!   roles   what each axis is: folded, kept, grouped, windowed     cut     tiles and parts
//!   steps   the order of tasks, for requests to a server
//!   layout  where positions fold to                                fold    strips into states
//!   slide   overlapping windows out of positions                   board, assemble: the cells
//!   pad     what fills windows up
//!   zone    which chunks need not be read, by their statistics
//!   query   one pass, or the passes of what one cannot answer
//! ```
//!
//! Cuts depend on selection, grid, codecs and reduction only, so the same bits come out whatever
//! the threads, the budget, the coalescing and the source. Where elements are kept cuts depend on the
//! budget too, and what becomes of the elements does not depend on cuts.

mod assemble;
mod board;
mod covariance;
mod cut;
mod fold;
pub(crate) mod histogram;
mod layout;
mod matrix;
mod order;
mod pad;
mod pass;
mod quantile;
mod query;
mod role;
mod slide;
mod steps;
mod window;
mod zone;

use self::query::{ReductionQuery, ReductionResult, answers};
use self::role::Roles;
use crate::budget::Execution;
use crate::catalog::{Dataset, ReadRange};
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::fetch::Unverified;
use crate::op::Op;
use crate::reduction::Reduction;
use crate::selection::Hyperslab;
use crate::value::{Along, Cells, Details, Reduced, Values};

/// Reduces a selection.
pub(crate) fn reduce(
    dataset: &Dataset,
    slab: &Hyperslab,
    reduction: &Reduction,
    how: &Execution,
    unverified: &Unverified,
) -> Result<Reduced> {
    let how = &*how.suited(&dataset.source);
    let (query, axes) = reduction_query(dataset, slab, reduction, how, unverified)?;
    let answer = query.answer()?;
    reduced(&query, axes, answer)
}

/// Reduces a selection in several ways.
pub(crate) fn reduce_all(
    dataset: &Dataset,
    slab: &Hyperslab,
    reductions: &[Reduction],
    how: &Execution,
    unverified: &Unverified,
) -> Result<Vec<Reduced>> {
    let how = &*how.suited(&dataset.source);
    let all = reductions
        .iter()
        .map(|reduction| reduction_query(dataset, slab, reduction, how, unverified));
    let (all, axes): (Vec<_>, Vec<_>) = all.collect::<Result<Vec<_>>>()?.into_iter().unzip();
    let answers = answers(&all)?.into_iter();
    let each = all.iter().zip(axes).zip(answers);
    each.map(|((query, axes), answer)| reduced(query, axes, answer)).collect()
}

/// The values with what they stand for.
fn reduced(
    query: &ReductionQuery<'_>,
    axes: Vec<usize>,
    answer: ReductionResult,
) -> Result<Reduced> {
    let reduction = query.reduction;
    let count = query.slab.element_count().ok_or_else(|| Error::misfit(query.dataset))?;
    let mut reduced = Reduced {
        op: reduction.op,
        axes,
        along: query.roles.along(),
        shape: query.roles.shape(),
        values: answer.values,
        count,
        nan_count: answer.nan_count,
        statistics: query.unverified.statistics(),
        details: Details::None,
    };
    match reduction.op {
        Op::Quantile if !reduction.params.one_q => {
            quantiles_first(&mut reduced, &reduction.params.q)
        }
        Op::Histogram => bins_last(&mut reduced, answer.edges),
        Op::ArgMin | Op::ArgMax => {
            reduced.axes = indexed_axes(&query.roles, query.slab);
            reduced.details = places(&query.roles, &reduced.axes, &reduced.values);
        }
        Op::Covariance | Op::Correlation => {
            let variables = Along::Variables(query.variables()?);
            let count = reduced.shape.first().copied().unwrap_or(0);
            reduced.shape = vec![count; 2];
            reduced.along = vec![variables.clone(), variables];
        }
        _ => {}
    }
    reduced.values = query.own(reduced.values, &reduced.shape)?;
    Ok(reduced)
}

/// The cost of reducing a selection.
pub(crate) fn cost(
    dataset: &Dataset,
    slab: &Hyperslab,
    reduction: &Reduction,
    how: &Execution,
) -> Result<Cost> {
    let how = &*how.suited(&dataset.source);
    reduction_query(dataset, slab, reduction, how, &Unverified::default())?.0.cost()
}

/// Calls `visit` with every run that a pass of a reduction reads.
pub(crate) fn runs(
    dataset: &Dataset,
    slab: &Hyperslab,
    reduction: &Reduction,
    how: &Execution,
    visit: &mut dyn FnMut(ReadRange),
) -> Result<()> {
    let how = &*how.suited(&dataset.source);
    reduction_query(dataset, slab, reduction, how, &Unverified::default())?.0.runs(visit)
}

/// The reduction with its dataset and the roles of its axes.
fn reduction_query<'a>(
    dataset: &'a Dataset,
    slab: &'a Hyperslab,
    reduction: &'a Reduction,
    how: &'a Execution,
    unverified: &'a Unverified,
) -> Result<(ReductionQuery<'a>, Vec<usize>)> {
    let dtype = dataset.readable()?;
    if reduction.seeks_pads() {
        return Err(Error::NoPlace { op: reduction.op.name() });
    }
    if reduction.refuses_windows() {
        return Err(Error::Windowed { op: reduction.op.name() });
    }
    let (roles, axes) = Roles::new(dataset, slab, reduction)?;
    Ok((ReductionQuery { dataset, dtype, slab, reduction, how, unverified, roles }, axes))
}

/// Puts an axis of quantiles first, as NumPy does; the values have them last.
fn quantiles_first(reduced: &mut Reduced, q: &[f64]) {
    let width = q.len().max(1);
    let cells = reduced.values.len() / width;
    let from = (0..width).flat_map(|nth| (0..cells).map(move |cell| cell * width + nth));
    if let Cells::Float(values) = &mut reduced.values.cells {
        *values = from.clone().map(|at| values[at]).collect();
    }
    if let Some(nulls) = &mut reduced.values.nulls {
        *nulls = from.map(|at| nulls[at]).collect();
    }
    reduced.shape.insert(0, width as u64);
    reduced.along.insert(0, Along::Quantiles(q.to_vec()));
}

/// Takes the counts outside of a histogram out of the values, which then are its bins.
fn bins_last(reduced: &mut Reduced, edges: Vec<f64>) {
    let bins = edges.len().saturating_sub(1);
    let Cells::Count(counts) = &mut reduced.values.cells else { return };
    let cells = counts.chunks_exact(bins + 2);
    let below = cells.clone().map(|cell| cell[0]).collect();
    let above = cells.clone().map(|cell| cell[bins + 1]).collect();
    // In place: there may be as many as memory holds.
    let mut at = 0;
    counts.retain(|_| {
        let bin = at % (bins + 2);
        at += 1;
        0 < bin && bin <= bins
    });
    reduced.shape.push(bins as u64);
    reduced.along.push(Along::Bins);
    reduced.details = Details::Histogram { edges, below, above };
}

/// The axes of the selection along which an index counts, in order.
fn indexed_axes(roles: &Roles, slab: &Hyperslab) -> Vec<usize> {
    let slices = slab.axes().iter().enumerate();
    slices
        .filter(|&(axis, slice)| slice.is_kept() && roles.is_indexed(axis))
        .map(|(axis, _)| axis)
        .collect()
}

/// The selected positions along these axes that indices stand for.
fn places(roles: &Roles, axes: &[usize], values: &Values) -> Details {
    let Cells::Count(indices) = &values.cells else { return Details::None };
    let axes: Vec<u64> = axes.iter().map(|&axis| roles.counts[axis]).collect();
    let place = |(at, &index): (usize, &u64)| {
        if values.nulls.as_ref().is_some_and(|nulls| nulls[at]) {
            return Vec::new();
        }
        let mut rest = index;
        let mut place: Vec<u64> = axes
            .iter()
            .rev()
            .map(|&count| {
                let at = rest % count.max(1);
                rest /= count.max(1);
                at
            })
            .collect();
        place.reverse();
        place
    };
    Details::Places(indices.iter().enumerate().map(place).collect())
}

#[cfg(test)]
mod tests;
