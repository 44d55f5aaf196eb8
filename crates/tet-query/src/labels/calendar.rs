//! The calendars of the CF conventions (section 4.4.1): a date is a number of days, and back.

/// A calendar, by its name in the attribute `calendar`.
///
/// # Examples
///
/// ```
/// use tet_query::Calendar;
///
/// let no_leap = Calendar::named("noleap").unwrap();
/// assert_eq!(no_leap.days(2024, 2, 29), None);
/// assert_eq!(no_leap.date(no_leap.days(2024, 3, 1).unwrap()), (2024, 3, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Calendar {
    /// Julian until 1582-10-04, Gregorian from 1582-10-15 on: `standard`, `gregorian`.
    Standard,
    /// Gregorian at all times: `proleptic_gregorian`.
    Gregorian,
    /// A leap year every four years: `julian`.
    Julian,
    /// No leap years: `noleap`, `365_day`.
    NoLeap,
    /// Only leap years: `all_leap`, `366_day`.
    AllLeap,
    /// Twelve months of 30 days: `360_day`.
    Days360,
}

/// Days before 1970-01-01 since 0000-03-01, in the Gregorian and in the Julian calendar.
const GREGORIAN_EPOCH: i128 = 719_468;
const JULIAN_EPOCH: i128 = 719_470;
/// 1582-10-15 in days since 1970-01-01.
const REFORM: i128 = -141_427;

impl Calendar {
    /// The calendar of a name, in letters of any case.
    #[must_use]
    pub fn named(name: &str) -> Option<Calendar> {
        Some(match name.to_ascii_lowercase().as_str() {
            "standard" | "gregorian" => Calendar::Standard,
            "proleptic_gregorian" => Calendar::Gregorian,
            "julian" => Calendar::Julian,
            "noleap" | "365_day" => Calendar::NoLeap,
            "all_leap" | "366_day" => Calendar::AllLeap,
            "360_day" => Calendar::Days360,
            _ => return None,
        })
    }

    /// Its name in the CF conventions.
    ///
    /// # Examples
    ///
    /// ```
    /// use tet_query::Calendar;
    ///
    /// assert_eq!(Calendar::named("365_day").map(Calendar::name), Some("noleap"));
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Calendar::Standard => "standard",
            Calendar::Gregorian => "proleptic_gregorian",
            Calendar::Julian => "julian",
            Calendar::NoLeap => "noleap",
            Calendar::AllLeap => "all_leap",
            Calendar::Days360 => "360_day",
        }
    }

    /// The number of a day, counted from a day that depends on the calendar; `None` without such a day.
    #[must_use]
    pub fn days(self, year: i64, month: u32, day: u32) -> Option<i128> {
        if !(1..=12).contains(&month) || day == 0 {
            return None;
        }
        let (wide, m, d) = (i128::from(year), i128::from(month), i128::from(day));
        let days = match self {
            Calendar::Days360 => 360 * wide + 30 * (m - 1) + d - 1,
            Calendar::NoLeap => 365 * wide + i128::from(before(month, false)) + d - 1,
            Calendar::AllLeap => 366 * wide + i128::from(before(month, true)) + d - 1,
            Calendar::Gregorian => gregorian(wide, m, d),
            Calendar::Julian => julian(wide, m, d),
            Calendar::Standard => {
                let days = gregorian(wide, m, d);
                if days < REFORM { julian(wide, m, d) } else { days }
            }
        };
        // A day past the end of its month is another date.
        (self.date(days) == (year, month, day)).then_some(days)
    }

    /// Year, month and day of the number of a day.
    #[must_use]
    pub fn date(self, days: i128) -> (i64, u32, u32) {
        let of_years = |len: i128, is_leap: bool| {
            let (year, day) = (days.div_euclid(len), days.rem_euclid(len));
            let month = (1..=12).rev().find(|&month| i128::from(before(month, is_leap)) <= day);
            let month = month.unwrap_or(1);
            (year, i128::from(month), day - i128::from(before(month, is_leap)) + 1)
        };
        let (year, month, day) = match self {
            Calendar::Days360 => {
                let day = days.rem_euclid(360);
                (days.div_euclid(360), day / 30 + 1, day % 30 + 1)
            }
            Calendar::NoLeap => of_years(365, false),
            Calendar::AllLeap => of_years(366, true),
            Calendar::Gregorian => of_gregorian(days),
            Calendar::Julian => of_julian(days),
            Calendar::Standard if days < REFORM => of_julian(days),
            Calendar::Standard => of_gregorian(days),
        };
        let small = |number| u32::try_from(number).unwrap_or(1);
        let limit = if year < 0 { i64::MIN } else { i64::MAX };
        (i64::try_from(year).unwrap_or(limit), small(month), small(day))
    }
}

/// Days of a year before a month.
fn before(month: u32, is_leap: bool) -> u32 {
    const DAYS: [u32; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let days = usize::try_from(month).ok().and_then(|month| DAYS.get(month - 1)).copied();
    days.unwrap_or(0) + u32::from(is_leap && 2 < month)
}

/// Year and month counted from March, so that a leap day is the last of its year, and days before the month.
fn from_march(year: i128, month: i128) -> (i128, i128) {
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    (year, (153 * month + 2) / 5)
}

/// Month and day of a day of a year that begins in March, and the years to add.
fn of_march(day: i128) -> (i128, i128, i128) {
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    if month < 10 { (month + 3, day, 0) } else { (month - 9, day, 1) }
}

fn gregorian(year: i128, month: i128, day: i128) -> i128 {
    let (year, days) = from_march(year, month);
    let centuries = year.div_euclid(100);
    365 * year + year.div_euclid(4) - centuries + centuries.div_euclid(4) + days + day
        - 1
        - GREGORIAN_EPOCH
}

fn julian(year: i128, month: i128, day: i128) -> i128 {
    let (year, days) = from_march(year, month);
    365 * year + year.div_euclid(4) + days + day - 1 - JULIAN_EPOCH
}

fn of_gregorian(days: i128) -> (i128, i128, i128) {
    let days = days + GREGORIAN_EPOCH;
    let (era, rest) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (rest - rest / 1460 + rest / 36_524 - rest / 146_096) / 365;
    let (month, day, more) = of_march(rest - (365 * year + year / 4 - year / 100));
    (era * 400 + year + more, month, day)
}

fn of_julian(days: i128) -> (i128, i128, i128) {
    let days = days + JULIAN_EPOCH;
    let (era, rest) = (days.div_euclid(1461), days.rem_euclid(1461));
    let year = (rest - rest / 1460) / 365;
    let (month, day, more) = of_march(rest - 365 * year);
    (era * 4 + year + more, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Calendar; 6] = [
        Calendar::Standard,
        Calendar::Gregorian,
        Calendar::Julian,
        Calendar::NoLeap,
        Calendar::AllLeap,
        Calendar::Days360,
    ];

    #[test]
    fn days_follow_one_another() {
        for calendar in ALL {
            let first = calendar.days(1500, 1, 1).unwrap();
            let last = calendar.days(2101, 1, 1).unwrap();
            let mut before = calendar.date(first - 1);
            for days in first..=last {
                let date = calendar.date(days);
                assert!(before < date, "{calendar:?}: {before:?} {date:?}");
                assert_eq!(
                    calendar.days(date.0, date.1, date.2),
                    Some(days),
                    "{calendar:?} {date:?}"
                );
                before = date;
            }
        }
    }

    #[test]
    fn days_are_those_of_other_programs() {
        // As date2num of cftime counts days since 1970-01-01.
        for (calendar, date, wanted) in [
            (Calendar::Gregorian, (2024, 2, 29), 19782),
            (Calendar::Gregorian, (1, 1, 1), -719_162),
            (Calendar::Standard, (1582, 10, 15), -141_427),
            (Calendar::Standard, (1582, 10, 4), -141_428),
            (Calendar::Standard, (1, 1, 1), -719_164),
            // 13 days later than the Gregorian day of that name.
            (Calendar::Julian, (1970, 1, 1), 13),
        ] {
            let (year, month, day) = date;
            assert_eq!(calendar.days(year, month, day), Some(wanted), "{calendar:?} {date:?}");
        }
    }

    #[test]
    fn gregorian_months_have_their_lengths() {
        let lens = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let mut days = Calendar::Gregorian.days(1, 1, 1).unwrap();
        for year in 1..=9999 {
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            for (month, len) in (1..).zip(lens) {
                let len = if month == 2 && is_leap { 29 } else { len };
                for day in 1..=len {
                    assert_eq!(Calendar::Gregorian.days(year, month, day), Some(days));
                    assert_eq!(Calendar::Gregorian.date(days), (year, month, day));
                    days += 1;
                }
                assert_eq!(Calendar::Gregorian.days(year, month, len + 1), None);
            }
        }
        assert_eq!(Calendar::Gregorian.days(1970, 1, 1), Some(0));
    }

    #[test]
    fn dates_that_a_calendar_has_not_are_refused() {
        for (calendar, year, month, day) in [
            (Calendar::Standard, 1582, 10, 10),
            (Calendar::Standard, 1900, 2, 29),
            (Calendar::Gregorian, 2023, 2, 29),
            (Calendar::Julian, 1901, 2, 29),
            (Calendar::NoLeap, 2024, 2, 29),
            (Calendar::Days360, 2024, 1, 31),
            (Calendar::AllLeap, 2024, 2, 30),
            (Calendar::Gregorian, 2024, 13, 1),
            (Calendar::Gregorian, 2024, 0, 1),
            (Calendar::Gregorian, 2024, 1, 0),
        ] {
            assert_eq!(calendar.days(year, month, day), None, "{calendar:?} {year}-{month}-{day}");
        }
        assert_eq!(
            Calendar::Julian.days(1900, 2, 29).map(|it| Calendar::Julian.date(it)),
            Some((1900, 2, 29))
        );
        for calendar in ALL {
            let far = [i128::from(i64::MAX), i128::from(i64::MIN), 1 << 100];
            assert!(far.into_iter().all(|days| (1..=12).contains(&calendar.date(days).1)));
            assert!(calendar.days(i64::MAX, 12, 30).is_some());
        }
    }
}
