//! Reductions of what is selected.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tet_document::{Ask, Query};
use tet_query::{
    Axes, AxisPicks, Between, CatalogLabels, Compare, Dataset, Filter, NanPolicy, Number, Op,
    Params, Reduction, SelectionNote,
};

use crate::cells;
use crate::options::{extract, unknown};
use crate::picks::Sorted;
use crate::run::{ProgressCallback, detached};
use crate::selected::Selected;

/// The reductions of a summary; the last one is of floats alone.
const SUMMARY: [Op; 5] = [Op::Min, Op::Max, Op::Mean, Op::Std, Op::InfCount];

/// Arguments of a reduction, as Python passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct ReduceArguments {
    op: String,
    /// Axes that appear, or all.
    axes: Option<Vec<usize>>,
    skipna: bool,
    ddof: u32,
    q: Option<Vec<f64>>,
    /// Whether one quantile was asked for and not a list.
    one_q: bool,
    /// Whether elements count that are not zero, and no others.
    nonzero: bool,
    bins: u32,
    range: Option<(f64, f64)>,
    /// Which elements count: the filter of a query document, in JSON.
    filter: Option<String>,
}

impl ReduceArguments {
    /// The reduction of a part of a dataset.
    fn reduction(&self, py: Python<'_>, selected: &Selected) -> PyResult<Reduction> {
        let kept = selected.kept();
        let op = Op::ALL.iter().copied().find(|op| op.name() == self.op);
        let op = op.ok_or_else(|| unknown("op", &self.op, "the reductions of a query document"))?;
        let axes = match &self.axes {
            None => Axes::All,
            Some(axes) => {
                let of = |axis: &usize| kept.get(*axis).copied();
                let axes: Option<Vec<usize>> = axes.iter().map(of).collect();
                Axes::Some(axes.ok_or_else(|| PyValueError::new_err("there is no such axis"))?)
            }
        };
        let mut filter = match &self.filter {
            Some(json) => Some(selected.filter(py, json)?),
            None => None,
        };
        if self.nonzero {
            filter.get_or_insert_default().tests.push((Compare::Ne, Number::Int(0)));
        }
        let sorted = selected.picks().iter().map(|picks| AxisPicks {
            axis: picks.axis,
            positions: Sorted::new(&picks.positions).positions,
        });
        let params = Params {
            ddof: self.ddof,
            q: self.q.clone().unwrap_or_default(),
            one_q: self.one_q,
            bins: self.bins,
            range: self.range,
            ..Params::for_op(op)
        };
        Ok(Reduction {
            axes,
            nan: if self.skipna { NanPolicy::Skip } else { NanPolicy::Propagate },
            params,
            filter,
            picks: sorted.collect(),
            ..Reduction::all(op)
        })
    }
}

/// Several reductions of what is selected, in one pass where they have the same cells.
#[pyfunction]
#[pyo3(signature = (selected, asked, progress=None))]
pub(crate) fn reduce<'py>(
    py: Python<'py>,
    selected: &Selected,
    asked: Vec<Bound<'py, PyDict>>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Vec<Bound<'py, PyDict>>, &'static str)> {
    let of = |asked: &Bound<'_, PyDict>| extract::<ReduceArguments>(asked)?.reduction(py, selected);
    let reductions: PyResult<Vec<Reduction>> = asked.iter().map(of).collect();
    selected.reduced(py, &reductions?, progress)
}

/// The count, the ends, the mean, the standard deviation and the quartiles of what is selected, without NaN.
#[pyfunction]
#[pyo3(signature = (selected, quartiles, progress=None))]
pub(crate) fn summary<'py>(
    py: Python<'py>,
    selected: &Selected,
    quartiles: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Vec<Bound<'py, PyDict>>, &'static str)> {
    let held = selected.held()?;
    let is_float = |dataset: &Dataset| dataset.dtype.is_some_and(tet_format::DType::is_float);
    let ops = if is_float(held.dataset()?) { &SUMMARY[..] } else { &SUMMARY[..4] };
    if !selected.picks().is_empty() {
        return Err(PyValueError::new_err("a summary is one of a whole dataset"));
    }
    let skipping = |op| Reduction::all(op).with_nan(NanPolicy::Skip);
    let mut reductions: Vec<Reduction> = ops.iter().copied().map(skipping).collect();
    if quartiles {
        let q = vec![0.25, 0.5, 0.75];
        let params = Params { q, between: Between::LineOrMiddle, ..Params::for_op(Op::Quantile) };
        reductions.push(Reduction { params, ..skipping(Op::Quantile) });
    }
    selected.reduced(py, &reductions, progress)
}

impl Selected {
    /// The filter of a query document in JSON, for the elements of this dataset.
    fn filter(&self, py: Python<'_>, json: &str) -> PyResult<Filter> {
        let held = self.held()?;
        let document =
            format!(r##"{{"filter": {json}, "count": [], "dataset": "#{}"}}"##, held.index);
        let catalog = &held.open.opened.catalog;
        // Labels that it names may be read.
        let resolved = detached(py, &ProgressCallback::new(0, None), |_| {
            Query::from_json(&document)?.resolve(catalog, &held.open.how)
        });
        match resolved?.ask {
            Ask::Reduce(Reduction { filter, .. }) => Ok(filter.unwrap_or_default()),
            _ => Ok(Filter::default()),
        }
    }

    fn reduced<'py>(
        &self,
        py: Python<'py>,
        reductions: &[Reduction],
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Vec<Bound<'py, PyDict>>, &'static str)> {
        let held = self.held()?;
        let (dataset, how) = (held.dataset()?, &held.open.how);
        let len = self.len(self.slab());
        let answer = detached(py, &ProgressCallback::new(len, progress), |progress| {
            let how = how.with_progress(progress.begin(len));
            dataset.reduce_all(self.slab(), reductions, &how)
        })?;
        let labels = CatalogLabels::new(&held.open.opened.catalog, dataset, how);
        let note = |reduction: &Reduction| {
            SelectionNote::of_reduction(reduction, self.slab(), &dataset.dims, &labels)
        };
        let found = answer.value.iter().zip(reductions).map(|(value, reduction)| {
            let dict = cells::reduced(py, value)?;
            dict.set_item("note", note(reduction).map(|note| note.to_string()))?;
            Ok(dict)
        });
        let found: PyResult<Vec<_>> = found.collect();
        Ok((found?, answer.integrity.name()))
    }
}
