//! Names and labels of axes, as attributes of containers that have no other place for them.

use std::collections::{BTreeMap, BTreeSet};

use tet_cbor::Value;
use tet_query::{AttrText, Dataset};

/// The attribute that has the dimension names, a list of text.
pub const DIMS_KEY: &str = "dims";
/// The attribute that has the coordinate labels: a map from axes, by name or number, to lists of text.
pub const COORDS_KEY: &str = "coords";

/// The value of [`DIMS_KEY`] in containers whose metadata are CBOR.
pub fn dims_field(dims: &[String]) -> Value {
    texts(dims)
}

/// The value of [`COORDS_KEY`] in such containers.
pub fn coords_field(dataset: &Dataset) -> Value {
    let coords = dataset.coords.iter();
    let pairs = coords.map(|(axis, labels)| (Value::Text(axis.to_string()), texts(labels)));
    Value::Map(pairs.collect())
}

fn texts(texts: &[String]) -> Value {
    Value::Array(texts.iter().cloned().map(Value::Text).collect())
}

/// The names of the axes; a dataset of one axis without a name labels the axis that is named as it is.
pub fn names_of(dataset: &Dataset) -> Vec<String> {
    match dataset.shape() {
        [_] if dataset.dims.is_empty() => vec![dataset.name.clone()],
        _ => dataset.dims.clone(),
    }
}

/// Takes the dimension names out of the attributes, if there is one for each axis.
pub fn take_dims(attrs: &mut BTreeMap<String, AttrText>, rank: usize) -> Vec<String> {
    let Some(AttrText::Json(text)) = attrs.get(DIMS_KEY) else { return Vec::new() };
    let dims: Vec<String> = serde_json::from_str(text).unwrap_or_default();
    if dims.len() != rank {
        return Vec::new();
    }
    attrs.remove(DIMS_KEY);
    dims
}

/// Takes the coordinate labels out of the attributes, if they fit the shape.
pub fn take_coords(
    attrs: &mut BTreeMap<String, AttrText>,
    dims: &[String],
    shape: &[u64],
) -> BTreeMap<usize, Vec<String>> {
    let Some(AttrText::Json(text)) = attrs.get(COORDS_KEY) else { return BTreeMap::new() };
    let named: BTreeMap<String, Vec<String>> = serde_json::from_str(text).unwrap_or_default();
    let count = named.len();
    let numbered = named.into_iter().filter_map(|(key, labels)| {
        // An axis is meant by its name, or else by its number.
        Some((axis(&key, dims, shape.len())?, labels))
    });
    let coords: BTreeMap<usize, Vec<String>> = numbered.collect();
    let fits = |(&axis, labels): (&usize, &Vec<String>)| {
        shape.get(axis).is_some_and(|&extent| u64::try_from(labels.len()) == Ok(extent))
    };
    if coords.is_empty() || coords.len() != count || !coords.iter().all(fits) {
        return BTreeMap::new();
    }
    attrs.remove(COORDS_KEY);
    coords
}

/// The axis that a name or a number means.
pub fn axis(asked: &str, dims: &[String], rank: usize) -> Option<usize> {
    let named = dims.iter().position(|dim| dim == asked);
    named.or_else(|| asked.parse().ok()).filter(|&axis| axis < rank)
}

/// A name for each axis, where one of them has one: the others are `dim_N`, as xarray names such axes.
pub fn dim_names(names: &[Option<String>]) -> Vec<String> {
    let is_named = |name: &&String| !name.is_empty();
    if !names.iter().flatten().any(|name| is_named(&name)) {
        return Vec::new();
    }
    let name = |(axis, name): (usize, &Option<String>)| match name.as_ref().filter(is_named) {
        Some(name) => name.clone(),
        None => {
            let mut name = format!("dim_{axis}");
            while names.iter().flatten().any(|taken| *taken == name) {
                name.push('_');
            }
            name
        }
    };
    names.iter().enumerate().map(name).collect()
}

/// Gives names to the axes of datasets that have none, or have one twice: one for each extent, as netCDF4 names such axes.
pub fn name_axes(datasets: &mut [Dataset]) {
    let mut known: BTreeMap<(u64, usize), String> = BTreeMap::new();
    for dataset in datasets {
        let names: BTreeSet<&String> = dataset.dims.iter().collect();
        if names.len() == dataset.shape().len() && dataset.dims.len() == names.len() {
            continue;
        }
        let shape = dataset.shape().to_vec();
        let name = |(axis, extent): (usize, &u64)| {
            let before = shape.iter().take(axis).filter(|it| *it == extent).count();
            let next = format!("phony_dim_{}", known.len());
            known.entry((*extent, before)).or_insert(next).clone()
        };
        dataset.dims = shape.iter().enumerate().map(name).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_without_a_name_have_their_number() {
        let named = |names: &[Option<&str>]| {
            let names: Vec<Option<String>> = names.iter().map(|it| it.map(str::to_owned)).collect();
            dim_names(&names).join(",")
        };
        assert_eq!(named(&[Some("t"), Some("x")]), "t,x");
        assert_eq!(named(&[Some("t"), None, Some("")]), "t,dim_1,dim_2");
        assert_eq!(named(&[Some("dim_1"), None]), "dim_1,dim_1_");
        assert_eq!(named(&[None, None]), "");
        assert_eq!(named(&[None, Some("")]), "");
        assert_eq!(named(&[]), "");
    }
}
