//! Query documents: what they answer, and what they would read.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tet_document::{Answered, Ask, Query, Resolved};
use tet_query::{
    Alignment, Axis, AxisPositions, AxisSlice, Coalesce, Cost, Execution, LabelAlignment,
    LazyArray, ReadPlan, ReadRange, plan,
};

use crate::cells;
use crate::file::OpenFile;
use crate::run::{ProgressCallback, detached};
use crate::selected::Selected;

/// Reads of a document.
struct Reads {
    op: &'static str,
    dataset: String,
    plan: ReadPlan,
    run_count: u64,
    run_len: u64,
    cost: Cost,
}

/// The document with its names looked up, and how it is read.
fn resolved(
    file: &crate::state::Open,
    json: &str,
    how: &Execution,
) -> Result<(Resolved, Execution), tet_document::Error> {
    let query = Query::from_json(json)?;
    let how = query.execution.over(how, how.memory_budget);
    Ok((query.resolve(&file.opened.catalog, &how)?, how))
}

/// Answers a document in JSON.
#[pyfunction]
#[pyo3(signature = (file, json, progress=None))]
pub(crate) fn query<'py>(
    py: Python<'py>,
    file: &OpenFile,
    json: &str,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let open = file.state().get()?;
    let (answered, found) = detached(py, &ProgressCallback::long(progress), |progress| {
        let how = open.how.with_progress(progress.begin(0));
        let (resolved, how) = resolved(&open, json, &how)?;
        Ok::<_, tet_document::Error>((resolved.answer(&how)?, resolved))
    })?;
    let dict = match &answered {
        Answered::Reduced(answer) => {
            let dict = cells::reduced(py, &answer.value)?;
            dict.set_item("integrity", answer.integrity.name())?;
            dict
        }
        Answered::Array(answer) => {
            let dict = PyDict::new(py);
            dict.set_item("op", name(&found.ask))?;
            dict.set_item("values", cells::array(py, &answer.value, answer.value.shape())?)?;
            let kept = found.slab.axes().iter().enumerate().filter(|(_, it)| it.is_kept());
            dict.set_item("kept", kept.map(|(axis, _)| axis).collect::<Vec<_>>())?;
            dict.set_item("integrity", answer.integrity.name())?;
            dict
        }
        Answered::Alignment(alignment) => {
            let dict = PyDict::new(py);
            dict.set_item("op", "align")?;
            dict.set_item("alignment", compared(py, alignment)?)?;
            dict
        }
    };
    let notes: Vec<String> = found.notes.iter().map(ToString::to_string).collect();
    dict.set_item("notes", notes)?;
    dict.set_item("dataset", &found.dataset.name)?;
    dict.set_item("dims", found.dataset.dims.clone())?;
    let kept = found.positions.iter().map(|positions| match positions {
        AxisPositions::Slice(slice) => AxisSlice { axis: Axis::Kept, ..*slice }.into(),
        each @ AxisPositions::Each { .. } => each.clone(),
    });
    let dataset = open.opened.catalog.at(found.dataset.index).unwrap_or(&found.dataset);
    let whole = Selected::whole(py, file.state(), dataset)?;
    dict.set_item("part", whole.with_positions(py, &kept.collect::<Vec<_>>())?)?;
    Ok(dict)
}

/// The plan of a document in JSON; no element is read.
#[pyfunction]
pub(crate) fn explain<'py>(
    py: Python<'py>,
    file: &OpenFile,
    json: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let open = file.state().get()?;
    let reads = detached(py, &ProgressCallback::long(None), |progress| {
        let (resolved, how) = resolved(&open, json, &open.how.with_progress(progress))?;
        reads(&resolved, &how)
    })?;
    let dict = PyDict::new(py);
    dict.set_item("op", reads.op)?;
    dict.set_item("dataset", reads.dataset)?;
    dict.set_item("chunk_count", reads.plan.chunks().len())?;
    dict.set_item("element_count", reads.plan.element_count)?;
    dict.set_item("decoded_len", reads.plan.decoded_len)?;
    dict.set_item("read_count", reads.run_count)?;
    dict.set_item("read_len", reads.run_len)?;
    dict.set_item("passes", (reads.cost.passes.least, reads.cost.passes.most))?;
    dict.set_item("memory_len", reads.cost.memory_len)?;
    Ok(dict)
}

fn reads(resolved: &Resolved, how: &Execution) -> Result<Reads, tet_document::Error> {
    let Resolved { dataset, slab, ask, .. } = resolved;
    let (mut run_count, mut run_len) = (0_u64, 0_u64);
    let mut visit = |run: ReadRange| {
        run_count += 1;
        run_len = run_len.saturating_add(run.span.len());
    };
    let cost = match ask {
        Ask::Align(_) => Cost::default(),
        Ask::Reduce(reduction) => {
            dataset.reduce_runs(slab, reduction, how, &mut visit)?;
            dataset.reduce_cost(slab, reduction, how)?
        }
        Ask::Values(choice) => {
            dataset.read_runs(slab, how, &mut visit)?;
            LazyArray::cost(dataset, slab, choice, None, how)?
        }
        Ask::Transform(choice, transform) => {
            dataset.read_runs(slab, how, &mut visit)?;
            LazyArray::cost(dataset, slab, choice, Some(transform), how)?
        }
    };
    let plan = plan(dataset, slab, Coalesce::DEFAULT)?;
    let (op, dataset) = (name(ask), dataset.name.clone());
    Ok(Reads { op, dataset, plan, run_count, run_len, cost })
}

/// Name of the kind of a query.
fn name(ask: &Ask) -> &'static str {
    match ask {
        Ask::Values(_) => "values",
        Ask::Reduce(reduction) => reduction.op.name(),
        Ask::Transform(_, transform) => transform.method.name(),
        Ask::Align(_) => "align",
    }
}

/// For each pair of axes: the axes, their extents, their names, and how their labels compare.
fn compared(py: Python<'_>, alignment: &Alignment) -> PyResult<Vec<Py<PyAny>>> {
    let pair = |axis: &tet_query::AxisAlignment| {
        let labels = match &axis.labels {
            LabelAlignment::Absent => "absent",
            LabelAlignment::Equal => "equal",
            LabelAlignment::OneSided { .. } => "one-sided",
            LabelAlignment::Differ { .. } => "different",
        };
        let [first, second] = axis.names.clone();
        (axis.axes, axis.extents, (first, second), labels, axis.agrees()).into_py_any(py)
    };
    alignment.axes.iter().map(pair).collect()
}

/// The cost of reading the selection, before picks: chunks, their decoded bytes, and bytes of the file.
#[pyfunction]
pub(crate) fn touched(py: Python<'_>, selected: &Selected) -> PyResult<(u64, u64, u64)> {
    let held = selected.held()?;
    let (dataset, how, slab) = (held.dataset()?, &held.open.how, selected.slab());
    detached(py, &ProgressCallback::new(0, None), |_| {
        let mut read_len = 0_u64;
        let mut visit = |run: ReadRange| read_len = read_len.saturating_add(run.span.len());
        dataset.read_runs(slab, how, &mut visit)?;
        let plan = plan(dataset, slab, Coalesce::DEFAULT)?;
        Ok::<_, tet_query::Error>((plan.chunks().len() as u64, plan.decoded_len, read_len))
    })
}
