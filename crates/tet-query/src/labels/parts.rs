//! Parts of dates: the month of a time, its hour, its season.

use std::ops::RangeInclusive;

use super::Labels;
use super::calendar::Calendar;
use super::times::{DAY, HOUR, Instant, MINUTE, SECOND, Times};

/// A part of a date, as xarray's `dt` names it.
///
/// # Examples
///
/// ```
/// use tet_query::{AxisSelection, DatePart, Selection};
///
/// let summer = AxisSelection::Among { part: DatePart::Month, ranges: vec![6..=8] };
/// assert_eq!(Selection::parse("time.month=6:8")?, Selection::named([("time", summer)]));
/// # Ok::<(), tet_query::SelectionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DatePart {
    /// The year.
    Year,
    /// The quarter of the year, from 1 to 4.
    Quarter,
    /// The month, from 1 to 12.
    Month,
    /// The day of the year, from 1.
    DayOfYear,
    /// The day of the month, from 1.
    Day,
    /// The hour, from 0 to 23.
    Hour,
    /// The minute, from 0 to 59.
    Minute,
    /// The second, from 0 to 59.
    Second,
}

impl DatePart {
    /// All of them.
    pub(crate) const ALL: [DatePart; 8] = [
        DatePart::Year,
        DatePart::Quarter,
        DatePart::Month,
        DatePart::DayOfYear,
        DatePart::Day,
        DatePart::Hour,
        DatePart::Minute,
        DatePart::Second,
    ];

    /// Its name in text, as in `time.month=6`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            DatePart::Year => "year",
            DatePart::Quarter => "quarter",
            DatePart::Month => "month",
            DatePart::DayOfYear => "dayofyear",
            DatePart::Day => "day",
            DatePart::Hour => "hour",
            DatePart::Minute => "minute",
            DatePart::Second => "second",
        }
    }

    /// The numbers that it has; years have no end.
    pub(crate) const fn bounds(self) -> RangeInclusive<i64> {
        match self {
            DatePart::Year => -999_999..=999_999,
            DatePart::Quarter => 1..=4,
            DatePart::Month => 1..=12,
            DatePart::DayOfYear => 1..=366,
            DatePart::Day => 1..=31,
            DatePart::Hour => 0..=23,
            DatePart::Minute | DatePart::Second => 0..=59,
        }
    }

    fn of_instant(self, instant: Instant, calendar: Calendar) -> i64 {
        let days = instant.div_euclid(DAY);
        let of_day = |unit: Instant, count: Instant| {
            i64::try_from(instant.rem_euclid(DAY) / unit % count).unwrap_or(0)
        };
        match self {
            DatePart::Hour => return of_day(HOUR, 24),
            DatePart::Minute => return of_day(MINUTE, 60),
            DatePart::Second => return of_day(SECOND, 60),
            _ => {}
        }
        let (year, month, day) = calendar.date(days);
        match self {
            DatePart::Year => year,
            DatePart::Quarter => i64::from(month - 1) / 3 + 1,
            DatePart::Month => i64::from(month),
            DatePart::Day => i64::from(day),
            _ => {
                let first = calendar.days(year, 1, 1).unwrap_or(days);
                i64::try_from(days - first).unwrap_or(0).saturating_add(1)
            }
        }
    }
}

/// The months of a season: any run of initials of months, such as `JJA` or `DJF`; `None` for other texts.
///
/// # Examples
///
/// ```
/// use tet_query::months_of_season;
///
/// assert_eq!(months_of_season("DJF"), Some(vec![12, 1, 2]));
/// assert_eq!(months_of_season("summer"), None);
/// ```
#[must_use]
pub fn months_of_season(season: &str) -> Option<Vec<i64>> {
    const INITIALS: &str = "JFMAMJJASONDJFMAMJJASOND";
    if !(2..=12).contains(&season.len()) {
        return None;
    }
    let first = INITIALS.find(season)?;
    let months = (first..first + season.len()).map(|at| i64::try_from(at % 12 + 1));
    months.collect::<Result<_, _>>().ok()
}

impl Labels<'_> {
    /// The positions of the times of which a part is in one of the ranges; `None` where the labels are no times.
    pub(crate) fn among(
        &self,
        part: DatePart,
        ranges: &[RangeInclusive<i64>],
    ) -> Option<Vec<usize>> {
        let Labels::Times { numbers, times, .. } = self else { return None };
        let times: Times = *times;
        let ranges = merged(ranges);
        let is_among = |&at: &usize| {
            let instant = numbers.instant(times.units, at);
            let number = instant.map(|instant| part.of_instant(instant, times.calendar()));
            number.is_some_and(|number| {
                let at = ranges.partition_point(|range| *range.end() < number);
                ranges.get(at).is_some_and(|range| range.contains(&number))
            })
        };
        Some((0..numbers.len()).filter(is_among).collect())
    }
}

/// The numbers of all ranges, in ranges that rise and do not meet.
fn merged(ranges: &[RangeInclusive<i64>]) -> Vec<RangeInclusive<i64>> {
    let mut sorted: Vec<_> = ranges.iter().filter(|it| !it.is_empty()).cloned().collect();
    sorted.sort_by_key(|range| *range.start());
    let mut merged: Vec<RangeInclusive<i64>> = Vec::new();
    for range in sorted {
        match merged.last_mut() {
            Some(last) if range.start() <= last.end() => {
                *last = *last.start()..=*last.end().max(range.end());
            }
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seasons_are_initials_of_months_in_a_row() {
        for (season, wanted) in [
            ("JJA", Some(vec![6, 7, 8])),
            ("MAM", Some(vec![3, 4, 5])),
            ("SON", Some(vec![9, 10, 11])),
            ("NDJFM", Some(vec![11, 12, 1, 2, 3])),
            ("JF", Some(vec![1, 2])),
            ("J", None),
            ("AAA", None),
            ("jja", None),
            ("JFMAMJJASOND", Some((1..=12).collect())),
            ("JFMAMJJASONDJ", None),
        ] {
            assert_eq!(months_of_season(season), wanted, "{season}");
        }
    }

    /// Literals of cftime: `dayofyr`, `hour` and so on of the date.
    #[test]
    fn parts_are_those_of_the_calendar() {
        for (calendar, date, day_of_year) in [
            (Calendar::Standard, (2024, 3, 1), 61),
            (Calendar::NoLeap, (2024, 3, 1), 60),
            (Calendar::AllLeap, (2023, 12, 31), 366),
            (Calendar::Days360, (2001, 2, 30), 60),
            (Calendar::Julian, (1900, 2, 29), 60),
            (Calendar::Gregorian, (1900, 12, 31), 365),
        ] {
            let days = calendar.days(date.0, date.1, date.2).unwrap();
            let instant = days * DAY + 23 * HOUR + 59 * MINUTE + 58 * SECOND + 1;
            let part = |part: DatePart| part.of_instant(instant, calendar);
            assert_eq!(part(DatePart::DayOfYear), day_of_year, "{calendar:?} {date:?}");
            assert_eq!(part(DatePart::Year), date.0);
            assert_eq!(part(DatePart::Month), i64::from(date.1));
            assert_eq!(part(DatePart::Day), i64::from(date.2));
            assert_eq!(part(DatePart::Quarter), (i64::from(date.1) + 2) / 3);
            let clock = [DatePart::Hour, DatePart::Minute, DatePart::Second].map(part);
            assert_eq!(clock, [23, 59, 58]);
        }
    }
}
