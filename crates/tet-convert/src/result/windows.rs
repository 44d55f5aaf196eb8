//! The coordinates of windows over an axis that has numbers as labels: a number for each window, and its bounds.
//!
//! ```text
//!   time         1.5  2.5  3.5         a window of 3:   2.5
//!   time_bnds    1 2  2 3  3 4                          1 4
//! ```
//!
//! The number is the mean of those of the first and the last position of the window, as `coarsen` of xarray and CDO
//! have it for even steps. The bounds are those of these two positions; without bounds, their numbers.

use tet_format::{DType, Shape};
use tet_query::{Along, Array, AttrText, Catalog, Dataset, Execution, Hyperslab};

use super::attributes::of_values;
use super::held;
use crate::Result;
use tet_container::model::associated::{BOUNDS_KEY, COORDINATES_KEY};

/// Attributes of a coordinate that windows do not have.
const ATTRS_OF_POSITIONS: [&str; 3] = ["climatology", COORDINATES_KEY, "ancillary_variables"];

/// The coordinates of windows and the dataset of their bounds. `found` are the coordinates of the axis, at the
/// positions that `slab` selects.
///
/// # Errors
/// The coordinates cannot be read.
pub(super) fn coordinates(
    catalog: &Catalog,
    (found, slab): (&Dataset, &Hyperslab),
    (along, count): (&Along, u64),
    how: &Execution,
) -> Result<Option<[Dataset; 2]>> {
    let &Along::Windows { first, step, size, .. } = along else { return Ok(None) };
    let own = numbers(found, slab, how)?;
    let bounds = bounds_of(catalog, found);
    let edges = match bounds.and_then(|it| Some((it, with_ends(it, slab)?))) {
        Some((bounds, slab)) => numbers(bounds, &slab, how)?,
        None => own.iter().flat_map(|number| [*number, *number]).collect(),
    };
    let (mut labels, mut ends) = (Vec::new(), Vec::new());
    for nth in 0..count {
        let start = i128::from(first) + i128::from(step) * i128::from(nth);
        let [start, stop] = [start, start + i128::from(size)].map(|at| inside(at, own.len()));
        let number = |at: usize| own.get(at).copied().unwrap_or(f64::NAN);
        let edge = |at: usize| edges.get(at).copied().unwrap_or(f64::NAN);
        let last = stop.saturating_sub(1).max(start);
        labels.push(number(start) / 2.0 + number(last) / 2.0);
        ends.extend([edge(2 * start), edge(2 * last + 1)]);
    }
    let is_single = found.dtype == Some(DType::Float32);
    let bounds_name = bounds.map_or(format!("{}_bnds", found.name), |it| it.name.clone());
    let dim = found.dims.first().unwrap_or(&found.name).clone();
    let inner = bounds.and_then(|it| it.dims.get(1).cloned()).unwrap_or_else(|| "bnds".to_owned());
    let Some(labels) = array(&labels, [count].into(), is_single) else { return Ok(None) };
    let Some(ends) = array(&ends, [count, 2].into(), is_single) else { return Ok(None) };
    let mut attrs = of_values(found, None);
    attrs.retain(|key, _| !ATTRS_OF_POSITIONS.contains(&key.as_str()) && key != "_FillValue");
    let leaf = bounds_name.rsplit_once('/').map_or(&*bounds_name, |(_, leaf)| leaf);
    attrs.insert(BOUNDS_KEY.to_owned(), AttrText::Text(leaf.to_owned()));
    let dims = vec![dim.clone()];
    let labels = Dataset { dims, attrs, ..held::dataset(found.name.clone(), &labels) };
    let bounds = Dataset { dims: vec![dim, inner], ..held::dataset(bounds_name, &ends) };
    Ok(Some([labels, bounds]))
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
