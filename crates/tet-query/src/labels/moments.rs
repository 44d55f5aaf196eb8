//! Times as numbers: for those who measure between them, as an axis of a picture does.

use super::Labels;
use super::calendar::Calendar;
use super::stamp::instant_of;

/// Times of a calendar.
///
/// # Examples
///
/// ```
/// use tet_query::{Calendar, Moments};
///
/// let moments = Moments::parse(&["1970-01-01".to_owned(), "1970-01-02T00:00:01".to_owned()]).unwrap();
/// assert_eq!(moments.calendar, Calendar::Gregorian);
/// assert_eq!(moments.nanoseconds, [0, 86_401_000_000_000]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moments {
    /// The calendar.
    pub calendar: Calendar,
    /// Nanoseconds since the first moment of day 0 of the calendar: see [`Calendar::days`].
    pub nanoseconds: Vec<i128>,
}

impl Moments {
    /// Dates such as `2024-07` or `2024-07-15T06:00`, of the Gregorian calendar; `None` unless all are. A date without a
    /// month is a number.
    #[must_use]
    pub fn parse(dates: &[String]) -> Option<Moments> {
        let instant = |date: &String| instant_of(date).filter(|_| date.contains('-'));
        let nanoseconds = dates.iter().map(instant).collect::<Option<_>>()?;
        Some(Moments { calendar: Calendar::Gregorian, nanoseconds })
    }
}

impl Labels<'_> {
    /// The times that these labels are; `None` where they are no times, or one of them is no time.
    ///
    /// # Examples
    ///
    /// ```
    /// let labels = tet_query::Labels::Integers(vec![1, 2].into());
    /// assert_eq!(labels.moments(), None);
    /// ```
    #[must_use]
    pub fn moments(&self) -> Option<Moments> {
        let Labels::Times { numbers, times, .. } = self else { return None };
        let instants = (0..numbers.len()).map(|at| numbers.instant(times.units, at));
        let nanoseconds = instants.collect::<Option<_>>()?;
        Some(Moments { calendar: times.calendar(), nanoseconds })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::catalog::AttrText;
    use crate::labels::times::TimeUnits;

    #[test]
    fn times_are_instants_of_their_calendar() {
        let text = |text: &str| AttrText::Text(text.to_owned());
        for (name, calendar) in [("noleap", Calendar::NoLeap), ("360_day", Calendar::Days360)] {
            let attrs = BTreeMap::from([
                ("units".to_owned(), text("days since 2001-01-01 12:00")),
                ("calendar".to_owned(), text(name)),
            ]);
            let units = TimeUnits::from_attrs(&attrs).unwrap();
            let times = |values: Vec<i128>| Labels::Integers(values.into()).timed(units);
            let moments = times(vec![0, 59]).moments().unwrap();
            let noon = |month, day| {
                calendar.days(2001, month, day).unwrap() * 86_400_000_000_000 + 43_200_000_000_000
            };
            let march = if calendar == Calendar::NoLeap { noon(3, 1) } else { noon(2, 30) };
            assert_eq!(moments.nanoseconds, [noon(1, 1), march], "{name}");
            assert_eq!(moments.calendar, calendar);
            // The integer that is no time.
            assert_eq!(times(vec![0, i64::MIN.into()]).moments(), None);
        }
    }

    #[test]
    fn texts_that_are_no_dates_are_no_moments() {
        let moments = |dates: &[&str]| {
            let dates: Vec<String> = dates.iter().map(|&date| date.to_owned()).collect();
            Moments::parse(&dates)
        };
        assert!(moments(&["2001-07", "2001-07-15 06:00"]).is_some());
        for wrong in [&["2001"][..], &["2001-07", "july"], &["2001-13"], &["2001-02-30"], &[""]] {
            assert_eq!(moments(wrong), None, "{wrong:?}");
        }
    }
}
