//! Times of the CF conventions: numbers since a date, as the dates that people write.
//!
//! The calendar is the Gregorian one, from the year 1583 on.

/// Seconds of a unit, under all of its names.
const UNITS: [(&str, f64); 7] = [
    ("nanosecond nanoseconds nanosec nanosecs ns", 1e-9),
    ("microsecond microseconds microsec microsecs us", 1e-6),
    ("millisecond milliseconds millisec millisecs msec msecs ms", 1e-3),
    ("second seconds sec secs s", 1.0),
    ("minute minutes min mins", 60.0),
    ("hour hours hr hrs h", 3600.0),
    ("day days d", 86_400.0),
];
const DAY: i64 = 86_400;
/// The years that have dates.
const YEARS: std::ops::RangeInclusive<i64> = 1583..=9999;
/// Numbers this near to a whole second are one.
const NEAR: f64 = 1e-3;

/// The dates of numbers whose unit is as `hours since 2000-01-01`; `None` where it is not, where a date is out of
/// the calendar, or where a time is not a whole second.
pub(crate) fn dates(unit: &str, numbers: &[f64]) -> Option<Vec<String>> {
    let (len, epoch) = since(unit)?;
    let second = |number: &f64| {
        let seconds = number * len;
        let whole = seconds.round();
        let is_whole = (seconds - whole).abs() < NEAR && whole.abs() < 1e15;
        #[allow(clippy::cast_possible_truncation, reason = "a whole number below 10^15")]
        is_whole.then(|| epoch + whole as i64)
    };
    let seconds: Vec<i64> = numbers.iter().map(second).collect::<Option<_>>()?;
    let all_are = |len: i64| seconds.iter().all(|second| second.rem_euclid(len) == 0);
    let digits = match (all_are(DAY), all_are(60)) {
        (true, _) => DATE,
        (_, true) => MINUTES,
        _ => SECONDS,
    };
    seconds.into_iter().map(|second| text(second, digits)).collect()
}

/// The characters of a date, of one with hours and minutes, and of one with seconds.
const DATE: usize = 10;
const MINUTES: usize = 16;
const SECONDS: usize = 19;

/// A second since 1970 as text; `None` out of the years of the calendar.
fn text(second: i64, len: usize) -> Option<String> {
    let (day, of_day) = (second.div_euclid(DAY), second.rem_euclid(DAY));
    let (year, month, day) = date_of(day);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    YEARS.contains(&year).then(|| text[..len].to_owned())
}

/// The seconds of a unit, and the second since 1970 that its numbers count from.
fn since(unit: &str) -> Option<(f64, i64)> {
    let (name, date) = unit.split_once(" since ")?;
    let name = name.trim().to_ascii_lowercase();
    let (_, len) = UNITS.iter().find(|(names, _)| names.split(' ').any(|known| known == name))?;
    let date = date.trim().trim_end_matches('Z').trim_end_matches("UTC").trim_end();
    let (date, time) = date.split_once(['T', ' ']).unwrap_or((date, "0:0:0"));
    let [year, month, day] = numbers_of(date, '-')?;
    // Other time zones and parts of seconds are left as numbers.
    let [hour, minute, second] = numbers_of(time.trim().trim_end_matches(".0"), ':')?;
    let is_date = YEARS.contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    let is_time = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
    let days = days_of(year, month, day);
    (is_date && is_time && date_of(days) == (year, month, day))
        .then_some((*len, days * DAY + hour * 3600 + minute * 60 + second))
}

/// Up to three numbers between separators; the last ones may be missing.
fn numbers_of(text: &str, between: char) -> Option<[i64; 3]> {
    let mut numbers = [0; 3];
    let mut parts = text.split(between);
    for number in &mut numbers {
        let Some(part) = parts.next() else { break };
        let is_short = part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit());
        *number = part.parse().ok().filter(|_| is_short)?;
    }
    parts.next().is_none().then_some(numbers)
}

/// Days from 1970-01-01 to a date.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    // Years that start in March have their leap day at the end.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leaps + (month * 153 + 2) / 5 + day - 1 - 719_468
}

/// The date of a day since 1970-01-01.
fn date_of(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    // A year too late at most: 400 years have 146,097 days.
    let mut year = day.div_euclid(146_097) * 400 + day.rem_euclid(146_097) / 365;
    let start = |year: i64| days_of(year, 3, 1) + 719_468;
    while day < start(year) {
        year -= 1;
    }
    let of_year = day - start(year);
    let month = (of_year * 5 + 2) / 153;
    let of_month = of_year - (month * 153 + 2) / 5 + 1;
    if month < 10 { (year, month + 3, of_month) } else { (year + 1, month - 9, of_month) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_the_calendar_has_the_date_after_the_one_before() {
        let lens = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let (mut year, mut month, mut day) = (1583, 1, 1);
        let mut at = days_of(year, month, day);
        assert_eq!(days_of(1970, 1, 1), 0);
        while year < 2500 {
            assert_eq!((date_of(at), days_of(year, month, day)), ((year, month, day), at));
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let len = lens[usize::try_from(month - 1).unwrap()] + i64::from(month == 2 && is_leap);
            (day, at) = (day + 1, at + 1);
            if day > len {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
    }

    #[test]
    fn units_of_times_make_dates() {
        let cases: [(&str, &[f64], &[&str]); 6] = [
            (
                "days since 2020-01-01",
                &[0.0, 59.0, 366.0],
                &["2020-01-01", "2020-02-29", "2021-01-01"],
            ),
            (
                "hours since 1900-01-01 00:00:00.0",
                &[0.0, 6.0],
                &["1900-01-01T00:00", "1900-01-01T06:00"],
            ),
            (
                "Seconds since 1970-01-01T00:00:00Z",
                &[1.0, 60.0],
                &["1970-01-01T00:00:01", "1970-01-01T00:01:00"],
            ),
            ("ns since 1970-01-01", &[1.7e18], &["2023-11-14T22:13:20"]),
            ("days since 2000-1-1", &[-0.5], &["1999-12-31T12:00"]),
            ("minutes since 2000-03-01 12", &[0.0], &["2000-03-01T12:00"]),
        ];
        for (unit, numbers, wanted) in cases {
            assert_eq!(dates(unit, numbers).unwrap(), wanted, "{unit}");
        }
    }

    #[test]
    fn what_is_no_date_stays_a_number() {
        let units = [
            "K",
            "days",
            "months since 2000-01-01",
            "days since 2000-02-30",
            "days since 0000-01-01",
            "days since 1582-10-04",
            "hours since 2000-01-01 00:00 +05:30",
            "days since ",
            "days since 2000-13-01",
            "days since 99999-01-01",
            "days since 2000-01-01 25:00",
            "days since \u{661}-1-1",
        ];
        for unit in units {
            assert_eq!(dates(unit, &[1.0]), None, "{unit}");
        }
        for number in [1e300, f64::NAN, f64::INFINITY, -1e6, 1e-4] {
            assert_eq!(dates("days since 2000-01-01", &[number]), None, "{number}");
        }
    }
}
