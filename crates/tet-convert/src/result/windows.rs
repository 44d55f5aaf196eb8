//! The coordinates of windows over an axis that has numbers as labels: a number for each window, and its bounds.
//!
//! ```text
//!   time         1.5  2.5  3.5         a window of 3:   2.5
//!   time_bnds    1 2  2 3  3 4                          1 4
//! ```
//!
//! The number is the mean of those of the first and the last position of the window, as `coarsen` of xarray and CDO
//! have it for even steps. The bounds are those of these two positions; without bounds, their numbers.

use std::ops::Range;

use tet_format::{DType, Shape};
use tet_query::{Array, AttrText, Catalog, Dataset, Execution, Hyperslab};

use super::attributes::of_values;
use super::held;
use crate::Result;
use tet_container::model::associated::{BOUNDS_KEY, COORDINATES_KEY};

/// Attributes of a coordinate that windows do not have.
const ATTRS_OF_POSITIONS: [&str; 3] = ["climatology", COORDINATES_KEY, "ancillary_variables"];

/// The windows over an axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    /// Start of the first window, in selected positions; before 0 when it is padded.
    pub(super) first: i64,
    /// Positions between two starts.
    pub(super) step: u64,
    /// Positions of a window.
    pub(super) size: u64,
    /// Number of windows.
    pub(super) count: u64,
}

impl Windows {
    /// The selected positions of a window.
    pub(super) fn range(self, nth: u64) -> Range<i128> {
        let start = i128::from(self.first) + i128::from(self.step) * i128::from(nth);
        start..start + i128::from(self.size)
    }

    /// The coordinates of windows and the dataset of their bounds. `axis` are the coordinates of the axis, at the
    /// positions that `slab` selects.
    ///
    /// # Errors
    /// The coordinates cannot be read.
    pub(super) fn coordinates(
        self,
        catalog: &Catalog,
        axis: &Dataset,
        slab: &Hyperslab,
        how: &Execution,
    ) -> Result<Option<[Dataset; 2]>> {
        let count = self.count;
        let own = numbers(axis, slab, how)?;
        let bounds = bounds_of(catalog, axis);
        let edges = match bounds.and_then(|it| Some((it, with_ends(it, slab)?))) {
            Some((bounds, slab)) => numbers(bounds, &slab, how)?,
            None => own.iter().flat_map(|number| [*number, *number]).collect(),
        };
        let (mut labels, mut ends) = (Vec::new(), Vec::new());
        for nth in 0..count {
            let Range { start, end } = self.range(nth);
            let [start, stop] = [start, end].map(|at| inside(at, own.len()));
            let number = |at: usize| own.get(at).copied().unwrap_or(f64::NAN);
            let edge = |at: usize| edges.get(at).copied().unwrap_or(f64::NAN);
            let last = stop.saturating_sub(1).max(start);
            labels.push(number(start) / 2.0 + number(last) / 2.0);
            ends.extend([edge(2 * start), edge(2 * last + 1)]);
        }
        let is_single = axis.dtype == Some(DType::Float32);
        let bounds_name = bounds.map_or(format!("{}_bnds", axis.name), |it| it.name.clone());
        let dim = axis.dims.first().unwrap_or(&axis.name).clone();
        let inner =
            bounds.and_then(|it| it.dims.get(1).cloned()).unwrap_or_else(|| "bnds".to_owned());
        let Some(labels) = array(&labels, [count].into(), is_single) else { return Ok(None) };
        let Some(ends) = array(&ends, [count, 2].into(), is_single) else { return Ok(None) };
        let mut attrs = of_values(axis, None);
        attrs.retain(|key, _| !ATTRS_OF_POSITIONS.contains(&key.as_str()) && key != "_FillValue");
        let leaf = bounds_name.rsplit_once('/').map_or(&*bounds_name, |(_, leaf)| leaf);
        attrs.insert(BOUNDS_KEY.to_owned(), AttrText::Text(leaf.to_owned()));
        let dims = vec![dim.clone()];
        let labels = Dataset { dims, attrs, ..held::dataset(axis.name.clone(), &labels) };
        let bounds = Dataset { dims: vec![dim, inner], ..held::dataset(bounds_name, &ends) };
        Ok(Some([labels, bounds]))
    }
}

fn inside(at: i128, count: usize) -> usize {
    usize::try_from(at.max(0)).unwrap_or(usize::MAX).min(count)
}

/// The dataset of the bounds of coordinates, with two for each of them.
fn bounds_of<'c>(catalog: &'c Catalog, found: &Dataset) -> Option<&'c Dataset> {
    let AttrText::Text(name) = found.attrs.get(BOUNDS_KEY)? else { return None };
    let bounds = catalog.in_scope(&found.name, name)?;
    let is_number =
        bounds.why().is_none() && bounds.dtype.is_some_and(|it| it.is_integer() || it.is_float());
    let extent = found.shape().first()?;
    (is_number && bounds.shape() == [*extent, 2]).then_some(bounds)
}

/// The selection of the bounds of the positions that are selected.
fn with_ends(bounds: &Dataset, slab: &Hyperslab) -> Option<Hyperslab> {
    let slices = slab.axes().iter().copied().chain([tet_query::AxisSlice::whole(2)]);
    Hyperslab::new(slices.collect(), bounds.shape())
}

fn numbers(dataset: &Dataset, slab: &Hyperslab, how: &Execution) -> Result<Vec<f64>> {
    let array = dataset.read(slab, &how.silent())?.value;
    let number = |at| array.get(at).and_then(|it| it.to_f64()).unwrap_or(f64::NAN);
    Ok((0..array.len()).map(number).collect())
}

/// Numbers as an array, of 32 bits where the coordinates have these.
#[allow(clippy::cast_possible_truncation, reason = "as many digits as the coordinates have")]
fn array(numbers: &[f64], shape: Shape, is_single: bool) -> Option<Array> {
    if is_single {
        let numbers: Vec<f32> = numbers.iter().map(|it| *it as f32).collect();
        return Array::from_elements(shape, &numbers);
    }
    Array::from_elements(shape, numbers)
}
