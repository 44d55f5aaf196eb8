//! A selection and an array's axes -> the positions of each axis.

use std::ops::RangeInclusive;

use super::axes::find_axis;
use super::error::{SelectionError, SelectionFault};
use super::positions::AxisPositions;
use super::written::as_positions;
use super::{Axis, AxisSelection, AxisSlice, Hyperslab, Position, Selection, SelectionForm, Stop};
use crate::axis::axis_text;
use crate::catalog::Dataset;
use crate::error::{Error, Result};
use crate::labels::{
    COORDINATES_MAX, DatePart, LabelLookup, Labels, Lookup, RangeFault, Side, Turned,
};
use crate::suggestion::nearest_word;

/// How many labels are compared for a suggestion.
const SUGGESTED_FROM_MAX: usize = 1000;

/// The entries for each axis, with their places among the entries as written: one at most that is no set of parts of
/// dates, and that comes first.
pub(super) type Placed<'a> = Vec<Vec<(usize, &'a AxisSelection)>>;

impl Selection {
    /// Resolves the selection for `dataset`, with labels looked up in `labels`.
    ///
    /// # Errors
    ///
    /// A selection that does not fit the dataset: the axis, its extent and the request; or one that is no
    /// hyperslab, for which there is [`Selection::select`].
    pub fn resolve(&self, dataset: &Dataset, labels: &dyn LabelLookup) -> Result<Hyperslab> {
        self.resolve_axes(dataset.grid.shape(), &dataset.dims, labels)
    }

    /// Resolves the selection for an array with these extents and dimension names (or none).
    ///
    /// # Errors
    ///
    /// As [`Selection::resolve`].
    pub fn resolve_axes(
        &self,
        extents: &[u64],
        dims: &[String],
        labels: &dyn LabelLookup,
    ) -> Result<Hyperslab> {
        let axes = self.positions(extents, dims, labels)?.into_iter().enumerate();
        let slices = axes.map(|(axis, positions)| {
            let (axis, count) = (axis_text(axis, dims), positions.count());
            let no_slice = || Box::new(SelectionFault::NoSlice { axis, count }).of_all();
            positions.slice().ok_or_else(no_slice)
        });
        Ok(Hyperslab { axes: slices.collect::<std::result::Result<_, _>>()? })
    }

    /// The positions along each axis of an array with these extents and dimension names (or none).
    ///
    /// # Errors
    ///
    /// As [`Selection::resolve`].
    pub fn positions(
        &self,
        extents: &[u64],
        dims: &[String],
        labels: &dyn LabelLookup,
    ) -> Result<Vec<AxisPositions>> {
        let placed =
            self.place(extents.len(), dims).map_err(|SelectionError { entry, fault }| {
                SelectionError { entry, fault: fault.with_dims_of(labels) }
            })?;
        let placed = placed.into_iter().enumerate();
        let positions = placed.map(|(axis, entries)| {
            let reader = AxisReader { axis, extent: extents[axis], dims, labels };
            reader.all_of(&entries)
        });
        positions.collect()
    }

    /// Finds the axis of every entry.
    pub(super) fn place(
        &self,
        rank: usize,
        dims: &[String],
    ) -> std::result::Result<Placed<'_>, SelectionError> {
        let mut placed: Placed<'_> = vec![Vec::new(); rank];
        let misfit = |given| Box::new(SelectionFault::Rank { given, rank, dims: dims.to_vec() });
        match &self.form {
            SelectionForm::Each(entries) => {
                if entries.len() != rank {
                    return Err(misfit(entries.len()).of_all());
                }
                for (axis, entry) in entries.iter().enumerate() {
                    placed[axis].push((axis, entry));
                }
            }
            SelectionForm::Around { head, tail } => {
                let given = head.len().saturating_add(tail.len());
                if rank < given {
                    return Err(misfit(given).of_all());
                }
                for (axis, entry) in head.iter().enumerate() {
                    placed[axis].push((axis, entry));
                }
                for (place, entry) in tail.iter().enumerate() {
                    placed[rank - tail.len() + place].push((head.len() + place, entry));
                }
            }
            SelectionForm::Named(entries) => {
                for (place, (asked, entry)) in entries.iter().enumerate() {
                    let axis = find_axis(asked, dims, rank).map_err(|it| it.of_entry(place))?;
                    let entries = &mut placed[axis];
                    let is_set =
                        |entry: &AxisSelection| matches!(entry, AxisSelection::Among { .. });
                    if !is_set(entry) && entries.first().is_some_and(|(_, first)| !is_set(first)) {
                        let axis = axis_text(axis, dims);
                        return Err(Box::new(SelectionFault::AxisTwice { axis }).of_entry(place));
                    }
                    let at = if is_set(entry) { entries.len() } else { 0 };
                    entries.insert(at, (place, entry));
                }
            }
        }
        Ok(placed)
    }
}

/// One axis on which entries are resolved.
struct AxisReader<'a> {
    axis: usize,
    extent: u64,
    dims: &'a [String],
    labels: &'a dyn LabelLookup,
}

impl AxisReader<'_> {
    /// The positions that all entries of the axis select.
    fn all_of(&self, entries: &[(usize, &AxisSelection)]) -> Result<AxisPositions> {
        let Some(((place, entry), sets)) = entries.split_first() else {
            return Ok(AxisSlice::whole(self.extent).into());
        };
        let mut positions = self.positions(*place, entry)?;
        let is_dropped = |slice: AxisSlice| !slice.is_kept();
        for (place, set) in sets {
            // One position is one; a date may be several.
            if positions.slice().is_some_and(is_dropped) {
                let axis = self.text();
                return Err(Box::new(SelectionFault::AxisTwice { axis }).of_entry(*place).into());
            }
            positions = positions.among(&self.positions(*place, set)?);
        }
        Ok(positions)
    }

    fn positions(&self, place: usize, entry: &AxisSelection) -> Result<AxisPositions> {
        let found = match entry {
            AxisSelection::Point(position) => self.point(position)?.map(AxisPositions::from),
            AxisSelection::Range { step: 0, .. } => {
                Err(SelectionFault::ZeroStep { axis: self.text() }.into())
            }
            AxisSelection::Range { start, stop, step } => {
                self.range(start.as_ref(), stop, *step)?
            }
            AxisSelection::List(places) => self.list(places)?,
            AxisSelection::Among { part, ranges } => self.among(*part, ranges)?,
        };
        Ok(found.map_err(|fault| self.with_positions(fault, entry).of_entry(place))?)
    }

    /// The fault of a label, with the positions that the whole entry may have meant.
    fn with_positions(
        &self,
        mut fault: Box<SelectionFault>,
        entry: &AxisSelection,
    ) -> Box<SelectionFault> {
        if let SelectionFault::NotADate { positions, .. }
        | SelectionFault::NoSuchLabel { positions, .. } = &mut *fault
        {
            *positions = as_positions(&self.name(), entry, self.extent);
        }
        fault
    }

    fn list(&self, places: &[Position]) -> Result<EntryResult<AxisPositions>> {
        let labels = self.labels()?;
        let lookup = labels.as_ref().map(|labels| Lookup::of_list(labels, places.len()));
        let (mut positions, mut turns) = (Vec::new(), Vec::new());
        for position in places {
            match self.each(position, lookup.as_ref()) {
                Ok(found) => {
                    turns.extend(found.iter().map(|at| self.turns(position, *at, lookup.as_ref())));
                    positions.extend(found);
                }
                Err(fault) => return Ok(Err(fault)),
            }
            let wanted = positions.len() as u64;
            if COORDINATES_MAX < wanted {
                let what = "positions of a list";
                return Err(Error::Limit { what, wanted, limit: COORDINATES_MAX });
            }
        }
        if turns.iter().all(|turns| *turns == 0) {
            turns.clear();
        }
        Ok(Ok(AxisPositions::each(positions, turns)))
    }

    /// The full turns from the label of a position to the requested longitude; 0 of other labels.
    fn turns(&self, asked: &Position, at: u64, lookup: Option<&Lookup<'_>>) -> i64 {
        let label = match asked {
            Position::Nearest { label, .. } => Some(label.clone()),
            _ => asked.label(),
        };
        let labels = lookup.filter(|_| self.labels.is_longitude(self.axis)).map(Lookup::labels);
        let place = usize::try_from(at).ok();
        let turns = label.zip(labels).zip(place);
        turns.and_then(|((label, labels), at)| labels.turns_to(at, &label)).unwrap_or(0)
    }

    /// The positions that one of a list means: of a label all that have it.
    fn each(&self, position: &Position, lookup: Option<&Lookup<'_>>) -> EntryResult<Vec<u64>> {
        let label = match (position, lookup) {
            (Position::Index(at), _) | (Position::Number(at), None) => {
                return self.index(*at).map(|at| vec![at]);
            }
            (Position::Nearest { label, within }, _) => {
                return self.nearest(label, within.as_deref(), lookup).map(|at| vec![at]);
            }
            (Position::Number(number), _) => number.to_string(),
            (Position::Label(label), _) => label.clone(),
        };
        let lookup = self.lookup_for(&label, position, lookup)?;
        let equal = self.equal(lookup, &label);
        if equal.is_empty() {
            Err(self.unknown(&label, position, lookup.labels()))
        } else {
            Ok(equal)
        }
    }

    fn among(
        &self,
        part: DatePart,
        ranges: &[RangeInclusive<i64>],
    ) -> Result<EntryResult<AxisPositions>> {
        let labels = self.labels()?;
        let found = labels.and_then(|labels| labels.among(part, ranges));
        Ok(match found {
            Some(found) => {
                let positions = found.into_iter().filter_map(|at| u64::try_from(at).ok());
                Ok(AxisPositions::each(positions.collect(), Vec::new()))
            }
            None => {
                let (axis, part) = (self.text(), part.name());
                let units = self.labels.unknown_units(self.axis);
                Err(SelectionFault::NoTimes { axis, part, units }.into())
            }
        })
    }

    fn point(&self, position: &Position) -> Result<EntryResult<AxisSlice>> {
        let labels = match position {
            Position::Index(_) => None,
            _ => self.labels()?,
        };
        let lookup = labels.as_ref().map(Lookup::of_one);
        Ok(self.one(position, lookup.as_ref()))
    }

    fn one(&self, position: &Position, lookup: Option<&Lookup<'_>>) -> EntryResult<AxisSlice> {
        let slice = |start| AxisSlice { start, stop: start + 1, step: 1, axis: Axis::Dropped };
        let label = match (position, lookup) {
            (Position::Index(at), _) | (Position::Number(at), None) => {
                return self.index(*at).map(slice);
            }
            (Position::Nearest { label, within }, _) => {
                return self.nearest(label, within.as_deref(), lookup).map(slice);
            }
            (Position::Number(number), _) => number.to_string(),
            (Position::Label(label), _) => label.clone(),
        };
        let lookup = self.lookup_for(&label, position, lookup)?;
        if let Some(period) = lookup.labels().period(&label).and_then(slice_of) {
            return Ok(period);
        }
        match self.equal(lookup, &label)[..] {
            [] => Err(self.unknown(&label, position, lookup.labels())),
            [at] => Ok(slice(at)),
            ref equal => {
                let (axis, count) = (self.text(), equal.len());
                Err(SelectionFault::RepeatedLabel { axis, label, count }.into())
            }
        }
    }

    /// All positions that have a label; longitudes but for full turns.
    fn equal(&self, lookup: &Lookup<'_>, label: &str) -> Vec<u64> {
        let equal = match self.labels.is_longitude(self.axis) {
            true => lookup.equal_longitudes(label),
            false => lookup.all_equal(label),
        };
        equal.into_iter().filter_map(|at| u64::try_from(at).ok()).collect()
    }

    fn range(
        &self,
        start: Option<&Position>,
        stop: &Stop,
        step: u64,
    ) -> Result<EntryResult<AxisPositions>> {
        let kept = |start: u64, stop: u64| {
            // A stop before the start is an empty range, as in Python.
            AxisPositions::from(AxisSlice { start, stop: stop.max(start), step, axis: Axis::Kept })
        };
        let through = match stop {
            Stop::Through(label) => Some(label),
            _ => None,
        };
        let is_label = |it: &Position| matches!(it, Position::Number(_) | Position::Label(_));
        let are_labels = start.is_none_or(is_label)
            && (through.is_some() || *stop == Stop::End && start.is_some());
        if are_labels && !(self.are_numbers(start, through) && self.labels()?.is_none()) {
            return self.range_of_labels(start, through, step);
        }
        let start = match start {
            None => Ok(0),
            Some(position) => self.bound(position, "start")?,
        };
        let stop = match stop {
            Stop::End => Ok(self.extent),
            Stop::Before(position) => self.bound(position, "stop")?,
            Stop::Through(Position::Label(label)) => {
                self.label(label, |it, label| it.bound(label, Side::After))?
            }
            Stop::Through(position) => self.bound(position, "stop")?,
        };
        Ok(start.and_then(|start| stop.map(|stop| kept(start, stop))))
    }

    /// Whether a range is written in whole numbers, which are positions where an axis has no labels.
    fn are_numbers(&self, start: Option<&Position>, stop: Option<&Position>) -> bool {
        let mut given = [start, stop].into_iter().flatten();
        given.all(|it| matches!(it, Position::Number(_)))
    }

    /// Every `step`-th of the positions from one label through another.
    fn range_of_labels(
        &self,
        start: Option<&Position>,
        stop: Option<&Position>,
        step: u64,
    ) -> Result<EntryResult<AxisPositions>> {
        let (from, to) = (start.and_then(Position::label), stop.and_then(Position::label));
        for (label, position) in from.iter().zip(start).chain(to.iter().zip(stop)) {
            if let Err(fault) = self.labels_for(label, position)? {
                return Ok(Err(fault));
            }
        }
        let Some(labels) = self.labels()? else {
            return Ok(Ok(AxisSlice { step, ..AxisSlice::whole(self.extent) }.into()));
        };
        let found = match (from.as_deref(), to.as_deref()) {
            (Some(from), Some(to)) if self.labels.is_longitude(self.axis) => {
                labels.range_of_longitudes(from, to)
            }
            (from, to) => {
                labels.range(from, to).map(|positions| vec![Turned { turns: 0, positions }])
            }
        };
        let axis = self.text();
        Ok(match found {
            Ok(runs) => Ok(AxisPositions::of_runs(&runs, step)),
            Err(RangeFault::NoSuchLabel(label)) => {
                let position = if from.as_ref() == Some(&label) { start } else { stop };
                let position = position.cloned().unwrap_or(Position::Label(label.clone()));
                Err(self.unknown(&label, &position, &labels))
            }
            Err(RangeFault::Unordered) => Err(SelectionFault::UnorderedLabels { axis }.into()),
            Err(RangeFault::Repeated(label)) => {
                let count = labels.all_equal(&label).len();
                Err(SelectionFault::RepeatedLabel { axis, label, count }.into())
            }
        })
    }

    /// The position of the label that is nearest, at most so far away.
    fn nearest(
        &self,
        label: &str,
        within: Option<&str>,
        lookup: Option<&Lookup<'_>>,
    ) -> EntryResult<u64> {
        let position = Position::Label(label.to_owned());
        let lookup = self.lookup_for(label, &position, lookup)?;
        let (labels, is_longitude) = (lookup.labels(), self.labels.is_longitude(self.axis));
        let nearest = match is_longitude {
            true => lookup.nearest_longitude(label),
            false => lookup.nearest(label),
        };
        let found = nearest.and_then(|at| Some((at, u64::try_from(at).ok()?)));
        let Some((place, at)) = found else { return Err(self.unknown(label, &position, labels)) };
        let far = |within: &str| within.parse().unwrap_or(f64::NAN);
        match within.filter(|it| !labels.is_within(place, label, far(it), is_longitude)) {
            None => Ok(at),
            Some(within) => {
                let (axis, label, within) = (self.text(), label.to_owned(), within.to_owned());
                let nearest = labels.text(place).unwrap_or_default();
                Err(SelectionFault::TooFar { axis, label, within, nearest }.into())
            }
        }
    }

    /// Where a range starts or stops: anywhere up to the extent itself.
    fn bound(&self, position: &Position, what: &'static str) -> Result<EntryResult<u64>> {
        match position {
            Position::Index(index) | Position::Number(index) => {
                Ok(self.inside(*index, i128::from(self.extent), what))
            }
            Position::Label(label) => self.label(label, |it, label| it.bound(label, Side::Before)),
            Position::Nearest { label, .. } => self.label(label, |it, label| it.nearest(label)),
        }
    }

    /// The labels of the axis, up to its extent.
    fn labels(&self) -> Result<Option<Labels<'_>>> {
        let count = usize::try_from(self.extent).unwrap_or(usize::MAX);
        Ok(self.labels.labels(self.axis)?.map(|labels| labels.first(count)))
    }

    /// The labels of the axis, among which a label is looked for.
    fn labels_for(&self, label: &str, position: &Position) -> Result<EntryResult<Labels<'_>>> {
        let Some(labels) = self.labels()? else { return Ok(Err(self.no_labels(label))) };
        let checked = self.check_date(label, position, &labels);
        Ok(checked.map(|()| labels))
    }

    /// As [`AxisReader::labels_for`], of labels that were read.
    fn lookup_for<'l>(
        &self,
        label: &str,
        position: &Position,
        lookup: Option<&'l Lookup<'l>>,
    ) -> EntryResult<&'l Lookup<'l>> {
        let lookup = lookup.ok_or_else(|| self.no_labels(label))?;
        self.check_date(label, position, lookup.labels())?;
        Ok(lookup)
    }

    fn no_labels(&self, label: &str) -> Box<SelectionFault> {
        SelectionFault::NoLabels { axis: self.text(), label: label.to_owned() }.into()
    }

    /// A whole number is no date but a year.
    fn check_date(&self, label: &str, position: &Position, labels: &Labels<'_>) -> EntryResult<()> {
        if matches!(position, Position::Number(_)) && labels.is_no_date(label) {
            let (axis, label, ends) = (self.text(), label.to_owned(), ends_of(labels));
            return Err(SelectionFault::NotADate { axis, label, positions: None, ends }.into());
        }
        Ok(())
    }

    fn index(&self, index: i128) -> EntryResult<u64> {
        self.inside(index, i128::from(self.extent) - 1, "index")
    }

    /// The position an index means: from the end when negative, at most `last`.
    fn inside(&self, index: i128, last: i128, what: &'static str) -> EntryResult<u64> {
        self.counted(index, last).ok_or_else(|| {
            let (axis, extent, asked) = (self.text(), self.extent, format!("{what} {index}"));
            SelectionFault::OutOfExtent { axis, extent, asked, last }.into()
        })
    }

    fn counted(&self, index: i128, last: i128) -> Option<u64> {
        let counted =
            if index < 0 { index.checked_add(i128::from(self.extent)) } else { Some(index) };
        counted.filter(|&at| at <= last).and_then(|at| u64::try_from(at).ok())
    }

    fn label(
        &self,
        label: &str,
        find: impl Fn(&Labels<'_>, &str) -> Option<usize>,
    ) -> Result<EntryResult<u64>> {
        let position = Position::Label(label.to_owned());
        Ok(self.labels_for(label, &position)?.and_then(|labels| {
            let found = find(&labels, label).and_then(|at| u64::try_from(at).ok());
            found.ok_or_else(|| self.unknown(label, &position, &labels))
        }))
    }

    /// The fault of a label that no position has.
    fn unknown(
        &self,
        label: &str,
        position: &Position,
        labels: &Labels<'_>,
    ) -> Box<SelectionFault> {
        let mut fault = unknown_label(self.text(), self.extent, label, labels);
        if let SelectionFault::NoSuchLabel { units, .. } = &mut *fault
            && !matches!(position, Position::Number(_))
        {
            *units = self.labels.unknown_units(self.axis);
        }
        fault
    }

    fn text(&self) -> String {
        axis_text(self.axis, self.dims)
    }

    /// The axis as a selection names it.
    fn name(&self) -> String {
        self.dims.get(self.axis).cloned().unwrap_or_else(|| self.axis.to_string())
    }
}

fn bounds(range: &std::ops::Range<usize>) -> Option<(u64, u64)> {
    Some((u64::try_from(range.start).ok()?, u64::try_from(range.end).ok()?))
}

fn slice_of(range: std::ops::Range<usize>) -> Option<AxisSlice> {
    let (start, stop) = bounds(&range)?;
    Some(AxisSlice { start, stop, step: 1, axis: Axis::Kept })
}

fn ends_of(labels: &Labels<'_>) -> Option<(String, String)> {
    labels.text(0).zip(labels.text(labels.len().saturating_sub(1)))
}

/// The fault of a label that no position of an axis has.
#[must_use]
pub fn unknown_label(
    axis: String,
    extent: u64,
    label: &str,
    labels: &Labels<'_>,
) -> Box<SelectionFault> {
    let ends = ends_of(labels);
    let neighbors = labels.neighbors(label).into_iter().flatten();
    let neighbors: Vec<String> = neighbors.filter_map(|at| labels.text(at)).collect();
    let suggestion = match labels {
        Labels::Text(texts) if neighbors.is_empty() => {
            let near = texts.iter().take(SUGGESTED_FROM_MAX).map(String::as_str);
            nearest_word(label, near).map(str::to_owned)
        }
        _ => None,
    };
    Box::new(SelectionFault::NoSuchLabel {
        axis,
        extent,
        label: label.to_owned(),
        ends,
        neighbors,
        suggestion,
        positions: None,
        units: None,
    })
}

/// A value, or the entry's fault. The outer result is for labels that cannot be read.
type EntryResult<T> = std::result::Result<T, Box<SelectionFault>>;

#[cfg(test)]
mod tests;
