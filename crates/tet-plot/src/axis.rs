//! An axis of a picture: its name, and the numbers or texts of its positions.

use crate::ticks::{self, Tick};
use crate::times;
use crate::visible::visible;

/// An axis of a picture.
///
/// Labels that are rising or falling numbers or times order the axis: they grow to the right and upwards. Positions of
/// any other axis go to the right and downwards, as a table prints them.
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
    unit: String,
    extent: u64,
    labels: Labels,
}

#[derive(Debug, Clone, PartialEq)]
enum Labels {
    /// None: positions are numbered.
    Positions { first: u64, step: u64 },
    /// Rising or falling numbers.
    Numbers(Vec<f64>),
    /// Rising or falling times, as dates.
    Dates { texts: Vec<String>, rises: bool },
    /// Texts.
    Texts(Vec<String>),
}

impl PlotAxis {
    /// An axis whose positions are numbered from `first` by `step`.
    #[must_use]
    pub fn positions(name: &str, extent: u64, first: u64, step: u64) -> PlotAxis {
        PlotAxis {
            name: visible(name),
            unit: String::new(),
            extent,
            labels: Labels::Positions { first, step },
        }
    }

    /// An axis with a label for each position.
    #[must_use]
    pub fn labeled(name: &str, labels: Vec<String>) -> PlotAxis {
        let extent = labels.len() as u64;
        let labels = match numbers(&labels) {
            Some(numbers) => Labels::Numbers(numbers),
            None => Labels::Texts(without_midnight(labels)),
        };
        PlotAxis { name: visible(name), unit: String::new(), extent, labels }
    }

    /// The same axis, whose labels have a unit.
    #[must_use]
    pub fn with_unit(self, unit: &str) -> PlotAxis {
        PlotAxis { unit: visible(unit), ..self }
    }

    /// The same axis, whose labels are times of a unit such as `days since 2000-01-01` in the Gregorian calendar: they
    /// are shown as dates, where all of them are dates of it.
    ///
    /// ```
    /// let labels = ["0", "31"].map(String::from).to_vec();
    /// let time = tet_plot::PlotAxis::labeled("time", labels).with_times("days since 2000-01-01");
    /// assert_eq!(time.title(), "time");
    /// ```
    #[must_use]
    pub fn with_times(self, unit: &str) -> PlotAxis {
        let Labels::Numbers(numbers) = &self.labels else { return self.with_unit(unit) };
        let rises = self.is_rising() == Some(true);
        match times::dates(unit, numbers) {
            Some(texts) => PlotAxis { labels: Labels::Dates { texts, rises }, ..self },
            None => self.with_unit(unit),
        }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name, and the unit in parentheses if there is one.
    #[must_use]
    pub fn title(&self) -> String {
        if self.unit.is_empty() {
            self.name.clone()
        } else {
            format!("{} ({})", self.name, self.unit)
        }
    }

    /// How many positions there are.
    #[must_use]
    pub const fn extent(&self) -> u64 {
        self.extent
    }

    /// Whether the labels are numbers that rise; `None` if they are not numbers.
    fn is_rising(&self) -> Option<bool> {
        match &self.labels {
            Labels::Numbers(numbers) => Some(numbers.first() <= numbers.last()),
            Labels::Dates { rises, .. } => Some(*rises),
            _ => None,
        }
    }

    /// Whether the first position is the rightmost.
    pub(crate) fn is_from_right(&self) -> bool {
        self.is_rising() == Some(false)
    }

    /// Whether the first position is the lowest.
    pub(crate) fn is_from_bottom(&self) -> bool {
        self.is_rising() == Some(true)
    }

    /// At most about `count` marks, in the order of positions, with places from 0, the start of the first
    /// position, to 1, the end of the last.
    pub(crate) fn ticks(&self, count: usize) -> Vec<Tick> {
        let every = self.extent.div_ceil(u64::try_from(count.max(1)).unwrap_or(1)).max(1);
        if every == 1 {
            return (0..self.extent).map(|position| self.tick(position)).collect();
        }
        match &self.labels {
            Labels::Numbers(numbers) => self.round_ticks(count, numbers),
            Labels::Positions { first, step } => self.numbered_ticks(count, *first, *step),
            Labels::Texts(_) | Labels::Dates { .. } => (0..self.extent)
                .step_by(usize::try_from(every).unwrap_or(usize::MAX))
                .map(|position| self.tick(position))
                .collect(),
        }
    }

    /// The mark of one position, with its own label.
    fn tick(&self, position: u64) -> Tick {
        let at = usize::try_from(position).unwrap_or(usize::MAX);
        let text = match &self.labels {
            Labels::Positions { first, step } => {
                position.saturating_mul(*step).saturating_add(*first).to_string()
            }
            Labels::Numbers(numbers) => {
                numbers.get(at).map(|&number| short(number)).unwrap_or_default()
            }
            Labels::Texts(texts) | Labels::Dates { texts, .. } => {
                texts.get(at).cloned().unwrap_or_default()
            }
        };
        Tick { part: self.part(float(position)), text }
    }

    /// Marks at round numbers between labels.
    fn round_ticks(&self, count: usize, numbers: &[f64]) -> Vec<Tick> {
        let ends = [numbers.first(), numbers.last()].map(|end| end.copied().unwrap_or(0.0));
        let values = ticks::round_numbers(ends[0].min(ends[1]), ends[0].max(ends[1]), count);
        let texts = ticks::texts(&values);
        let place = |value: &f64| self.part(position_of(numbers, *value));
        let mut ticks: Vec<Tick> =
            values.iter().map(place).zip(texts).map(|(part, text)| Tick { part, text }).collect();
        ticks.sort_by(|a, b| a.part.total_cmp(&b.part));
        ticks
    }

    /// Marks at round positions.
    fn numbered_ticks(&self, count: usize, first: u64, step: u64) -> Vec<Tick> {
        let last = (self.extent - 1).saturating_mul(step).saturating_add(first);
        let values = ticks::round_numbers(float(first), float(last), count);
        let tick = |value: f64| {
            let part = self.part((value - float(first)) / float(step.max(1)));
            Tick { part, text: format!("{value:.0}") }
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

/// The labels as numbers, if all of them are finite ones that rise or fall.
fn numbers(labels: &[String]) -> Option<Vec<f64>> {
    let number = |label: &String| {
        let starts = label.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        label.trim().parse::<f64>().ok().filter(|number| starts && number.is_finite())
    };
    let numbers: Vec<f64> = labels.iter().map(number).collect::<Option<_>>()?;
    let is_ordered =
        |holds: fn(f64, f64) -> bool| numbers.windows(2).all(|pair| holds(pair[0], pair[1]));
    (is_ordered(|a, b| a < b) || is_ordered(|a, b| a > b)).then_some(numbers)
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

/// Dates without their time, if all of them are at midnight.
fn without_midnight(labels: Vec<String>) -> Vec<String> {
    const MIDNIGHT: [&str; 3] = ["T00:00:00", "T00:00", " 00:00:00"];
    let end = MIDNIGHT.iter().find(|end| labels.iter().all(|label| label.ends_with(*end)));
    let short = |label: String| {
        let label = match end {
            Some(end) => label.strip_suffix(end).unwrap_or(&label),
            None => &label,
        };
        visible(label)
    };
    labels.into_iter().map(short).collect()
}

/// A label as text: its own digits, where they are few.
fn short(number: f64) -> String {
    let text = number.to_string();
    if text.len() <= 8 { text } else { ticks::brief(number) }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn dates_at_midnight_have_no_time() {
        let labels = axis(&["2024-01-01T00:00:00", "2024-02-01T00:00:00"]);
        assert_eq!(texts(&labels, 2), ["2024-01-01", "2024-02-01"]);
        let labels = axis(&["2024-01-01T00:00:00", "2024-01-01T12:00:00"]);
        assert_eq!(texts(&labels, 2)[0], "2024-01-01T00:00:00");
    }

    #[test]
    fn times_are_dates_and_order_an_axis() {
        let time = axis(&["31", "0"]).with_times("days since 2000-01-01");
        assert_eq!(
            (texts(&time, 2), time.title()),
            (vec!["2000-02-01".to_owned(), "2000-01-01".to_owned()], "a".to_owned())
        );
        assert!(time.is_from_right() && !time.is_from_bottom());
        assert_eq!(
            axis(&["0", "1"]).with_times("months since 2000-01-01").title(),
            "a (months since 2000-01-01)"
        );
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
