//! Times as numbers: for those who measure between them, as an axis of a picture does.

use super::Labels;
use super::calendar::Calendar;
use super::times::instant_of;

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
        let Labels::Times { numbers, times } = self else { return None };
        let instants = (0..numbers.len()).map(|at| numbers.instant(times.units, at));
        let nanoseconds = instants.collect::<Option<_>>()?;
        Some(Moments { calendar: times.calendar(), nanoseconds })
    }
}
