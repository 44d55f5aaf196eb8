//! Sizes in bytes: formatted as text, parsed from options.

use std::fmt;
use std::ops::RangeInclusive;

const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// A number of bytes, printed with three digits and a binary unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut whole = self.0;
        let mut rest = 0;
        let mut unit = 0;
        while whole >= 1024 && unit + 1 < UNITS.len() {
            rest = whole % 1024;
            whole /= 1024;
            unit += 1;
        }
        let text = match (unit, whole) {
            (0, _) | (_, 100..) => format!("{whole} {}", UNITS[unit]),
            (_, 10..100) => format!("{whole}.{} {}", rest * 10 / 1024, UNITS[unit]),
            _ => format!("{whole}.{:02} {}", rest * 100 / 1024, UNITS[unit]),
        };
        f.pad(&text)
    }
}

impl Size {
    /// The size in fewer characters, for tables: `61.2K`.
    #[must_use]
    pub(crate) fn brief(self) -> String {
        self.to_string().replace(" B", "").replace("iB", "").replace(' ', "")
    }
}

/// Reads `4096`, `64KiB`, `512M` or `1.5 GiB`; `K`, `kB` and `KiB` all mean 1024.
///
/// # Errors
///
/// The text is not a number with one of these units, or the size is past 2^63.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    tet_io::parse_size(text, 1024)
}

/// Reads a number of threads.
///
/// # Errors
///
/// The text is not a number, or above the limit.
pub(crate) fn parse_threads(text: &str) -> Result<usize, String> {
    parse_count(text, "threads", 0..=tet_query::THREADS_MAX)
}

/// Reads a number of requests at the same time.
///
/// # Errors
///
/// The text is not a number, is zero, or above the limit.
pub(crate) fn parse_depth(text: &str) -> Result<usize, String> {
    parse_count(text, "requests", 1..=256)
}

fn parse_count(text: &str, of: &str, range: RangeInclusive<usize>) -> Result<usize, String> {
    let count = text.trim().parse().ok().filter(|count| range.contains(count));
    let (least, most) = range.into_inner();
    count.ok_or_else(|| format!("{text:?} is not a number of {of}: give {least} to {most}"))
}

/// As [`parse`], but `K` and `kB` mean 1000, as in the shard sizes of model libraries.
///
/// # Errors
///
/// As [`parse`].
pub(crate) fn parse_decimal(text: &str) -> Result<u64, String> {
    tet_io::parse_size(text, 1000)
}

/// Prints a count with its digits in groups of three, `1,234,567`.
#[must_use]
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 chunk`, `2 chunks`: a count with its noun.
#[must_use]
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_print_with_three_digits() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (1536, "1.50 KiB"),
            (10 << 20, "10.0 MiB"),
            ((100 << 20) + 1, "100 MiB"),
            (u64::MAX, "15.9 EiB"),
        ];
        for (size, want) in cases {
            assert_eq!(Size(size).to_string(), want);
        }
    }

    #[test]
    fn brief_sizes_keep_the_letter_only() {
        for (size, want) in [(0, "0"), (1023, "1023"), (1536, "1.50K"), (10 << 20, "10.0M")] {
            assert_eq!(Size(size).brief(), want);
        }
    }

    #[test]
    fn sizes_parse_with_binary_units() {
        let cases = [("4096", 4096), ("64KiB", 65536), ("1.5 GiB", 3 << 29), ("2g", 2 << 30)];
        for (text, want) in cases {
            assert_eq!(parse(text), Ok(want), "{text}");
        }
        for text in ["", "KiB", "-1", "1x", "99999999999TiB", "1.2.3"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn counts_are_grouped_by_three() {
        for (count, want) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(count), want);
        }
    }
}
