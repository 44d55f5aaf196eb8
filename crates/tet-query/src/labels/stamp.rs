//! Dates as texts, as loggers write them: `2024-07`, `2024-07-15`, `2024-07-15 06:00`, and so on to fractions of a second.
//! An axis may have millions of them, so no pattern is matched.

use super::calendar::Calendar;
use super::times::{Instant, instant_of_parts};

/// The first instant of a date, in the Gregorian calendar; `None` for other texts.
pub(super) fn instant_of(date: &str) -> Option<Instant> {
    let bytes = date.as_bytes();
    let year = number(bytes, 0, 4)?;
    // Month, day, hour, minute and second, each with what is in front of it.
    let mut parts = [1, 1, 0, 0, 0];
    let mut end = 4;
    for (part, marks) in parts.iter_mut().zip(["-", "-", "T ", ":", ":"]) {
        if !bytes.get(end).is_some_and(|mark| marks.as_bytes().contains(mark)) {
            break;
        }
        *part = number(bytes, end + 1, 2)?;
        end += 3;
    }
    let [month, day, clock @ ..] = parts;
    let mut nanoseconds = 0;
    if end == SECONDS_END && bytes.get(end) == Some(&b'.') {
        let len = bytes[end + 1..].iter().take_while(|it| it.is_ascii_digit()).count();
        let digits = number(bytes, end + 1, len).filter(|_| (1..=9).contains(&len))?;
        nanoseconds = Instant::from(digits) * Instant::pow(10, u32::try_from(9 - len).ok()?);
        end += 1 + len;
    }
    if HOUR_END <= end && bytes.get(end) == Some(&b'Z') {
        end += 1;
    }
    let is_all = end == bytes.len();
    let date = [year, month, day];
    is_all.then(|| instant_of_parts(Calendar::Gregorian, date, clock, nanoseconds)).flatten()
}

/// Where a date with an hour ends, and one with seconds.
const HOUR_END: usize = "2024-07-15T06".len();
const SECONDS_END: usize = "2024-07-15T06:00:00".len();

/// The number of so many digits, nine at most.
fn number(bytes: &[u8], start: usize, len: usize) -> Option<u32> {
    let digits = bytes.get(start..start.checked_add(len)?)?;
    let next =
        |all: u32, digit: &u8| digit.is_ascii_digit().then(|| all * 10 + u32::from(digit - b'0'));
    if 9 < len { None } else { digits.iter().try_fold(0, next) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::times::{DAY, HOUR, MINUTE, SECOND};

    #[test]
    fn dates_are_read_to_their_precision() {
        let day = |year, month, day| Calendar::Gregorian.days(year, month, day).unwrap() * DAY;
        let morning = day(2024, 2, 29) + 6 * HOUR + 7 * MINUTE;
        for (date, wanted) in [
            ("2024", day(2024, 1, 1)),
            ("2024-02", day(2024, 2, 1)),
            ("2024-02-29", day(2024, 2, 29)),
            ("2024-02-29T06", day(2024, 2, 29) + 6 * HOUR),
            ("2024-02-29T06Z", day(2024, 2, 29) + 6 * HOUR),
            ("2024-02-29 06:07", morning),
            ("2024-02-29T06:07:08", morning + 8 * SECOND),
            ("2024-02-29T06:07:08Z", morning + 8 * SECOND),
            ("2024-02-29T06:07:08.5", morning + 8 * SECOND + 500_000_000),
            ("2024-02-29 06:07:08.000000001Z", morning + 8 * SECOND + 1),
        ] {
            assert_eq!(instant_of(date), Some(wanted), "{date}");
        }
    }

    #[test]
    fn other_texts_are_no_dates() {
        for text in [
            "",
            "202",
            "20240",
            "2024-",
            "2024-1",
            "2024-13",
            "2024-00",
            "2024-02-30",
            "2024-02-29Z",
            "2024-02-29T",
            "2024-02-29T24",
            "2024-02-29T06:60",
            "2024-02-29T06:07:60",
            "2024-02-29T06.5",
            "2024-02-29T06:07:08.",
            "2024-02-29T06:07:08.0000000001",
            "2024-02-29T06:07:08+01:00",
            "2024-02-29T06:07:08ZZ",
            " 2024-02-29",
            "2024-02-29 ",
            "2024/02/29",
            "\u{ff12}\u{ff10}\u{ff12}\u{ff14}-02",
            "2024-02-29x06",
            "+024-02-29",
            "2024-+2",
        ] {
            assert_eq!(instant_of(text), None, "{text:?}");
        }
    }
}
