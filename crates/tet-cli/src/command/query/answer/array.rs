//! An answer that is an array: its first values, its edges, or all of it in a file.

use std::ops::Range;

use tet_document::{Ask, Resolved};
use tet_query::{
    Along, Array, Axes, Axis, AxisSlice, Catalog, Choice, Dataset, Execution, Hyperslab, LazyArray,
    NanPolicy, StatisticsUse,
};

use super::axis::{AxisLabels, ResultAxis, axis_name};
use super::reduced::folded;
use super::{Answer, Extras, Saved};
use crate::exit::{Failure, Result};
use crate::labels;
use crate::preview::{Parts, Preview};
use crate::render::number::Number;
use crate::render::numbers::Numbers;

/// A query for an array, and how much of it is shown.
pub(crate) struct Request<'a> {
    /// The file.
    pub(crate) catalog: &'a Catalog,
    /// The query.
    pub(crate) resolved: &'a Resolved,
    /// How it is executed.
    pub(crate) how: &'a Execution,
    /// The number of values to list.
    pub(crate) preview: u64,
    /// Whether the text of the array has all values.
    pub(crate) full: bool,
    /// How NaN are treated.
    pub(crate) nan: NanPolicy,
}

/// Reads parts of a lazy array.
struct View<'a> {
    lazy: &'a LazyArray,
    how: &'a Execution,
}

impl Parts for View<'_> {
    fn shape(&self) -> Vec<u64> {
        self.lazy.shape().to_vec()
    }

    fn read(&mut self, ranges: &[Range<u64>]) -> Result<Array> {
        let slice = |range: &Range<u64>| AxisSlice {
            start: range.start,
            stop: range.end,
            step: 1,
            axis: Axis::Kept,
        };
        let part = Hyperslab::new(ranges.iter().map(slice).collect(), self.lazy.shape());
        let part = part.ok_or_else(|| Failure::usage("selection", "no such part"))?;
        Ok(self.lazy.read(&part, self.how)?)
    }

    fn masked(&self) -> Option<i64> {
        masked_in(self.lazy)
    }
}

impl<'a> Request<'a> {
    /// The requested array; reads the values that its statistics need.
    ///
    /// # Errors
    ///
    /// The values cannot be read, or the operation does not support the dtype.
    pub(crate) fn lazy(&self) -> Result<LazyArray> {
        let dataset = &self.resolved.dataset;
        match &self.resolved.ask {
            // Elements that a filter leaves out are NaN.
            Ask::Values(choice) if choice.filter.is_some() => self.lazy_of(dataset),
            Ask::Transform(..) => self.lazy_of(dataset),
            _ => self.lazy_of(dataset.with_exact_times()),
        }
    }

    /// The requested array of a dataset, which is that of the query in some type.
    ///
    /// # Errors
    ///
    /// As [`Request::lazy`].
    pub(super) fn lazy_of(&self, dataset: &Dataset) -> Result<LazyArray> {
        let (choice, transform) = match &self.resolved.ask {
            Ask::Values(choice) => (choice.clone(), None),
            Ask::Transform(choice, transform) => (choice.clone(), Some(transform.clone())),
            Ask::Reduce(_) | Ask::Align(_) => (Choice::default(), None),
        };
        Ok(LazyArray::new(dataset, &self.resolved.slab, choice, transform, self.how)?)
    }
}

/// The integer that stands for a missing time in an array of times.
pub(super) fn masked_in(lazy: &LazyArray) -> Option<i64> {
    lazy.dataset().masked_integer().filter(|_| lazy.transform().is_none())
}

/// The axes of an array.
pub(super) fn along(lazy: &LazyArray) -> Vec<Along> {
    let along = |axis: usize| {
        let picks = lazy.choice().picks.iter().find(|picks| picks.axis == axis);
        picks.map_or(Along::Axis(axis), |picks| Along::Picks(picks.clone()))
    };
    lazy.axes().into_iter().map(along).collect()
}

/// The axes whose elements share statistics.
fn axes_of(resolved: &Resolved) -> Vec<usize> {
    match &resolved.ask {
        Ask::Transform(_, transform) => match &transform.axes {
            Axes::Some(axes) if !axes.is_empty() => axes.clone(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

impl Answer {
    /// Reads the first values of an array, and its edges.
    ///
    /// # Errors
    ///
    /// The shown values cannot be read, or the file changed.
    pub(crate) fn of_array(request: &Request<'_>, lazy: &LazyArray) -> Result<Answer> {
        let Request { catalog, resolved, how, preview, full, nan } = *request;
        let mut view = View { lazy, how };
        let shape = view.shape();
        let mut values = Vec::new();
        if preview > 0 && !shape.contains(&0) {
            let array = view.read(&leading(&shape, preview))?;
            let shown = array.len().min(usize::try_from(preview).unwrap_or(usize::MAX));
            let masked = view.masked();
            values.extend((0..shown).map(|at| Number::element(&array, at, masked)));
        }
        let zeros = lazy.zero_denominators();
        let preview = Preview::new(&mut view, how, full)?;
        let count = shape.iter().try_fold(1_u64, |all, &extent| all.checked_mul(extent));
        let labels = AxisLabels::new(catalog, resolved, how);
        let axes = axes_of(resolved);
        let method = lazy.transform().map(|transform| transform.method);
        let along = along(lazy);
        Ok(Answer {
            op: method.map_or("values", tet_query::Method::name),
            name: resolved.dataset.name.clone(),
            unit: unit(resolved, lazy),
            over: folded(resolved, &axes).map(|axis| axis_name(resolved, axis)).collect(),
            axes,
            along: along.iter().map(|along| ResultAxis::new(along, &labels, &[])).collect(),
            dtype: lazy.dtype().name().to_owned(),
            truncated: u64::try_from(values.len()).unwrap_or(u64::MAX) < count.unwrap_or(u64::MAX),
            values: Numbers::Listed(values),
            count: count.unwrap_or(u64::MAX),
            chosen: false,
            nan_count: None,
            nan,
            is_masked: false,
            statistics: StatisticsUse::default(),
            extras: Extras {
                preview: Some(preview),
                zero_denominators: method.map(|_| zeros),
                ..Extras::default()
            },
            shape,
        })
    }

    /// Adds the output, if there is one.
    #[must_use]
    pub(crate) fn with_output(mut self, saved: Option<Saved>) -> Answer {
        match saved {
            Some(Saved::File(written)) => self.extras.written = Some(written),
            Some(Saved::Printed) => self.extras.is_printed = true,
            None => {}
        }
        self
    }

    /// The warning about values that are not listed; `None` if all are.
    pub(crate) fn cut(&self) -> Option<String> {
        let shown = self.values.len();
        let text = || format!("{shown} of {} values are listed: --full lists all", self.count);
        self.truncated.then(text)
    }

    /// Prints no values, because all are in the output file.
    #[must_use]
    pub(crate) fn without_values(mut self) -> Answer {
        self.extras.is_printed = true;
        self
    }

    /// Sets how often the transform of all values divided by zero.
    #[must_use]
    pub(crate) fn with_zero_denominators(mut self, count: u64) -> Answer {
        self.extras.zero_denominators = self.extras.zero_denominators.map(|_| count);
        self
    }
}

/// The unit of the values: that of the dataset, unless a transform gives them another.
pub(super) fn unit(resolved: &Resolved, lazy: &LazyArray) -> String {
    match lazy.transform() {
        Some(transform) if transform.method != tet_query::Method::Center => String::new(),
        _ => labels::unit(&resolved.dataset),
    }
}

/// The ranges of the axes that contain the first `count` values, and few more.
fn leading(shape: &[u64], count: u64) -> Vec<Range<u64>> {
    let mut alone = true;
    let mut ranges = Vec::new();
    for (axis, &extent) in shape.iter().enumerate() {
        let inner = shape[axis + 1..].iter().fold(1_u64, |all, &more| all.saturating_mul(more));
        let wanted = count.div_ceil(inner.max(1)).clamp(1, extent.max(1));
        let taken = if alone { wanted.min(extent) } else { extent };
        alone = alone && taken == 1;
        ranges.push(0..taken);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leading_part_holds_the_first_values_and_few_more() {
        let cases: [(&[u64], u64, &[u64]); 8] = [
            (&[100], 64, &[64]),
            (&[10], 64, &[10]),
            (&[5, 100], 64, &[1, 64]),
            (&[5, 10], 64, &[5, 10]),
            (&[9, 10, 10], 150, &[2, 10, 10]),
            (&[9, 10, 10], 15, &[1, 2, 10]),
            (&[0, 4], 64, &[0, 4]),
            (&[], 64, &[]),
        ];
        for (shape, count, ends) in cases {
            let ranges = leading(shape, count);
            assert!(ranges.iter().all(|range| range.start == 0));
            let found: Vec<u64> = ranges.iter().map(|range| range.end).collect();
            assert_eq!(found, ends, "{shape:?} {count}");
        }
    }
}
