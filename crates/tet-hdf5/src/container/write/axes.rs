//! The dimensions of all datasets, and the labels of axes that become datasets.

use tet_query::LazyArray;

use super::Flavor;
use super::names::name;
use super::scope::{Dim, Scope, join, leaf, parent};
use tet_container::Note;
use tet_container::write::axes::{names_of, used};
use tet_container::write::netcdf::labels::{Coordinates, coordinates};
use tet_container::write::stream::shape_of;

/// The dimensions of a file.
#[derive(Debug)]
pub(super) struct Axes<'a> {
    pub(super) dims: Vec<Dim>,
    /// For each array the dimension of each axis; `None` for one without a name.
    pub(super) numbers: Vec<Vec<Option<usize>>>,
    /// Labels that become datasets.
    pub(super) labels: Vec<LabelArray<'a>>,
}

/// The labels of an axis as a dataset.
#[derive(Debug)]
pub(super) struct LabelArray<'a> {
    /// The dimension.
    pub(super) dim: usize,
    pub(super) texts: &'a [String],
    pub(super) values: Coordinates,
}

/// The dimensions that arrays of these paths have.
pub(super) fn axes<'a>(
    arrays: &'a [LazyArray],
    paths: &[String],
    flavor: Flavor,
    notes: &mut Vec<Note>,
) -> Axes<'a> {
    let mut scope = Scope::new(paths.iter().map(String::as_str), flavor);
    let used = used(arrays);
    // A coordinate keeps the name of its axis, whatever other datasets call so.
    for (lazy, path) in arrays.iter().zip(paths) {
        if let ([dim], &[extent]) = (&names_of(lazy, &used)[..], shape_of(lazy).as_slice())
            && name(dim, flavor) == leaf(path)
        {
            scope.define(path, extent);
        }
    }
    let mut order: Vec<usize> = (0..arrays.len()).collect();
    order.sort_by_key(|&at| paths.get(at).map(|path| path.matches('/').count()));
    let mut numbers = vec![Vec::new(); arrays.len()];
    for at in order {
        let (Some(lazy), Some(path)) = (arrays.get(at), paths.get(at)) else { continue };
        if let Some(numbers) = numbers.get_mut(at) {
            let names = names_of(lazy, &used);
            *numbers = of_array(lazy, path, &names, &mut scope, notes);
        }
    }
    coordinate_datasets(&mut scope, paths, &numbers);
    let mut axes = Axes { dims: scope.dims, numbers, labels: Vec::new() };
    axes.labels = labels(arrays, paths, &axes, notes);
    axes
}

/// The dimension of each axis of an array, whose axes have these names.
fn of_array(
    lazy: &LazyArray,
    path: &str,
    names: &[String],
    scope: &mut Scope,
    notes: &mut Vec<Note>,
) -> Vec<Option<usize>> {
    let flavor = scope.flavor;
    let (dataset, shape) = (lazy.dataset(), shape_of(lazy));
    let mut numbers = Vec::new();
    for (axis, &extent) in shape.iter().enumerate() {
        let given = names.get(axis);
        let is_needed = flavor == Flavor::NetCdf || dataset.coords.contains_key(&axis);
        let wanted = match given {
            Some(given) => name(given, flavor).replace('/', "_"),
            None if is_needed => format!("{}_dim_{axis}", leaf(path)),
            None => {
                numbers.push(None);
                continue;
            }
        };
        let number = scope.number(parent(path), &wanted, extent);
        numbers.push(Some(number));
        let Some(dim) = scope.dims.get_mut(number) else { continue };
        dim.is_unlimited |= dataset.unlimited.get(axis) == Some(&true);
        let to = leaf(&dim.path);
        if given.map(String::as_str) != Some(to) && is_needed {
            let (dataset, to) = (dataset.name.clone(), to.to_owned());
            notes.push(Note::AxisRenamed { dataset, axis, to });
        }
    }
    numbers
}

/// Sets which datasets are the coordinates of dimensions.
fn coordinate_datasets(scope: &mut Scope, paths: &[String], numbers: &[Vec<Option<usize>>]) {
    let flavor = scope.flavor;
    for (at, (path, numbers)) in paths.iter().zip(numbers).enumerate() {
        let Some(dim) = scope.at(path) else { continue };
        let is_first = numbers.first() == Some(&Some(dim));
        if let Some(dim) = scope.dims.get_mut(dim)
            && is_first
            && (flavor == Flavor::NetCdf || numbers.len() == 1)
        {
            dim.coordinates = Some(at);
        }
    }
}

/// The labels of axes whose dimensions have no coordinates, one dataset for each dimension.
fn labels<'a>(
    arrays: &'a [LazyArray],
    paths: &[String],
    axes: &Axes<'a>,
    notes: &mut Vec<Note>,
) -> Vec<LabelArray<'a>> {
    let mut made: Vec<LabelArray<'a>> = Vec::new();
    for (lazy, numbers) in arrays.iter().zip(&axes.numbers) {
        let dataset = lazy.dataset();
        for (&axis, texts) in &dataset.coords {
            let left = || Note::left_behind(&dataset.name, "axes with labels", 1);
            let number = numbers.get(axis).copied().flatten();
            let Some((number, dim)) = number.and_then(|it| Some((it, axes.dims.get(it)?))) else {
                notes.extend(left());
                continue;
            };
            if let Some(first) = made.iter().find(|made| made.dim == number) {
                notes.extend(left().filter(|_| first.texts != texts.as_slice()));
                continue;
            }
            let fits = u64::try_from(texts.len()) == Ok(dim.extent);
            if !fits || paths.contains(&dim.path) {
                notes.extend(left());
                continue;
            }
            let (dataset, array) = (dataset.name.clone(), dim.path.clone());
            notes.push(Note::LabelsAsArray { dataset, array });
            made.push(LabelArray { dim: number, texts, values: coordinates(texts) });
        }
    }
    made
}

/// The path of a variable that has the name of a dimension and is not its coordinates.
pub(super) fn other_path(path: &str) -> String {
    join(parent(path), &format!("_nc4_non_coord_{}", leaf(path)))
}
