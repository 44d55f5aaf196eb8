//! The datasets that go along with a result: those that the attributes of its dataset name, and of its coordinates, and
//! the coordinates of axes of which one position is selected.
//!
//! A dataset goes along if all its axes do, or are none of those of the dataset that the result is made of.

use std::collections::BTreeSet;
use std::sync::Arc;

use tet_query::{
    Along, AttrText, AxisGroups, AxisPicks, AxisSlice, Catalog, CatalogLabels, Choice, Computed,
    Dataset, Elements, Execution, Hyperslab, LazyArray, Reduced,
};

use super::attributes::of_values;
use super::texts;
use crate::{Note, Result};
use tet_container::model::associated::{COORDINATES_KEY, named_by, prune};
use tet_container::model::axes::names_of;

/// The positions that a result has of the axes of its dataset.
#[derive(Debug)]
pub(super) struct Selected<'s> {
    pub(super) dataset: &'s Dataset,
    pub(super) slab: &'s Hyperslab,
    /// The positions that are picked of the selected ones.
    pub(super) picks: Vec<AxisPicks>,
    /// The axes that the result does not have position by position.
    pub(super) folded: BTreeSet<usize>,
}

/// A dataset that goes along, and what it is computed of.
#[derive(Debug)]
pub(super) struct Associated {
    pub(super) dataset: Dataset,
    pub(super) computed: Option<Arc<Computed>>,
}

/// The datasets that go along with `main` and those that label its axes, which were made of `sources`. The attributes
/// of all name no others then.
///
/// # Errors
/// A part of one of them cannot be selected.
pub(super) fn associated(
    catalog: &Catalog,
    selected: &Selected<'_>,
    made: &mut [Dataset],
    sources: &[Option<Dataset>],
    how: &Execution,
) -> Result<(Vec<Associated>, Vec<Note>)> {
    let mut all = Vec::new();
    let mut next: Vec<Dataset> = sources.iter().flatten().cloned().collect();
    let mut taken: BTreeSet<usize> = next.iter().map(|it| it.index).collect();
    let singles = selected.singles(catalog);
    let own_labels = selected.single_labels(catalog);
    if let Some(main) = made.first_mut() {
        let names = singles.iter().map(|(dim, _)| dim.as_str());
        name_coordinates(main, names.chain(own_labels.iter().map(|it| it.name.as_str())));
    }
    let mut candidates: Vec<Dataset> = singles.into_iter().map(|(_, it)| it).collect();
    loop {
        for candidate in candidates.drain(..) {
            if !taken.contains(&candidate.index)
                && let Some(part) = selected.part_of(&candidate, how)?
            {
                taken.insert(candidate.index);
                all.push(part);
                next.push(candidate);
            }
        }
        let Some(dataset) = next.pop() else { break };
        candidates.extend(named_by(catalog, &dataset).into_iter().cloned());
    }
    let goes = |it: &Dataset| taken.contains(&it.index);
    let labels = made.iter_mut().zip(sources).filter(|(_, source)| source.is_some());
    let mut notes: Vec<Note> =
        labels.filter_map(|(dataset, _)| prune(catalog, dataset, goes)).collect();
    notes.extend(all.iter_mut().filter_map(|it| prune(catalog, &mut it.dataset, goes)));
    all.extend(own_labels.into_iter().map(|dataset| Associated { dataset, computed: None }));
    Ok((all, notes))
}

/// Names coordinates in the attribute of a dataset that has no axes for them.
fn name_coordinates<'n>(dataset: &mut Dataset, names: impl Iterator<Item = &'n str>) {
    let mut words: Vec<String> = match dataset.attrs.get(COORDINATES_KEY) {
        Some(AttrText::Text(text)) => text.split_whitespace().map(str::to_owned).collect(),
        Some(_) => return,
        None => Vec::new(),
    };
    let count = words.len();
    for name in names.filter(|name| !name.contains(char::is_whitespace)) {
        if !words.iter().any(|word| word == name) {
            words.push(name.to_owned());
        }
    }
    if count < words.len() {
        dataset.attrs.insert(COORDINATES_KEY.to_owned(), AttrText::Text(words.join(" ")));
    }
}

impl<'s> Selected<'s> {
    /// All axes, at the selected positions.
    pub(super) fn positions(
        dataset: &'s Dataset,
        slab: &'s Hyperslab,
        picks: &[AxisPicks],
    ) -> Selected<'s> {
        Selected { dataset, slab, picks: picks.to_vec(), folded: BTreeSet::new() }
    }

    /// The axes that the cells of a reduction have.
    pub(super) fn cells(
        dataset: &'s Dataset,
        slab: &'s Hyperslab,
        reduced: &Reduced,
    ) -> Selected<'s> {
        let mut folded: BTreeSet<usize> = reduced.axes.iter().copied().collect();
        let mut picks = Vec::new();
        for along in &reduced.along {
            match along {
                Along::Axis(axis) => drop(folded.remove(axis)),
                Along::Picks(it) => {
                    folded.remove(&it.axis);
                    picks.push(it.clone());
                }
                Along::Groups(AxisGroups { axis, .. })
                | Along::Windows { axis, .. }
                | Along::Variables(axis) => drop(folded.insert(*axis)),
                Along::Quantiles(_) | Along::Bins => {}
            }
        }
        // One position is itself, whatever is computed of it.
        folded.retain(|axis| slab.axes().get(*axis).is_none_or(AxisSlice::is_kept));
        Selected { dataset, slab, picks, folded }
    }

    /// The names of axes of which one position is selected, and the datasets that label them.
    fn singles(&self, catalog: &Catalog) -> Vec<(String, Dataset)> {
        let labels = CatalogLabels::new(catalog, self.dataset, &Execution::default());
        let found = self.single_axes().filter_map(|(axis, _, dim)| {
            let found = labels.coordinate_dataset(axis)?;
            (found.index != self.dataset.index).then(|| (dim.to_owned(), found.clone()))
        });
        found.collect()
    }

    /// The labels that the dataset itself has of the axes of which one position is selected, each as a dataset.
    fn single_labels(&self, catalog: &Catalog) -> Vec<Dataset> {
        let single = self.single_axes().filter_map(|(axis, start, dim)| {
            let label = self.dataset.coords.get(&axis)?.get(usize::try_from(start).ok()?)?;
            let is_free = catalog.in_scope(&self.dataset.name, dim).is_none();
            let source = self.dataset.source.clone();
            is_free.then(|| texts::one(source, dim.to_owned(), label.clone()))
        });
        single.collect()
    }

    /// The axes of which one position is selected: their numbers, the positions, their names.
    fn single_axes(&self) -> impl Iterator<Item = (usize, u64, &str)> {
        let axes = self.slab.axes().iter().zip(&self.dataset.dims).enumerate();
        let single = axes.filter(|(axis, (slice, dim))| {
            !slice.is_kept() && !self.folded.contains(axis) && self.is_once(dim)
        });
        single.map(|(axis, (slice, dim))| (axis, slice.start, dim.as_str()))
    }

    fn is_once(&self, dim: &str) -> bool {
        self.dataset.dims.iter().filter(|it| *it == dim).count() == 1
    }

    /// The part of a dataset at the positions that the result has; `None` where its axes do not fit.
    fn part_of(&self, other: &Dataset, how: &Execution) -> Result<Option<Associated>> {
        let other = other.with_exact_times();
        let is_number = other.dtype.is_some() && other.why().is_none();
        let Some((slab, picks)) = self.place_in(other) else { return Ok(None) };
        let kept = slab.axes().iter().enumerate().filter(|(_, slice)| slice.is_kept());
        let kept: Vec<usize> = kept.map(|(axis, _)| axis).collect();
        let names = names_of(other);
        let of_kept = |axis: &usize| names.get(*axis).cloned();
        let dims = kept.iter().filter_map(of_kept).collect();
        let unlimited = kept.iter().map(|axis| other.unlimited.get(*axis) == Some(&true)).collect();
        let (dataset, computed) = if other.is_text() && picks.is_empty() {
            (texts::selected(other, &slab, how), None)
        } else if is_number {
            let lazy = LazyArray::new(other, &slab, Choice { filter: None, picks }, None, how)?;
            let computed = Computed::new(Elements::new(Arc::new(lazy)), how);
            (computed.dataset(other.name.clone()), Some(computed))
        } else {
            return Ok(None);
        };
        let (attrs, fill) = (of_values(other, None), other.fill.clone());
        let enumeration = other.enumeration.clone();
        let dataset = Dataset { dims, unlimited, attrs, fill, enumeration, ..dataset };
        Ok(Some(Associated { dataset, computed }))
    }

    /// Selection of a dataset.
    fn place_in(&self, other: &Dataset) -> Option<(Hyperslab, Vec<AxisPicks>)> {
        let (mut slices, mut picks) = (Vec::new(), Vec::new());
        let names = names_of(other);
        for (axis, &extent) in other.shape().iter().enumerate() {
            let dim = names.get(axis);
            let own = dim.and_then(|dim| self.dataset.dims.iter().position(|it| it == dim));
            let Some(own) = own else {
                slices.push(AxisSlice::whole(extent));
                continue;
            };
            let is_same = self.dataset.shape().get(own) == Some(&extent);
            if !is_same || self.folded.contains(&own) || !self.is_once(dim?) {
                return None;
            }
            slices.push(*self.slab.axes().get(own)?);
            let picked = self.picks.iter().filter(|picks| picks.axis == own);
            picks.extend(picked.map(|it| AxisPicks { axis, ..it.clone() }));
        }
        Some((Hyperslab::new(slices, other.shape())?, picks))
    }
}
