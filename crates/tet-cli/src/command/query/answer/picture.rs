//! Elements of a picture of a result.

use tet_document::{Ask, Resolved};
use tet_plot::{Bins, PlotAxis, PlotSource};
use tet_query::{Catalog, Execution, Integrity, LazyArray, NanPolicy, Op, Reduced, Values};

use super::array::{Request, along, unit};
use super::axis::{AxisLabels, ResultAxis};
use super::{Answer, Histogram};
use crate::exit::{Failure, Result};
use crate::labels;
use crate::render::numbers::Numbers;

/// The values of a picture, their axes, and what they are.
#[derive(Debug)]
pub(crate) struct Subject {
    values: Drawn,
    /// The axes that have more than one position, in order.
    pub(crate) axes: Vec<PlotAxis>,
    /// Which axis of the dataset each of them is, if it is one.
    pub(crate) numbers: Vec<Option<usize>>,
    pub(crate) title: String,
    /// The name and the unit of the values.
    pub(crate) name: String,
    pub(crate) unit: String,
    /// The bins, if the answer is one histogram.
    pub(crate) bins: Option<Bins>,
}

#[derive(Debug)]
enum Drawn {
    Lazy(Box<LazyArray>),
    Values(Values, Integrity),
}

impl Subject {
    /// The subject of a query; computes a reduction, but reads no array yet.
    ///
    /// # Errors
    ///
    /// A chunk cannot be read, or the query has no values.
    pub(crate) fn new(catalog: &Catalog, resolved: &Resolved, how: &Execution) -> Result<Subject> {
        let (preview, full, nan) = (0, false, NanPolicy::default());
        let request = Request { catalog, resolved, how, preview, full, nan };
        match &resolved.ask {
            Ask::Reduce(reduction) => {
                let tet_query::WithIntegrity { value, integrity } =
                    resolved.dataset.reduce(&resolved.slab, reduction, how)?;
                Ok(Subject::of_reduced(&request, value, integrity))
            }
            Ask::Values(_) | Ask::Transform(..) => Ok(Subject::of_array(&request)?),
            Ask::Align(_) => {
                let failure = Failure::usage(
                    "no-picture",
                    "--align compares axes: there is no picture of it",
                );
                Err(failure.hint("`tet query` prints how the axes compare"))
            }
        }
    }

    fn of_array(request: &Request<'_>) -> Result<Subject> {
        let Request { catalog, resolved, how, .. } = *request;
        // Pictures are of floats, of which missing ones are NaN.
        let lazy = request.lazy_of(&resolved.dataset)?;
        let labels = AxisLabels::new(catalog, resolved, how);
        let along = along(&lazy).into_iter().map(|along| ResultAxis::new(&along, &labels, &[]));
        let (axes, numbers) = axes(&along.collect::<Vec<_>>(), lazy.shape(), &labels);
        let named = |name: String| match lazy.transform() {
            Some(transform) => format!("{} of {name}", transform.method.name()),
            None => name,
        };
        let title = std::iter::once(named(resolved.dataset.name.clone()));
        let title: Vec<String> = title.chain(labels.fixed()).collect();
        Ok(Subject {
            axes,
            numbers,
            title: title.join(", "),
            name: named(name_of(resolved)),
            unit: unit(resolved, &lazy),
            bins: None,
            values: Drawn::Lazy(Box::new(lazy)),
        })
    }

    fn of_reduced(request: &Request<'_>, reduced: Reduced, integrity: Integrity) -> Subject {
        let Request { catalog, resolved, how, nan, .. } = *request;
        let is_histogram = reduced.op == Op::Histogram;
        let answer = Answer::of_reduced(catalog, resolved, reduced, nan, how);
        let axis_labels = AxisLabels::new(catalog, resolved, how);
        let title: Vec<String> =
            std::iter::once(answer.title_without_unit()).chain(axis_labels.fixed()).collect();
        let (axes, numbers) = axes(&answer.along, &answer.shape, &axis_labels);
        let values = match answer.values {
            Numbers::Cells(values) => values,
            Numbers::Listed(_) => Values::default(),
        };
        let bins = answer.extras.histogram.as_ref().filter(|_| answer.shape.len() == 1);
        let bins = bins.and_then(|histogram| bins_of(histogram, &values, answer.nan_count));
        let name = match is_histogram {
            true => "count".to_owned(),
            false => format!("{} of {}", answer.op.replace('_', " "), name_of(resolved)),
        };
        Subject {
            axes,
            numbers,
            title: title.join(", "),
            name: if bins.is_some() { name_of(resolved) } else { name },
            // The values of bins have the unit of the dataset, their counts have none.
            unit: if bins.is_some() { labels::unit(&resolved.dataset) } else { answer.unit },
            bins,
            values: Drawn::Values(values, integrity),
        }
    }

    /// The values.
    pub(crate) fn source(&self) -> PlotSource<'_> {
        match &self.values {
            Drawn::Lazy(lazy) => PlotSource::Lazy(lazy),
            Drawn::Values(values, _) => PlotSource::Values(values),
        }
    }

    /// The integrity of what was read.
    pub(crate) fn integrity(&self) -> Integrity {
        match &self.values {
            Drawn::Lazy(lazy) => lazy.integrity(),
            Drawn::Values(_, integrity) => *integrity,
        }
    }
}

/// Name of the values of the dataset.
fn name_of(resolved: &Resolved) -> String {
    let long_name = labels::long_name(&resolved.dataset);
    if long_name.is_empty() { resolved.dataset.name.clone() } else { long_name }
}

/// The axes of more than one position, and which axes of the dataset they are.
fn axes(
    along: &[ResultAxis],
    shape: &[u64],
    labels: &AxisLabels<'_>,
) -> (Vec<PlotAxis>, Vec<Option<usize>>) {
    let shown = along.iter().zip(shape).filter(|(_, extent)| **extent != 1);
    shown.map(|(axis, &extent)| (axis.plot_axis(extent, labels), axis.axis)).unzip()
}

/// The counts of a histogram of all values.
fn bins_of(histogram: &Histogram, values: &Values, nan_count: Option<u64>) -> Option<Bins> {
    let tet_query::Cells::Count(counts) = &values.cells else { return None };
    let first = |counts: &[u64]| counts.first().copied().unwrap_or(0);
    Some(Bins {
        edges: histogram.edges.clone(),
        counts: counts.clone(),
        below: first(&histogram.below),
        above: first(&histogram.above),
        nan_count: nan_count.unwrap_or(0),
    })
}
