//! Errors of selections, in the words of the selection.

use crate::axis::AxisRef;

/// A selection that cannot be read, or does not fit the dataset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct SelectionError {
    /// Which entry is wrong, counted from 0 in the order they were written.
    pub entry: Option<usize>,
    /// The fault of the entry.
    pub fault: Box<SelectionFault>,
}

/// Fault of an entry of a selection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionFault {
    /// The text is not a selection.
    #[error("selection {text:?}: {wanted} at column {}", .at + 1)]
    Syntax {
        /// The text.
        text: String,
        /// Characters before the place where reading stopped.
        at: usize,
        /// The expected form.
        wanted: &'static str,
    },
    /// The number of entries does not fit the number of axes.
    #[error("{} for {}{}", counted(*.given, "entry", "entries"), counted(*.rank, "axis", "axes"), named(.dims))]
    Rank {
        /// Entries given.
        given: usize,
        /// Axes of the dataset.
        rank: usize,
        /// Its dimension names, or none.
        dims: Vec<String>,
    },
    /// No axis has this name or number.
    #[error("no axis {}{}", asked_axis(.asked), of_axes(.dims, *.rank))]
    NoSuchAxis {
        /// The requested axis.
        asked: AxisRef,
        /// Axes of the dataset.
        rank: usize,
        /// Its dimension names, or none.
        dims: Vec<String>,
        /// A name similar to the requested one.
        suggestion: Option<String>,
        /// The dimensions of the dataset that has the name.
        dims_of: Option<Vec<String>>,
    },
    /// Several dimensions have this name.
    #[error("several axes are named {name:?}")]
    AmbiguousAxis {
        /// The name.
        name: String,
        /// The axes that have it.
        axes: Vec<usize>,
    },
    /// Two entries are for one axis.
    #[error("{axis} is given twice")]
    AxisTwice {
        /// The axis, as messages name it.
        axis: String,
    },
    /// A position lies outside the axis.
    #[error("{asked} is outside {axis} of extent {extent}")]
    OutOfExtent {
        /// The axis, as messages name it.
        axis: String,
        /// Its extent.
        extent: u64,
        /// The requested position, such as `index 12` or `stop -9`.
        asked: String,
        /// The last position allowed; the first is the extent, negated.
        last: i128,
    },
    /// A step of 0.
    #[error("step 0 on {axis}: a step is at least 1")]
    ZeroStep {
        /// The axis, as messages name it.
        axis: String,
    },
    /// A label on an axis without labels.
    #[error("{axis} has no labels, so {label:?} cannot be looked up")]
    NoLabels {
        /// The axis, as messages name it.
        axis: String,
        /// The label.
        label: String,
    },
    /// No position has this label.
    #[error("no label {label:?} on {axis} of extent {extent}")]
    NoSuchLabel {
        /// The axis, as messages name it.
        axis: String,
        /// Its extent.
        extent: u64,
        /// The label.
        label: String,
        /// The first and the last label.
        ends: Option<(String, String)>,
        /// The next label below and the next above, where there are such.
        neighbors: Vec<String>,
        /// A label similar to the requested one.
        suggestion: Option<String>,
        /// The positions that whole numbers may have meant, as they are written: `month#0`.
        positions: Option<String>,
        /// The unsupported part of the units or the calendar of labels that count since a date.
        units: Option<String>,
    },
    /// Several positions have the label, and one is requested.
    #[error("{count} positions of {axis} have the label {label:?}")]
    RepeatedLabel {
        /// The axis, as messages name it.
        axis: String,
        /// The label.
        label: String,
        /// How many positions have it.
        count: usize,
    },
    /// A range of labels on an axis whose labels are in no order.
    #[error("the labels of {axis} are in no order, so nothing is between two of them")]
    UnorderedLabels {
        /// The axis, as messages name it.
        axis: String,
    },
    /// A whole number on an axis of dates.
    #[error("{label} is no date, and the labels of {axis} are dates")]
    NotADate {
        /// The axis, as messages name it.
        axis: String,
        /// The number.
        label: String,
        /// The positions that whole numbers may have meant, as they are written: `time#0:12`.
        positions: Option<String>,
        /// The first and the last date.
        ends: Option<(String, String)>,
    },
    /// The nearest label is not near enough.
    #[error("no label within {within} of {label:?} on {axis}: the nearest is {nearest:?}")]
    TooFar {
        /// The axis, as messages name it.
        axis: String,
        /// The label.
        label: String,
        /// How far the nearest may be.
        within: String,
        /// The nearest label.
        nearest: String,
    },
    /// Positions at no equal distances, where a slice is wanted.
    #[error("{axis}: {count} positions are selected one by one, which are no slice")]
    NoSlice {
        /// The axis, as messages name it.
        axis: String,
        /// How many positions are selected.
        count: usize,
    },
    /// A part of dates on an axis whose labels are not times.
    #[error("the labels of {axis} are no times, so they have no {part}")]
    NoTimes {
        /// The axis, as messages name it.
        axis: String,
        /// The part of dates.
        part: &'static str,
        /// The units of the labels, which count since a date and are not understood as times.
        units: Option<String>,
    },
}

impl SelectionFault {
    /// Advice, if there is general advice.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            SelectionFault::Syntax { .. } => Some(
                "write positions as `0:10:2, :, -1` or `time#0:10`, labels as `lat=40:60`, \
                 `time=2001-06`, `plev=[85000,50000]` or `station=\"St. John's\"`, the nearest as \
                 `lat~48.1`, parts of dates as `time.month=6,7,8`"
                    .to_owned(),
            ),
            SelectionFault::Rank { given, rank, .. } if given < rank => {
                Some("give one entry per axis, or name the axes".to_owned())
            }
            SelectionFault::NoSuchAxis { asked, dims, dims_of: Some(dims_of), .. } => {
                Some(dataset_hint(&asked_axis(asked), dims_of, dims))
            }
            SelectionFault::NoSuchAxis { suggestion: Some(name), .. } => {
                Some(format!("did you mean {name:?}?"))
            }
            SelectionFault::NoSuchLabel { units: Some(units), .. } => Some(format!(
                "{units} is not understood as time: the labels are the numbers of the file"
            )),
            SelectionFault::NoSuchLabel { positions, .. } => {
                let positions = positions.as_deref().map(positions_hint);
                let hints: Vec<String> = self.labels_hint().into_iter().chain(positions).collect();
                (!hints.is_empty()).then(|| hints.join("; "))
            }
            SelectionFault::RepeatedLabel { label, .. } => Some(format!(
                "{label:?}:{label:?} is all of them where they are neighbors; positions are written with #"
            )),
            SelectionFault::UnorderedLabels { .. } => Some(
                "select one label, or positions: they are written with #, as time#0:10".to_owned(),
            ),
            SelectionFault::NotADate { ends, positions, .. } => {
                let dates =
                    ends.as_ref().map(|(first, last)| format!("dates go from {first} to {last}"));
                let positions = positions.as_deref().map(positions_hint);
                let hints: Vec<String> = dates.into_iter().chain(positions).collect();
                (!hints.is_empty()).then(|| hints.join("; "))
            }
            SelectionFault::NoTimes { units: Some(units), .. } => {
                Some(format!("{units} is not understood as time"))
            }
            SelectionFault::AmbiguousAxis { axes, .. } => {
                let numbers: Vec<String> = axes.iter().map(usize::to_string).collect();
                Some(format!("use its number: {}", numbers.join(", ")))
            }
            SelectionFault::OutOfExtent { extent: 0, .. } => Some("the axis is empty".to_owned()),
            SelectionFault::OutOfExtent { extent, last, .. } => {
                Some(format!("use -{extent} to {last}"))
            }
            SelectionFault::NoLabels { .. } => Some("select by position instead".to_owned()),
            _ => None,
        }
    }

    /// Labels that may have been meant instead of one that is not there.
    fn labels_hint(&self) -> Option<String> {
        match self {
            SelectionFault::NoSuchLabel { suggestion: Some(name), .. } => {
                Some(format!("did you mean {name:?}?"))
            }
            SelectionFault::NoSuchLabel { neighbors, .. } if !neighbors.is_empty() => {
                let shown: Vec<String> = neighbors.iter().map(|it| format!("{it:?}")).collect();
                let is_one = shown.len() == 1;
                let labels =
                    if is_one { "the nearest label is" } else { "the labels around it are" };
                Some(format!("{labels} {}", shown.join(" and ")))
            }
            SelectionFault::NoSuchLabel { ends: Some((first, last)), .. } => {
                Some(format!("labels go from {first:?} to {last:?}"))
            }
            _ => None,
        }
    }

    /// The fault of the entry at this place.
    #[must_use]
    pub(crate) fn of_entry(self: Box<Self>, entry: usize) -> SelectionError {
        SelectionError { entry: Some(entry), fault: self }
    }

    /// The fault of the selection as a whole.
    #[must_use]
    pub fn of_all(self: Box<Self>) -> SelectionError {
        SelectionError { entry: None, fault: self }
    }
}

fn positions_hint(positions: &str) -> String {
    format!("positions are written {positions}")
}

/// The hint about a dataset that was taken for an axis: its dimensions, and how to select along those that both have.
fn dataset_hint(asked: &str, dims_of: &[String], dims: &[String]) -> String {
    let shared: Vec<&String> = dims_of.iter().filter(|dim| dims.contains(dim)).collect();
    let along = match dims_of {
        [] => return format!("{asked} is a dataset, not an axis"),
        [dim] => format!("{asked} is a dataset along {dim:?}, not an axis"),
        _ => format!(
            "{asked} is a dataset of {} dimensions{}, not an axis",
            dims_of.len(),
            named(dims_of)
        ),
    };
    let written: Vec<String> = shared.iter().map(|dim| format!("{dim}#0:10")).collect();
    match &written[..] {
        [] => along,
        [one] => format!("{along}: select along that, as {one}"),
        _ => format!("{along}: select along these, as {}", written.join(", ")),
    }
}

fn asked_axis(asked: &AxisRef) -> String {
    match asked {
        AxisRef::Number(number) => number.to_string(),
        AxisRef::Name(name) => format!("{name:?}"),
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn of_axes(dims: &[String], rank: usize) -> String {
    if rank == 0 {
        ": the dataset has no axes".to_owned()
    } else if dims.is_empty() {
        format!(" of {}", counted(rank, "unnamed axis", "unnamed axes"))
    } else {
        named(dims)
    }
}

fn named(dims: &[String]) -> String {
    let names: Vec<String> = dims.iter().map(|name| name.escape_debug().to_string()).collect();
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}
