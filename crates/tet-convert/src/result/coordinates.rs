//! The coordinate datasets that label the axes of a result, selected as the axes are.
//!
//! A dataset of one axis, named after a dimension and of its length, labels that dimension. A result
//! takes it along for every axis it keeps, so that labels find the same elements in it.

use tet_query::{
    AxisPicks, Catalog, CatalogLabels, Choice, Dataset, Execution, Hyperslab, LazyArray,
};

use crate::Result;
use crate::container::tet::metadata;

/// Labels of more positions are not looked up by anybody, and not taken along.
const COUNT_MAX: u64 = 1 << 24;

/// The coordinates of the axes of a lazy array, in their order.
pub(super) fn of(catalog: &Catalog, lazy: &LazyArray, how: &Execution) -> Result<Vec<LazyArray>> {
    let axes = lazy.axes().into_iter().zip(lazy.shape().iter());
    let short = axes.filter(|&(_, &count)| count <= COUNT_MAX).map(|(axis, _)| axis);
    let labels = CatalogLabels::new(catalog, lazy.dataset(), &Execution::default());
    let labeled = short.filter_map(|axis| Some((axis, dataset(lazy, &labels, axis)?)));
    labeled.map(|(axis, dataset)| along(lazy, axis, dataset, how)).collect()
}

/// The dataset that labels an axis; none when the axis has labels of its own, or when its name would
/// not say which axis or which dataset is meant.
fn dataset<'l>(lazy: &LazyArray, labels: &'l CatalogLabels, axis: usize) -> Option<&'l Dataset> {
    let labeled = lazy.dataset();
    let name = labeled.dims.get(axis)?;
    let is_clear = labeled.dims.iter().filter(|dim| *dim == name).count() == 1;
    let has_own = labeled.coords.get(&axis).is_some_and(|labels| !labels.is_empty());
    if !is_clear || has_own || *name == metadata::name(lazy) {
        return None;
    }
    let found = labels.coordinate_dataset(axis)?;
    let is_number = found.dtype.is_some_and(|dtype| dtype.is_integer() || dtype.is_float());
    (is_number && found.fault.is_none()).then_some(found)
}

/// The coordinates at the positions that the lazy array shows of an axis.
fn along(lazy: &LazyArray, axis: usize, dataset: &Dataset, how: &Execution) -> Result<LazyArray> {
    let slice = lazy.slab().axes().get(axis).copied();
    let slab = Hyperslab::new(slice.into_iter().collect(), dataset.shape());
    let misfit = || tet_query::Error::Misfit {
        dataset: dataset.name.clone(),
        shape: dataset.grid.shape().clone(),
    };
    let picks = lazy.choice().picks.iter().filter(|picks| picks.axis == axis);
    let picks = picks.map(|picks| AxisPicks { axis: 0, ..picks.clone() }).collect();
    let choice = Choice { filter: None, picks };
    let slab = slab.ok_or_else(misfit)?;
    Ok(LazyArray::new(dataset, &slab, choice, None, how)?)
}
