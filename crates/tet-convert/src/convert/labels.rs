//! Names and labels of axes that the caller asks for, put on the datasets of a catalog.

use std::collections::{BTreeMap, BTreeSet};

use tet_format::DType;
use tet_query::{Catalog, CatalogLabels, Dataset, Execution, Hyperslab};

use super::choice::chosen_with_associated;
use crate::container::Capabilities;
use crate::{Error, Note, Result};
use tet_container::model::axes::axis;
use tet_container::read::opened::Opened;
use tet_container::write::label_range::LabelRange;
use tet_container::write::options::{AxisLabels, ImportOptions, LabelSource};
use tet_container::write::text;

/// An axis of more positions gets no labels.
const LABEL_COUNT_MAX: u64 = 1 << 20;

/// The labels of one dataset by axis.
type Coords = BTreeMap<usize, Vec<String>>;

/// The labels that the caller gives to the axes of a dataset, by axis; `values` gives those of an array.
///
/// # Errors
/// There are more or fewer labels than positions.
fn of_dataset(
    given: &[AxisLabels],
    dataset: &Dataset,
    values: &mut dyn FnMut(&str) -> Result<Vec<String>>,
) -> Result<Coords> {
    let (name, dims, shape) = (&dataset.name, &dataset.dims, dataset.shape());
    let mut coords = Coords::new();
    for labels in given {
        let is_meant = labels.dataset.as_deref().is_none_or(|meant| meant == name.as_str());
        let Some(axis) = axis(&labels.axis, dims, shape.len()).filter(|_| is_meant) else {
            continue;
        };
        // The array that has the labels is labeled by its own elements.
        let is_source = labels.from == LabelSource::Array(name.clone());
        if is_source && labels.dataset.is_none() {
            continue;
        }
        let extent = shape.get(axis).copied().unwrap_or_default();
        let texts = match &labels.from {
            LabelSource::Texts(texts) => texts.clone(),
            LabelSource::Array(array) => values(array)?,
            LabelSource::Range(range) => of_range(range, name, &labels.axis, extent)?,
        };
        if u64::try_from(texts.len()) != Ok(extent) {
            let (dataset, axis) = (name.clone(), labels.axis.clone());
            return Err(Error::LabelCount { dataset, axis, count: texts.len(), extent });
        }
        coords.insert(axis, texts);
    }
    Ok(coords)
}

/// The labels of a range for an axis of a dataset.
///
/// # Errors
/// There are more or fewer than positions, or more than labels may be.
pub(crate) fn of_range(
    range: &LabelRange,
    dataset: &str,
    axis: &str,
    extent: u64,
) -> Result<Vec<String>> {
    let wanted = range.count(extent);
    let texts = range.texts(if wanted == extent { wanted.min(LABEL_COUNT_MAX) } else { 0 });
    if wanted == extent && u64::try_from(texts.len()) == Ok(extent) {
        return Ok(texts);
    }
    let made =
        if wanted == extent { texts.len() } else { usize::try_from(wanted).unwrap_or(usize::MAX) };
    let (dataset, axis) = (dataset.to_owned(), axis.to_owned());
    Err(Error::LabelCount { dataset, axis, count: made, extent })
}

/// Every axis that is asked for is there.
///
/// # Errors
/// No dataset has it.
fn check_axes<'d>(
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
fn check_dims<'d>(
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

/// An open file whose datasets have the dimension names and labels that are asked for. Where the output does not
/// hold datasets of text, these label the axes that have their names.
///
/// # Errors
/// Names or labels do not fit, or an array of labels cannot be read.
pub(crate) fn labeled(
    mut opened: Opened,
    can: Capabilities,
    options: &ImportOptions,
    how: &Execution,
    notes: &mut Vec<Note>,
) -> Result<Opened> {
    let catalog = &opened.catalog;
    let chosen = chosen_with_associated(catalog, options, can)?;
    let texts = chosen.iter().filter(|it| it.is_text() && !can.text);
    let texts = texts.map(|it| it.index).collect();
    let mut arrays = Arrays { catalog, texts, read: BTreeMap::new(), used: BTreeSet::new(), how };
    if options.dims.is_empty() && options.labels.is_empty() && arrays.texts.is_empty() {
        return Ok(opened);
    }
    let written = || chosen.iter().filter(|it| can.text || !it.is_text());
    check_dims(options, written().map(|it| (it.name.as_str(), it.shape().len())), notes)?;
    let chosen: BTreeSet<usize> = written().map(|it| it.index).collect();
    let mut datasets = catalog.datasets().to_vec();
    for dataset in datasets.iter_mut().filter(|it| chosen.contains(&it.index)) {
        if let Some(dims) = asked_dims(dataset, options) {
            dataset.dims = dims.to_vec();
        }
    }
    let of_chosen = datasets.iter().filter(|it| chosen.contains(&it.index));
    let axes = of_chosen.map(|it| (it.name.as_str(), it.dims.as_slice(), it.shape().len()));
    check_axes(&options.labels, axes)?;
    for dataset in datasets.iter_mut().filter(|it| chosen.contains(&it.index)) {
        let mut values = |name: &str| arrays.values(name);
        let mut coords = of_dataset(&options.labels, dataset, &mut values)?;
        arrays.label(dataset, &mut coords)?;
        dataset.coords.extend(coords);
    }
    let used = arrays.used;
    let mut labeled = datasets.into_iter();
    opened.catalog = opened.catalog.viewed(|dataset| labeled.next().unwrap_or(dataset));
    opened.labels = used;
    Ok(opened)
}

/// The elements of an array of one axis as labels.
///
/// # Errors
/// The array is not there, has other axes, or cannot be read.
pub(crate) fn label_texts(catalog: &Catalog, name: &str, how: &Execution) -> Result<Vec<String>> {
    let (texts, read, used) = Default::default();
    Arrays { catalog, texts, read, used, how }.values(name)
}

/// The arrays of a file that can be labels.
struct Arrays<'c> {
    catalog: &'c Catalog,
    /// Those of text, by their positions.
    texts: BTreeSet<usize>,
    /// The texts of those that were read.
    read: BTreeMap<usize, Vec<String>>,
    /// Those of text that label an axis.
    used: BTreeSet<usize>,
    how: &'c Execution,
}

impl Arrays<'_> {
    /// The elements of an array, as text.
    fn values(&mut self, name: &str) -> Result<Vec<String>> {
        let dataset = self.catalog.find(name)?;
        if dataset.is_text() {
            let misfit = || Error::NoLabels { array: name.to_owned() };
            return self.texts(dataset)?.ok_or_else(misfit);
        }
        values(self.catalog, name, self.how)
    }

    /// The texts of a dataset of one axis; `None` for another one, or a long one.
    fn texts(&mut self, dataset: &Dataset) -> Result<Option<Vec<String>>> {
        let is_short = matches!(dataset.shape(), [count] if *count <= LABEL_COUNT_MAX);
        if !is_short {
            return Ok(None);
        }
        self.used.insert(dataset.index);
        if let Some(texts) = self.read.get(&dataset.index) {
            return Ok(Some(texts.clone()));
        }
        let slab = Hyperslab::whole(dataset.shape());
        let texts = dataset.read_texts(&slab, self.how)?.value;
        self.read.insert(dataset.index, texts.clone());
        Ok(Some(texts))
    }

    /// Labels the axes that have the name and the length of a dataset of text, and no labels yet.
    fn label(&mut self, dataset: &Dataset, coords: &mut Coords) -> Result<()> {
        let labels = CatalogLabels::new(self.catalog, dataset, self.how);
        for axis in 0..dataset.dims.len() {
            let has_own = coords.contains_key(&axis) || dataset.coords.contains_key(&axis);
            let Some(found) = labels.coordinate_dataset(axis).filter(|_| !has_own) else {
                continue;
            };
            if self.texts.contains(&found.index)
                && let Some(texts) = self.texts(found)?
            {
                coords.insert(axis, texts);
            }
        }
        Ok(())
    }
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
    let array = dataset.read(&Hyperslab::whole(dataset.shape()), how)?;
    Ok(texts(dtype, array.bytes()))
}

/// Little-endian elements as text.
fn texts(dtype: DType, bytes: &[u8]) -> Vec<String> {
    let size = dtype.size().and_then(|size| usize::try_from(size).ok()).unwrap_or(1).max(1);
    let text = |element: &[u8]| {
        let mut out = String::new();
        text::push(dtype, element, &mut out);
        out
    };
    bytes.chunks_exact(size).map(text).collect()
}
