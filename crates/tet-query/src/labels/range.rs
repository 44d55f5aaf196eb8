//! Ranges of labels: both ends included, on rising and on falling axes, and around the globe.

use std::cmp::Ordering;
use std::ops::Range;

use super::Labels;
use super::table::{Number, ParsedLabel};

/// Degrees of a turn.
pub(crate) const TURN: i32 = 360;

/// Why labels are no range of positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RangeFault {
    /// No position has this label, and the labels are not numbers in order.
    NoSuchLabel(String),
    /// The labels are numbers or times in no order, so that nothing is between two of them.
    Unordered,
    /// Several positions that are not next to each other have this label.
    Repeated(String),
}

/// Longitudes next to each other that are as many full turns from the requested ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turned {
    /// The turns to add to the labels.
    pub turns: i64,
    /// The positions.
    pub positions: Range<usize>,
}

/// Which end of the equal labels to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The first equal label.
    Before,
    /// One past the last of the equal labels that follow the first one.
    After,
}

type Result<T> = std::result::Result<T, RangeFault>;

impl Labels<'_> {
    /// The positions from one label through another, both included; without one, from the start or to the end of
    /// the axis. On a falling axis `40:60` is `60:40`.
    pub(crate) fn range(&self, start: Option<&str>, stop: Option<&str>) -> Result<Range<usize>> {
        let asked = |label: Option<&str>| label.map(|label| self.parse_label(label));
        match (self.direction(), asked(start), asked(stop)) {
            // Labels of which neither is a number are texts among numbers.
            (Some(direction), start, stop)
                if start.iter().chain(&stop).all(Option::is_some) && !self.is_empty() =>
            {
                let ends = (start.flatten(), stop.flatten());
                Ok(self.between(direction == Ordering::Greater, &ends.0, &ends.1))
            }
            (None, ..) if !matches!(self, Labels::Text(_)) => Err(RangeFault::Unordered),
            _ => {
                let first = start.map(|label| self.run(label)).transpose()?;
                let last = stop.map(|label| self.run(label)).transpose()?;
                let start = first.map_or(0, |run| run.start);
                Ok(start..last.map_or(self.len(), |run| run.end).max(start))
            }
        }
    }

    /// Where a range begins (`Before`) or ends (`Before`, or `After` to include the label).
    ///
    /// An equal label decides. Without one, numbers in order are searched by value, and texts in order as text.
    #[must_use]
    pub(crate) fn bound(&self, label: &str, side: Side) -> Option<usize> {
        if let Some(first) = self.first_equal(label) {
            return Some(if side == Side::Before { first } else { self.run_end(first, label) });
        }
        // No label equals, so both sides are the same position.
        let Some((asked, direction)) = self.parse_label(label).zip(self.direction()) else {
            return self.between_texts(label);
        };
        let wanted = match direction {
            Ordering::Greater => Ordering::Greater,
            _ => Ordering::Less,
        };
        let is_past = |&at: &usize| at == self.len() || self.order(at, &asked) != Some(wanted);
        (0..=self.len()).find(is_past)
    }

    /// The position before which a text would be among texts in order, rising or falling.
    fn between_texts(&self, label: &str) -> Option<usize> {
        let Labels::Text(texts) = self else { return None };
        if texts.is_sorted() {
            return Some(texts.partition_point(|text| text.as_str() < label));
        }
        let is_falling = texts.is_sorted_by(|one, two| two <= one);
        is_falling.then(|| texts.partition_point(|text| label < text.as_str()))
    }

    /// One past the last label equal to the one at `first`, without a break; times are equal within a date.
    fn run_end(&self, first: usize, label: &str) -> usize {
        let is_same = |at: usize| self.step(first, at).is_some_and(Ordering::is_eq);
        let period =
            self.parse_label(label).filter(|asked| matches!(asked, ParsedLabel::Period(_)));
        let equal = |at: usize| match (self, &period) {
            (Labels::Text(texts), _) => texts[at] == texts[first] || is_same(at),
            (_, Some(period)) => self.order(at, period) == Some(Ordering::Equal),
            _ => is_same(at),
        };
        (first + 1..self.len()).find(|&at| !equal(at)).unwrap_or(self.len())
    }

    /// The positions of the labels from one value to another, of labels in order.
    fn between(
        &self,
        is_falling: bool,
        start: &Option<ParsedLabel>,
        stop: &Option<ParsedLabel>,
    ) -> Range<usize> {
        let is_swapped = is_falling
            && matches!((start, stop), (Some(start), Some(stop)) if is_below(start, stop));
        let (first, last) = if is_swapped { (stop, start) } else { (start, stop) };
        let [before, after] = match is_falling {
            false => [Ordering::Less, Ordering::Greater],
            true => [Ordering::Greater, Ordering::Less],
        };
        let position = |is_there: &dyn Fn(usize) -> bool| {
            (0..self.len()).find(|&at| is_there(at)).unwrap_or(self.len())
        };
        let start =
            first.as_ref().map_or(0, |asked| position(&|at| self.order(at, asked) != Some(before)));
        let stop = last
            .as_ref()
            .map_or(self.len(), |asked| position(&|at| self.order(at, asked) == Some(after)));
        start..stop.max(start)
    }

    /// The positions that have a label and are next to each other; of texts in order none, between the labels around it.
    fn run(&self, label: &str) -> Result<Range<usize>> {
        let equal = self.all_equal(label);
        let (Some(first), Some(last)) = (equal.first(), equal.last()) else {
            let between = self.between_texts(label).map(|at| at..at);
            return between.ok_or_else(|| RangeFault::NoSuchLabel(label.to_owned()));
        };
        if last - first < equal.len() {
            Ok(*first..last + 1)
        } else {
            Err(RangeFault::Repeated(label.to_owned()))
        }
    }

    /// As [`Labels::range`], of longitudes in degrees, from west to east: -60 is 300, and from 170 to -170 are 20
    /// degrees. A range that goes past the end of the axis goes on at its beginning.
    pub(crate) fn range_of_longitudes(&self, start: &str, stop: &str) -> Result<Vec<Turned>> {
        let number = |label: &str| match self.parse_label(label)? {
            ParsedLabel::Number(number) => Some(number.float()),
            ParsedLabel::Period(_) => None,
        };
        let (Some(west), Some(mut east)) = (number(start), number(stop)) else {
            let positions = self.range(Some(start), Some(stop))?;
            return Ok(vec![Turned { turns: 0, positions }]);
        };
        if self.direction().is_none() {
            return Err(RangeFault::Unordered);
        }
        let turn = f64::from(TURN);
        if east < west {
            east += ((west - east) / turn).ceil() * turn;
        }
        let turns = |at: usize| {
            let label = self.number(at)?.float();
            if (west..=east).contains(&label) {
                return Some(0);
            }
            let turns = ((west - label) / turn).ceil();
            #[allow(clippy::cast_possible_truncation, reason = "a float past an i64 saturates")]
            ((label + turns * turn) <= east).then_some(turns as i64)
        };
        let mut runs: Vec<Turned> = Vec::new();
        for (at, turns) in (0..self.len()).filter_map(|at| Some((at, turns(at)?))) {
            match runs.last_mut() {
                Some(run) if run.turns == turns && run.positions.end == at => {
                    run.positions.end += 1
                }
                _ => runs.push(Turned { turns, positions: at..at + 1 }),
            }
        }
        // Those of the most turns are the farthest in the east of a rising axis.
        runs.sort_by_key(|run| (run.turns, run.positions.start));
        if self.direction() == Some(Ordering::Greater) {
            runs.reverse();
        }
        Ok(runs)
    }
}

impl Labels<'_> {
    /// The full turns from the longitude at a position to the requested one.
    #[allow(clippy::cast_possible_truncation, reason = "a float past an i64 saturates")]
    pub(crate) fn turns_to(&self, at: usize, label: &str) -> Option<i64> {
        let Some(ParsedLabel::Number(asked)) = self.parse_label(label) else { return None };
        let far = asked.float() - self.number(at)?.float();
        Some((far / f64::from(TURN)).round() as i64)
    }
}

/// Whether a value is below another one: of dates the first moments are compared.
fn is_below(one: &ParsedLabel, two: &ParsedLabel) -> bool {
    let number = |asked: &ParsedLabel| match asked {
        ParsedLabel::Number(number) => *number,
        ParsedLabel::Period(period) => Number::Int(period.start),
    };
    number(one).compare(number(two)) == Some(Ordering::Less)
}

#[cfg(test)]
mod tests {
    use super::super::FloatWidth;
    use super::*;

    fn floats(values: &[f64]) -> Labels<'static> {
        Labels::Floats { values: values.to_vec().into(), width: FloatWidth::Single }
    }

    fn integers(values: &[i128]) -> Labels<'static> {
        Labels::Integers(values.to_vec().into())
    }

    #[test]
    fn both_ends_are_included_on_rising_and_falling_axes() {
        let rising = floats(&[-10.0, 0.0, f64::from(0.1f32), 10.0, 10.0, 20.0]);
        let falling = integers(&[30, 20, 20, 10, 0]);
        for (labels, start, stop, wanted) in [
            (&rising, Some("0"), Some("10"), 1..5),
            (&rising, Some("0.1"), Some("0.1"), 2..3),
            (&rising, Some("-5"), Some("15"), 1..5),
            (&rising, Some("-99"), Some("99"), 0..6),
            (&rising, Some("10"), Some("0"), 3..3),
            (&rising, Some("3"), Some("4"), 3..3),
            (&rising, None, Some("0"), 0..2),
            (&rising, Some("10"), None, 3..6),
            (&falling, Some("10"), Some("20"), 1..4),
            (&falling, Some("20"), Some("10"), 1..4),
            (&falling, Some("5"), Some("25"), 1..4),
            (&falling, Some("25"), Some("5"), 1..4),
            (&falling, Some("20"), None, 1..5),
            (&falling, None, Some("20"), 0..3),
        ] {
            assert_eq!(labels.range(start, stop), Ok(wanted), "{start:?} to {stop:?}");
        }
    }

    #[test]
    fn labels_without_order_are_no_ranges() {
        let tangled = integers(&[1, 3, 2]);
        assert_eq!(tangled.range(Some("1"), Some("3")), Err(RangeFault::Unordered));
        let nan = floats(&[1.0, f64::NAN]);
        assert_eq!(nan.range(Some("0"), None), Err(RangeFault::Unordered));
        let texts: Vec<String> = ["c", "a", "a", "b", "c"].map(str::to_owned).to_vec();
        let texts = Labels::Text(texts.into());
        assert_eq!(texts.range(Some("a"), Some("b")), Ok(1..4));
        assert_eq!(texts.range(Some("a"), Some("a")), Ok(1..3));
        assert_eq!(texts.range(Some("b"), Some("a")), Ok(3..3));
        assert_eq!(texts.range(Some("c"), None), Err(RangeFault::Repeated("c".to_owned())));
        assert_eq!(texts.range(Some("x"), None), Err(RangeFault::NoSuchLabel("x".to_owned())));
    }

    /// As pandas' `slice_indexer` of an index of texts.
    #[test]
    fn ranges_of_texts_in_order_end_between_labels() {
        let texts =
            |labels: &[&str]| Labels::Text(labels.iter().map(|&it| it.to_owned()).collect());
        let rising = texts(&["a", "b", "b", "d", "\u{e9}"]);
        let falling = texts(&["d", "b", "a"]);
        for (labels, start, stop, wanted) in [
            (&rising, Some("b"), Some("c"), 1..3),
            (&rising, Some("aa"), Some("z"), 1..4),
            (&rising, Some("c"), None, 3..5),
            (&rising, None, Some("A"), 0..0),
            (&rising, Some("e"), Some("f"), 4..4),
            (&rising, Some("z"), Some("\u{ff}"), 4..5),
            (&falling, Some("c"), Some("a"), 1..3),
            (&falling, Some("z"), Some("c"), 0..1),
        ] {
            assert_eq!(labels.range(start, stop), Ok(wanted), "{start:?} to {stop:?}");
        }
    }

    #[test]
    fn longitudes_go_around_the_globe() {
        let east: Vec<f64> = (0..36).map(|at| f64::from(at) * 10.0).collect();
        let west: Vec<f64> = (0..36).map(|at| f64::from(at) * 10.0 - 180.0).collect();
        let (east, west) = (floats(&east), floats(&west));
        let runs = |labels: &Labels<'_>, start, stop| -> Vec<Range<usize>> {
            let found = labels.range_of_longitudes(start, stop).unwrap();
            found.into_iter().map(|run| run.positions).collect()
        };
        for (labels, start, stop, wanted) in [
            (&east, "0", "20", 0..3),
            (&east, "-60", "-10", 30..36),
            (&east, "170", "-170", 17..20),
            (&east, "300", "350", 30..36),
            (&east, "365", "380", 1..3),
            (&west, "190", "200", 1..3),
            (&west, "-180", "-160", 0..3),
            (&west, "0", "20", 18..21),
        ] {
            assert_eq!(runs(labels, start, stop), [wanted], "{start} to {stop}");
        }
        assert!(runs(&east, "1", "9").is_empty());
        assert_eq!(runs(&east, "-20", "20"), [34..36, 0..3]);
        assert_eq!(runs(&west, "170", "-170"), [35..36, 0..2]);
        let falling: Vec<f64> = (0..36).rev().map(|at| f64::from(at) * 10.0).collect();
        assert_eq!(runs(&floats(&falling), "-20", "20"), [33..36, 0..2]);
        let turned = east.range_of_longitudes("-20", "20").unwrap();
        assert_eq!(turned.iter().map(|run| run.turns).collect::<Vec<_>>(), [-1, 0]);
    }
}
