//! An axis of a picture: its name, and the numbers or texts of its positions.

mod marks;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use tet_query::{CoordinateRole, Moments};

use crate::ticks::Tick;
use crate::visible::visible;

/// An axis of a picture.
///
/// Labels that are rising or falling numbers or times order the axis: they grow to the right and upwards, but for depths
/// and pressures, which grow downwards. Positions of any other axis go to the right and downwards, as a table prints them.
///
/// ```
/// use tet_plot::PlotAxis;
///
/// let labels = ["60", "40", "20"].map(String::from).to_vec();
/// let lat = PlotAxis::labeled("lat", labels).with_unit("degrees_north");
/// assert_eq!((lat.extent(), lat.title().as_str()), (3, "lat (degrees_north)"));
/// assert_eq!(PlotAxis::positions("row", 100, 0, 1).extent(), 100);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PlotAxis {
    name: String,
    /// The title; empty if that is the name.
    long_name: String,
    unit: String,
    extent: u64,
    labels: Labels,
    role: CoordinateRole,
    is_inverted: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Labels {
    /// None: positions are numbered.
    Positions { first: u64, step: u64 },
    /// Rising or falling numbers.
    Numbers(Vec<f64>),
    /// Rising or falling longitudes that go on where others start again, from this one on.
    Turns { numbers: Vec<f64>, from: f64 },
    /// Rising or falling times.
    Times(Moments),
    /// Texts.
    Texts(Vec<String>),
}

impl PlotAxis {
    /// An axis whose positions are numbered from `first` by `step`.
    #[must_use]
    pub fn positions(name: &str, extent: u64, first: u64, step: u64) -> PlotAxis {
        PlotAxis::new(name, extent, Labels::Positions { first, step })
    }

    /// An axis with a label for each position.
    #[must_use]
    pub fn labeled(name: &str, labels: Vec<String>) -> PlotAxis {
        let extent = labels.len() as u64;
        let labels = match numbers(&labels).filter(|numbers| is_ordered(numbers)) {
            Some(numbers) => Labels::Numbers(numbers),
            None => Labels::Texts(labels.iter().map(|label| visible(label)).collect()),
        };
        PlotAxis::new(name, extent, labels)
    }

    /// An axis of numbers with the same distance from each other, which share the range between two ends.
    ///
    /// ```
    /// use tet_plot::PlotAxis;
    ///
    /// let axis = PlotAxis::evenly("x", 0.0, 4.0, 2);
    /// assert_eq!(axis, PlotAxis::labeled("x", ["1", "3"].map(String::from).to_vec()));
    /// ```
    #[must_use]
    pub fn evenly(name: &str, low: f64, high: f64, count: usize) -> PlotAxis {
        #[allow(clippy::cast_precision_loss, reason = "cells of a picture")]
        let number = |nth: usize| low + (high - low) * (nth as f64 + 0.5) / count as f64;
        let numbers = (0..count).map(number).collect();
        PlotAxis::new(name, count as u64, Labels::Numbers(numbers))
    }

    fn new(name: &str, extent: u64, labels: Labels) -> PlotAxis {
        let (long_name, unit) = (String::new(), String::new());
        let (role, is_inverted) = (CoordinateRole::Other, false);
        PlotAxis { name: visible(name), long_name, unit, extent, labels, role, is_inverted }
    }

    /// Sets the unit of the labels.
    #[must_use]
    pub fn with_unit(self, unit: &str) -> PlotAxis {
        PlotAxis { unit: visible(unit), ..self }
    }

    /// Sets the title: the meaning of the labels.
    #[must_use]
    pub fn with_long_name(self, long_name: &str) -> PlotAxis {
        PlotAxis { long_name: visible(long_name), ..self }
    }

    /// Sets the role of the coordinate, which decides where its low end is. Longitudes that start again in the middle
    /// continue there.
    ///
    /// ```
    /// use tet_plot::PlotAxis;
    /// use tet_query::CoordinateRole;
    ///
    /// let labels = ["175", "-175"].map(String::from).to_vec();
    /// let lon = PlotAxis::labeled("lon", labels).with_role(CoordinateRole::Longitude);
    /// assert_eq!(lon.extent(), 2);
    /// ```
    #[must_use]
    pub fn with_role(self, role: CoordinateRole) -> PlotAxis {
        let labels = match (role, self.labels) {
            (CoordinateRole::Longitude, Labels::Texts(texts)) => {
                turns(&texts).unwrap_or(Labels::Texts(texts))
            }
            (_, labels) => labels,
        };
        PlotAxis { role, labels, ..self }
    }

    /// Sets times as labels, one for each position; the axis is unchanged where they neither rise nor fall.
    ///
    /// ```
    /// use tet_query::Moments;
    ///
    /// let dates = ["2000-01", "2000-02"].map(String::from).to_vec();
    /// let moments = Moments::parse(&dates).ok_or("no dates")?;
    /// let time = tet_plot::PlotAxis::labeled("time", dates).with_moments(moments);
    /// assert_eq!(time.title(), "time");
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn with_moments(self, moments: Moments) -> PlotAxis {
        let is_each = moments.nanoseconds.len() as u64 == self.extent;
        if !is_each || !is_ordered(&moments.nanoseconds) {
            return self;
        }
        PlotAxis { labels: Labels::Times(moments), unit: String::new(), ..self }
    }

    /// Places the upper end of the axis at the bottom.
    #[must_use]
    pub fn inverted(self) -> PlotAxis {
        PlotAxis { is_inverted: !self.is_inverted, ..self }
    }

    /// Whether the second of two axes goes up or down in the world, and the first does not: latitudes beside
    /// longitudes, and depths or pressures beside anything else.
    ///
    /// ```
    /// use tet_plot::PlotAxis;
    ///
    /// let axis = |name| PlotAxis::positions(name, 9, 0, 1);
    /// assert!(!PlotAxis::are_sideways(&axis("y"), &axis("x")));
    /// ```
    #[must_use]
    pub fn are_sideways(first: &PlotAxis, second: &PlotAxis) -> bool {
        use CoordinateRole::{Downward, Latitude, Longitude};
        match (first.role, second.role) {
            (Longitude, Latitude) => true,
            (first, second) => second == Downward && first != Downward,
        }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The title, else the name, and the unit in parentheses if there is one.
    #[must_use]
    pub fn title(&self) -> String {
        self.title_of(&[])
    }

    /// The title, with what the texts of these marks leave out.
    pub(crate) fn title_of(&self, ticks: &[Tick]) -> String {
        let name = if self.long_name.is_empty() { &self.name } else { &self.long_name };
        // Of hours of a day the mark at the next midnight leaves out the year alone.
        let left_out = ticks.iter().map(|tick| tick.of.as_str()).max_by_key(|of| of.len());
        match [self.unit.as_str(), left_out.unwrap_or_default()]
            .into_iter()
            .find(|text| !text.is_empty())
        {
            None => name.clone(),
            Some(text) => format!("{name} ({text})"),
        }
    }

    /// How many positions there are.
    #[must_use]
    pub const fn extent(&self) -> u64 {
        self.extent
    }

    /// The role of the coordinate.
    pub(crate) const fn role(&self) -> CoordinateRole {
        self.role
    }

    /// The labels as rising or falling numbers, if they are: of times the nanoseconds since the first one.
    fn measures(&self) -> Option<Cow<'_, [f64]>> {
        match &self.labels {
            Labels::Numbers(numbers) | Labels::Turns { numbers, .. } => Some(numbers.into()),
            Labels::Times(moments) => Some(offsets(moments).into()),
            Labels::Positions { .. } | Labels::Texts(_) => None,
        }
    }

    /// Whether the labels are numbers that rise; `None` if they are not numbers.
    fn is_rising(&self) -> Option<bool> {
        match &self.labels {
            Labels::Numbers(numbers) | Labels::Turns { numbers, .. } => {
                Some(numbers.first() <= numbers.last())
            }
            Labels::Times(moments) => {
                Some(moments.nanoseconds.first() <= moments.nanoseconds.last())
            }
            Labels::Positions { .. } | Labels::Texts(_) => None,
        }
    }

    /// Whether the first position is the rightmost.
    pub(crate) fn is_from_right(&self) -> bool {
        self.is_rising() == Some(false)
    }

    /// Whether the first position is the lowest.
    pub(crate) fn is_from_bottom(&self) -> bool {
        let is_downward = self.role == CoordinateRole::Downward;
        self.is_rising().is_some_and(|rises| rises != is_downward) != self.is_inverted
    }

    /// The numbers at the outer edges of the first and of the last position, where there are two at least.
    pub(crate) fn edges(&self) -> Option<[f64; 2]> {
        Some(edges(&self.measures()?)).filter(|_| self.extent > 1)
    }

    /// The places of numbers in the order of positions, from 0, the start of the first, to 1, the end of the last;
    /// those outside are past these ends.
    pub(crate) fn places(&self) -> Option<impl Fn(f64) -> f64> {
        let measures = self.measures()?;
        Some(move |number: f64| self.part(position_of(&measures, number)))
    }

    /// The place of the middle of a position.
    fn part(&self, position: f64) -> f64 {
        (position + 0.5) / float(self.extent.max(1))
    }
}

#[allow(clippy::cast_precision_loss, reason = "a place in a picture is coarser")]
fn float(position: u64) -> f64 {
    position as f64
}

/// Times as nanoseconds since the first one.
fn offsets(moments: &Moments) -> Vec<f64> {
    let first = moments.nanoseconds.first().copied().unwrap_or(0);
    #[allow(clippy::cast_precision_loss, reason = "a place in a picture is coarser")]
    let offset = |at: &i128| at.saturating_sub(first) as f64;
    moments.nanoseconds.iter().map(offset).collect()
}

/// The labels as numbers, if all of them are finite ones.
fn numbers(labels: &[String]) -> Option<Vec<f64>> {
    let number = |label: &String| {
        let starts = label.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        label.trim().parse::<f64>().ok().filter(|number| starts && number.is_finite())
    };
    labels.iter().map(number).collect()
}

/// Whether all of these rise, or all fall.
fn is_ordered<T: PartialOrd>(values: &[T]) -> bool {
    values.windows(2).all(|pair| pair[0] < pair[1])
        || values.windows(2).all(|pair| pair[0] > pair[1])
}

/// Longitudes that start again after the end of a turn, as those that go on.
fn turns(labels: &[String]) -> Option<Labels> {
    let mut numbers = numbers(labels)?;
    let from = if numbers.iter().any(|&number| number < 0.0) { -180.0 } else { 0.0 };
    let mut turned = 0.0;
    for at in 1..numbers.len() {
        let step = numbers[at] + turned - numbers[at - 1];
        turned -= (step / 360.0).round() * 360.0;
        numbers[at] += turned;
    }
    is_ordered(&numbers).then_some(Labels::Turns { numbers, from })
}

/// The position of a value among rising or falling numbers, between two of them as a fraction.
fn position_of(numbers: &[f64], value: f64) -> f64 {
    let rises = numbers.first() <= numbers.last();
    let after =
        numbers.partition_point(|&number| if rises { number < value } else { number > value });
    let at = |position: usize| numbers.get(position).copied().unwrap_or(value);
    let after = after.clamp(1, numbers.len().saturating_sub(1).max(1));
    let (low, high) = (at(after - 1), at(after));
    let part = if low == high { 0.0 } else { (value - low) / (high - low) };
    float(after as u64 - 1) + part
}

/// The outer edges of the first and of the last position: half way on from the neighbors.
fn edges(numbers: &[f64]) -> [f64; 2] {
    let at = |nth: usize| numbers.get(nth).copied().unwrap_or(0.0);
    let last = numbers.len().saturating_sub(1);
    let half = |end: usize, next: usize| (at(end) - at(next)) / 2.0;
    [at(0) + half(0, last.min(1)), at(last) + half(last, last.saturating_sub(1))]
}
