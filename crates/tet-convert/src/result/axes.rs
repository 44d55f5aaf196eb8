//! The axes of a result: their names, and their labels or the datasets that have these, selected as the axes are.
//!
//! A dataset of one axis, named after a dimension and of its length, labels that dimension. A result
//! takes it along for every axis it keeps, so that labels find the same elements in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use tet_format::Shape;
use tet_query::{
    Along, Array, AxisGroups, AxisPicks, AxisSlice, Catalog, CatalogLabels, Choice, Computed,
    Dataset, Details, Elements, Execution, Hyperslab, LabelLookup, LazyArray, Reduced,
};

use super::attributes::of_values;
use super::held;
use super::windows::Windows;
use crate::Result;

/// Labels of more positions are not looked up by anybody, and not taken along.
const COUNT_MAX: u64 = 1 << 24;
/// Texts of more positions are not taken along as labels.
const TEXT_COUNT_MAX: u64 = 1 << 20;

/// One axis of a result.
#[derive(Debug, Default)]
pub(super) struct ResultAxis {
    pub(super) name: Option<String>,
    /// Whether it can grow in the file.
    pub(super) is_unlimited: bool,
    /// Its labels, where these are no dataset.
    pub(super) labels: Option<Vec<String>>,
    /// The dataset that labels it.
    pub(super) coordinates: Option<Dataset>,
    /// Source of that dataset.
    pub(super) computed: Option<Arc<Computed>>,
    /// The dataset of the catalog whose elements at positions of the axis they are.
    pub(super) source: Option<Dataset>,
    /// The dataset of the bounds of the coordinates, where these are made anew.
    pub(super) bounds: Option<Dataset>,
}

/// Where the axes of a result come from.
pub(super) struct Origins<'c> {
    catalog: &'c Catalog,
    dataset: &'c Dataset,
    slab: &'c Hyperslab,
    labels: CatalogLabels,
    /// The name of the result.
    name: &'c str,
    how: &'c Execution,
}

impl<'c> Origins<'c> {
    pub(super) fn new(
        catalog: &'c Catalog,
        dataset: &'c Dataset,
        slab: &'c Hyperslab,
        name: &'c str,
        how: &'c Execution,
    ) -> Origins<'c> {
        let labels = CatalogLabels::new(catalog, dataset, &Execution::default());
        Origins { catalog, dataset, slab, labels, name, how }
    }

    /// The kept axes of the selection, of which some positions are picked.
    pub(super) fn kept(&self, picks: &[AxisPicks]) -> Result<Vec<ResultAxis>> {
        let kept = self.slab.axes().iter().enumerate().filter(|(_, slice)| slice.is_kept());
        let picks = |axis: usize| picks.iter().find(|picks| picks.axis == axis);
        kept.map(|(axis, _)| self.axis(axis, picks(axis), self.is_clear(axis))).collect()
    }

    /// The axes of a reduction.
    pub(super) fn reduced(&self, reduced: &Reduced) -> Result<Vec<ResultAxis>> {
        let along = reduced.along.iter().zip(&reduced.shape);
        along.map(|(along, &count)| self.along(along, count, &reduced.details)).collect()
    }

    fn along(&self, along: &Along, count: u64, details: &Details) -> Result<ResultAxis> {
        Ok(match along {
            Along::Axis(axis) => self.axis(*axis, None, self.is_clear(*axis))?,
            // Two axes have the same name: a dataset would not say which of them it labels.
            Along::Variables(axis) => self.axis(*axis, None, false)?,
            Along::Picks(picks) => self.axis(picks.axis, Some(picks), self.is_clear(picks.axis))?,
            Along::Groups(groups) => self.groups(groups)?,
            &Along::Windows { axis, first, step, size } => {
                self.windows(axis, Windows { first, step, size, count })?
            }
            Along::Quantiles(q) => {
                let array = Array::from_elements(Shape::from([count]), q);
                let coordinates = array.map(|array| {
                    let dims = vec![QUANTILE.to_owned()];
                    Dataset { dims, ..held::dataset(QUANTILE.to_owned(), &array) }
                });
                let name = Some(QUANTILE.to_owned());
                ResultAxis { name, coordinates, ..ResultAxis::default() }
            }
            Along::Bins => {
                let name = Some("bin".to_owned());
                ResultAxis { name, labels: bins(details, count), ..ResultAxis::default() }
            }
        })
    }

    /// The axis of groups: the labels at the first position of each, where these are what the group is called.
    fn groups(&self, groups: &AxisGroups) -> Result<ResultAxis> {
        let count = u32::try_from(groups.labels.len()).unwrap_or(u32::MAX);
        let mut firsts = BTreeMap::new();
        for (at, group) in (0..).zip(groups.group_of.iter()).filter(|(_, group)| **group < count) {
            firsts.entry(*group).or_insert(at);
        }
        let positions: Vec<u64> = firsts.into_values().collect();
        let picks = AxisPicks { axis: groups.axis, positions: positions.into() };
        if let Some(by) = &groups.by {
            return self.groups_by(by, groups, &picks);
        }
        if self.texts(groups.axis, Some(&picks))?.is_some_and(|it| it[..] == groups.labels[..]) {
            let axis = self.axis(groups.axis, Some(&picks), self.is_clear(groups.axis))?;
            // Bounds are those of positions.
            return Ok(ResultAxis { source: None, is_unlimited: false, ..axis });
        }
        let (name, labels) = (self.name_of(groups.axis), Some(groups.labels.to_vec()));
        Ok(ResultAxis { name, labels, ..ResultAxis::default() })
    }

    /// The axis of groups of the values of another dataset, which it is named after.
    fn groups_by(&self, by: &str, groups: &AxisGroups, firsts: &AxisPicks) -> Result<ResultAxis> {
        let name = leaf(by).to_owned();
        let slice = self.slab.axes().get(groups.axis).copied();
        let named = ResultAxis { name: Some(name.clone()), ..ResultAxis::default() };
        let found = self.catalog.values_along(self.dataset, by).map(|(_, found)| found);
        let found = found.filter(is_numbers);
        match found.filter(|_| name != self.name) {
            Some(found) => {
                let found = found.with_exact_times().clone();
                let found = Dataset { name: name.clone(), dims: vec![name], ..found };
                self.with_coordinates(named, &found, slice, Some(firsts))
            }
            None => Ok(ResultAxis { labels: Some(groups.labels.to_vec()), ..named }),
        }
    }

    /// The axis of windows over an axis.
    fn windows(&self, axis: usize, windows: Windows) -> Result<ResultAxis> {
        let count = windows.count;
        let mut result = ResultAxis { name: self.name_of(axis), ..ResultAxis::default() };
        if count <= COUNT_MAX
            && self.is_clear(axis)
            && let Some(coordinates) = self.numbers(axis)
            && let Some(slice) = self.slab.axes().get(axis)
            && let Some(slab) = Hyperslab::new(vec![*slice], coordinates.shape())
            && let Some([labels, bounds]) =
                windows.coordinates(self.catalog, coordinates, &slab, self.how)?
        {
            (result.coordinates, result.bounds) = (Some(labels), Some(bounds));
            return Ok(result);
        }
        let positions = self.texts(axis, None)?.unwrap_or_default();
        let extent = self.slab.axes().get(axis).map_or(0, AxisSlice::count);
        let label = |nth: u64| {
            let window = windows.range(nth);
            window_label(window.start, window.end, extent, &positions)
        };
        result.labels = (count <= TEXT_COUNT_MAX).then(|| (0..count).map(label).collect());
        Ok(result)
    }

    fn name_of(&self, axis: usize) -> Option<String> {
        self.dataset.dims.get(axis).cloned()
    }

    /// The numbers that label an axis, where a dataset has them.
    fn numbers(&self, axis: usize) -> Option<&Dataset> {
        let has_own = self.dataset.coords.get(&axis).is_some_and(|labels| !labels.is_empty());
        self.labels.coordinate_dataset(axis).filter(|found| !has_own && is_numbers(found))
    }

    /// Whether the name of an axis says which axis and which dataset is meant.
    fn is_clear(&self, axis: usize) -> bool {
        let Some(name) = self.dataset.dims.get(axis) else { return false };
        let is_one = self.dataset.dims.iter().filter(|dim| *dim == name).count() == 1;
        is_one && *name != self.name
    }

    fn axis(&self, axis: usize, picks: Option<&AxisPicks>, is_clear: bool) -> Result<ResultAxis> {
        let name = self.dataset.dims.get(axis).cloned();
        let is_unlimited = self.dataset.unlimited.get(axis).is_some_and(|it| *it);
        let mut kept = ResultAxis { name, is_unlimited, ..ResultAxis::default() };
        let slice = self.slab.axes().get(axis).copied();
        let count = picks.map_or(slice.map_or(0, |it| it.count()), |it| it.positions.len() as u64);
        match self.numbers(axis) {
            Some(found) if is_clear && count <= COUNT_MAX => {
                // Labels are decoded, whatever the values of the catalog are.
                let own = self.catalog.datasets().get(found.index);
                let own = own.filter(|it| it.name == found.name && it.shape() == found.shape());
                let found = own.unwrap_or(found).with_exact_times();
                kept = self.with_coordinates(kept, found, slice, picks)?;
                kept.source = Some(found.clone());
            }
            _ if self.is_named_as(axis) => {}
            _ => kept.labels = self.texts(axis, picks)?,
        }
        Ok(kept)
    }

    /// An axis with the elements of a dataset at its positions as coordinates.
    fn with_coordinates(
        &self,
        axis: ResultAxis,
        found: &Dataset,
        slice: Option<AxisSlice>,
        picks: Option<&AxisPicks>,
    ) -> Result<ResultAxis> {
        let lazy = self.coordinates(found, slice, picks)?;
        let computed = Computed::new(Elements::new(Arc::new(lazy)), self.how);
        let mut dataset = computed.dataset(found.name.clone());
        (dataset.dims, dataset.attrs) = (found.dims.clone(), of_values(found, None));
        dataset.fill.clone_from(&found.fill);
        Ok(ResultAxis { coordinates: Some(dataset), computed: Some(computed), ..axis })
    }

    /// Whether the dataset that labels an axis has the name of the result.
    fn is_named_as(&self, axis: usize) -> bool {
        self.labels.coordinate_dataset(axis).is_some_and(|it| it.name == self.name)
    }

    /// The coordinates at the positions that the result has of an axis.
    fn coordinates(
        &self,
        dataset: &Dataset,
        slice: Option<AxisSlice>,
        picks: Option<&AxisPicks>,
    ) -> Result<LazyArray> {
        let slab = Hyperslab::new(slice.into_iter().collect(), dataset.shape());
        let misfit = || tet_query::Error::Misfit {
            dataset: dataset.name.clone(),
            shape: dataset.grid.shape().clone(),
        };
        let picks = picks.map(|picks| AxisPicks { axis: 0, ..picks.clone() });
        let choice = Choice { filter: None, picks: picks.into_iter().collect() };
        let slab = slab.ok_or_else(misfit)?;
        Ok(LazyArray::new(dataset, &slab, choice, None, self.how)?)
    }

    /// The labels at the positions that the result has of an axis, as text.
    fn texts(&self, axis: usize, picks: Option<&AxisPicks>) -> Result<Option<Vec<String>>> {
        let Some(slice) = self.slab.axes().get(axis) else { return Ok(None) };
        if TEXT_COUNT_MAX < slice.count() {
            return Ok(None);
        }
        let Some(labels) = self.labels.labels(axis)? else { return Ok(None) };
        let text = |at: u64| {
            labels.text(usize::try_from(slice.start + at * slice.step).unwrap_or(usize::MAX))
        };
        Ok(match picks {
            Some(picks) => picks.positions.iter().map(|&at| text(at)).collect(),
            None => (0..slice.count()).map(text).collect(),
        })
    }
}

/// The name of a dataset without its groups and its structure.
fn leaf(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.rsplit('.').next().unwrap_or(name)
}

/// Whether a dataset has real numbers that can be read.
fn is_numbers(dataset: &Dataset) -> bool {
    let is_number = dataset.dtype.is_some_and(|it| it.is_integer() || it.is_float());
    is_number && dataset.fault.is_none()
}

/// The axis of quantiles, and the dataset that labels it.
const QUANTILE: &str = "quantile";

/// The bins between edges that all cells share.
fn bins(details: &Details, count: u64) -> Option<Vec<String>> {
    let Details::Histogram { edges, .. } = details else { return None };
    let is_shared = edges.len() as u64 == count.saturating_add(1);
    let label = |pair: &[f64]| match pair {
        [low, high] => format!("{low:?} .. {high:?}"),
        _ => String::new(),
    };
    is_shared.then(|| edges.windows(2).map(label).collect())
}

/// The positions of a window from `start` to `end` within an axis of `count` positions: `Jan .. Mar` by their
/// labels, `0:3` without.
///
/// # Examples
///
/// ```
/// let labels = ["Jan", "Feb", "Mar"].map(str::to_owned);
/// assert_eq!(tet_convert::window_label(-1, 2, 3, &labels), "Jan .. Feb");
/// assert_eq!(tet_convert::window_label(-1, 2, 3, &[]), "0:2");
/// ```
#[must_use]
pub fn window_label(start: i128, end: i128, count: u64, labels: &[String]) -> String {
    let inside = |at: i128| at.clamp(0, i128::from(count));
    let (first, stop) = (inside(start), inside(end));
    if stop <= first {
        return format!("{start}:{end}");
    }
    let label = |at: i128| labels.get(usize::try_from(at).unwrap_or(usize::MAX));
    match (label(first), label(stop - 1)) {
        (Some(first), Some(last)) if first == last => first.clone(),
        (Some(first), Some(last)) => format!("{first} .. {last}"),
        _ => format!("{first}:{stop}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_called_by_what_is_there_of_them() {
        let labels = ["Jan", "Feb", "Mar"].map(str::to_owned);
        let cases = [
            (0, 2, "Jan .. Feb"),
            (2, 4, "Mar"),
            (-2, 1, "Jan"),
            (1, 9, "Feb .. Mar"),
            (3, 5, "3:5"),
        ];
        for (start, end, want) in cases {
            assert_eq!(window_label(start, end, 3, &labels), want);
        }
        assert_eq!(window_label(-1, 2, 3, &[]), "0:2");
        assert_eq!(window_label(0, 2, 0, &[]), "0:2");
    }
}
