//! Labels that follow from a start, a step and an end: `90..-90/0.25`, `2024-01-01..2024-12-31/1D`, `0..+0.5`.

use tet_query::Calendar;

/// Labels at equal distances: numbers, or dates and times of the Gregorian calendar.
///
/// # Examples
///
/// ```
/// use tet_container::LabelRange;
///
/// let lat = LabelRange::parse("90..-90/0.5").expect("a range");
/// assert_eq!((lat.count(361), lat.texts(3)), (361, vec!["90".into(), "89.5".into(), "89".into()]));
/// let days = LabelRange::parse("2024-02-28..2024-03-01/1D").expect("a range");
/// assert_eq!(days.texts(3), ["2024-02-28", "2024-02-29", "2024-03-01"]);
/// // Without an end there are as many as positions.
/// let hours = LabelRange::parse("2024-01-01..+6h").expect("a range");
/// assert_eq!((hours.count(9), hours.texts(2)[1].as_str()), (9, "2024-01-01T06:00:00"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelRange {
    steps: Steps,
    /// How many there are, if the range has an end.
    count: Option<u64>,
}

/// How one label follows from its number.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Steps {
    /// Numbers in units of a power of ten.
    Numbers { start: i128, step: i128, digits: usize },
    /// Seconds since 1970.
    Seconds { start: i64, step: i64, has_time: bool },
    /// Months after a day.
    Months { start: i64, step: i64, has_time: bool },
}

/// The most digits of a number, before and behind the point.
const DIGITS_MAX: usize = 15;
/// Years of dates.
const YEARS: std::ops::RangeInclusive<i64> = 1..=9999;
const DAY: i64 = 86_400;

impl LabelRange {
    /// Reads `START..STOP`, `START..STOP/STEP` or `START..+STEP`. The end is a label if a step meets it. Steps of numbers
    /// are 1 if there is none; those of dates are a number and a unit: s, m, h, D, W, M (months) or Y, and 1D if there is
    /// none. `None` for another text.
    #[must_use]
    pub fn parse(text: &str) -> Option<LabelRange> {
        let (start, rest) = text.split_once("..")?;
        let (stop, step) = match rest.strip_prefix('+') {
            Some(step) => (None, Some(step)),
            None => match rest.split_once('/') {
                Some((stop, step)) => (Some(stop), Some(step)),
                None => (Some(rest), None),
            },
        };
        let (start, stop) = (start.trim(), stop.map(str::trim));
        match date(start) {
            Some((start, has_time)) => dates(start, has_time, stop, step.unwrap_or("1D").trim()),
            None => numbers(start, stop, step.unwrap_or("1").trim()),
        }
    }

    /// How many labels there are for an axis of this many positions.
    #[must_use]
    pub fn count(&self, extent: u64) -> u64 {
        self.count.unwrap_or(extent)
    }

    /// The first labels. A date past the year 9999 ends them.
    #[must_use]
    pub fn texts(&self, count: u64) -> Vec<String> {
        (0..count).map_while(|nth| self.text(nth)).collect()
    }

    fn text(&self, nth: u64) -> Option<String> {
        match self.steps {
            Steps::Numbers { start, step, digits } => {
                let number = step.checked_mul(nth.into())?.checked_add(start)?;
                Some(decimal(number, digits))
            }
            Steps::Seconds { start, step, has_time } => {
                let at = step.checked_mul(i64::try_from(nth).ok()?)?.checked_add(start)?;
                iso(at, has_time)
            }
            Steps::Months { start, step, has_time } => {
                let by = step.checked_mul(i64::try_from(nth).ok()?)?;
                iso(after_months(start, by)?, has_time)
            }
        }
    }
}

/// A range of numbers.
fn numbers(start: &str, stop: Option<&str>, step: &str) -> Option<LabelRange> {
    let texts = [Some(start), stop, Some(step)];
    let behind = |text: &str| text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let digits = texts.iter().flatten().map(|text| behind(text)).max().unwrap_or(0);
    let [start, step] = [scaled(start, digits)?, scaled(step, digits)?];
    let Some(stop) = stop else {
        let steps = Steps::Numbers { start, step, digits };
        return (step != 0).then_some(LabelRange { steps, count: None });
    };
    let stop = scaled(stop, digits)?;
    let size = step.checked_abs().filter(|size| *size != 0)?;
    let count = u64::try_from((stop - start).abs() / size).ok()?.checked_add(1);
    let step = if stop < start { -size } else { size };
    Some(LabelRange { steps: Steps::Numbers { start, step, digits }, count: Some(count?) })
}

/// A decimal number in units of a power of ten.
fn scaled(text: &str, digits: usize) -> Option<i128> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|it| it.is_ascii_digit());
    let is_sound = !whole.is_empty() && is_digits(whole) && is_digits(part);
    if !is_sound || DIGITS_MAX < whole.len() || DIGITS_MAX < digits {
        return None;
    }
    let number: i128 = format!("{whole}{part:0<digits$}").parse().ok()?;
    Some(sign * number)
}

/// A number in units of a power of ten as a decimal, without zeros at its end.
fn decimal(number: i128, digits: usize) -> String {
    let sign = if number < 0 { "-" } else { "" };
    let unit = 10_i128.pow(u32::try_from(digits).unwrap_or(0));
    let (whole, part) = (number.abs() / unit, number.abs() % unit);
    let text = match digits {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{part:0>digits$}"),
    };
    if digits == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

/// A range of dates.
fn dates(start: i64, has_time: bool, stop: Option<&str>, step: &str) -> Option<LabelRange> {
    let stop = match stop {
        Some(stop) => Some(date(stop)?),
        None => None,
    };
    let has_time = has_time || stop.is_some_and(|it| it.1);
    let unit_at = step.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = step.split_at(unit_at);
    let number: i64 = if number.is_empty() { 1 } else { number.parse().ok()? };
    if number == 0 {
        return None;
    }
    let seconds = match unit {
        "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3600),
        "D" => Some(DAY),
        "W" => Some(7 * DAY),
        "M" | "Y" => None,
        _ => return None,
    };
    let sign = if stop.is_some_and(|stop| stop.0 < start) { -1 } else { 1 };
    let Some(seconds) = seconds else {
        let step = number.checked_mul(if unit == "Y" { 12 } else { 1 })?.checked_mul(sign)?;
        let steps = Steps::Months { start, step, has_time };
        let count = stop.map(|(stop, _)| {
            let is_within = |nth: &i64| {
                let at = step.checked_mul(*nth).and_then(|by| after_months(start, by));
                at.is_some_and(|at| if sign < 0 { stop <= at } else { at <= stop })
            };
            // There are fewer months than that in all years.
            (0..120_000).take_while(is_within).count() as u64
        });
        return Some(LabelRange { steps, count });
    };
    let step = number.checked_mul(seconds)?.checked_mul(sign)?;
    let has_time = has_time || step % DAY != 0;
    let count = match stop {
        Some((stop, _)) => Some(u64::try_from((stop - start) / step).ok()?.checked_add(1)?),
        None => None,
    };
    Some(LabelRange { steps: Steps::Seconds { start, step, has_time }, count })
}

/// Seconds since 1970 of `2024-01-31`, `2024-01-31T06:00` or with seconds, and whether it has a time of the day.
fn date(text: &str) -> Option<(i64, bool)> {
    let (day, time) = match text.split_once(['T', ' ']) {
        Some((day, time)) => (day, Some(time.strip_suffix('Z').unwrap_or(time))),
        None => (text, None),
    };
    let number = |text: &str, len: usize| {
        let is_sound = text.len() == len && text.bytes().all(|it| it.is_ascii_digit());
        if is_sound { text.parse::<i64>().ok() } else { None }
    };
    let parts: Vec<&str> = day.split('-').collect();
    let &[year, month, day] = parts.as_slice() else { return None };
    let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
    let mut seconds = start_of(year, u32::try_from(month).ok()?, u32::try_from(day).ok()?)?;
    if let Some(time) = time {
        let parts: Vec<&str> = time.split(':').collect();
        let parts = parts.into_iter().map(|it| number(it, 2)).collect::<Option<Vec<i64>>>()?;
        let (hour, minute, second) = match *parts.as_slice() {
            [hour, minute] => (hour, minute, 0),
            [hour, minute, second] => (hour, minute, second),
            _ => return None,
        };
        if 23 < hour || 59 < minute || 59 < second {
            return None;
        }
        seconds += hour * 3600 + minute * 60 + second;
    }
    Some((seconds, time.is_some()))
}

/// A time as ISO 8601 writes it; `None` past the years that have four digits.
fn iso(at: i64, has_time: bool) -> Option<String> {
    let (year, month, day) = date_of(at);
    if !YEARS.contains(&year) {
        return None;
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    let seconds = at.rem_euclid(DAY);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    Some(if has_time { format!("{date}T{hour:02}:{minute:02}:{second:02}") } else { date })
}

/// The day and time some months later; the last day of a month that is shorter.
fn after_months(at: i64, months: i64) -> Option<i64> {
    let (year, month, day) = date_of(at);
    let number = (year * 12 + i64::from(month) - 1).checked_add(months)?;
    let (year, month) = (number.div_euclid(12), u32::try_from(number.rem_euclid(12) + 1).ok()?);
    let start = (1..=day).rev().find_map(|day| start_of(year, month, day))?;
    Some(start + at.rem_euclid(DAY))
}

/// The second since 1970 at which a day begins; `None` for a day that the calendar has not.
fn start_of(year: i64, month: u32, day: u32) -> Option<i64> {
    let days = Calendar::Gregorian.days(year, month, day).filter(|_| YEARS.contains(&year))?;
    i64::try_from(days).ok()?.checked_mul(DAY)
}

/// Year, month and day of a second since 1970.
fn date_of(at: i64) -> (i64, u32, u32) {
    Calendar::Gregorian.date(at.div_euclid(DAY).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, extent: u64) -> Vec<String> {
        let range = LabelRange::parse(text).unwrap_or_else(|| panic!("{text}"));
        range.texts(range.count(extent))
    }

    #[test]
    fn numbers_are_exact_decimals_and_meet_their_end() {
        assert_eq!(texts("0..3", 0), ["0", "1", "2", "3"]);
        assert_eq!(texts("0..1/0.3", 0), ["0", "0.3", "0.6", "0.9"]);
        assert_eq!(texts("1..-1/0.5", 0), ["1", "0.5", "0", "-0.5", "-1"]);
        assert_eq!(texts("-0.05..0.05/0.05", 0), ["-0.05", "0", "0.05"]);
        assert_eq!(texts("10..+-2.50", 3), ["10", "7.5", "5"]);
        let lat = texts("90..-90/0.25", 0);
        assert_eq!((lat.len(), lat[720].as_str(), lat[1].as_str()), (721, "-90", "89.75"));
    }

    #[test]
    fn dates_and_times_are_iso() {
        let days = texts("2024-01-01..2024-12-31/1D", 0);
        assert_eq!(
            (days.len(), days[59].as_str(), days[365].as_str()),
            (366, "2024-02-29", "2024-12-31")
        );
        assert_eq!(
            texts("2023-12-31..+12h", 3)[1..],
            ["2023-12-31T12:00:00", "2024-01-01T00:00:00"]
        );
        assert_eq!(
            texts("2024-01-31..2024-04-30/1M", 0),
            ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"]
        );
        assert_eq!(texts("2000-02-29..+Y", 2), ["2000-02-29", "2001-02-28"]);
        assert_eq!(texts("2024-01-02..2024-01-01", 0), ["2024-01-02", "2024-01-01"]);
        assert_eq!(texts("2024-01-01T00:30..2024-01-01T01:30/30m", 0).len(), 3);
        assert_eq!(texts("9999-12-30..+1D", 9), ["9999-12-30", "9999-12-31"]);
    }

    #[test]
    fn other_texts_are_no_ranges() {
        for text in [
            "a..b",
            "1",
            "1..",
            "1..2/0",
            "1..2/x",
            "..3",
            "2024-02-30..+1D",
            "2024-01-01..+0D",
            "2024-01-01..5",
            "2024-01-01..+6",
            "2024-01-01..+6x",
            "1..2/99999999999999999999",
            "1e3..2e3",
            "--1..2",
            "1..+",
        ] {
            assert_eq!(LabelRange::parse(text), None, "{text}");
        }
    }
}
