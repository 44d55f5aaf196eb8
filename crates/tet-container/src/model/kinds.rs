//! Arrays of one kind, which can be parts of one array.

use std::collections::BTreeMap;

use tet_format::{Grid, Shape};
use tet_query::Dataset;

use crate::model::attributes::{SCALAR_KEY, is_scalar};
use crate::model::meanings::{Differing, differing_either};

/// A dataset; a scalar that a container has as one element has no axis.
pub fn without_axis(dataset: &Dataset) -> Dataset {
    let no_axes = || Grid::new(Shape::default(), Shape::default());
    let Some(grid) = no_axes().filter(|_| is_scalar(dataset)) else { return dataset.clone() };
    let mut attrs = dataset.attrs.clone();
    attrs.remove(SCALAR_KEY);
    let (dims, coords) = (Vec::new(), BTreeMap::new());
    Dataset { grid, dims, coords, attrs, ..dataset.clone() }
}

/// Why two arrays cannot be parts of one: their types, shapes or axes, or what their values mean, differ.
pub fn differing_kind(one: &Dataset, two: &Dataset) -> Option<String> {
    let [one, two] = &[without_axis(one), without_axis(two)];
    let detail = match () {
        () if one.dtype_name != two.dtype_name => {
            format!("its types are {} and {}", one.dtype_name, two.dtype_name)
        }
        () if one.shape() != two.shape() => {
            format!("its shapes are {:?} and {:?}", one.shape(), two.shape())
        }
        () if one.dims != two.dims => "its axes have other names".to_owned(),
        () if one.coords != two.coords => "its axes have other labels".to_owned(),
        () => match differing_either(&one.attrs, &two.attrs) {
            Some(Differing { key, shown: [one, two] }) => {
                format!("its attribute {key:?} is {one} and {two}")
            }
            None => return None,
        },
    };
    Some(detail)
}
