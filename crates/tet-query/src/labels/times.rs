//! Labels that are times: numbers since a date, as the CF conventions have them (section 4.4).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::sync::LazyLock;

use regex_lite::{Captures, Regex};

use super::calendar::Calendar;
use crate::catalog::AttrText;

/// Nanoseconds since the first moment of day 0 of a calendar.
pub(super) type Instant = i128;

pub(super) const SECOND: Instant = 1_000_000_000;
pub(super) const MINUTE: Instant = 60 * SECOND;
pub(super) const HOUR: Instant = 60 * MINUTE;
pub(super) const DAY: Instant = 24 * HOUR;

/// Names of units of time, and their nanoseconds.
const UNITS: [(&[&str], Instant); 7] = [
    (&["nanosecond", "nanoseconds", "nanosec", "nanosecs", "ns"], 1),
    (&["microsecond", "microseconds", "microsec", "microsecs", "us"], 1_000),
    (&["millisecond", "milliseconds", "millisec", "millisecs", "msec", "msecs", "ms"], 1_000_000),
    (&["second", "seconds", "sec", "secs", "s"], SECOND),
    (&["minute", "minutes", "min", "mins"], MINUTE),
    (&["hour", "hours", "hr", "hrs", "h"], HOUR),
    (&["day", "days", "d"], DAY),
];

/// `days since 1970-01-01 12:00:00.5 +01:00`.
static SINCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^\s*(\w+)\s+(?i:since)\s+(\d{1,4})-(\d{1,2})-(\d{1,2})(?:[T\s]+(\d{1,2})(?::(\d{1,2}))?(?::(\d{1,2})(?:\.(\d*))?)?)?\s*(?i:Z|UTC|GMT|([+-]?)(\d{1,2})(?::?(\d{2}))?)?\s*$",
    )
    .ok()
});

/// `2024`, `2024-07`, `2024-07-15`, `2024-07-15T06`, and so on to fractions of a second.
static DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2})(?::(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?Z?)?)?)?$",
    )
    .ok()
});

/// Unit and origin of the numbers of a time axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeUnits {
    calendar: Calendar,
    /// Nanoseconds of a unit.
    pub(super) len: Instant,
    /// The instant of 0.
    epoch: Instant,
}

impl TimeUnits {
    /// Those of [`Moments`](super::Moments) that are parsed.
    pub(super) const NANOSECONDS: TimeUnits =
        TimeUnits { calendar: Calendar::Gregorian, len: 1, epoch: 0 };

    /// The units of a dataset with these attributes; `None` if its numbers are not times.
    pub(super) fn from_attrs(attrs: &BTreeMap<String, AttrText>) -> Option<TimeUnits> {
        let text = |key| match attrs.get(key) {
            Some(AttrText::Text(text)) => Some(text.as_str()),
            _ => None,
        };
        let calendar = match attrs.get("calendar") {
            None => Calendar::Standard,
            Some(_) => Calendar::named(text("calendar")?)?,
        };
        let found = SINCE.as_ref()?.captures(text("units")?)?;
        let len = unit_len(found.get(1)?.as_str(), calendar)?;
        let zone = number(&found, 10) * HOUR + number(&found, 11) * MINUTE;
        let is_west = found.get(9).is_some_and(|sign| sign.as_str() == "-");
        let local = moment(calendar, &found, 2)?;
        Some(TimeUnits { calendar, len, epoch: if is_west { local + zone } else { local - zone } })
    }

    /// The unsupported part of attributes by which numbers count since a date: the calendar, the unit or the date.
    pub(super) fn unknown(attrs: &BTreeMap<String, AttrText>) -> Option<String> {
        let units = attrs
            .get("units")
            .map(AttrText::text)
            .filter(|it| it.to_ascii_lowercase().contains(" since "))?;
        if TimeUnits::from_attrs(attrs).is_some() {
            return None;
        }
        let name = attrs.get("calendar").map_or("standard", AttrText::text);
        let Some(calendar) = Calendar::named(name) else {
            return Some(format!("the calendar {name:?}"));
        };
        let unit = units.split_whitespace().next().unwrap_or_default();
        let part = if unit_len(unit, calendar).is_some() { "date" } else { "unit" };
        Some(format!("the {part} of {units:?}"))
    }

    /// The instant of a whole number of units.
    pub(super) fn whole(self, number: i128) -> Option<Instant> {
        number.checked_mul(self.len)?.checked_add(self.epoch)
    }

    /// The instant of a number of units, to a microsecond: a double holds no more of a date.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "the number is finite and small, its fraction below the length of a unit"
    )]
    pub(super) fn float(self, number: f64) -> Option<Instant> {
        const FAR: f64 = 9e18;
        let floor = Some(number.floor()).filter(|floor| floor.is_finite() && floor.abs() < FAR)?;
        let step = if self.len < 1_000_000 { 1 } else { 1_000 };
        let parts = ((number - floor) * (self.len / step) as f64).round_ties_even();
        self.whole(floor as i128)?.checked_add(parts as i128 * step)
    }
}

/// Nanoseconds of a unit, in letters of any case. Months and years are units only where all are equally long, as in
/// cftime.
fn unit_len(name: &str, calendar: Calendar) -> Option<Instant> {
    let name = name.to_ascii_lowercase();
    match (calendar, name.as_str()) {
        (Calendar::Days360, "month" | "months") => return Some(30 * DAY),
        (Calendar::NoLeap, "common_year" | "common_years") => return Some(365 * DAY),
        _ => {}
    }
    let (_, len) = UNITS.into_iter().find(|(names, _)| names.contains(&name.as_str()))?;
    Some(len)
}

/// Whether the numbers of two datasets with these attributes count the same: their units and calendars are the same text,
/// or times of one unit since one date, however it is spelled.
///
/// # Examples
///
/// ```
/// use std::collections::BTreeMap;
/// use tet_query::{AttrText, have_same_units};
///
/// let attrs = |units: &str| BTreeMap::from([("units".to_owned(), AttrText::Text(units.to_owned()))]);
/// assert!(have_same_units(&attrs("days since 1998-01-01"), &attrs("day since 1998-1-1 00:00:00")));
/// assert!(!have_same_units(&attrs("days since 1998-01-01"), &attrs("days since 1998-01-02")));
/// ```
#[must_use]
pub fn have_same_units(one: &BTreeMap<String, AttrText>, two: &BTreeMap<String, AttrText>) -> bool {
    let is_same = |key| match (one.get(key), two.get(key)) {
        (Some(one), Some(two)) => one.is_same(two),
        (one, two) => one.is_none() && two.is_none(),
    };
    let times =
        || TimeUnits::from_attrs(one).filter(|units| TimeUnits::from_attrs(two) == Some(*units));
    is_same("units") && is_same("calendar") || times().is_some()
}

/// The number of a group; 0 without one.
fn number(found: &Captures<'_>, group: usize) -> Instant {
    found.get(group).and_then(|text| text.as_str().parse().ok()).unwrap_or(0)
}

/// The moment of a date whose year is in a group, and its other parts in those after it.
fn moment(calendar: Calendar, found: &Captures<'_>, year: usize) -> Option<Instant> {
    let part = |group: usize, instead: &str| -> Option<u32> {
        found.get(group).map_or(instead, |text| text.as_str()).parse().ok()
    };
    let date = [part(year, "")?, part(year + 1, "1")?, part(year + 2, "1")?];
    let clock = [part(year + 3, "0")?, part(year + 4, "0")?, part(year + 5, "0")?];
    let digits = found.get(year + 6).map_or("", |text| text.as_str());
    let digits: String = digits.chars().chain("000000000".chars()).take(9).collect();
    let nanoseconds: Instant = digits.parse().ok()?;
    instant_of_parts(calendar, date, clock, nanoseconds)
}

/// The instant of a year, a month and a day, and of an hour, a minute and a second; `None` for those that are none.
pub(super) fn instant_of_parts(
    calendar: Calendar,
    [year, month, day]: [u32; 3],
    clock: [u32; 3],
    nanoseconds: Instant,
) -> Option<Instant> {
    let days = calendar.days(i64::from(year), month, day)?;
    if !clock.iter().zip([23, 59, 59]).all(|(part, last)| *part <= last) {
        return None;
    }
    let [hour, minute, second] = clock.map(Instant::from);
    Some(days * DAY + hour * HOUR + minute * MINUTE + second * SECOND + nanoseconds)
}

/// How precise times are, from days to nanoseconds, and the digits after the point that show it.
const PRECISIONS: [(Instant, usize); 7] =
    [(DAY, 0), (HOUR, 0), (MINUTE, 0), (SECOND, 0), (1_000_000, 3), (1_000, 6), (1, 9)];

/// Units and precision of the numbers of a time axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    pub(super) units: TimeUnits,
    /// The coarsest precision that all have.
    precision: Instant,
}

impl Times {
    /// Times of these units; `all_are` tells whether all of them are multiples of a number of
    /// nanoseconds.
    pub(super) fn new(units: TimeUnits, all_are: impl Fn(Instant) -> bool) -> Times {
        let mut precisions = PRECISIONS.into_iter().map(|(precision, _)| precision);
        Times { units, precision: precisions.find(|it| all_are(*it)).unwrap_or(1) }
    }

    pub(super) fn calendar(self) -> Calendar {
        self.units.calendar
    }

    /// A time, such as `2024-07-15` or `2024-07-15T06:00`; `NaT` for a number that is no time.
    pub(super) fn text(self, instant: Option<Instant>) -> String {
        let Some(instant) = instant else { return "NaT".to_owned() };
        let (year, month, day) = self.calendar().date(instant.div_euclid(DAY));
        let mut text = format!("{year:04}-{month:02}-{day:02}");
        let rest = instant.rem_euclid(DAY);
        let fits = |text: std::fmt::Result| text.unwrap_or_default();
        if self.precision < DAY {
            fits(write!(text, "T{:02}:{:02}", rest / HOUR, rest % HOUR / MINUTE));
        }
        if self.precision < MINUTE {
            fits(write!(text, ":{:02}", rest % MINUTE / SECOND));
        }
        let digits = PRECISIONS.into_iter().find(|(precision, _)| *precision == self.precision);
        if let Some((precision, digits @ 1..)) = digits {
            fits(write!(text, ".{:0digits$}", rest % SECOND / precision));
        }
        text
    }

    /// The instants within a date: those of a year, a month, a day, an hour, and so on; `None` for other
    /// texts, and for dates that the calendar has not.
    pub(super) fn period(self, date: &str) -> Option<Range<Instant>> {
        let found = DATE.as_ref()?.captures(date)?;
        let start = moment(self.calendar(), &found, 1)?;
        let has = |group: usize| found.get(group).is_some();
        let (year, month) = (number(&found, 1), number(&found, 2));
        let next = |year: Instant, month: Instant| {
            let (year, month) = if month == 13 { (year + 1, 1) } else { (year, month) };
            let days =
                self.calendar().days(i64::try_from(year).ok()?, u32::try_from(month).ok()?, 1)?;
            Some(days * DAY)
        };
        let end = match () {
            () if !has(2) => next(year + 1, 1)?,
            () if !has(3) => next(year, month + 1)?,
            () if !has(4) => start + DAY,
            () if !has(5) => start + HOUR,
            () if !has(6) => start + MINUTE,
            () => {
                let digits = found.get(7).map_or(0, |digits| digits.as_str().len());
                start + SECOND / Instant::pow(10, u32::try_from(digits).ok()?)
            }
        };
        Some(start..end)
    }

    /// Whether a date is less precise than the times, so that several of them may be within it.
    pub(super) fn is_coarse(self, period: &Range<Instant>) -> bool {
        self.precision < period.end - period.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Labels;

    fn units(units: &str, calendar: Option<&str>) -> Option<TimeUnits> {
        let text = |text: &str| AttrText::Text(text.to_owned());
        let mut attrs = BTreeMap::from([("units".to_owned(), text(units))]);
        attrs.extend(calendar.map(|name| ("calendar".to_owned(), text(name))));
        TimeUnits::from_attrs(&attrs)
    }

    fn labels(unit: &str, calendar: &str, values: &[i128]) -> Labels<'static> {
        let units = units(unit, Some(calendar)).unwrap();
        Labels::Integers(values.to_vec().into()).timed(units)
    }

    fn texts(labels: &Labels<'_>) -> Vec<String> {
        (0..labels.len()).filter_map(|at| labels.text(at)).collect()
    }

    #[test]
    fn numbers_are_times_of_their_units_and_calendar() {
        for (unit, calendar, values, wanted) in [
            ("days since 1970-01-01", "standard", [0, 19_782], ["1970-01-01", "2024-02-29"]),
            ("days since 2024-02-28", "noleap", [1, 2], ["2024-03-01", "2024-03-02"]),
            ("days since 2000-02-28", "360_day", [2, 3], ["2000-02-30", "2000-03-01"]),
            ("days since 1582-10-04", "standard", [0, 1], ["1582-10-04", "1582-10-15"]),
            ("days since 1-1-1", "gregorian", [0, 738_942], ["0001-01-01", "2024-02-25"]),
            ("days since 1-1-1", "proleptic_gregorian", [0, 738_942], ["0001-01-01", "2024-02-27"]),
            ("days since 1970-01-01", "julian", [0, -1], ["1970-01-01", "1969-12-31"]),
            (
                "hours since 1900-01-01 00:00:0.0",
                "standard",
                [0, 6],
                ["1900-01-01T00:00", "1900-01-01T06:00"],
            ),
            (
                "seconds since 1970-01-01T12:00:00Z",
                "standard",
                [0, 1],
                ["1970-01-01T12:00:00", "1970-01-01T12:00:01"],
            ),
            (
                "minutes since 1970-01-01 00:00 -1:30",
                "standard",
                [0, -90],
                ["1970-01-01T01:30", "1970-01-01T00:00"],
            ),
            (
                "seconds since 2000-1-1 0:0:0 0",
                "standard",
                [60, 120],
                ["2000-01-01T00:01", "2000-01-01T00:02"],
            ),
            ("months since 1995-1-1 00:00:00", "360_day", [64, 65], ["2000-05-01", "2000-06-01"]),
            ("common_years since 2001-01-01", "noleap", [0, 4], ["2001-01-01", "2005-01-01"]),
            (
                "HOURS SINCE 2000-01-01 06:00 utc",
                "NoLeap",
                [0, 1],
                ["2000-01-01T06:00", "2000-01-01T07:00"],
            ),
            (
                "Hours since 2000-01-01 06:00 GMT",
                "standard",
                [0, 1],
                ["2000-01-01T06:00", "2000-01-01T07:00"],
            ),
            (
                "ms since 1970-01-01",
                "standard",
                [5, -1],
                ["1970-01-01T00:00:00.005", "1969-12-31T23:59:59.999"],
            ),
        ] {
            assert_eq!(texts(&labels(unit, calendar, &values)), wanted, "{unit} {calendar}");
        }
        let float = units("days since 2000-01-01", None).unwrap();
        let values = vec![0.5, f64::NAN, -0.25].into();
        let half = Labels::Floats { values, width: crate::labels::FloatWidth::Double }.timed(float);
        let shown = (0..3).filter_map(|at| half.text(at)).collect::<Vec<_>>();
        assert_eq!(shown, ["2000-01-01T12:00", "NaT", "1999-12-31T18:00"]);
        assert_eq!([float.float(f64::NAN), float.float(1e300)], [None, None]);
        assert_eq!(float.whole(i128::MAX), None);
    }

    #[test]
    fn other_units_are_no_times() {
        for (unit, calendar) in [
            ("days", None),
            ("m", None),
            ("months since 2000-01-01", None),
            ("days since 2000-13-01", None),
            ("days since 2000-02-30", None),
            ("days since 2000-01-01 24:00", None),
            ("days since yesterday", None),
            ("days since 2000-01-01", Some("martian")),
        ] {
            assert_eq!(units(unit, calendar), None, "{unit} {calendar:?}");
        }
    }

    #[test]
    fn the_part_that_is_not_understood_is_known() {
        for (units, calendar, wanted) in [
            (
                "months since 2000-01-01",
                "standard",
                Some("the unit of \"months since 2000-01-01\""),
            ),
            ("days since 2000-13-01", "standard", Some("the date of \"days since 2000-13-01\"")),
            ("Months Since 2000-01-01", "noleap", Some("the unit of \"Months Since 2000-01-01\"")),
            ("days since 2000-01-01", "martian", Some("the calendar \"martian\"")),
            ("days since 2000-01-01", "noleap", None),
            ("days", "martian", None),
        ] {
            let text = |text: &str| AttrText::Text(text.to_owned());
            let attrs =
                [("units".to_owned(), text(units)), ("calendar".to_owned(), text(calendar))];
            assert_eq!(TimeUnits::unknown(&BTreeMap::from(attrs)).as_deref(), wanted, "{units}");
        }
    }

    #[test]
    fn dates_find_times() {
        // Every six hours of January and February 2024.
        let values: Vec<i128> = (0..240).map(|at| at * 6).collect();
        let hours = labels("hours since 2024-01-01", "standard", &values);
        assert_eq!(hours.first_equal("2024-01-02T06"), Some(5));
        assert_eq!(hours.first_equal("2024-01-02 06:00"), Some(5));
        assert_eq!(hours.first_equal("2024-01-02T05"), None);
        assert_eq!(hours.period("2024-01-02"), Some(4..8));
        assert_eq!(hours.period("2024-02"), Some(124..240));
        assert_eq!(hours.period("2024"), Some(0..240));
        assert_eq!(hours.period("2023"), None);
        // A number is one of the numbers that are stored.
        assert_eq!(hours.first_equal("30"), Some(5));
        assert_eq!(hours.nearest("2024-01-02T08"), Some(5));
        assert_eq!(hours.nearest("2024-01-02T09"), Some(6));
        assert_eq!(hours.nearest("1999-01-01"), Some(0));
        assert_eq!(hours.nearest("33.1"), Some(6));
        assert_eq!(hours.neighbors("2024-01-02T05"), [Some(4), Some(5)]);
        let days = labels("days since 2024-01-01", "standard", &[0, 31, 60]);
        assert_eq!(days.first_equal("2024-02-01"), Some(1));
        assert_eq!(days.period("2024-02-01"), None);
        assert_eq!(days.period("2024-02"), Some(1..2));
    }

    #[test]
    fn ranges_of_dates_follow_the_axis() {
        use crate::labels::RangeFault;
        use crate::labels::Side::{After, Before};
        let rising = labels("days since 2024-01-01", "standard", &[0, 14, 31, 45, 60]);
        let falling = labels("days since 2024-01-01", "standard", &[60, 45, 31, 14, 0]);
        for (labels, date, before, after) in [
            (&rising, "2024-02", 2, 4),
            (&rising, "2024-01-20", 2, 2),
            (&rising, "2023", 0, 0),
            (&rising, "2025-01-01", 5, 5),
            (&falling, "2024-02", 1, 3),
            (&falling, "2024-01-20", 3, 3),
            (&falling, "2025", 0, 0),
        ] {
            let found = [Before, After].map(|side| labels.bound(date, side));
            assert_eq!(found, [Some(before), Some(after)], "{date} in {:?}", texts(labels));
        }
        let tangled = labels("days since 2024-01-01", "standard", &[0, 60, 14]);
        assert_eq!(tangled.period("2024-01"), None);
        assert_eq!(tangled.bound("2024-02", Before), None);
        assert_eq!(tangled.range(Some("2024-01"), None), Err(RangeFault::Unordered));
        for (start, stop, of_rising, of_falling) in [
            (Some("2024-01"), Some("2024-02"), 0..4, 1..5),
            (Some("2024-01-15"), Some("2024-02-01"), 1..3, 2..4),
            (Some("2024-01-16"), Some("2024-01-20"), 2..2, 3..3),
            (Some("2024"), Some("2024"), 0..5, 0..5),
            (Some("2024-02"), None, 2..5, 1..5),
            (None, Some("2024-02"), 0..4, 0..3),
            // Stored numbers are labels, too.
            (Some("14.0"), Some("2024-02-14"), 1..3, 2..4),
        ] {
            assert_eq!(rising.range(start, stop), Ok(of_rising), "{start:?} to {stop:?}");
            assert_eq!(
                falling.range(start, stop),
                Ok(of_falling),
                "{start:?} to {stop:?}, falling"
            );
        }
        let hours: Vec<i128> = (0..48).collect();
        let hours = labels("hours since 2001-02-28", "noleap", &hours);
        assert_eq!(hours.range(Some("2001-02-28T22:30"), Some("2001-03-01T01")), Ok(23..26));
        assert_eq!(hours.range(Some("2001-03-01"), Some("2001-03-01")), Ok(24..48));
    }
}
