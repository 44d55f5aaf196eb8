//! An axis of a picture: its name, and the numbers or texts of its positions.

use std::borrow::Cow;

use tet_query::{CoordinateRole, Moments};

use crate::dates::{self, Span};
use crate::ticks::{self, Tick};
use crate::visible::visible;

/// A mark this part of a position outside of the axis is at its end.
const NEAR: f64 = 0.1;
/// Numbers whose longest step is so many times the shortest are marked one by one.
const UNEVEN: f64 = 4.0;

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
    /// What the labels are; empty if that is the name.
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

    /// The same axis, whose labels have a unit.
    #[must_use]
    pub fn with_unit(self, unit: &str) -> PlotAxis {
        PlotAxis { unit: visible(unit), ..self }
    }

    /// The same axis with a title: what its labels are.
    #[must_use]
    pub fn with_long_name(self, long_name: &str) -> PlotAxis {
        PlotAxis { long_name: visible(long_name), ..self }
    }

    /// The same axis with what its numbers mean, which says where its low end is. Longitudes that start again in the
    /// middle go on there.
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

    /// The same axis, whose labels are these times, one for each position; as it is where they neither rise nor fall.
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

    /// The same axis with its upper end below.
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

    /// What the labels are, else the name, and the unit in parentheses if there is one.
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

    /// What the numbers mean.
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

    /// At most about `count` marks, in the order of positions, with places from 0, the start of the first
    /// position, to 1, the end of the last.
    pub(crate) fn ticks(&self, count: usize) -> Vec<Tick> {
        let is_few = self.extent <= u64::try_from(count).unwrap_or(u64::MAX);
        match &self.labels {
            Labels::Times(moments) if is_few => dates::own_dates(moments)
                .into_iter()
                .zip(0_u64..)
                .map(|(date, at)| Tick { part: self.part(float(at)), text: date.text, of: date.of })
                .collect(),
            _ if is_few => (0..self.extent).map(|position| self.tick(position)).collect(),
            Labels::Numbers(numbers) | Labels::Turns { numbers, .. } if !is_uneven(numbers) => {
                self.round_ticks(count, numbers)
            }
            Labels::Times(moments) => self.date_ticks(count, moments),
            Labels::Positions { first, step } => self.numbered_ticks(count, *first, *step),
            // Round numbers would be crowded at one end of numbers such as 1, 10, 100.
            Labels::Texts(_) | Labels::Numbers(_) | Labels::Turns { .. } => {
                let every = self.extent.div_ceil(u64::try_from(count.max(1)).unwrap_or(1));
                let every = usize::try_from(every).unwrap_or(usize::MAX).max(1);
                (0..self.extent).step_by(every).map(|position| self.tick(position)).collect()
            }
        }
    }

    /// The mark of one position, with its own label.
    fn tick(&self, position: u64) -> Tick {
        let at = usize::try_from(position).unwrap_or(usize::MAX);
        let text = match &self.labels {
            Labels::Positions { first, step } => {
                position.saturating_mul(*step).saturating_add(*first).to_string()
            }
            Labels::Numbers(numbers) | Labels::Turns { numbers, .. } => {
                numbers.get(at).map(|&number| short(self.turned_back(number))).unwrap_or_default()
            }
            Labels::Texts(texts) => texts.get(at).cloned().unwrap_or_default(),
            Labels::Times(_) => String::new(),
        };
        Tick { part: self.part(float(position)), text, of: String::new() }
    }

    /// Marks at round numbers between labels; of degrees up to the edges of the outer positions.
    fn round_ticks(&self, count: usize, numbers: &[f64]) -> Vec<Tick> {
        let is_degrees = matches!(self.role, CoordinateRole::Longitude | CoordinateRole::Latitude);
        let ends = [numbers.first(), numbers.last()].map(|end| end.copied().unwrap_or(0.0));
        let ends = if is_degrees { edges(numbers) } else { ends };
        let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let values = if is_degrees {
            ticks::round_degrees(low, high, count)
        } else {
            ticks::round_numbers(low, high, count)
        };
        let shown: Vec<f64> = values.iter().map(|&value| self.turned_back(value)).collect();
        let place = |value: &f64| self.part(position_of(numbers, *value));
        self.within(values.iter().map(place).zip(ticks::texts(&shown)).map(|(part, text)| Tick {
            part,
            text,
            of: String::new(),
        }))
    }

    /// A longitude past the end of a turn as that of the turn before.
    fn turned_back(&self, number: f64) -> f64 {
        match self.labels {
            Labels::Turns { from, .. } => from + (number - from).rem_euclid(360.0),
            _ => number,
        }
    }

    /// Marks at round dates.
    fn date_ticks(&self, count: usize, moments: &Moments) -> Vec<Tick> {
        let offsets = offsets(moments);
        let Some(&first) = moments.nanoseconds.first() else { return Vec::new() };
        let [start, end] = edges(&offsets);
        // Marks that are near to the ends are wanted too.
        let margin = (start - end).abs() / float(self.extent.max(1)) * NEAR;
        let at = |offset: f64| first.saturating_add(whole(offset));
        let last = moments.nanoseconds.last().copied().unwrap_or(first);
        let span = Span {
            calendar: moments.calendar,
            shown: [first.min(last), first.max(last)],
            edges: [at(start.min(end)), at(start.max(end))],
            margin: whole(margin),
        };
        let marks = dates::round_dates(&span, count);
        self.within(marks.into_iter().map(|mark| {
            #[allow(clippy::cast_precision_loss, reason = "a place in a picture is coarser")]
            let part = self.part(position_of(&offsets, (mark.at - first) as f64));
            Tick { part, text: mark.text, of: mark.of }
        }))
    }

    /// Marks in the order of positions, without those outside of the axis.
    fn within(&self, ticks: impl Iterator<Item = Tick>) -> Vec<Tick> {
        let margin = NEAR / float(self.extent.max(1)) + 1e-9;
        let is_in = |tick: &Tick| -margin <= tick.part && tick.part <= 1.0 + margin;
        let at_ends = |tick: Tick| Tick { part: tick.part.clamp(0.0, 1.0), ..tick };
        let mut ticks: Vec<Tick> = ticks.filter(is_in).map(at_ends).collect();
        ticks.sort_by(|a, b| a.part.total_cmp(&b.part));
        ticks
    }

    /// Marks at round positions.
    fn numbered_ticks(&self, count: usize, first: u64, step: u64) -> Vec<Tick> {
        let last = (self.extent - 1).saturating_mul(step).saturating_add(first);
        let values = ticks::round_numbers(float(first), float(last), count);
        let tick = |value: f64| {
            let part = self.part((value - float(first)) / float(step.max(1)));
            Tick { part, text: format!("{value:.0}"), of: String::new() }
        };
        values.into_iter().filter(|value| value.fract() == 0.0).map(tick).collect()
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

#[allow(clippy::cast_possible_truncation, reason = "the nearest whole number of nanoseconds")]
fn whole(offset: f64) -> i128 {
    offset.round() as i128
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

/// Whether numbers are much further apart in some places than in others.
fn is_uneven(numbers: &[f64]) -> bool {
    let steps = || numbers.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    steps().fold(0.0, f64::max) > UNEVEN * steps().fold(f64::INFINITY, f64::min)
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

/// A label as text: its own digits, where they are few.
fn short(number: f64) -> String {
    let text = number.to_string();
    if text.len() <= 8 { text } else { ticks::brief(number) }
}

#[cfg(test)]
mod tests {
    use tet_query::Calendar;

    use super::*;

    fn axis(labels: &[&str]) -> PlotAxis {
        PlotAxis::labeled("a", labels.iter().map(|&label| label.to_owned()).collect())
    }

    fn texts(axis: &PlotAxis, count: usize) -> Vec<String> {
        axis.ticks(count).into_iter().map(|tick| tick.text).collect()
    }

    #[test]
    fn numbers_order_an_axis_and_texts_do_not() {
        assert!(axis(&["1", "2", "3"]).is_from_bottom() && axis(&["3", "2", "1"]).is_from_right());
        for labels in
            [&["a", "b"][..], &["1", "3", "2"], &["1", "1"], &["nan", "1"], &["2024-01", "2024-02"]]
        {
            let axis = axis(labels);
            assert!(!axis.is_from_bottom() && !axis.is_from_right(), "{labels:?}");
        }
    }

    #[test]
    fn few_positions_have_their_own_labels_and_many_round_numbers() {
        assert_eq!(texts(&axis(&["87", "81", "75"]), 5), ["87", "81", "75"]);
        let labels: Vec<String> = (0..30).map(|at| (87 - 6 * at).to_string()).collect();
        let lat = PlotAxis::labeled("lat", labels);
        assert_eq!(texts(&lat, 5), ["50", "0", "-50"]);
        // -50 is between -45 at position 22 and -51 at 23.
        let part = lat.ticks(5)[2].part;
        assert!((part - (22.0 + 5.0 / 6.0 + 0.5) / 30.0).abs() < 1e-9, "{part}");
        assert_eq!(texts(&axis(&["a", "b", "c", "d", "e"]), 3), ["a", "c", "e"]);
        assert_eq!(
            texts(&PlotAxis::positions("x", 1000, 10, 2), 4),
            ["500", "1000", "1500", "2000"]
        );
    }

    fn timed(unit_days: &[f64], calendar: Calendar, start: [i64; 3]) -> PlotAxis {
        let [year, month, day] = start;
        let first = calendar.days(year, u32::try_from(month).unwrap(), u32::try_from(day).unwrap());
        #[allow(clippy::cast_possible_truncation, reason = "a few years")]
        let at = |days: &f64| first.unwrap() * 86_400_000_000_000 + (days * 86_400e9) as i128;
        let nanoseconds: Vec<i128> = unit_days.iter().map(at).collect();
        let labels = nanoseconds.iter().map(i128::to_string).collect();
        PlotAxis::labeled("time", labels).with_moments(Moments { calendar, nanoseconds })
    }

    #[test]
    fn times_have_round_dates_at_their_places() {
        let days: Vec<f64> = (0..730).map(|day| f64::from(day) + 0.5).collect();
        let cases = [
            (
                Calendar::NoLeap,
                "2001-01 2001-07 2002-01 2002-07 2003-01",
                [0.0, 181.0, 365.0, 546.0, 730.0],
            ),
            (
                Calendar::Standard,
                "2001-01 2001-07 2002-01 2002-07 2003-01",
                [0.0, 181.0, 365.0, 546.0, 730.0],
            ),
            (
                Calendar::Days360,
                "2001-01 2001-07 2002-01 2002-07 2003-01",
                [0.0, 180.0, 360.0, 540.0, 720.0],
            ),
            (Calendar::AllLeap, "2001-01 2001-07 2002-01 2002-07", [0.0, 182.0, 366.0, 548.0, 0.0]),
        ];
        for (calendar, wanted, places) in cases {
            let time = timed(&days, calendar, [2001, 1, 1]);
            let ticks = time.ticks(4);
            let shown: Vec<&str> = ticks.iter().map(|tick| tick.text.as_str()).collect();
            assert_eq!(shown.join(" "), wanted, "{calendar:?}");
            for (tick, place) in ticks.iter().zip(places) {
                assert!((tick.part - place / 730.0).abs() < 1e-9, "{calendar:?} {tick:?}");
            }
            assert_eq!(time.title_of(&ticks), "time");
        }
        let hours: Vec<f64> = (0..24).map(|hour| f64::from(hour) / 24.0).collect();
        let day = timed(&hours, Calendar::Standard, [2001, 7, 15]);
        let ticks = day.ticks(4);
        assert_eq!(texts(&day, 4), ["00:00", "06:00", "12:00", "18:00"]);
        assert_eq!(day.title_of(&ticks), "time (2001-07-15)");
        assert!((ticks[2].part - 12.5 / 24.0).abs() < 1e-9, "{ticks:?}");
        let falling = timed(&[2.0, 1.0, 0.0], Calendar::Standard, [2001, 7, 15]);
        assert!(falling.is_from_right() && !falling.is_from_bottom());
        let tangled = timed(&[2.0, 0.0, 1.0], Calendar::Standard, [2001, 7, 15]);
        assert_eq!(tangled.is_rising(), None);
    }

    #[test]
    fn depths_grow_downwards_however_they_are_stored() {
        let down = |labels: &[&str]| axis(labels).with_role(CoordinateRole::Downward);
        let (rising, falling) = (down(&["100", "85000"]), down(&["85000", "100"]));
        assert_eq!([rising.is_from_bottom(), falling.is_from_bottom()], [false, true]);
        assert_eq!([rising.is_from_right(), falling.is_from_right()], [false, true]);
        assert_eq!(
            [&rising, &falling].map(|axis| axis.clone().inverted().is_from_bottom()),
            [true, false]
        );
        assert!(axis(&["a", "b"]).inverted().is_from_bottom());
        let lat = || axis(&["10", "20"]).with_role(CoordinateRole::Latitude);
        let lon = || axis(&["10", "20"]).with_role(CoordinateRole::Longitude);
        assert!(lat().is_from_bottom() && !lat().inverted().is_from_bottom());
        assert!(
            PlotAxis::are_sideways(&lat(), &rising) && !PlotAxis::are_sideways(&rising, &lat())
        );
        assert!(PlotAxis::are_sideways(&lon(), &lat()) && !PlotAxis::are_sideways(&lat(), &lon()));
    }

    #[test]
    fn degrees_have_marks_up_to_the_edges() {
        let lon = PlotAxis::evenly("lon", -180.0, 180.0, 90).with_role(CoordinateRole::Longitude);
        assert_eq!(texts(&lon, 6), ["-180", "-120", "-60", "0", "60", "120", "180"]);
        let ends: Vec<f64> = lon.ticks(6).iter().map(|tick| tick.part).collect();
        assert!(ends[0].abs() < 1e-9 && (ends[6] - 1.0).abs() < 1e-9, "{ends:?}");
        let lat = PlotAxis::evenly("lat", 90.0, -90.0, 45).with_role(CoordinateRole::Latitude);
        assert_eq!(texts(&lat, 6), ["90", "60", "30", "0", "-30", "-60", "-90"]);
        let part = PlotAxis::evenly("lat", 34.0, 58.0, 45).with_role(CoordinateRole::Latitude);
        assert_eq!(texts(&part, 6), ["35", "40", "45", "50", "55"]);
    }

    #[test]
    fn longitudes_go_on_past_the_end_of_a_turn() {
        let labels: Vec<String> =
            (0..40).map(|at| ((at * 2 + 140 + 180) % 360 - 180).to_string()).collect();
        assert!(labels.contains(&"-180".to_owned()) && labels.contains(&"-142".to_owned()));
        let lon = PlotAxis::labeled("lon", labels).with_role(CoordinateRole::Longitude);
        assert_eq!(lon.edges(), Some([139.0, 219.0]));
        assert_eq!(texts(&lon, 4), ["150", "-180", "-150"]);
        let lon = axis(&["350", "355", "0", "5"]).with_role(CoordinateRole::Longitude);
        assert_eq!(texts(&lon, 4), ["350", "355", "0", "5"]);
        assert_eq!(axis(&["350", "355", "0"]).edges(), None);
        assert_eq!(axis(&["1", "8", "3"]).with_role(CoordinateRole::Longitude).edges(), None);
    }

    #[test]
    fn uneven_numbers_are_marked_one_by_one() {
        let labels: Vec<String> = (0..16).map(|power| (1_u64 << power).to_string()).collect();
        assert_eq!(texts(&PlotAxis::labeled("p", labels), 5), ["1", "16", "256", "4096"]);
    }

    #[test]
    fn an_axis_has_the_name_of_what_it_is() {
        let lat = axis(&["1", "2"]).with_long_name("latitude").with_unit("degrees_north");
        assert_eq!([lat.title().as_str(), lat.name()], ["latitude (degrees_north)", "a"]);
    }

    #[test]
    fn hostile_names_are_shown() {
        let axis = axis(&["\u{1b}[2J", "b"]).with_unit("\u{202e}x");
        assert_eq!(
            (texts(&axis, 2)[0].as_str(), axis.title().as_str()),
            ("\u{fffd}[2J", "a (\u{fffd}x)")
        );
    }
}
