//! Elements into their places in an array.
//!
//! The output is split among tasks beforehand, so that threads write without asking each other:
//! a task owns a rectangle of the selection, and with it the output rows that lie in it.

mod split;

use std::sync::Mutex;

use tet_io::Source;

use self::split::{OutputPart, split};
use crate::array::Array;
use crate::budget::Execution;
use crate::buffer;
use crate::catalog::{Dataset, ReadRange};
use crate::cost::Cost;
use crate::error::{Error, Result};
use crate::fetch::{self, Checks, Fetcher, PartRead, Prefetch, Rows, Unverified, Uses};
use crate::plan::ReadPlan;
use crate::plan::output::OutputCut;
use crate::plan::piece::{Strips, dense_range, element_count};
use crate::plan::touch::AxisBox;
use crate::selection::Hyperslab;

/// Reads a selection into a new array.
pub(crate) fn read(
    dataset: &Dataset,
    slab: &Hyperslab,
    how: &Execution,
    unverified: &Unverified,
) -> Result<Array> {
    let how = &*how.suited(&dataset.source);
    let plan = dataset.plan(slab, how)?;
    let dtype = dataset.dtype.ok_or_else(|| Error::unknown_dtype(dataset))?;
    how.check_result(plan.element_count.checked_mul(plan.element_size))?;
    let mut array = Array::zeroed(dtype, slab.kept_shape())?;
    fill(dataset, &plan, how, unverified, None, array.bytes_mut())?;
    Ok(array)
}

/// Calls `visit` with every run that reading a selection reads, in the order of tasks; of a server's file, with every
/// request.
pub(crate) fn runs(
    dataset: &Dataset,
    slab: &Hyperslab,
    how: &Execution,
    visit: &mut dyn FnMut(ReadRange),
) -> Result<()> {
    let how = &*how.suited(&dataset.source);
    let plan = dataset.plan(slab, how)?;
    if plan.element_count == 0 {
        return Ok(());
    }
    let cut = OutputCut::new(&plan, &how.tuning);
    let runs_of = |index, visit: &mut dyn FnMut(ReadRange)| {
        task_runs(&plan, &cut, how, index, visit);
        Ok(())
    };
    fetch::each_request(how, cut.count(), runs_of, visit)
}

/// Calls `visit` with every run that a task reads.
fn task_runs(
    plan: &ReadPlan,
    cut: &OutputCut,
    how: &Execution,
    index: u64,
    visit: &mut dyn FnMut(ReadRange),
) {
    let output = cut.rect(index);
    let rect = output.rect.clone();
    let (limit, window_len) = (strip_elements(plan, how), how.window_len());
    plan.for_task_runs(&rect, None, limit, window_len, Some(output), visit);
}

/// Elements of a strip.
fn strip_elements(plan: &ReadPlan, how: &Execution) -> u64 {
    how.tuning.copy_strip_len / plan.element_size.max(1)
}

/// The cost of reading a selection, without the memory of its elements.
pub(crate) fn cost(dataset: &Dataset, slab: &Hyperslab, how: &Execution) -> Result<Cost> {
    let how = &*how.suited(&dataset.source);
    let plan = dataset.plan(slab, how)?;
    let tasks = if plan.is_one_task(&how.tuning) { 1 } else { u64::MAX };
    Cost::pass(&plan, how, plan.whole_len_max, tasks)
}

/// Reads a selection into exactly its bytes; `parts` knows of other reads of the same chunks.
pub(crate) fn read_into(
    dataset: &Dataset,
    slab: &Hyperslab,
    how: &Execution,
    unverified: &Unverified,
    parts: Option<&PartRead>,
    out: &mut [u8],
) -> Result<()> {
    let how = &*how.suited(&dataset.source);
    let plan = dataset.plan(slab, how)?;
    let wanted = plan.element_count.saturating_mul(plan.element_size);
    if wanted != out.len() as u64 {
        return Err(Error::Buffer { found: out.len() as u64, wanted });
    }
    fill(dataset, &plan, how, unverified, parts, out)
}

/// Executes a plan into the output.
fn fill(
    dataset: &Dataset,
    plan: &ReadPlan,
    how: &Execution,
    unverified: &Unverified,
    parts: Option<&PartRead>,
    out: &mut [u8],
) -> Result<()> {
    if plan.element_count == 0 {
        return Ok(());
    }
    let checks = Checks::new(dataset, plan, how, unverified, Uses::Once, parts)?;
    how.progress.check()?;
    if fill_at_once(&dataset.source, &checks, plan, how, out)? {
        how.progress.advance(out.len() as u64)?;
        return checks.finish();
    }
    let workers = how.workers(plan.whole_len_max)?;
    let workers = if plan.is_one_task(&how.tuning) { 1 } else { workers };
    let cut = OutputCut::new(plan, &how.tuning);
    let parts = split(&cut, plan.element_size, out)?;
    let parts: Vec<Mutex<Option<OutputPart<'_>>>> =
        parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
    let count = parts.len() as u64;
    let prefetch = Prefetch::new(dataset, how, count, |index, visit| {
        task_runs(plan, &cut, how, index, visit);
        Ok(())
    });
    let state = || Fetcher::new(&checks, plan, how, Rows::Any, &prefetch);
    let task = |fetcher: &mut Fetcher<'_>, index| {
        let part = parts
            .get(buffer::len(index)?)
            .map(|part| part.lock().unwrap_or_else(|poison| poison.into_inner()).take());
        let Some(Some(mut part)) = part else { return Ok(0) };
        let done = fill_part(fetcher, plan, how, index, &mut part);
        fetcher.end();
        done
    };
    prefetch.during(|| fetch::run(workers, u64::MAX, count, how, state, task))?;
    checks.finish()
}

/// Reads a contiguous part of one raw chunk, such as a point, directly; false
/// when it does not.
fn fill_at_once(
    source: &Source,
    checks: &Checks<'_>,
    plan: &ReadPlan,
    how: &Execution,
    out: &mut [u8],
) -> Result<bool> {
    let [read] = plan.chunks() else { return Ok(false) };
    let small = (out.len() as u64) < how.tuning.copy_len_min && plan.is_identity(read);
    let elements = plan.touch.cursor().boxes().and_then(dense_range);
    let is_here = small && read.place.object == 0;
    let Some(elements) = elements.filter(|_| is_here) else { return Ok(false) };
    let at = read.place.stored.start() + elements.start * plan.element_size;
    let view = source.view();
    let is_whole = read.place.stored.len() == out.len() as u64;
    if !is_whole {
        checks.part(read, 0, view.as_ref())?;
    }
    let range = at..at.saturating_add(out.len() as u64);
    match view.as_ref().and_then(|view| view.bytes(range)) {
        Some(bytes) => out.copy_from_slice(bytes),
        None => source.read_exact_at(at, out)?,
    }
    if is_whole {
        checks.whole(read, out)?;
    }
    Ok(true)
}

/// Reads what one task owns; gives its bytes.
fn fill_part(
    fetcher: &mut Fetcher<'_>,
    plan: &ReadPlan,
    how: &Execution,
    index: u64,
    part: &mut OutputPart<'_>,
) -> Result<u64> {
    let touch = plan.touch.narrowed(&part.place.rect);
    let mut strips = Strips::new(&touch, strip_elements(plan, how));
    let mut reads = fetcher.begin(index, &strips, Some(part.place.clone()));
    let mut done = 0;
    while let Some(boxes) = strips.boxes() {
        let direct = match part.contiguous(boxes, plan.element_size)? {
            Some(out) => fetcher.direct(&mut reads, &strips, boxes, out)?,
            None => false,
        };
        if !direct {
            let block = fetcher.block(&mut reads, &strips, boxes)?;
            part.put(boxes, plan.element_size, block.bytes, block.strides)?;
        }
        done += element_count(boxes) * plan.element_size;
        strips.advance();
    }
    Ok(done)
}

/// Positions of one axis box as an index into memory.
fn index(part: &AxisBox) -> Result<(usize, usize)> {
    Ok((buffer::len(part.at)?, buffer::len(part.count)?))
}

#[cfg(test)]
mod tests;
