//! The axes of a file in short: their first and last labels, and the steps of times.
//!
//! Coordinates are read in whole where they are short; of longer ones the ends alone.

use std::collections::HashSet;

use super::coordinates::read_labels;
use super::times::TimeUnits;
use super::{Calendar, Labels, TimeSteps};
use crate::budget::Execution;
use crate::catalog::{AttrText, Catalog, Dataset};
use crate::selection::{AxisSlice, Hyperslab};

/// An axis in short.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AxisSummary {
    /// The name of the dataset whose values are its labels, or of the axis.
    pub name: String,
    /// How many positions it has.
    pub len: u64,
    /// The label of the first position, times as dates.
    pub first: Option<String>,
    /// The label of the last position.
    pub last: Option<String>,
    /// The units of its labels, as the file has them.
    pub units: Option<String>,
    /// The calendar of times.
    pub calendar: Option<Calendar>,
    /// The steps of times, where all of them were read.
    pub steps: Option<TimeSteps>,
    /// Why labels cannot be read, or are not understood as times.
    pub fault: Option<String>,
}

/// Axes in short, as many as are read.
///
/// # Examples
///
/// ```
/// assert!(tet_query::AxisList::default().axes.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AxisList {
    /// The axes that have labels, in the order in which datasets have them.
    pub axes: Vec<AxisSummary>,
    /// How many more there are, of which nothing was read.
    pub more: u64,
}

/// How much is read of the coordinates of a file.
struct Reach {
    axes: usize,
    /// Longer coordinates, and those of more chunks, are read at their ends alone.
    labels: u64,
    chunks: u64,
}

const LOCAL: Reach = Reach { axes: 64, labels: 1 << 18, chunks: 1 << 12 };
const REMOTE: Reach = Reach { axes: 16, labels: 1 << 13, chunks: 8 };
/// Memory for a chunk of a coordinate.
const MEMORY_MAX: u64 = 64 << 20;

impl Catalog {
    /// The axes of some of its datasets in short: those that have labels, each once.
    ///
    /// Of coordinates that are long, or of many chunks, only both ends are read; of a file on a server this holds sooner.
    #[must_use]
    pub fn axes(&self, datasets: &[Dataset], how: &Execution) -> AxisList {
        let how = how.silent().within(Some(MEMORY_MAX));
        let reach = if self.source().access().is_remote() { REMOTE } else { LOCAL };
        let (mut list, mut seen, mut listed) =
            (AxisList::default(), HashSet::new(), HashSet::new());
        for dataset in datasets {
            // Names are looked up once for a group: a file may have thousands of datasets on the same axes.
            let group = dataset.name.rsplit_once('/').map_or("", |(group, _)| group);
            for (axis, &len) in dataset.shape().iter().enumerate() {
                let own = dataset.coords.get(&axis).filter(|labels| !labels.is_empty());
                let Some(name) = dataset.dims.get(axis) else { continue };
                let ends = own.map(|own| (own.first(), own.last()));
                if !seen.insert((group, name.as_str(), len, ends)) {
                    continue;
                }
                if let Some(own) = own {
                    let labels = Labels::Text(own.as_slice().into()).dated();
                    list.push(&reach, || AxisSummary { len, ..of_labels(name, &labels) });
                    continue;
                }
                let Some(coordinates) = self.in_scope(&dataset.name, name) else { continue };
                let is_labels = coordinates.shape() == [len] && listed.insert(coordinates.index);
                if is_labels {
                    list.push(&reach, || of_coordinates(&self.decoded(coordinates), &reach, &how));
                }
            }
        }
        list
    }
}

impl AxisList {
    fn push(&mut self, reach: &Reach, summary: impl FnOnce() -> AxisSummary) {
        if self.axes.len() < reach.axes {
            self.axes.push(summary());
        } else {
            self.more += 1;
        }
    }
}

fn of_labels(name: &str, labels: &Labels<'_>) -> AxisSummary {
    let last = labels.len().checked_sub(1).and_then(|last| labels.text(last));
    let calendar = match labels {
        Labels::Times { times, .. } => Some(times.calendar()),
        _ => None,
    };
    let (name, first, steps) = (name.to_owned(), labels.text(0), labels.time_steps());
    AxisSummary { name, first, last, calendar, steps, ..AxisSummary::default() }
}

fn of_coordinates(coordinates: &Dataset, reach: &Reach, how: &Execution) -> AxisSummary {
    let len = coordinates.shape().first().copied().unwrap_or_default();
    let units = coordinates.attrs.get("units").map(|units| match units {
        AttrText::Text(text) => text.clone(),
        other => other.text().to_owned(),
    });
    let unknown = TimeUnits::unknown(&coordinates.attrs).map(|it| {
        format!("{it} is not understood as time: the labels are the numbers of the file")
    });
    let is_whole = len <= reach.labels && coordinates.grid.chunk_count() <= reach.chunks;
    let whole = AxisSlice::whole(len);
    let step = if is_whole { 1 } else { len.saturating_sub(1).max(1) };
    let slab = Hyperslab::new(vec![AxisSlice { step, ..whole }], coordinates.shape());
    let slab = slab.unwrap_or_else(|| Hyperslab::whole(coordinates.shape()));
    let (labels, failure) = match read_labels(coordinates, &slab, how) {
        Ok(labels) => (labels, None),
        Err(error) => (None, Some(error.to_string())),
    };
    let mut summary = match &labels {
        Some(labels) => of_labels(&coordinates.name, labels),
        None => AxisSummary { name: coordinates.name.clone(), ..AxisSummary::default() },
    };
    // Some labels have no steps of all.
    summary.steps = summary.steps.filter(|_| is_whole);
    AxisSummary { len, units, fault: failure.or(unknown), ..summary }
}

impl Labels<'_> {
    /// The steps of times; `None` of other labels.
    fn time_steps(&self) -> Option<TimeSteps> {
        let Labels::Times { numbers, times, .. } = self else { return None };
        let instants: Vec<_> =
            (0..numbers.len()).map(|at| numbers.instant(times.units, at)).collect();
        TimeSteps::of_times(&instants, times.calendar())
    }
}
