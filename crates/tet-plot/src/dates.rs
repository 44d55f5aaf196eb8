//! Marks along an axis of times: round dates of any calendar, with texts as short as their step allows.
//!
//! ```text
//!   step        text                    what the text leaves out, which the title of the axis says
//!   years       2001
//!   months      2001-07
//!   days        07-15                   the year; of two years 2001-07-15
//!   hours       12:00, midnight 07-16   the day; of several days the year
//! ```

use tet_query::{Calendar, Moments};

const SECOND: i128 = 1_000_000_000;
const MINUTE: i128 = 60 * SECOND;
const HOUR: i128 = 60 * MINUTE;
const DAY: i128 = 24 * HOUR;
/// The years of a long step are no more than this power of ten.
const YEARS_MAX: u32 = 16;
/// A month or a year from one time to the next may be this much longer or shorter than the mean one.
const UNEVEN: i128 = 4 * DAY;

/// A mark at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DateMark {
    /// Nanoseconds, as those of [`Moments`].
    pub(crate) at: i128,
    pub(crate) text: String,
    /// The year or the day that the text leaves out; empty if nothing.
    pub(crate) of: String,
}

/// The distance of marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TickStep {
    Nanoseconds(i128),
    Days(u32),
    Months(i64),
    Years(i64),
}

impl TickStep {
    /// From the shortest to the longest.
    fn all() -> impl Iterator<Item = TickStep> {
        let tens = |most: u32| {
            (0..most).flat_map(|power| [1, 2, 5].map(|times| times * 10_i64.pow(power)))
        };
        let sixths = [1, 2, 5, 10, 15, 30];
        tens(9)
            .map(|step| TickStep::Nanoseconds(step.into()))
            .chain(
                [SECOND, MINUTE]
                    .into_iter()
                    .flat_map(move |unit| sixths.map(|it| it * unit))
                    .map(TickStep::Nanoseconds),
            )
            .chain([1, 2, 3, 6, 12].map(|hours| TickStep::Nanoseconds(hours * HOUR)))
            .chain([1, 2, 5, 10, 15].map(TickStep::Days))
            .chain([1, 2, 3, 6].map(TickStep::Months))
            .chain(tens(YEARS_MAX).map(TickStep::Years))
    }

    /// About how long it is, at most.
    fn len(self) -> i128 {
        match self {
            TickStep::Nanoseconds(step) => step,
            TickStep::Days(days) => i128::from(days) * DAY,
            TickStep::Months(months) => i128::from(months) * 31 * DAY,
            TickStep::Years(years) => i128::from(years) * 366 * DAY,
        }
    }

    /// The digits after the seconds; `None` of whole minutes.
    fn digits(self) -> Option<usize> {
        let TickStep::Nanoseconds(step) = self else { return None };
        let is_power = |digits: &usize| {
            step % (SECOND / 10_i128.pow(u32::try_from(*digits).unwrap_or(9))) == 0
        };
        if step % MINUTE == 0 { None } else { (0..=9).find(is_power) }
    }
}

/// Marks at round times between the edges, about `count` of them.
pub(crate) fn round_dates(span: &Span, count: usize) -> Vec<DateMark> {
    let count = i128::try_from(count.max(1)).unwrap_or(1);
    let [low, high] = span.edges;
    let len = high.saturating_sub(low);
    let is_long = |step: &TickStep| step.len().saturating_mul(count) >= len;
    let Some(step) = TickStep::all().find(is_long) else { return Vec::new() };
    let (low, high) = (low.saturating_sub(span.margin), high.saturating_add(span.margin));
    let clock = Clock { calendar: span.calendar, shown: span.shown, low, high };
    let marks = match step {
        TickStep::Nanoseconds(step) => clock.multiples(step),
        TickStep::Days(days) => {
            clock.months(1).into_iter().flat_map(|start| clock.days(start, days)).collect()
        }
        TickStep::Months(months) => clock.months(months),
        TickStep::Years(years) => clock.years(years),
    };
    let marks = marks.into_iter().filter(|at| (low..=high).contains(at));
    marks.map(|at| clock.mark(at, step)).collect()
}

/// The times of an axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) calendar: Calendar,
    /// The earliest and the latest of them.
    pub(crate) shown: [i128; 2],
    /// The ends of the axis.
    pub(crate) edges: [i128; 2],
    /// Marks this much past the ends are wanted as well.
    pub(crate) margin: i128,
}

/// A calendar, the times that an axis shows, and from when to when marks are.
struct Clock {
    calendar: Calendar,
    shown: [i128; 2],
    low: i128,
    high: i128,
}

impl Clock {
    fn date(&self, at: i128) -> (i64, u32, u32) {
        self.calendar.date(at.div_euclid(DAY))
    }

    /// The start of a month.
    fn start(&self, year: i64, month: u32) -> Option<i128> {
        Some(self.calendar.days(year, month, 1)? * DAY)
    }

    fn multiples(&self, step: i128) -> Vec<i128> {
        let first = self.low.div_euclid(step) * step;
        let at = (0..).map(|nth| first + nth * step);
        at.take_while(|at| *at <= self.high).collect()
    }

    /// The starts of months, from the one that `low` is in.
    fn months(&self, step: i64) -> Vec<i128> {
        let (year, month, _) = self.date(self.low);
        let month = i64::from(month) - 1;
        let first = year.saturating_mul(12).saturating_add(month - month % step);
        let start = |nth: i64| {
            let months = first.checked_add(nth * step)?;
            let month = u32::try_from(months.rem_euclid(12) + 1).ok()?;
            self.start(months.div_euclid(12), month)
        };
        (0..).map_while(start).take_while(|at| *at <= self.high).collect()
    }

    fn years(&self, step: i64) -> Vec<i128> {
        let year = self.date(self.low).0;
        let first = year.div_euclid(step).saturating_mul(step);
        let start = |nth: i64| self.start(first.checked_add(nth.checked_mul(step)?)?, 1);
        (0..).map_while(start).take_while(|at| *at <= self.high).collect()
    }

    /// The first day of a month, and each one `step` days later that is not too near to the next month.
    fn days(&self, start: i128, step: u32) -> Vec<i128> {
        let (year, month, _) = self.date(start);
        let last = if step == 1 { 31 } else { 30 - step / 2 };
        let days = (1..=last).step_by(step as usize);
        let start = |day| Some(self.calendar.days(year, month, day)? * DAY);
        days.filter_map(start).collect()
    }

    fn mark(&self, at: i128, step: TickStep) -> DateMark {
        let (year, month, day) = self.date(at);
        let is_one_year = self.shown.iter().all(|&shown| self.date(shown).0 == year);
        let is_one_day = self.shown.iter().all(|shown| shown.div_euclid(DAY) == at.div_euclid(DAY));
        let of_year = || if is_one_year { format!("{year:04}") } else { String::new() };
        let (text, of) = match step {
            TickStep::Years(_) => (format!("{year:04}"), String::new()),
            TickStep::Months(_) => (format!("{year:04}-{month:02}"), String::new()),
            TickStep::Nanoseconds(_) if is_one_day => (time(at, step.digits()), self.day_text(at)),
            TickStep::Nanoseconds(_) if at.rem_euclid(DAY) != 0 => {
                (time(at, step.digits()), of_year())
            }
            _ if is_one_year => (format!("{month:02}-{day:02}"), of_year()),
            _ => (self.day_text(at), String::new()),
        };
        DateMark { at, text, of }
    }

    /// Whether times follow one another by this many months, or a few times as many.
    fn is_every(&self, all: &[i128], months: i64) -> bool {
        let months_of = |at: i128| {
            let (year, month, _) = self.date(at);
            year.saturating_mul(12).saturating_add(i64::from(month))
        };
        let first = self.date(self.low).0;
        let starts = self.start(first, 1).zip(self.start(first.saturating_add(1), 1));
        let Some(year_len) = starts.map(|(start, end)| end - start) else { return false };
        let is_apart = |pair: &[i128]| {
            let apart = months_of(pair[1]).saturating_sub(months_of(pair[0])).saturating_abs();
            let mean = i128::from(apart) * year_len / 12;
            let uneven = UNEVEN * i128::from(apart / 12 + 1);
            apart > 0 && apart % months == 0 && ((pair[1] - pair[0]).abs() - mean).abs() <= uneven
        };
        all.len() > 1 && all.windows(2).all(is_apart)
    }

    /// A mark that leaves nothing out.
    fn whole(&self, at: i128, precision: TickStep) -> DateMark {
        let day = self.day_text(at);
        let is_midnight = at.rem_euclid(DAY) == 0;
        let text =
            if is_midnight { day } else { format!("{day}T{}", time(at, precision.digits())) };
        DateMark { at, text, of: String::new() }
    }

    fn day_text(&self, at: i128) -> String {
        let (year, month, day) = self.date(at);
        format!("{year:04}-{month:02}-{day:02}")
    }
}

/// Hours and minutes, and seconds with this many digits after them.
fn time(at: i128, digits: Option<usize>) -> String {
    let rest = at.rem_euclid(DAY);
    let (hours, minutes) = (rest / HOUR, rest % HOUR / MINUTE);
    let seconds = rest % MINUTE / SECOND;
    match digits {
        None => format!("{hours:02}:{minutes:02}"),
        Some(0) => format!("{hours:02}:{minutes:02}:{seconds:02}"),
        Some(digits) => {
            let fraction = format!("{:09}", rest % SECOND);
            format!("{hours:02}:{minutes:02}:{seconds:02}.{}", &fraction[..digits.min(9)])
        }
    }
}

/// A mark at each of a few times: of years and months where they follow one another by those.
pub(crate) fn own_dates(moments: &Moments) -> Vec<DateMark> {
    let all = &moments.nanoseconds;
    let (Some(&first), Some(&last)) = (all.first(), all.last()) else { return Vec::new() };
    let (low, high) = (first.min(last), first.max(last));
    let clock = Clock { calendar: moments.calendar, shown: [low, high], low, high };
    let step = match () {
        () if clock.is_every(all, 12) => Some(TickStep::Years(1)),
        () if clock.is_every(all, 1) => Some(TickStep::Months(1)),
        () if all.iter().all(|at| (at - first) % DAY == 0) => Some(TickStep::Days(1)),
        () => None,
    };
    // As many digits as the most precise of the times has.
    let steps = TickStep::all().filter(|step| step.len() <= MINUTE);
    let fits = |step: &TickStep| all.iter().all(|at| at % step.len() == 0);
    let precision = steps.filter(fits).last().unwrap_or(TickStep::Nanoseconds(1));
    let mark = |&at: &i128| match step {
        // A time alone has all of its date.
        Some(TickStep::Days(_)) if all.len() == 1 => clock.whole(at, precision),
        Some(step) => clock.mark(at, step),
        None if low.div_euclid(DAY) == high.div_euclid(DAY) => clock.mark(at, precision),
        None => clock.whole(at, precision),
    };
    all.iter().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(calendar: Calendar, date: [i64; 3], ns: i128) -> i128 {
        let [year, month, day] = date;
        let days = calendar.days(year, u32::try_from(month).unwrap(), u32::try_from(day).unwrap());
        days.unwrap() * DAY + ns
    }

    fn round(calendar: Calendar, low: i128, high: i128, count: usize) -> Vec<DateMark> {
        let span = Span { calendar, shown: [low, high - 1], edges: [low, high], margin: 0 };
        round_dates(&span, count)
    }

    fn texts(marks: &[DateMark]) -> String {
        marks.iter().map(|mark| mark.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn marks_are_round_dates_whatever_the_span() {
        let gregorian = |date, ns| at(Calendar::Gregorian, date, ns);
        // From, to, marks, their texts, and what these leave out.
        let cases = [
            ([1850, 1, 1], [2101, 1, 1], 6, "1850 1900 1950 2000 2050 2100", ""),
            ([2001, 1, 1], [2011, 1, 1], 5, "2002 2004 2006 2008 2010", ""),
            ([2001, 1, 1], [2003, 1, 1], 4, "2001-01 2001-07 2002-01 2002-07 2003-01", ""),
            ([2001, 1, 1], [2002, 1, 1], 5, "2001-01 2001-04 2001-07 2001-10 2002-01", ""),
            ([2001, 5, 20], [2001, 8, 2], 3, "2001-06 2001-07 2001-08", ""),
            ([2001, 7, 1], [2001, 8, 1], 3, "07-01 07-16 08-01", "2001"),
            ([2001, 7, 8], [2001, 7, 27], 4, "07-11 07-16 07-21 07-26", "2001"),
            ([2001, 7, 8], [2001, 7, 11], 4, "07-08 07-09 07-10 07-11", "2001"),
            ([2001, 12, 30], [2002, 1, 2], 4, "2001-12-30 2001-12-31 2002-01-01 2002-01-02", ""),
            ([2001, 7, 8], [2001, 7, 9], 4, "00:00 06:00 12:00 18:00 07-09", "2001-07-08"),
            ([2001, 7, 8], [2001, 7, 10], 4, "07-08 12:00 07-09 12:00 07-10", "2001"),
        ];
        for (low, high, count, wanted, of) in cases {
            let (low, high) = (gregorian(low, 0), gregorian(high, 0));
            let marks = round(Calendar::Gregorian, low, high, count);
            assert_eq!(texts(&marks), wanted);
            assert_eq!(marks[0].of, of, "{marks:?}");
        }
        let noon = gregorian([2001, 7, 8], 12 * HOUR);
        let cases = [
            (90 * MINUTE, 3, "12:00 12:30 13:00 13:30", "2001-07-08"),
            (20 * MINUTE, 2, "12:00 12:10 12:20", "2001-07-08"),
            (2 * MINUTE, 4, "12:00:00 12:00:30 12:01:00 12:01:30 12:02:00", "2001-07-08"),
            (SECOND, 2, "12:00:00.0 12:00:00.5 12:00:01.0", "2001-07-08"),
            (50, 1, "12:00:00.00000000 12:00:00.00000005", "2001-07-08"),
        ];
        for (len, count, wanted, of) in cases {
            let marks = round(Calendar::Gregorian, noon, noon + len, count);
            assert_eq!((texts(&marks).as_str(), marks[0].of.as_str()), (wanted, of));
        }
    }

    #[test]
    fn marks_are_dates_of_their_calendar() {
        let cases = [
            (Calendar::NoLeap, "02-26 03-01 03-06"),
            (Calendar::AllLeap, "02-26 03-01 03-06"),
            (Calendar::Days360, "02-26 03-01 03-06"),
            (Calendar::Julian, "02-26 03-01 03-06"),
            (Calendar::Standard, "02-26 03-01 03-06"),
        ];
        for (calendar, wanted) in cases {
            let (low, high) = (at(calendar, [1900, 2, 25], 0), at(calendar, [1900, 3, 7], 0));
            let marks = round(calendar, low, high, 3);
            assert_eq!(texts(&marks), wanted, "{calendar:?}");
            for mark in &marks {
                assert_eq!(mark.at % DAY, 0, "{calendar:?}");
            }
            // The last day of February.
            let last = calendar.date(marks[1].at / DAY - 1).2;
            let wanted = match calendar {
                Calendar::Days360 => 30,
                Calendar::AllLeap | Calendar::Julian => 29,
                _ => 28,
            };
            assert_eq!(last, wanted, "{calendar:?}");
        }
        let (low, high) =
            (at(Calendar::Standard, [1582, 10, 1], 0), at(Calendar::Standard, [1582, 10, 20], 0));
        let marks = round(Calendar::Standard, low, high, 5);
        assert_eq!(texts(&marks), "10-01 10-03 10-15 10-17 10-19");
    }

    #[test]
    fn few_times_have_their_own_dates() {
        let moments = |dates: &[&str]| {
            let dates: Vec<String> = dates.iter().map(|&date| date.to_owned()).collect();
            own_dates(&Moments::parse(&dates).unwrap())
        };
        let cases: [(&[&str], &str, &str); 9] = [
            (&["2001-07-02", "2002-07-02"], "2001 2002", ""),
            (
                &["2001-01-16T12:00", "2001-02-15", "2001-03-16T12:00"],
                "2001-01 2001-02 2001-03",
                "",
            ),
            (&["2001-01-16", "2001-07-16"], "2001-01 2001-07", ""),
            (&["2001-07-14T12:00", "2001-07-15T12:00"], "07-14 07-15", "2001"),
            (&["2001-12-31", "2002-01-01"], "2001-12-31 2002-01-01", ""),
            (&["2001-07-14T06", "2001-07-14T12"], "06:00 12:00", "2001-07-14"),
            (&["2001-07-14T06:00:01", "2001-07-14T12"], "06:00:01 12:00:00", "2001-07-14"),
            (&["2001-07-14T06", "2001-07-16"], "2001-07-14T06:00 2001-07-16", ""),
            (&["2001-07-14T06:30"], "2001-07-14T06:30", ""),
        ];
        for (dates, wanted, of) in cases {
            let marks = moments(dates);
            assert_eq!((texts(&marks).as_str(), marks[0].of.as_str()), (wanted, of), "{dates:?}");
        }
    }

    #[test]
    fn any_span_has_few_marks() {
        for calendar in [Calendar::Standard, Calendar::NoLeap, Calendar::Days360] {
            for len in (0..33).map(|power| 10_i128.pow(power)).chain([0, 365 * DAY, 3 * HOUR]) {
                for low in [0, -len / 3, at(calendar, [2000, 2, 28], 12 * HOUR + 1)] {
                    for count in 1..13 {
                        let marks = round(calendar, low, low + len, count);
                        assert!(marks.len() <= count * 2 + 2, "{len} {low} {count}: {marks:?}");
                        let is_in = |mark: &DateMark| (low..=low + len).contains(&mark.at);
                        assert!(marks.iter().all(is_in));
                    }
                }
            }
        }
    }
}
