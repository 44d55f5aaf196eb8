//! Datasets as another type than they have: the same numbers, or an error that names the element.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tet_format::DType;
use tet_query::{AttrText, Catalog, Computed, Dataset, Elements, Execution, Hyperslab, LazyArray};

use crate::Result;
use crate::model::attributes::OF_VARIABLE;
use crate::model::number::{Listing, le_bytes, numbers};

/// The catalog with some datasets, by their [`Dataset::index`], as another type: the same numbers.
///
/// # Errors
/// One is not of numbers.
pub fn with_dtype(
    catalog: Catalog,
    indices: &[usize],
    dtype: DType,
    how: &Execution,
) -> Result<Catalog> {
    let indices: BTreeSet<usize> = indices.iter().copied().collect();
    let mut views = BTreeMap::new();
    let all = catalog.datasets().iter().chain(catalog.parts());
    let is_other = |it: &&Dataset| it.dtype != Some(dtype) || it.why().is_some();
    for dataset in all.filter(|it| indices.contains(&it.index)).filter(is_other) {
        let (view, _) = viewed(dataset, dtype, how)?;
        views.insert(dataset.index, view);
    }
    let mut place = |dataset: Dataset| views.remove(&dataset.index).unwrap_or(dataset);
    let parts = catalog.parts().iter().cloned().map(&mut place).collect();
    Ok(catalog.viewed(place).with_parts(parts))
}

/// A dataset as another type, and what it is computed of.
///
/// # Errors
/// The dataset cannot be read.
pub fn viewed(
    dataset: &Dataset,
    dtype: DType,
    how: &Execution,
) -> Result<(Dataset, Arc<Computed>)> {
    let lazy = LazyArray::converted(dataset, &Hyperslab::whole(dataset.shape()), dtype)?;
    let from = lazy.dataset().dtype;
    let computed = Computed::new(Elements::new(Arc::new(lazy)), how);
    let mut view = computed.dataset(dataset.name.clone());
    view.index = dataset.index;
    view.dims.clone_from(&dataset.dims);
    view.unlimited.clone_from(&dataset.unlimited);
    view.coords.clone_from(&dataset.coords);
    view.listed_in.clone_from(&dataset.listed_in);
    view.fill = fill(dataset, dtype);
    view.attrs.clone_from(&dataset.attrs);
    for key in OF_VARIABLE {
        if let Some(attr) = view.attrs.get_mut(key)
            && let Some(other) = as_type(attr, from, dtype)
        {
            *attr = other;
        }
    }
    Ok((view, computed))
}

/// The element that stands for those that are not stored, as another type that has its value.
fn fill(dataset: &Dataset, dtype: DType) -> Option<Vec<u8>> {
    let number = AttrText::number(dataset.dtype?, dataset.fill.as_ref()?);
    let (values, _) = numbers(&number)?;
    le_bytes(dtype, values.first()?)
}

/// The numbers of an attribute that has the type of its dataset, as another type; `None` where it has another type, or
/// that type does not have the numbers.
fn as_type(attr: &AttrText, from: Option<DType>, to: DType) -> Option<AttrText> {
    let AttrText::Numbers { dtype, .. } = attr else { return None };
    let (values, listing) = numbers(attr).filter(|_| Some(*dtype) == from)?;
    let bytes: Option<Vec<Vec<u8>>> = values.iter().map(|value| le_bytes(to, value)).collect();
    let bytes = bytes?.concat();
    Some(match listing {
        Listing::One => AttrText::number(to, &bytes),
        Listing::List => AttrText::numbers(to, &bytes),
    })
}
