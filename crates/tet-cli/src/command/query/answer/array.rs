//! The answer that is an array: the first of its values, a corner of it, or all of it in a file.

use std::ops::Range;

use tet_query::document::{Ask, Resolved};
use tet_query::{Along, Array, Catalog, Choice, Execution, NanPolicy};

use super::axis::{AxisLabels, ResultAxis};
use super::{Answer, Beside};
use crate::corner::{Corner, Parts};
use crate::exit::{Failure, Result};
use crate::part;
use crate::picture;
use crate::render::number::Number;

/// What an array is asked for, and how much of it is shown.
pub(crate) struct Request<'a> {
    /// The file.
    pub(crate) catalog: &'a Catalog,
    /// The question.
    pub(crate) resolved: &'a Resolved<'a>,
    /// How it is carried out.
    pub(crate) how: &'a Execution,
    /// How many values are shown.
    pub(crate) preview: u64,
    /// What a NaN does.
    pub(crate) nan: NanPolicy,
}

/// The array that is asked for, to be read in parts.
struct View<'a> {
    request: &'a Request<'a>,
}

impl<'a> View<'a> {
    fn open(request: &'a Request<'a>) -> Result<View<'a>> {
        let plain = Choice::default();
        match &request.resolved.ask {
            Ask::Values(choice) if *choice == plain => Ok(View { request }),
            _ => Err(Failure::usage("undefined", "this build does not compute it yet")),
        }
    }

    fn dtype(&self) -> String {
        self.request.resolved.dataset.dtype_name.clone()
    }

    /// What the axes of the array stand for.
    fn along(&self) -> Vec<Along> {
        let slices = self.request.resolved.slab.axes().iter().enumerate();
        slices.filter(|(_, slice)| slice.is_kept()).map(|(axis, _)| Along::Axis(axis)).collect()
    }
}

impl Parts for View<'_> {
    fn shape(&self) -> Vec<u64> {
        self.request.resolved.slab.kept_shape().to_vec()
    }

    fn read(&mut self, ranges: &[Range<u64>]) -> Result<Array> {
        let Request { catalog, resolved, how, .. } = self.request;
        let part = part::part(&resolved.slab, resolved.dataset.shape(), ranges);
        let part = part.ok_or_else(|| Failure::usage("selection", "no such part"))?;
        Ok(catalog.read(resolved.dataset, &part, how)?)
    }
}

impl Answer {
    /// The first values of an array, and a corner of it.
    ///
    /// # Errors
    ///
    /// What is shown cannot be read, or the file changed.
    pub(crate) fn of_array(request: &Request<'_>) -> Result<Answer> {
        let mut view = View::open(request)?;
        let Request { catalog, resolved, how, preview, nan } = *request;
        let shape = view.shape();
        let mut values = Vec::new();
        if preview > 0 && !shape.contains(&0) {
            let array = view.read(&leading(&shape, preview))?;
            let shown = array.len().min(usize::try_from(preview).unwrap_or(usize::MAX));
            values.extend((0..shown).filter_map(|at| array.get(at)).map(Number::from));
        }
        let corner = Corner::of(&mut view, how, false)?;
        let count = shape.iter().try_fold(1_u64, |all, &extent| all.checked_mul(extent));
        let labels = AxisLabels::new(catalog, resolved);
        let along = view.along();
        Ok(Answer {
            op: "values",
            name: resolved.dataset.name.clone(),
            unit: picture::unit(resolved.dataset),
            over: Vec::new(),
            axes: Vec::new(),
            along: along.iter().map(|along| ResultAxis::new(along, &labels, &[])).collect(),
            dtype: view.dtype(),
            truncated: u64::try_from(values.len()).unwrap_or(u64::MAX) < count.unwrap_or(u64::MAX),
            values,
            count: count.unwrap_or(u64::MAX),
            nan_count: None,
            nan,
            beside: Beside { corner: Some(corner), ..Beside::default() },
            shape,
        })
    }
}

/// The ranges of the axes that hold the first `count` values, and few more.
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
