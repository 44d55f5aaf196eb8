//! Which datasets of a file grow along an axis, and what the inputs have of them.
//!
//! ```text
//!   --axis time   datasets that have an axis of this name
//!   --axis 0      datasets that each input has too, with the same other extents: all by as many positions
//! ```

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use tet_io::shown;
use tet_query::{Catalog, Dataset, Execution};

use super::order::{check_order, unfit};
use crate::container::holds_one;
use crate::edit::datasets_named;
use crate::merge::{FileDataset, differing_elements};
use crate::open::OpenedFile;
use crate::{Note, Result};
use tet_container::model::attributes::is_metadata;
use tet_container::model::axes::names_of;
use tet_container::model::meanings::{Differing, differing_meaning};
use tet_container::read::opened::{Opened, path_of};
use tet_container::write::conversion::UnsupportedChoice;

/// A message has no more names of axes.
const NAMES_MAX: usize = 8;

/// Datasets to append, with the axis.
///
/// # Examples
///
/// ```
/// use tet_convert::AxisAppend;
///
/// let append = AxisAppend { axis: "time", inputs: &["june.nc".into()], ..AxisAppend::default() };
/// assert!(append.output.is_none());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct AxisAppend<'a> {
    /// The name of the axis, or its number where no axis has this name.
    pub axis: &'a str,
    /// The datasets that grow, as [`datasets_named`](crate::datasets_named) takes them; none means all that can.
    pub datasets: &'a [String],
    /// Those of the inputs that are left out, by name or pattern.
    pub exclude: &'a [String],
    /// Treatment of datasets of the inputs that the file cannot hold.
    pub unsupported: UnsupportedChoice,
    /// The files whose datasets are appended, in this order.
    pub inputs: &'a [PathBuf],
    /// The new file; `None` replaces the old one.
    pub output: Option<&'a Path>,
}

/// A dataset that grows.
pub(crate) struct Growing<'c> {
    pub(crate) dataset: &'c Dataset,
    pub(crate) axis: usize,
    /// The dataset of its name in each input.
    pub(crate) parts: Vec<FileDataset<'c>>,
}

impl Growing<'_> {
    /// By how many positions it grows.
    pub(super) fn by(&self) -> u64 {
        let extents = self.parts.iter().map(|part| extent(part.dataset, self.axis));
        extents.fold(0, u64::saturating_add)
    }

    /// Checks that the coordinate of the axis goes on in order, if the dataset is this coordinate.
    pub(crate) fn check_coordinates(
        &self,
        path: &Path,
        axis: &str,
        advice: &str,
        how: &Execution,
    ) -> Result<Vec<Note>> {
        // In a group it has the name of the group before its own.
        let name = self.dataset.name.rsplit('/').next().unwrap_or_default();
        let is_named = self.dataset.name == axis || name == axis;
        let is_coordinate = is_named && self.dataset.shape().len() == 1;
        if !is_coordinate {
            return Ok(Vec::new());
        }
        check_order(FileDataset { path, dataset: self.dataset }, &self.parts, advice, how)
    }

    /// The labels of the new positions, behind those that the axis has.
    pub(crate) fn more_labels(&self, axis: &str, labels: &[String]) -> Result<Vec<String>> {
        let name = &self.dataset.name;
        let mut taken: HashSet<&String> = labels.iter().collect();
        let mut all = Vec::new();
        for &FileDataset { path, dataset } in &self.parts {
            let count = extent(dataset, self.axis);
            let more = dataset.coords.get(&self.axis).filter(|more| more.len() as u64 == count);
            let Some(more) = more else {
                let path = shown(path);
                return Err(unfit(format!(
                    "axis {axis:?} of {name:?} has labels, and none in {path}"
                )));
            };
            for label in more {
                if !taken.insert(label) {
                    let path = shown(path);
                    return Err(unfit(format!(
                        "{path} repeats the label {label:?} of axis {axis:?}"
                    )));
                }
                all.push(label.clone());
            }
        }
        Ok(all)
    }
}

/// The datasets that grow.
///
/// # Errors
/// None has the axis; an input lacks one of them, has it with another type, shape or unit, or has more along the axis; by
/// the number of an axis they would not all grow from and by the same extents.
pub(crate) fn growing<'c>(
    opened: &'c Opened,
    asked: &AxisAppend<'_>,
    inputs: &[OpenedFile<'c>],
) -> Result<Vec<Growing<'c>>> {
    let catalog = &opened.catalog;
    let chosen = chosen(catalog, asked.datasets)?;
    let mut excluded = BTreeSet::new();
    for name in asked.exclude {
        excluded.extend(catalog.matching(name)?.into_iter().map(|it| it.index));
    }
    let is_chosen = |it: &&Dataset| {
        chosen.as_ref().is_none_or(|all| all.contains(&it.index)) && !excluded.contains(&it.index)
    };
    let datasets = || catalog.datasets().iter().filter(|it| !is_metadata(it)).filter(is_chosen);
    let named = |it: &Dataset| names_of(it).iter().position(|name| name == asked.axis);
    // A coordinate alone does not say which other datasets have its axis.
    if datasets().any(|it| it.dims.iter().any(|dim| dim == asked.axis)) {
        let with_axis = datasets().filter_map(|it| Some((it, named(it)?)));
        let growing = with_axis.map(|(it, axis)| of_dataset(opened, it, axis, inputs));
        let growing = growing.collect::<Result<Vec<_>>>()?;
        if chosen.is_none() {
            check_left(inputs, &growing, asked.axis, |it| named(it).is_some())?;
        }
        return Ok(growing);
    }
    let Ok(axis) = asked.axis.parse::<usize>() else {
        let has_names = catalog.datasets().iter().any(|it| !it.dims.is_empty());
        // A path as lists of axes have it.
        let leaf = asked.axis.rsplit('/').next().unwrap_or_default();
        let is_name = datasets().any(|it| it.dims.iter().any(|dim| dim == leaf));
        let advice = match has_names {
            true if is_name => format!(": it is named {leaf:?}"),
            true => String::new(),
            false => ": its axes have no names, give a number, 0 for the first".to_owned(),
        };
        return Err(unfit(format!("no dataset has an axis named {:?}{advice}", asked.axis)));
    };
    let growing = match &chosen {
        Some(_) => datasets().map(|it| of_dataset(opened, it, axis, inputs)).collect(),
        None => numbered(opened, axis, inputs),
    }?;
    if growing.is_empty() {
        let names: BTreeSet<&str> =
            datasets().flat_map(|it| &it.dims).map(String::as_str).collect();
        let names = names.into_iter().take(NAMES_MAX).collect::<Vec<_>>().join(", ");
        let advice = match names.as_str() {
            "" => String::new(),
            names => format!("; its axes have names: {names}"),
        };
        let what = format!(
            "no dataset of {} is in all inputs with an axis {axis} and the same other extents{advice}",
            shown(&path_of(catalog.source()))
        );
        return Err(unfit(what));
    }
    if chosen.is_none() {
        check_one_axis(&growing)?;
        check_left(inputs, &growing, asked.axis, |it| axis < it.shape().len())?;
    }
    Ok(growing)
}

/// Checks that the datasets of inputs that do not grow are those of the file: all of them, or, where those that grow were
/// asked for by name, the coordinates of their other axes.
///
/// # Errors
/// An input has one that the file lacks, or has it with another type, shape or elements, or elements cannot be read.
pub(crate) fn check_fixed(
    file: OpenedFile<'_>,
    growing: &[Growing<'_>],
    asked: &AxisAppend<'_>,
    inputs: &[OpenedFile<'_>],
    how: &Execution,
) -> Result<()> {
    let grown: HashSet<&str> = growing.iter().map(|it| it.dataset.name.as_str()).collect();
    let axes: HashSet<&str> =
        growing.iter().flat_map(|it| &it.dataset.dims).map(String::as_str).collect();
    let is_coordinate = |it: &Dataset| {
        let leaf = it.name.rsplit('/').next().unwrap_or_default();
        leaf != asked.axis && axes.contains(leaf) && it.shape().len() == 1
    };
    let is_meant = |it: &Dataset| asked.datasets.is_empty() || is_coordinate(it);
    let is_one = |input: &Opened| holds_one(input.format);
    for input in inputs.iter().filter(|it| !is_one(it.opened)) {
        let fixed = input.opened.catalog.datasets().iter().filter(|it| !is_metadata(it));
        for part in fixed.filter(|it| !grown.contains(it.name.as_str()) && is_meant(it)) {
            let (name, other, path) = (&part.name, shown(input.path), shown(file.path));
            let Some(dataset) = file.opened.catalog.only_named(name) else {
                return Err(unfit(format!(
                    "{other} has a dataset {name:?}, and {path} has none: --exclude leaves it out"
                )));
            };
            let differs = differing_elements(dataset, part, how)?.or_else(|| {
                let meaning = differing_meaning(&dataset.attrs, &part.attrs)?;
                Some(format!("{} is {} and {}", meaning.key, meaning.shown[0], meaning.shown[1]))
            });
            if let Some(what) = differs {
                let what = format!(
                    "{name:?} does not grow, and is not the same in {path} and {other}: {what}"
                );
                return Err(unfit(what));
            }
        }
    }
    Ok(())
}

/// The positions of the datasets that may grow, where not all may.
fn chosen(catalog: &Catalog, names: &[String]) -> Result<Option<BTreeSet<usize>>> {
    let mut chosen = BTreeSet::new();
    for name in names {
        chosen.extend(datasets_named(catalog, name)?);
    }
    Ok((!names.is_empty()).then_some(chosen))
}

/// The datasets that every input has with the same extents but along one axis.
fn numbered<'c>(
    opened: &'c Opened,
    axis: usize,
    inputs: &[OpenedFile<'c>],
) -> Result<Vec<Growing<'c>>> {
    let mut growing = Vec::new();
    for dataset in opened.catalog.datasets().iter().filter(|it| !is_metadata(it)) {
        let fits = |input: &OpenedFile<'_>| {
            let part = part_of(opened, dataset, input.opened)?;
            let fits = part.is_some_and(|part| others(part, axis) == others(dataset, axis));
            Ok(fits && axis < dataset.shape().len())
        };
        let fitting = inputs.iter().map(fits).collect::<Result<Vec<bool>>>()?;
        if fitting.contains(&true) {
            growing.push(of_dataset(opened, dataset, axis, inputs)?);
        }
    }
    Ok(growing)
}

/// A dataset that grows, after checking that each input continues it.
fn of_dataset<'c>(
    opened: &'c Opened,
    dataset: &'c Dataset,
    axis: usize,
    inputs: &[OpenedFile<'c>],
) -> Result<Growing<'c>> {
    let name = &dataset.name;
    if dataset.shape().len() <= axis {
        return Err(unfit(format!(
            "{name:?} has no axis {axis}: its shape is {:?}",
            dataset.shape()
        )));
    }
    if opened.catalog.only_named(name).is_none() {
        let file = shown(&path_of(opened.catalog.source()));
        return Err(unfit(format!(
            "several datasets of {file} are named {name:?}: \
             \"tet convert --stack AXIS\" makes one of them, \"tet edit rename\" names them anew"
        )));
    }
    let part = |&OpenedFile { path, opened: input }: &OpenedFile<'c>| {
        let missing = || unfit(format!("{} has no dataset {name:?}, which grows", shown(path)));
        let part = part_of(opened, dataset, input)?.ok_or_else(missing)?;
        let part = FileDataset { path, dataset: part };
        check_fit(dataset, axis, part)?;
        Ok(part)
    };
    Ok(Growing { dataset, axis, parts: inputs.iter().map(part).collect::<Result<_>>()? })
}

/// Dataset of an input: that of its name, or the only one of a `.npy`, whose name is that of the file.
fn part_of<'i>(
    opened: &Opened,
    dataset: &Dataset,
    input: &'i Opened,
) -> Result<Option<&'i Dataset>> {
    let name = &dataset.name;
    if let Some(part) = input.catalog.only_named(name) {
        return Ok(Some(part));
    }
    if input.catalog.is_ambiguous(name) {
        let path = path_of(input.catalog.source());
        return Err(unfit(format!("{} has several datasets {name:?}", shown(&path))));
    }
    let has_npy = [opened, input].iter().any(|it| holds_one(it.format));
    let is_one = has_npy && opened.catalog.datasets().len() == 1;
    match input.catalog.datasets() {
        [part] if is_one => Ok(Some(part)),
        _ => Ok(None),
    }
}

/// Checks that a dataset of an input continues one of the file.
fn check_fit(dataset: &Dataset, axis: usize, part: FileDataset<'_>) -> Result<()> {
    let FileDataset { path, dataset: part } = part;
    let differs = |what: &str, found: &dyn std::fmt::Debug, wanted: &dyn std::fmt::Debug| {
        let (name, path) = (&dataset.name, shown(path));
        Err(unfit(format!("{name:?} has the {what} {wanted:?}, and {found:?} in {path}")))
    };
    if dataset.dtype_name != part.dtype_name {
        return differs("type", &part.dtype_name, &dataset.dtype_name);
    }
    if others(dataset, axis) != others(part, axis) {
        return differs("shape", &part.shape(), &dataset.shape());
    }
    if !part.dims.is_empty() && !dataset.dims.is_empty() && part.dims != dataset.dims {
        return differs("axes", &part.dims, &dataset.dims);
    }
    for (at, labels) in dataset.coords.iter().filter(|(at, _)| **at != axis) {
        let Some(others) = part.coords.get(at).filter(|others| *others != labels) else { continue };
        let first = labels.iter().zip(others).position(|(one, two)| one != two).unwrap_or(0);
        let what = format!("label of position {first} of axis {at}");
        return differs(&what, &others.get(first), &labels.get(first));
    }
    match differing_meaning(&dataset.attrs, &part.attrs) {
        None => Ok(()),
        Some(Differing { key, shown: [wanted, found] }) => {
            let (name, path) = (&dataset.name, shown(path));
            Err(unfit(format!("{name:?} has the {key} {wanted}, and {found} in {path}")))
        }
    }
}

/// Checks that datasets that are found by the number of an axis have one axis in common: the same extents, and as many new
/// positions.
fn check_one_axis(growing: &[Growing<'_>]) -> Result<()> {
    let steps = |it: &Growing<'_>| {
        it.parts.iter().map(|part| extent(part.dataset, it.axis)).collect::<Vec<u64>>()
    };
    let along = |it: &Growing<'_>| extent(it.dataset, it.axis);
    let Some(first) = growing.first() else { return Ok(()) };
    let other = growing.iter().find(|it| along(it) != along(first) || steps(it) != steps(first));
    let Some(other) = other else { return Ok(()) };
    let growth =
        |it: &Growing<'_>| format!("{:?} from {} by {}", it.dataset.name, along(it), it.by());
    Err(unfit(format!(
        "datasets would grow by different extents along axis {}: {}, {}; name those that grow with --dataset",
        first.axis,
        growth(first),
        growth(other)
    )))
}

/// Checks that no input has more datasets along the axis: they would be lost.
fn check_left(
    inputs: &[OpenedFile<'_>],
    growing: &[Growing<'_>],
    axis: &str,
    has_axis: impl Fn(&Dataset) -> bool,
) -> Result<()> {
    for (number, &OpenedFile { path, opened }) in inputs.iter().enumerate() {
        let parts = growing.iter().filter_map(|grown| grown.parts.get(number));
        let taken: HashSet<usize> = parts.map(|part| part.dataset.index).collect();
        let is_taken = |it: &Dataset| taken.contains(&it.index);
        let mut left = opened.catalog.datasets().iter().filter(|it| !is_metadata(it));
        if let Some(left) = left.find(|it| has_axis(it) && !is_taken(it)) {
            let (path, name) = (shown(path), &left.name);
            return Err(unfit(format!(
                "{path} has a dataset {name:?} along {axis:?} that would be lost: --exclude leaves it out, and --dataset names those that grow"
            )));
        }
    }
    Ok(())
}

/// The extents of a dataset but for one axis.
fn others(dataset: &Dataset, axis: usize) -> Vec<u64> {
    let extents = dataset.shape().iter().enumerate();
    extents.map(|(at, &extent)| if at == axis { 0 } else { extent }).collect()
}

pub(super) fn extent(dataset: &Dataset, axis: usize) -> u64 {
    dataset.shape().get(axis).copied().unwrap_or(0)
}
