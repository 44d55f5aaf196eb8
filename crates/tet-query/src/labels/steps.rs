//! The steps between the times of an axis: hourly, daily, monthly.

use std::fmt;

use super::Calendar;
use super::times::{DAY, HOUR, Instant, MINUTE, SECOND};

/// The steps between the times of an axis.
///
/// # Examples
///
/// ```
/// use tet_query::TimeSteps;
///
/// let monthly = TimeSteps::Months { count: 1, gaps: 2 };
/// assert_eq!(monthly.to_string(), "monthly with 2 gaps");
/// assert_eq!(TimeSteps::Even { nanoseconds: 21_600_000_000_000, gaps: 0 }.to_string(), "6-hourly");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeSteps {
    /// Steps of one length.
    Even {
        /// Their length.
        nanoseconds: i128,
        /// How many steps are longer, by a whole factor.
        gaps: u64,
    },
    /// Steps of whole months of the calendar.
    Months {
        /// How many months.
        count: u64,
        /// How many steps are longer, by a whole factor.
        gaps: u64,
    },
    /// Times in order, whose steps have no common length.
    Irregular,
    /// Times in order, some of which several positions have.
    Repeated,
    /// Times that neither rise nor fall.
    Unordered,
}

/// Steps may differ from their length by a thousandth of it: times are stored as rounded numbers.
const TOLERANCE: i128 = 1000;
/// Steps of months are at least this long.
const MONTH_MIN: Instant = 28 * DAY - HOUR;
/// Times of months may be this many thousandths of their month apart.
const WITHIN_MONTH: i128 = 100;
/// One of so many steps may be a gap; of axes with more, the steps are irregular.
const STEPS_PER_GAP: u64 = 4;

impl TimeSteps {
    /// The steps of times, in the order of their positions; `None` of fewer than two. A missing time makes them irregular.
    pub(super) fn of_times(times: &[Option<Instant>], calendar: Calendar) -> Option<TimeSteps> {
        if times.len() < 2 {
            return None;
        }
        let Some(mut times) = times.iter().copied().collect::<Option<Vec<Instant>>>() else {
            return Some(TimeSteps::Irregular);
        };
        if times.last() < times.first() {
            times.reverse();
        }
        let steps = differences(&times);
        let least = steps.iter().copied().min()?;
        Some(match least {
            ..0 => TimeSteps::Unordered,
            0 => TimeSteps::Repeated,
            _ => months(&times, least, calendar)
                .or_else(|| even(&times, &steps, least))
                .or_else(|| about_months(&steps))
                .unwrap_or(TimeSteps::Irregular),
        })
    }

    /// How many steps are longer than the others.
    #[must_use]
    pub const fn gaps(self) -> u64 {
        match self {
            TimeSteps::Even { gaps, .. } | TimeSteps::Months { gaps, .. } => gaps,
            _ => 0,
        }
    }
}

fn differences(numbers: &[i128]) -> Vec<i128> {
    numbers.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect()
}

/// Steps of whole months, at about the same part of each month.
fn months(times: &[Instant], least: Instant, calendar: Calendar) -> Option<TimeSteps> {
    if least < MONTH_MIN {
        return None;
    }
    let mut months = Vec::with_capacity(times.len());
    let [mut first, mut last] = [i128::MAX, i128::MIN];
    for &time in times {
        let (year, month, _) = calendar.date(time.div_euclid(DAY));
        let (after, next) = if month == 12 { (year.checked_add(1)?, 1) } else { (year, month + 1) };
        let start = calendar.days(year, month, 1)?.checked_mul(DAY)?;
        let len = calendar.days(after, next, 1)?.checked_mul(DAY)?.checked_sub(start)?;
        let part = time.checked_sub(start)?.checked_mul(1000)?.checked_div(len)?;
        (first, last) = (first.min(part), last.max(part));
        months.push(i128::from(year) * 12 + i128::from(month));
    }
    let steps = differences(&months);
    let count = steps.iter().copied().min().filter(|count| 0 < *count)?;
    let is_alike = last - first <= WITHIN_MONTH;
    let gaps = gaps_among(&steps, |step| step.checked_rem(count) == Some(0), |step| step == count)?;
    let count = u64::try_from(count).ok()?;
    is_alike.then_some(TimeSteps::Months { count, gaps })
}

/// Steps as long as months, whose times are at other days of their months, as in the middle of windows.
fn about_months(steps: &[Instant]) -> Option<TimeSteps> {
    let is_month = |step: &Instant| (MONTH_MIN..=31 * DAY + HOUR).contains(step);
    let is_all = 2 < steps.len() && steps.iter().all(is_month);
    is_all.then_some(TimeSteps::Months { count: 1, gaps: 0 })
}

/// Steps of one length.
fn even(times: &[Instant], steps: &[Instant], least: Instant) -> Option<TimeSteps> {
    let slack = (least / TOLERANCE).max(1).unsigned_abs();
    let is_near = |step: Instant, length: Instant| step.abs_diff(length) <= slack;
    let is_whole = |step: Instant| {
        let factor = step.saturating_add(least / 2) / least;
        is_near(step, least.saturating_mul(factor))
    };
    let gaps = gaps_among(steps, is_whole, |step| is_near(step, least))?;
    let count = i128::try_from(steps.len()).ok()?;
    // Without gaps the mean step is the least rounded one.
    let mean = times.last()?.checked_sub(*times.first()?)? / count;
    let exact = if gaps == 0 { mean } else { least };
    let seconds = exact.saturating_add(SECOND / 2) / SECOND * SECOND;
    let nanoseconds = if 0 < seconds && is_near(seconds, exact) { seconds } else { exact };
    Some(TimeSteps::Even { nanoseconds, gaps })
}

/// How many steps are longer than the others; `None` if some are of no whole factor, or too many are longer.
fn gaps_among(
    steps: &[i128],
    is_whole: impl Fn(i128) -> bool,
    is_one: impl Fn(i128) -> bool,
) -> Option<u64> {
    if !steps.iter().all(|step| is_whole(*step)) {
        return None;
    }
    let gaps = u64::try_from(steps.iter().filter(|step| !is_one(**step)).count()).ok()?;
    let count = u64::try_from(steps.len()).ok()?;
    (gaps.saturating_mul(STEPS_PER_GAP) <= count).then_some(gaps)
}

impl fmt::Display for TimeSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let every = |f: &mut fmt::Formatter<'_>, count: i128, unit: &str, word: &str| match count {
            1 => write!(f, "{word}"),
            count => write!(f, "{count}-{unit}"),
        };
        match *self {
            TimeSteps::Even { nanoseconds: step, .. } if step % DAY == 0 => {
                every(f, step / DAY, "daily", "daily")?;
            }
            TimeSteps::Even { nanoseconds: step, .. } if step % HOUR == 0 => {
                every(f, step / HOUR, "hourly", "hourly")?;
            }
            TimeSteps::Even { nanoseconds: step, .. } if step % MINUTE == 0 => {
                match step / MINUTE {
                    1 => f.write_str("every minute")?,
                    count => write!(f, "every {count} minutes")?,
                }
            }
            TimeSteps::Even { nanoseconds: SECOND, .. } => f.write_str("every second")?,
            TimeSteps::Even { nanoseconds: step, .. } => {
                let digits = format!("{}.{:09}", step / SECOND, step % SECOND);
                let digits = digits.trim_end_matches('0').trim_end_matches('.');
                write!(f, "every {digits} seconds")?;
            }
            TimeSteps::Months { count, .. } if count % 12 == 0 => {
                every(f, i128::from(count / 12), "yearly", "yearly")?;
            }
            TimeSteps::Months { count, .. } => every(f, i128::from(count), "monthly", "monthly")?,
            TimeSteps::Irregular => f.write_str("irregular")?,
            TimeSteps::Repeated => f.write_str("with times that occur several times")?,
            TimeSteps::Unordered => f.write_str("not in order")?,
        }
        match self.gaps() {
            0 => Ok(()),
            1 => f.write_str(" with 1 gap"),
            gaps => write!(f, " with {gaps} gaps"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(days: &[f64], calendar: Calendar) -> String {
        #[allow(clippy::cast_possible_truncation, reason = "small numbers")]
        let times: Vec<_> = days.iter().map(|it| Some((it * 86_400e6) as i128 * 1000)).collect();
        TimeSteps::of_times(&times, calendar).map_or_else(String::new, |it| it.to_string())
    }

    #[test]
    fn even_steps_are_named_by_their_length() {
        let every =
            |step: f64| (0..50).map(|at| 10_957.0 + f64::from(at) * step).collect::<Vec<_>>();
        for (step, wanted) in [
            (1.0, "daily"),
            (5.0, "5-daily"),
            (1.0 / 24.0, "hourly"),
            (0.25, "6-hourly"),
            (1.0 / 1440.0, "every minute"),
            (10.0 / 1440.0, "every 10 minutes"),
            (1.0 / 86_400.0, "every second"),
            (0.5 / 86_400.0, "every 0.5 seconds"),
            (30.0, "30-daily"),
        ] {
            assert_eq!(steps(&every(step), Calendar::Standard), wanted, "{step}");
            let falling: Vec<f64> = every(step).into_iter().rev().collect();
            assert_eq!(steps(&falling, Calendar::Standard), wanted, "{step}, falling");
        }
        assert_eq!(steps(&every(30.0), Calendar::Days360), "monthly");
        assert_eq!(steps(&every(365.0), Calendar::NoLeap), "yearly");
        assert_eq!(steps(&every(360.0), Calendar::Days360), "yearly");
    }

    #[test]
    fn months_are_of_any_length() {
        let date = |year, month, day| {
            #[allow(clippy::cast_precision_loss, reason = "small numbers")]
            Calendar::Standard.days(year, month, day).map_or(0.0, |days| days as f64)
        };
        let days = |day: fn(u32) -> u32, every: usize| -> Vec<f64> {
            let all = (2001..2004).flat_map(|year| (1..=12).map(move |month| (year, month)));
            all.step_by(every).map(|(year, month)| date(year, month, day(month))).collect()
        };
        let last =
            |month: u32| [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month as usize - 1];
        for (day, every, wanted) in [
            ((|_| 1) as fn(u32) -> u32, 1, "monthly"),
            (|_| 16, 1, "monthly"),
            (last, 1, "monthly"),
            (|_| 15, 3, "3-monthly"),
            (|_| 1, 12, "yearly"),
        ] {
            assert_eq!(steps(&days(day, every), Calendar::Standard), wanted, "{every}");
        }
        let firsts = days(|_| 1, 1);
        let middles: Vec<f64> = firsts.windows(3).map(|it| f64::midpoint(it[0], it[2])).collect();
        assert_eq!(steps(&middles, Calendar::Standard), "monthly");
        let mut gap = days(|_| 1, 1);
        gap.remove(5);
        assert_eq!(steps(&gap, Calendar::Standard), "monthly with 1 gap");
    }

    #[test]
    fn other_steps_have_no_length() {
        let of = |days: &[f64]| steps(days, Calendar::Standard);
        assert_eq!(of(&[0.0, 1.0, 3.0, 4.0, 7.0]), "irregular");
        assert_eq!(of(&[0.0, 1.0, 2.0, 3.0, 5.0]), "daily with 1 gap");
        assert_eq!(of(&[0.0, 1.0, 1.0, 2.0]), "with times that occur several times");
        assert_eq!(of(&[0.0, 2.0, 1.0, 3.0]), "not in order");
        assert_eq!(of(&[0.0, 1.0, 2.5]), "irregular");
        assert_eq!(of(&[1.0]), "");
        let missing = [Some(0), None, Some(DAY)];
        let irregular = Some(TimeSteps::Irregular);
        assert_eq!(TimeSteps::of_times(&missing, Calendar::Standard), irregular);
        let far = [Some(i128::MIN), Some(i128::MAX)];
        TimeSteps::of_times(&far, Calendar::Standard);
    }
}
