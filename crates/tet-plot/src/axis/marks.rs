//! The marks of an axis: labels of positions, or round numbers and dates among them.

use tet_query::{CoordinateRole, Moments};

use super::{Labels, PlotAxis, edges, float, offsets, position_of};
use crate::dates::{self, DateMark, Span};
use crate::ticks::{self, Tick};

/// A mark this part of a position outside of the axis is at its end.
const NEAR: f64 = 0.1;
/// Numbers whose longest step is so many times the shortest are marked one by one.
const UNEVEN: f64 = 4.0;
/// Gaps between times are no more than this part of all, where marks are at round dates.
const GAPS_MAX: f64 = 0.2;

impl PlotAxis {
    /// At most about `count` marks, in the order of positions, with places from 0, the start of the first
    /// position, to 1, the end of the last.
    pub(crate) fn ticks(&self, count: usize) -> Vec<Tick> {
        let count_max = u64::try_from(count.max(1)).unwrap_or(1);
        let every = usize::try_from(self.extent.div_ceil(count_max)).unwrap_or(usize::MAX);
        match &self.labels {
            _ if every <= 1 => self.own_ticks(1),
            Labels::Numbers(numbers) | Labels::Turns { numbers, .. } if !is_uneven(numbers) => {
                self.round_ticks(count, numbers)
            }
            Labels::Times(moments) if !has_gaps(&offsets(moments)) => {
                self.date_ticks(count, moments)
            }
            Labels::Positions { first, step } => self.numbered_ticks(count, *first, *step),
            // Round numbers would be crowded at one end of numbers such as 1, 10, 100, and round dates in gaps.
            _ => self.own_ticks(every),
        }
    }

    /// A mark at each of so many positions, with its own label.
    fn own_ticks(&self, every: usize) -> Vec<Tick> {
        let positions = (0..self.extent).step_by(every);
        let Labels::Times(Moments { calendar, nanoseconds }) = &self.labels else {
            return positions.map(|position| self.tick(position)).collect();
        };
        let nanoseconds = nanoseconds.iter().copied().step_by(every).collect();
        let dates = dates::own_dates(&Moments { calendar: *calendar, nanoseconds });
        let tick = |(date, at): (DateMark, u64)| Tick {
            part: self.part(float(at)),
            text: date.text,
            of: date.of,
        };
        dates.into_iter().zip(positions).map(tick).collect()
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
}

#[allow(clippy::cast_possible_truncation, reason = "the nearest whole number of nanoseconds")]
fn whole(offset: f64) -> i128 {
    offset.round() as i128
}

/// Whether numbers are much further apart in some places than in others.
fn is_uneven(numbers: &[f64]) -> bool {
    let steps = || numbers.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    steps().fold(0.0, f64::max) > UNEVEN * steps().fold(f64::INFINITY, f64::min)
}

/// Whether numbers are much further apart in a few places, and these are a good part of all.
fn has_gaps(numbers: &[f64]) -> bool {
    let span = (numbers.last().unwrap_or(&0.0) - numbers.first().unwrap_or(&0.0)).abs();
    let mean = span / float(numbers.len().saturating_sub(1).max(1) as u64);
    let steps = numbers.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    steps.filter(|step| *step > UNEVEN * mean).sum::<f64>() > GAPS_MAX * span
}

/// A label as text: its own digits, where they are few.
fn short(number: f64) -> String {
    let text = number.to_string();
    if text.len() <= 8 { text } else { ticks::brief(number) }
}
