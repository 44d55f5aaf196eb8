//! Names and labels of axes that the caller asks for, put on the datasets of a catalog.

use std::collections::BTreeMap;

use tet_format::DType;
use tet_query::{Catalog, Dataset, Execution, Hyperslab};

use crate::export::text;
use crate::import::{AxisLabels, ImportOptions, LabelSource};
use crate::{Error, Note, Result};

/// An axis of more positions gets no labels.
pub(crate) const LABEL_COUNT_MAX: u64 = 1 << 20;

/// The labels of one dataset by axis.
pub(crate) type Coords = BTreeMap<usize, Vec<String>>;

/// The labels that `asked` gives to the axes of a dataset, by axis; `values` gives those of an array.
///
/// # Errors
/// There are more or fewer labels than positions.
pub(crate) fn of_dataset(
    asked: &[AxisLabels],
    name: &str,
    (dims, shape): (&[String], &[u64]),
    values: &mut dyn FnMut(&str) -> Result<Vec<String>>,
) -> Result<Coords> {
    let mut coords = Coords::new();
    for labels in asked {
        let is_meant = labels.dataset.as_deref().is_none_or(|meant| meant == name);
        let Some(axis) = axis(&labels.axis, dims, shape.len()).filter(|_| is_meant) else {
            continue;
        };
        // The array that has the labels is labeled by its own elements.
        let is_source = labels.from == LabelSource::Array(name.to_owned());
        if is_source && labels.dataset.is_none() {
            continue;
        }
        let texts = match &labels.from {
            LabelSource::Texts(texts) => texts.clone(),
            LabelSource::Array(array) => values(array)?,
        };
        let extent = shape.get(axis).copied().unwrap_or_default();
        if u64::try_from(texts.len()) != Ok(extent) {
            let (dataset, axis) = (name.to_owned(), labels.axis.clone());
            return Err(Error::LabelCount { dataset, axis, count: texts.len(), extent });
        }
        coords.insert(axis, texts);
    }
    Ok(coords)
}

/// The axis that a name or a number means.
pub(crate) fn axis(asked: &str, dims: &[String], rank: usize) -> Option<usize> {
    let named = dims.iter().position(|dim| dim == asked);
    named.or_else(|| asked.parse().ok()).filter(|&axis| axis < rank)
}

/// Every axis that is asked for is there.
///
/// # Errors
/// No dataset has it.
pub(crate) fn check_axes<'d>(
    asked: &[AxisLabels],
    datasets: impl Iterator<Item = (&'d str, &'d [String], usize)> + Clone,
) -> Result<()> {
    let is_missing = |labels: &&AxisLabels| {
        !datasets.clone().any(|(name, dims, rank)| {
            labels.dataset.as_deref().is_none_or(|meant| meant == name)
                && axis(&labels.axis, dims, rank).is_some()
        })
    };
    match asked.iter().find(is_missing) {
        Some(labels) => Err(Error::NoLabeledAxis { axis: labels.axis.clone() }),
        None => Ok(()),
    }
}

/// Dimension names fit the dataset they name; those for all fit at least one, and a note says
/// which they do not fit. `datasets` are names and ranks.
///
/// # Errors
/// They fit none.
pub(crate) fn check_dims<'d>(
    options: &ImportOptions,
    datasets: impl Iterator<Item = (&'d str, usize)> + Clone,
    notes: &mut Vec<Note>,
) -> Result<()> {
    for dims in &options.dims {
        let meant = datasets
            .clone()
            .filter(|(name, _)| dims.dataset.as_deref().is_none_or(|meant| meant == *name));
        let (fitting, misfits) =
            meant.partition::<Vec<_>, _>(|(_, rank)| *rank == dims.names.len());
        if fitting.is_empty()
            && let Some((dataset, rank)) = misfits.first()
        {
            let (dataset, names) = ((*dataset).to_owned(), dims.names.clone());
            return Err(Error::DimsRank { dataset, rank: *rank, names });
        }
        notes.extend(misfits.into_iter().map(|(dataset, rank)| Note::DimsSkipped {
            dataset: dataset.to_owned(),
            rank,
            names: dims.names.len(),
        }));
    }
    Ok(())
}

/// A catalog whose datasets have the dimension names and labels that are asked for.
///
/// # Errors
/// Names or labels do not fit, or an array of labels cannot be read.
pub(crate) fn labeled(
    catalog: Catalog,
    options: &ImportOptions,
    how: &Execution,
    notes: &mut Vec<Note>,
) -> Result<Catalog> {
    if options.dims.is_empty() && options.labels.is_empty() {
        return Ok(catalog);
    }
    let chosen = crate::carry::chosen(&catalog, &options.include, &options.exclude)?;
    check_dims(options, chosen.iter().map(|it| (it.name.as_str(), it.shape().len())), notes)?;
    let chosen: Vec<usize> = chosen.iter().map(|it| it.index).collect();
    let datasets: Vec<Dataset> = catalog
        .datasets()
        .iter()
        .map(|dataset| {
            let dims = asked_dims(dataset, options);
            Dataset { dims: dims.unwrap_or(&dataset.dims).to_vec(), ..dataset.clone() }
        })
        .collect();
    let of_chosen = datasets.iter().filter(|it| chosen.contains(&it.index));
    let axes = of_chosen.map(|it| (it.name.as_str(), it.dims.as_slice(), it.shape().len()));
    check_axes(&options.labels, axes)?;
    let mut values = |name: &str| values(&catalog, name, how);
    let mut coords = Vec::new();
    for dataset in &datasets {
        let axes = (dataset.dims.as_slice(), dataset.shape());
        let is_chosen = chosen.contains(&dataset.index);
        let asked = if is_chosen { options.labels.as_slice() } else { &[] };
        coords.push(of_dataset(asked, &dataset.name, axes, &mut values)?);
    }
    let mut labeled = datasets.into_iter().zip(coords);
    Ok(catalog.viewed(|dataset| match labeled.next() {
        Some((mut dataset, coords)) => {
            dataset.coords.extend(coords);
            dataset
        }
        None => dataset,
    }))
}

fn asked_dims<'o>(dataset: &Dataset, options: &'o ImportOptions) -> Option<&'o [String]> {
    let fitting = options.dims.iter().filter(|it| it.names.len() == dataset.shape().len());
    let named = fitting.clone().rfind(|it| it.dataset.as_deref() == Some(&*dataset.name));
    let asked = named.or_else(|| fitting.clone().rfind(|it| it.dataset.is_none()));
    asked.map(|it| it.names.as_slice())
}

/// The elements of a dataset along one axis, as text.
fn values(catalog: &Catalog, name: &str, how: &Execution) -> Result<Vec<String>> {
    let dataset = catalog.find(name)?;
    let misfit = || Error::NoLabels { array: name.to_owned() };
    let (&[count], Some(dtype)) = (dataset.shape(), dataset.dtype) else { return Err(misfit()) };
    if LABEL_COUNT_MAX < count || !text::is_known(dtype) {
        return Err(misfit());
    }
    let array = catalog.read(dataset, &Hyperslab::whole(dataset.shape()), how)?;
    Ok(texts(dtype, array.bytes()))
}

/// Little-endian elements as text.
pub(crate) fn texts(dtype: DType, bytes: &[u8]) -> Vec<String> {
    let size = dtype.size().and_then(|size| usize::try_from(size).ok()).unwrap_or(1).max(1);
    let text = |element: &[u8]| {
        let mut out = String::new();
        text::push(dtype, element, &mut out);
        out
    };
    bytes.chunks_exact(size).map(text).collect()
}
