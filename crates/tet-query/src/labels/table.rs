//! The labels of one axis, and how a label finds its position.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use super::times::Times;
use crate::element::{nearest_bf16, nearest_f16};

/// The labels of one axis, one per position.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Labels<'a> {
    /// Labels as text; numbers among them also match by value.
    Text(Cow<'a, [String]>),
    /// The values of an integer coordinate dataset.
    Integers(Cow<'a, [i128]>),
    /// The values of a floating coordinate dataset, widened.
    Floats {
        /// The values.
        values: Cow<'a, [f64]>,
        /// The stored width: a label is rounded to it before it is compared.
        width: FloatWidth,
    },
    /// The values of a time axis, which match as dates, and as the numbers that they are.
    Times {
        /// The values.
        numbers: Box<Labels<'a>>,
        /// The units and the calendar.
        times: Times,
        /// How they are written, where they are texts: then the numbers are made of them.
        texts: Option<Cow<'a, [String]>>,
    },
}

/// A parsed label to look up.
#[derive(Clone, Debug)]
pub(super) enum ParsedLabel {
    Number(Number),
    /// The instants of a date.
    Period(Range<i128>),
}

/// The precision of a floating coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatWidth {
    /// IEEE half.
    Half,
    /// Brain float.
    Brain,
    /// 32 bits.
    Single,
    /// 64 bits.
    Double,
}

impl FloatWidth {
    /// The shortest text that means this value at its own precision.
    #[allow(clippy::cast_possible_truncation, reason = "the value was one of this width")]
    fn text(self, value: f64) -> String {
        match self {
            FloatWidth::Half => nearest_f16(value).to_string(),
            FloatWidth::Brain => nearest_bf16(value).to_string(),
            FloatWidth::Single => (value as f32).to_string(),
            FloatWidth::Double => value.to_string(),
        }
    }
}

/// A label's value: exact against integers, as a float against floats.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Int(i128),
    /// A text's number between this integer and the next, and the nearest float.
    Between(i128, f64),
    Float(f64),
}

impl Number {
    pub(super) fn parse(text: &str) -> Option<Number> {
        let text = text.trim();
        if let Ok(int) = text.parse::<i128>() {
            return Some(Number::Int(int));
        }
        // "inf", "nan" and the like are words, not numbers.
        let starts = text.starts_with(|next: char| next.is_ascii_digit() || "+-.".contains(next));
        let float = text.parse::<f64>().ok().filter(|float| starts && float.is_finite())?;
        Some(match floor(text) {
            Some((int, true)) => Number::Int(int),
            Some((int, false)) => Number::Between(int, float),
            None => Number::Float(float),
        })
    }

    #[allow(clippy::cast_precision_loss, reason = "labels compare with floats as floats")]
    pub(super) fn float(self) -> f64 {
        match self {
            Number::Int(int) => int as f64,
            Number::Between(_, float) | Number::Float(float) => float,
        }
    }

    pub(super) fn compare(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
            (Number::Int(a), Number::Between(floor, _)) => Some(a.cmp(&floor).then(Ordering::Less)),
            (Number::Between(floor, _), Number::Int(b)) => {
                Some(floor.cmp(&b).then(Ordering::Greater))
            }
            (a, b) => a.float().partial_cmp(&b.float()),
        }
    }

    /// How far apart two numbers are, exactly for integers.
    pub(super) fn distance(self, other: Number) -> Number {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => {
                Number::Int(a.abs_diff(b).try_into().unwrap_or(i128::MAX))
            }
            (a, b) => Number::Float((a.float() - b.float()).abs()),
        }
    }

    pub(super) fn round(self, width: FloatWidth) -> Number {
        #[allow(clippy::cast_possible_truncation, reason = "rounding is what is wanted")]
        Number::Float(match width {
            FloatWidth::Half => nearest_f16(self.float()).to_f64(),
            FloatWidth::Brain => nearest_bf16(self.float()).to_f64(),
            FloatWidth::Single => f64::from(self.float() as f32),
            FloatWidth::Double => self.float(),
        })
    }
}

/// The first values, without a copy.
pub(super) fn first<T: Clone>(values: Cow<'_, [T]>, count: usize) -> Cow<'_, [T]> {
    match values {
        Cow::Borrowed(values) => Cow::Borrowed(&values[..count.min(values.len())]),
        Cow::Owned(mut values) => {
            values.truncate(count);
            Cow::Owned(values)
        }
    }
}

/// The greatest integer that is not above a decimal number with a point or an exponent, and whether
/// it is equal; `None` past the integers of 128 bits.
fn floor(text: &str) -> Option<(i128, bool)> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let digits = mantissa.trim_start_matches(['+', '-']);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits = [whole.trim_start_matches('0'), fraction].concat();
    let leading = whole.len() - whole.trim_start_matches('0').len();
    let exponent = exponent.parse::<i64>().ok()?;
    let point = i64::try_from(whole.len() - leading).ok()?.checked_add(exponent)?;
    if digits.bytes().all(|digit| digit == b'0') {
        return Some((0, true));
    }
    // 2^127 has 39 digits.
    let point = usize::try_from(point.max(0)).ok().filter(|&point| point <= 39)?;
    let (whole, rest) = digits.split_at(point.min(digits.len()));
    let whole = format!("0{whole:0<point$}").parse::<i128>().ok()?;
    let is_whole = rest.bytes().all(|digit| digit == b'0');
    let is_negative = mantissa.starts_with('-');
    let floor = if is_negative { -whole - i128::from(!is_whole) } else { whole };
    Some((floor, is_whole))
}

impl Labels<'_> {
    /// How many labels there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Labels::Text(texts) => texts.len(),
            Labels::Integers(values) => values.len(),
            Labels::Floats { values, .. } => values.len(),
            Labels::Times { numbers, .. } => numbers.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The labels of the first `count` positions: labels past the extent name nothing.
    #[must_use]
    pub fn first(self, count: usize) -> Self {
        match self {
            Labels::Text(texts) => Labels::Text(first(texts, count)),
            Labels::Integers(values) => Labels::Integers(first(values, count)),
            Labels::Floats { values, width } => {
                Labels::Floats { values: first(values, count), width }
            }
            Labels::Times { numbers, times, texts } => {
                let numbers = Box::new(numbers.first(count));
                Labels::Times { numbers, times, texts: texts.map(|texts| first(texts, count)) }
            }
        }
    }

    /// Borrows the labels, without a copy.
    pub(crate) fn borrowed(&self) -> Labels<'_> {
        match self {
            Labels::Text(texts) => Labels::Text(Cow::Borrowed(texts)),
            Labels::Integers(values) => Labels::Integers(Cow::Borrowed(values)),
            Labels::Floats { values, width } => {
                Labels::Floats { values: Cow::Borrowed(values), width: *width }
            }
            Labels::Times { numbers, times, texts } => Labels::Times {
                numbers: Box::new(numbers.borrowed()),
                times: *times,
                texts: texts.as_deref().map(Cow::Borrowed),
            },
        }
    }

    /// The label at a position as text.
    #[must_use]
    pub fn text(&self, position: usize) -> Option<String> {
        match self {
            Labels::Text(texts) => texts.get(position).cloned(),
            Labels::Integers(values) => values.get(position).map(i128::to_string),
            Labels::Floats { values, width } => {
                values.get(position).map(|&value| width.text(value))
            }
            Labels::Times { texts: Some(texts), .. } => texts.get(position).cloned(),
            Labels::Times { numbers, times, .. } if position < numbers.len() => {
                Some(times.text(numbers.instant(times.units, position)))
            }
            Labels::Times { .. } => None,
        }
    }

    /// The labels as values: times as the numbers, or the texts, that they are stored as.
    #[must_use]
    pub fn stored(self) -> Self {
        match self {
            Labels::Times { texts: Some(texts), .. } => Labels::Text(texts),
            Labels::Times { numbers, .. } => *numbers,
            labels => labels,
        }
    }

    /// Whether the labels are texts, dates among them too.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(!tet_query::Labels::Integers(vec![1, 2].into()).is_text());
    /// ```
    #[must_use]
    pub const fn is_text(&self) -> bool {
        matches!(self, Labels::Text(_) | Labels::Times { texts: Some(_), .. })
    }

    /// The nanoseconds of a unit of times; 1 of other labels.
    #[allow(
        clippy::cast_precision_loss,
        reason = "a day is fewer nanoseconds than a double holds exactly"
    )]
    pub(super) fn unit(&self) -> f64 {
        if let Labels::Times { times, .. } = self { times.units.len as f64 } else { 1.0 }
    }

    /// Whether the labels are times, and this is no date.
    pub(crate) fn is_no_date(&self, label: &str) -> bool {
        matches!(self, Labels::Times { times, .. } if times.period(label).is_none())
    }

    /// The positions within a date that is less precise than the times, as a month of days; `None` for other
    /// labels, and where other times are between them.
    pub(crate) fn period(&self, label: &str) -> Option<Range<usize>> {
        let Labels::Times { times, texts, .. } = self else { return None };
        let is_label = |texts: &[String]| texts.iter().filter(|text| *text == label).count() == 1;
        if texts.as_deref().is_some_and(is_label) {
            return None;
        }
        times.period(label).filter(|period| times.is_coarse(period))?;
        let within = self.all_equal(label);
        let (first, last) = (*within.first()?, *within.last()?);
        (last - first < within.len()).then_some(first..last + 1)
    }

    /// The distance of the label at a position from the requested one; of a date from its first moment.
    pub(super) fn distance(&self, at: usize, asked: &ParsedLabel) -> Option<Number> {
        let asked = match asked {
            ParsedLabel::Number(number) => *number,
            ParsedLabel::Period(period) => Number::Int(period.start),
        };
        self.number(at).map(|it| it.distance(asked))
    }

    /// The first position whose label equals: as text, else as a number, or a time within a date.
    #[must_use]
    pub fn first_equal(&self, label: &str) -> Option<usize> {
        if let Labels::Text(texts) = self
            && let Some(position) = texts.iter().position(|text| text == label)
        {
            return Some(position);
        }
        let asked = self.parse_label(label)?;
        (0..self.len()).find(|&at| self.order(at, &asked) == Some(Ordering::Equal))
    }

    /// Whether both have the same label at a position, or neither has one: as text, or by value.
    #[must_use]
    pub(crate) fn same(&self, other: &Labels<'_>, at: usize) -> bool {
        if let (Labels::Text(a), Labels::Text(b)) = (self, other)
            && a.get(at) == b.get(at)
        {
            return true;
        }
        let (left, right) = match (self, other) {
            (Labels::Times { times: a, .. }, Labels::Times { times: b, .. })
                if a.calendar() == b.calendar() =>
            {
                (self, other)
            }
            (a, b) => (a.numbers(), b.numbers()),
        };
        match (left.number(at), right.number(at)) {
            (Some(a), Some(b)) => {
                a.compare(b) == Some(Ordering::Equal) || (a.float().is_nan() && b.float().is_nan())
            }
            _ => left.text(at) == right.text(at),
        }
    }

    /// The labels, times as numbers.
    fn numbers(&self) -> &Labels<'_> {
        if let Labels::Times { numbers, .. } = self { numbers } else { self }
    }

    /// Whether all labels are numbers in one order: `Less` rising, `Greater` falling.
    pub(super) fn direction(&self) -> Option<Ordering> {
        let mut direction = Ordering::Equal;
        if self.len() == 1 {
            self.number(0)?;
        }
        for at in 1..self.len() {
            match (self.step(at - 1, at)?, direction) {
                (Ordering::Equal, _) => {}
                (step, Ordering::Equal) => direction = step,
                (step, so_far) if step == so_far => {}
                _ => return None,
            }
        }
        Some(direction)
    }

    pub(super) fn step(&self, from: usize, to: usize) -> Option<Ordering> {
        self.number(from)?.compare(self.number(to)?)
    }

    pub(super) fn number(&self, at: usize) -> Option<Number> {
        match self {
            Labels::Text(texts) => Number::parse(texts.get(at)?),
            Labels::Integers(values) => values.get(at).copied().map(Number::Int),
            Labels::Floats { values, .. } => values.get(at).copied().map(Number::Float),
            Labels::Times { numbers, times, .. } => {
                numbers.instant(times.units, at).map(Number::Int)
            }
        }
    }

    /// Parses a label to look up: the instants of a date, or a number at the precision of these labels. On a time
    /// axis a number is one of the stored numbers.
    pub(super) fn parse_label(&self, label: &str) -> Option<ParsedLabel> {
        if let Labels::Times { numbers, times, .. } = self {
            let stored = || match numbers.parse_label(label)? {
                ParsedLabel::Number(Number::Int(int)) => times.units.whole(int),
                ParsedLabel::Number(number) => times.units.float(number.float()),
                ParsedLabel::Period(_) => None,
            };
            let period = times.period(label).map(ParsedLabel::Period);
            return period.or_else(|| Some(ParsedLabel::Number(Number::Int(stored()?))));
        }
        let asked = Number::parse(label)?;
        Some(ParsedLabel::Number(match self {
            Labels::Floats { width, .. } => asked.round(*width),
            _ => asked,
        }))
    }

    /// Compares the label at a position with the requested one; a time within a date is equal to it.
    pub(super) fn order(&self, at: usize, asked: &ParsedLabel) -> Option<Ordering> {
        let number = self.number(at)?;
        match asked {
            ParsedLabel::Number(asked) => number.compare(*asked),
            ParsedLabel::Period(period) => {
                let start = number.compare(Number::Int(period.start))?;
                let end = number.compare(Number::Int(period.end))?;
                Some(match (start, end) {
                    (Ordering::Less, _) => Ordering::Less,
                    (_, Ordering::Less) => Ordering::Equal,
                    _ => Ordering::Greater,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::super::Side;
    use super::*;

    fn texts(labels: &[&str]) -> Labels<'static> {
        Labels::Text(labels.iter().map(|&label| label.to_owned()).collect())
    }

    #[test]
    fn the_first_equal_label_wins() {
        let labels = texts(&["a", "b", "a", "5.0", "5", "007", "nan", ""]);
        for (label, wanted) in [
            ("a", Some(0)),
            ("b", Some(1)),
            ("5", Some(4)),
            ("5.00", Some(3)),
            ("7", Some(5)),
            ("nan", Some(6)),
            ("NaN", None),
            ("", Some(7)),
            ("c", None),
            ("6", None),
        ] {
            assert_eq!(labels.first_equal(label), wanted, "{label:?}");
        }
    }

    #[test]
    fn numbers_match_at_their_own_precision() {
        let singles = Labels::Floats {
            values: vec![0.5, f64::from(0.1f32)].into(),
            width: FloatWidth::Single,
        };
        assert_eq!(singles.first_equal("0.1"), Some(1));
        let doubles =
            Labels::Floats { values: vec![0.1, f64::NAN].into(), width: FloatWidth::Double };
        assert_eq!(doubles.first_equal("0.1"), Some(0));
        assert_eq!(doubles.first_equal("nan"), None);
        let halves = Labels::Floats {
            values: vec![f16::from_f32(0.1).to_f64()].into(),
            width: FloatWidth::Half,
        };
        assert_eq!(halves.first_equal("0.1"), Some(0));
        // Past the middle of two neighbors, by less than a float32 can resolve.
        let halves =
            Labels::Floats { values: vec![1.0, 1.000_976_562_5].into(), width: FloatWidth::Half };
        assert_eq!(halves.first_equal("1.000488281250001"), Some(1));
        let brains =
            Labels::Floats { values: vec![1.0, 1.007_812_5].into(), width: FloatWidth::Brain };
        assert_eq!(brains.first_equal("1.003906250000001"), Some(1));
        assert_eq!(singles.text(1).as_deref(), Some("0.1"));
        let big = (1i128 << 53) + 1;
        let integers = Labels::Integers(vec![big - 1, big].into());
        assert_eq!(integers.first_equal(&big.to_string()), Some(1));
        for (label, wanted) in [
            ("9007199254740992.0", Some(0)),
            ("9007199254740993.0", Some(1)),
            ("+9.007199254740993e15", Some(1)),
            ("90071992547409930E-1", Some(1)),
            ("0009007199254740993.", Some(1)),
            ("9007199254740992.5", None),
            ("9007199254740993.0000000000000000000000000000000000000000001", None),
            ("-9007199254740993.0", None),
            ("9007199254740993e1", None),
            ("9e300", None),
        ] {
            assert_eq!(integers.first_equal(label), wanted, "{label}");
        }
        assert_eq!(integers.bound("9007199254740992.5", Side::Before), Some(1));
        assert_eq!(integers.bound("9007199254740993.5", Side::Before), Some(2));
        let small = Labels::Integers(vec![-2, 0, 3, 10].into());
        for (label, equal, bound) in [
            ("-2.0", Some(0), 0),
            ("-1.5", None, 1),
            ("-2.5", None, 0),
            ("-0.0", Some(1), 1),
            (".0", Some(1), 1),
            ("0e99999999999999999999", Some(1), 1),
            ("0.3e1", Some(2), 2),
            ("3e-1", None, 2),
            (".1e2", Some(3), 3),
            ("1e1", Some(3), 3),
            ("1e-99", None, 2),
            ("-1e-99", None, 1),
        ] {
            assert_eq!(small.first_equal(label), equal, "{label}");
            if label.len() < 10 {
                assert_eq!(small.bound(label, Side::Before), Some(bound), "{label}");
            }
        }
    }

    #[test]
    fn ordered_numbers_are_searched_by_value() {
        let rising = texts(&["-90.0", "-87.5", "-85.0"]);
        let falling = Labels::Integers(vec![30, 20, 20, 10].into());
        let tangled = texts(&["1", "3", "2"]);
        let words = texts(&["a", "c"]);
        for (labels, label, side, wanted) in [
            (&rising, "-100", Side::Before, Some(0)),
            (&rising, "-88", Side::Before, Some(1)),
            (&rising, "-87.5", Side::Before, Some(1)),
            (&rising, "-87.5", Side::After, Some(2)),
            (&rising, "-88", Side::After, Some(1)),
            (&rising, "0", Side::Before, Some(3)),
            (&falling, "25", Side::Before, Some(1)),
            (&falling, "20", Side::Before, Some(1)),
            (&falling, "20", Side::After, Some(3)),
            (&falling, "40", Side::Before, Some(0)),
            (&falling, "0", Side::After, Some(4)),
            (&tangled, "2", Side::Before, Some(2)),
            (&tangled, "2.5", Side::Before, None),
            (&words, "b", Side::Before, Some(1)),
            (&words, "d", Side::After, Some(2)),
            (&texts(&["c", "b", "c"]), "a", Side::Before, None),
            (&words, "c", Side::After, Some(2)),
        ] {
            assert_eq!(labels.bound(label, side), wanted, "{label} in {labels:?}");
        }
        assert_eq!(texts(&["5"]).bound("4", Side::Before), Some(0));
        assert_eq!(texts(&["5"]).bound("6", Side::Before), Some(1));
        assert_eq!(texts(&[]).bound("6", Side::Before), Some(0));
    }
}
