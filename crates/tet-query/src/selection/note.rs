//! Assumptions of a selection, which callers report.

use std::fmt;

use super::positions::AxisPositions;
use super::{AxisSelection, Hyperslab, Position, Selection, Stop};
use crate::axis::axis_text;
use crate::catalog::Dataset;
use crate::error::Result;
use crate::labels::{LabelLookup, Labels};
use crate::op::Op;
use crate::reduction::{Axes, Reduction};

/// An assumption of a selection.
///
/// # Examples
///
/// ```
/// use tet_query::SelectionNote;
///
/// let [axis, asked, taken] = ["lat", "48.1", "48.25"].map(str::to_owned);
/// let note = SelectionNote::Nearest { axis, asked, taken };
/// assert_eq!(note.to_string(), "lat~48.1: the nearest label is 48.25");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SelectionNote {
    /// No position of an axis is in the range, though the axis has some.
    Empty {
        /// The axis, as messages name it.
        axis: String,
        /// The entry to write instead, where whole numbers may have meant positions.
        positions: Option<String>,
        /// The first and the last label.
        ends: Option<(String, String)>,
    },
    /// The label nearest to the requested one, which no position has.
    Nearest {
        /// The axis, by name or number.
        axis: String,
        /// The requested label.
        asked: String,
        /// The nearest one.
        taken: String,
    },
    /// Positions that are taken one by one, where a plan is of all around them.
    Around {
        /// The axis, by name or number.
        axis: String,
    },
    /// Longitudes that the axis has after full turns.
    Turned {
        /// The axis, by name or number.
        axis: String,
        /// The first and the last label that are selected.
        ends: (String, String),
    },
    /// Latitudes whose elements count alike in a reduction.
    Unweighted {
        /// The reduction.
        op: Op,
        /// The axis, by name or number.
        axis: String,
    },
}

/// Reductions that depend on how much each element counts.
const WEIGHTED: [Op; 10] = [
    Op::Sum,
    Op::Mean,
    Op::Var,
    Op::Std,
    Op::Median,
    Op::Quantile,
    Op::NanSum,
    Op::NanMean,
    Op::NanVar,
    Op::NanStd,
];

impl SelectionNote {
    /// Whether it is likely that something else was meant.
    #[must_use]
    pub fn is_warning(&self) -> bool {
        matches!(self, SelectionNote::Empty { .. })
    }

    /// The note about a reduction of several latitudes, if it is one that depends on the areas of cells.
    ///
    /// # Examples
    ///
    /// ```
    /// use tet_query::{Hyperslab, NoLabels, Op, Reduction, SelectionNote};
    ///
    /// let (slab, dims) = (Hyperslab::whole(&[4]), ["lat".to_owned()]);
    /// assert_eq!(SelectionNote::of_reduction(&Reduction::all(Op::Mean), &slab, &dims, &NoLabels), None);
    /// ```
    #[must_use]
    pub fn of_reduction(
        reduction: &Reduction,
        slab: &Hyperslab,
        dims: &[String],
        labels: &dyn LabelLookup,
    ) -> Option<SelectionNote> {
        let is_folded = |axis: usize| {
            let is_apart = reduction.groups.iter().any(|groups| groups.axis == axis)
                || reduction.window.as_ref().is_some_and(|window| window.axis == axis);
            let is_named = match &reduction.axes {
                Axes::All => true,
                Axes::Some(axes) => axes.contains(&axis),
            };
            is_named && !is_apart
        };
        let op = Some(reduction.op).filter(|op| WEIGHTED.contains(op))?;
        let mut axes = slab.axes().iter().enumerate().filter(|(_, slice)| 1 < slice.count());
        let (axis, _) = axes.find(|(axis, _)| is_folded(*axis) && labels.is_latitude(*axis))?;
        let axis = dims.get(axis).cloned().unwrap_or_else(|| axis.to_string());
        Some(SelectionNote::Unweighted { op, axis })
    }
}

impl fmt::Display for SelectionNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SelectionNote::Empty { axis, positions, ends } => {
                write!(f, "the selection is empty along {axis}")?;
                if let Some((first, last)) = ends {
                    write!(f, ": labels go from {first} to {last}")?;
                }
                match positions {
                    Some(positions) => write!(f, "; positions are written {positions}"),
                    None => Ok(()),
                }
            }
            SelectionNote::Nearest { axis, asked, taken } => {
                write!(f, "{axis}~{asked}: the nearest label is {taken}")
            }
            SelectionNote::Around { axis } => {
                write!(f, "{axis}: positions are taken one by one; the plan is of all around them")
            }
            SelectionNote::Turned { axis, ends: (first, last) } => {
                write!(f, "{axis}: the longitudes are {first} to {last} on this axis")
            }
            SelectionNote::Unweighted { op, axis } => {
                let of = op.name().trim_start_matches("nan_");
                write!(
                    f,
                    "the {of} over {axis} counts all rows alike: cells near the poles are smaller"
                )?;
                match op {
                    Op::Mean | Op::NanMean => {
                        f.write_str("; mean(weights=...) of Python weights them")
                    }
                    _ => Ok(()),
                }
            }
        }
    }
}

impl Selection {
    /// The assumptions by which this selection of `dataset` became `positions`.
    ///
    /// # Errors
    ///
    /// As [`Selection::resolve`].
    pub fn notes(
        &self,
        dataset: &Dataset,
        labels: &dyn LabelLookup,
        positions: &[AxisPositions],
    ) -> Result<Vec<SelectionNote>> {
        let mut notes = Vec::new();
        let placed = self.place(dataset.shape().len(), &dataset.dims)?;
        for (axis, (taken, entries)) in positions.iter().zip(placed).enumerate() {
            let Some((_, entry)) = entries.first() else { continue };
            let extent = dataset.shape().get(axis).copied().unwrap_or_default();
            let is_empty = taken.count() == 0 && extent != 0;
            let may_turn = labels.is_longitude(axis) && is_of_labels(entry);
            if !(is_empty || has_nearest(entry) || may_turn) {
                continue;
            }
            let Some(labels) = labels.labels(axis)?.filter(|it| !it.is_empty()) else {
                let axis = axis_text(axis, &dataset.dims);
                let note = SelectionNote::Empty { axis, positions: None, ends: None };
                notes.extend(is_empty.then_some(note));
                continue;
            };
            let text = |at: u64| usize::try_from(at).ok().and_then(|at| labels.text(at));
            let name = dataset.dims.get(axis).cloned().unwrap_or_else(|| axis.to_string());
            if is_empty {
                let positions = whole_numbers(entry, extent).map(|it| format!("{name}#{it}"));
                let ends = text(0).zip(text(extent - 1));
                let axis = axis_text(axis, &dataset.dims);
                notes.push(SelectionNote::Empty { axis, positions, ends });
                continue;
            }
            let taken = taken.ends_of(entry);
            notes.extend(of_labels(entry, &name, &labels, &taken));
        }
        Ok(notes)
    }
}

impl AxisPositions {
    /// The positions that notes of an entry name: each of a list, of others the first and the last.
    fn ends_of(&self, entry: &AxisSelection) -> Vec<u64> {
        match (entry, self) {
            (AxisSelection::List(_), positions) => positions.iter().collect(),
            (_, AxisPositions::Each { positions, .. }) => {
                positions.first().into_iter().chain(positions.last()).copied().collect()
            }
            (_, AxisPositions::Slice(slice)) => {
                slice.last().map_or(vec![], |it| vec![slice.start, it])
            }
        }
    }
}

/// Whether labels are taken that are nearest to others.
fn has_nearest(entry: &AxisSelection) -> bool {
    let is_nearest = |position: &Position| matches!(position, Position::Nearest { .. });
    match entry {
        AxisSelection::Point(position) => is_nearest(position),
        AxisSelection::List(positions) => positions.iter().any(is_nearest),
        AxisSelection::Range { .. } | AxisSelection::Among { .. } => false,
    }
}

/// The notes about labels that differ from the requested ones.
fn of_labels(
    entry: &AxisSelection,
    axis: &str,
    labels: &Labels<'_>,
    taken: &[u64],
) -> Vec<SelectionNote> {
    let text = |at: &u64| labels.text(usize::try_from(*at).ok()?);
    let ends = || taken.first().and_then(text).zip(taken.last().and_then(text));
    let turned = || Some(SelectionNote::Turned { axis: axis.to_owned(), ends: ends()? });
    let note = match entry {
        AxisSelection::List(positions) if positions.len() == taken.len() => {
            let pairs = positions.iter().zip(taken);
            return pairs.filter_map(|(it, taken)| nearest(it, axis, labels, *taken)).collect();
        }
        AxisSelection::Point(position @ Position::Nearest { .. }) => {
            taken.first().and_then(|taken| nearest(position, axis, labels, *taken))
        }
        AxisSelection::Point(position) => {
            let is_there = |label: String| labels.first_equal(&label).is_some();
            let is_there = position.label().is_none_or(is_there);
            turned().filter(|_| !is_there)
        }
        AxisSelection::Range { start: Some(start), stop: Stop::Through(stop), .. } => {
            let within = |(first, _): (String, String)| {
                let range = labels.range(Some(&start.label()?), Some(&stop.label()?)).ok()?;
                Some(range.contains(&labels.first_equal(&first)?))
            };
            turned().filter(|_| ends().and_then(within) != Some(true))
        }
        AxisSelection::Range { .. } | AxisSelection::List(_) | AxisSelection::Among { .. } => None,
    };
    note.into_iter().collect()
}

/// The note about a label that is nearest to one that no position has.
fn nearest(
    position: &Position,
    axis: &str,
    labels: &Labels<'_>,
    taken: u64,
) -> Option<SelectionNote> {
    let Position::Nearest { label, .. } = position else { return None };
    let at = usize::try_from(taken).ok().filter(|at| !labels.is_equal(*at, label))?;
    let (axis, asked, taken) = (axis.to_owned(), label.clone(), labels.text(at)?);
    Some(SelectionNote::Nearest { axis, asked, taken })
}

/// Whether labels find the whole entry: a point, or both ends of a range.
fn is_of_labels(entry: &AxisSelection) -> bool {
    match entry {
        AxisSelection::Point(position) => position.label().is_some(),
        AxisSelection::Range { start: Some(start), stop: Stop::Through(stop), .. } => {
            start.label().is_some() && stop.label().is_some()
        }
        AxisSelection::Range { .. } | AxisSelection::List(_) | AxisSelection::Among { .. } => false,
    }
}

/// A range of whole numbers that would be positions of an axis, as they are written.
fn whole_numbers(entry: &AxisSelection, extent: u64) -> Option<String> {
    let AxisSelection::Range { start, stop, .. } = entry else { return None };
    let stop = match stop {
        Stop::Through(Position::Number(stop)) => Some(*stop),
        Stop::End => None,
        _ => return None,
    };
    let start = match start {
        Some(Position::Number(start)) => Some(*start),
        None => None,
        Some(_) => return None,
    };
    let extent = i128::from(extent);
    let is_position = |it: &i128| (-extent..=extent).contains(it);
    let is_given = start.is_some() || stop.is_some();
    let text = |it: Option<i128>| it.map(|it| it.to_string()).unwrap_or_default();
    (is_given && start.iter().chain(&stop).all(is_position))
        .then(|| format!("{}:{}", text(start), text(stop)))
}
