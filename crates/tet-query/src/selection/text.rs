//! Selections as text.
//!
//! ```text
//!   selection := [ entry { "," entry } [","] ]
//!   entry     := "..." | range | name "=" range | name "#" range | name "~" label [ "within" number ]
//!              | lists and sets of parts of dates
//!   range     := [place] ":" [place] [":" [step]]  |  place
//!   place     := integer | label
//!   label     := quoted text | number with a point | date [ "T" time ] | word (after "=")
//!   name      := word | quoted text
//! ```
//!
//! An integer is a position without a name and after `#`, and a label after `=`.

mod lists;

use super::error::{SelectionError, SelectionFault};
use super::{AxisSelection, Position, Selection, SelectionForm, Stop};
use crate::axis::AxisRef;

/// The most entries a selection may have; more than any container has axes.
pub const AXES_MAX: usize = 64;

impl Selection {
    /// Reads a selection such as `0:10, :, -1`, `time=0:10, lat=5` or `time="a":"b"`.
    ///
    /// Empty text selects everything.
    ///
    /// # Errors
    ///
    /// Text that is not a selection, with the place where reading stopped.
    pub fn parse(text: &str) -> Result<Selection, SelectionError> {
        let mut reader = Reader { text, chars: text.chars().collect(), at: 0 };
        let mut entries = Vec::new();
        reader.skip_space();
        while reader.peek().is_some() {
            if entries.len() == AXES_MAX {
                return Err(reader.wanted("at most 64 entries"));
            }
            entries.push((reader.at, reader.entry()?));
            reader.skip_space();
            match reader.peek() {
                None => break,
                Some(',') => reader.at += 1,
                Some(_) => return Err(reader.wanted("a comma or the end is wanted")),
            }
            reader.skip_space();
        }
        arrange(&reader, entries)
    }
}

/// One entry as it was written.
enum Entry {
    Ellipsis,
    Positional(AxisSelection),
    Named(AxisRef, AxisSelection),
}

fn arrange(reader: &Reader<'_>, entries: Vec<(usize, Entry)>) -> Result<Selection, SelectionError> {
    let (mut head, mut tail, mut names) = (Vec::new(), None, Vec::new());
    for (at, entry) in entries {
        match entry {
            Entry::Named(axis, entry) if head.is_empty() && tail.is_none() => {
                names.push((axis, entry));
            }
            Entry::Positional(entry) if names.is_empty() => {
                tail.as_mut().unwrap_or(&mut head).push(entry);
            }
            Entry::Ellipsis if names.is_empty() => {
                if tail.replace(Vec::new()).is_some() {
                    return Err(reader.wanted_at(at, "only one `...` is allowed, not a second"));
                }
            }
            _ => {
                let wanted = "entries are all by position or all by name, not a mixture";
                return Err(reader.wanted_at(at, wanted));
            }
        }
    }
    let form = if head.is_empty() && tail.is_none() {
        SelectionForm::Named(names)
    } else {
        SelectionForm::Around { head, tail: tail.unwrap_or_default() }
    };
    Ok(Selection { form })
}

/// The meaning of integers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Integers {
    Positions,
    Labels,
}

struct Reader<'a> {
    text: &'a str,
    chars: Vec<char>,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    /// Steps over this character if it comes next, and over space on both sides.
    fn take(&mut self, wanted: char) -> bool {
        self.skip_space();
        let found = self.peek() == Some(wanted);
        if found {
            self.at += 1;
            self.skip_space();
        }
        found
    }

    fn wanted(&self, wanted: &'static str) -> SelectionError {
        self.wanted_at(self.at, wanted)
    }

    fn wanted_at(&self, at: usize, wanted: &'static str) -> SelectionError {
        Box::new(SelectionFault::Syntax { text: self.text.to_owned(), at, wanted }).of_all()
    }

    fn entry(&mut self) -> Result<Entry, SelectionError> {
        if self.chars[self.at..].starts_with(&['.', '.', '.']) {
            self.at += 3;
            return Ok(Entry::Ellipsis);
        }
        let start = self.at;
        let is_quoted = self.peek().is_some_and(is_quote);
        if let Some(name) = self.name()? {
            let dated = lists::dated(&name).filter(|_| !is_quoted);
            if let Some((axis, part)) = dated.filter(|_| self.take('=')) {
                return Ok(Entry::Named(axis.into(), self.among(part)?));
            }
            let name = AxisRef::Name(name);
            if self.take('#') {
                return Ok(Entry::Named(name, self.positions()?));
            }
            if self.take('=') || self.peek() == Some('~') {
                return Ok(Entry::Named(name, self.extent(Integers::Labels)?));
            }
        }
        self.at = start;
        Ok(Entry::Positional(self.extent(Integers::Positions)?))
    }

    /// A word or quoted text, which is a name if `=`, `#` or `~` follows.
    fn name(&mut self) -> Result<Option<String>, SelectionError> {
        if self.peek().is_some_and(is_quote) {
            return self.quoted().map(Some);
        }
        let word = self.word();
        self.skip_space();
        Ok(Some(word).filter(|word| !word.is_empty()))
    }

    fn word(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(is_word) {
            self.at += 1;
        }
        self.chars[start..self.at].iter().collect()
    }

    /// The positions after `#`.
    fn positions(&mut self) -> Result<AxisSelection, SelectionError> {
        let at = self.at;
        let entry = self.extent(Integers::Positions)?;
        let is_position = |place: &Position| matches!(place, Position::Index(_));
        let are_positions = match &entry {
            AxisSelection::Point(point) => is_position(point),
            AxisSelection::Range { start, stop, .. } => {
                start.iter().all(is_position) && !matches!(stop, Stop::Through(_))
            }
            AxisSelection::List(places) => places.iter().all(is_position),
            AxisSelection::Among { .. } => false,
        };
        if are_positions {
            Ok(entry)
        } else {
            Err(self.wanted_at(at, "# takes positions: integers"))
        }
    }

    fn extent(&mut self, integers: Integers) -> Result<AxisSelection, SelectionError> {
        let at = self.at;
        let list = match (self.peek(), self.chars.get(at + 1)) {
            (Some('['), _) => Some(self.list(integers)?),
            (Some('~'), Some('[')) => {
                self.take('~');
                Some(self.nearest_list()?)
            }
            _ => None,
        };
        if let Some(list) = list {
            let is_range = self.peek() == Some(':');
            return if is_range {
                Err(self.wanted("a list is no end of a range"))
            } else {
                Ok(list)
            };
        }
        let start = self.place(integers)?;
        if !self.take(':') {
            let wanted = match integers {
                Integers::Positions => "a position, a range or `...` is wanted",
                Integers::Labels => "a label or a range is wanted",
            };
            return start.map(AxisSelection::Point).ok_or_else(|| self.wanted(wanted));
        }
        let stop = self.place(integers)?;
        if [&start, &stop].into_iter().flatten().any(|it| matches!(it, Position::Nearest { .. })) {
            return Err(self.wanted("~ takes one position, and no range is wanted"));
        }
        let is_position = |place: &Position| matches!(place, Position::Index(_));
        if let (Some(start), Some(stop)) = (&start, &stop)
            && is_position(start) != is_position(stop)
        {
            return Err(
                self.wanted_at(at, "a range has two positions or two labels, not one of each")
            );
        }
        let stop = match stop {
            None => Stop::End,
            Some(stop) if is_position(&stop) => Stop::Before(stop),
            Some(stop) => Stop::Through(stop),
        };
        let step = if self.take(':') { self.step()? } else { 1 };
        Ok(AxisSelection::Range { start, stop, step })
    }

    fn step(&mut self) -> Result<u64, SelectionError> {
        let at = self.at;
        match self.place(Integers::Positions)? {
            None => Ok(1),
            Some(Position::Index(step)) if 1 <= step => {
                u64::try_from(step).map_err(|_| self.wanted_at(at, "a step below 2^64 is wanted"))
            }
            Some(Position::Index(step)) if step < 0 => Err(self.wanted_at(
                at,
                "a step of at least 1 is wanted, or a list of positions in their order, such as `lat#[2,1,0]`,",
            )),
            _ => Err(self.wanted_at(at, "a step of at least 1 is wanted")),
        }
    }

    fn place(&mut self, integers: Integers) -> Result<Option<Position>, SelectionError> {
        match self.peek() {
            Some(quote) if is_quote(quote) => self.quoted().map(|it| Some(Position::Label(it))),
            Some('~') => {
                self.take('~');
                self.nearest().map(Some)
            }
            Some(next) if is_word(next) => self.unquoted(integers).map(Some),
            _ => Ok(None),
        }
    }

    /// The label after `~`, and how far from it the nearest may be.
    fn nearest(&mut self) -> Result<Position, SelectionError> {
        let label = self.nearest_label()?;
        Ok(Position::Nearest { label, within: self.within()? })
    }

    fn nearest_label(&mut self) -> Result<String, SelectionError> {
        let label = match self.peek() {
            Some(quote) if is_quote(quote) => self.quoted()?,
            _ => self.dated_word(),
        };
        if label.is_empty() { Err(self.wanted("a label is wanted after ~")) } else { Ok(label) }
    }

    /// The distance after `within`, if that comes next.
    fn within(&mut self) -> Result<Option<String>, SelectionError> {
        self.skip_space();
        let end = self.at;
        if self.word() != "within" {
            self.at = end;
            return Ok(None);
        }
        self.skip_space();
        let at = self.at;
        let within = self.word();
        if !within.parse::<f64>().is_ok_and(|far| far.is_finite() && 0.0 <= far) {
            return Err(self.wanted_at(at, "a distance is wanted after `within`"));
        }
        Ok(Some(within))
    }

    /// A word, and the time of day after a date: `2024-07-15T06:30` is one word, and so is `2024-07-15 06:30`.
    fn dated_word(&mut self) -> String {
        let mut word = self.word();
        let is_time = |text: &[char]| matches!(text, [' ', a, b, ':', ..] if a.is_ascii_digit() && b.is_ascii_digit());
        if is_label(&word)
            && word.len() == 10
            && word.contains('-')
            && is_time(&self.chars[self.at..])
        {
            self.at += 1;
            word = format!("{word}T{}", self.word());
        }
        let has_hour =
            |word: &str| is_label(word) && word.find('T') == Some(10) && word.len() == 13;
        if has_hour(&word) {
            for _ in 0..2 {
                let end = self.at;
                if self.peek() != Some(':') {
                    break;
                }
                self.at += 1;
                let part = self.word();
                let digits = part.strip_suffix('Z').unwrap_or(&part);
                let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
                let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
                if whole.len() != 2 || !is_number(whole) || !is_number(fraction) {
                    self.at = end;
                    break;
                }
                word.push(':');
                word.push_str(&part);
            }
        }
        word
    }

    /// An integer, or a label without quotes: a number with a point or an exponent, a date, or after `=` a word.
    fn unquoted(&mut self, integers: Integers) -> Result<Position, SelectionError> {
        let start = self.at;
        let word = self.dated_word();
        let digits = word.strip_prefix(['-', '+']).unwrap_or(&word);
        let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_word = word.starts_with(|next: char| next.is_alphabetic() || next == '_');
        if is_label(&word) || (integers == Integers::Labels && is_word) {
            return Ok(Position::Label(word));
        }
        if !is_integer {
            let wanted = match integers {
                Integers::Positions => "an integer or a label in quotes is wanted",
                Integers::Labels => "a number, a date or a label in quotes is wanted",
            };
            return Err(self.wanted_at(start, wanted));
        }
        match word.parse::<i128>() {
            Ok(index) if index.unsigned_abs() <= u128::from(u64::MAX) => Ok(match integers {
                Integers::Positions => Position::Index(index),
                Integers::Labels => Position::Number(index),
            }),
            _ => Err(self.wanted_at(start, "a number below 2^64 is wanted")),
        }
    }

    /// Text in single or double quotes; a backslash keeps the next character as it is.
    fn quoted(&mut self) -> Result<String, SelectionError> {
        let start = self.at;
        let quote = self.peek();
        let mut text = String::new();
        loop {
            self.at += 1;
            match self.peek() {
                None => return Err(self.wanted_at(start, "the quote is never closed")),
                next if next == quote => break,
                Some('\\') => {
                    self.at += 1;
                    match self.peek() {
                        None => return Err(self.wanted_at(start, "the quote is never closed")),
                        Some(kept) => text.push(kept),
                    }
                }
                Some(next) => text.push(next),
            }
        }
        self.at += 1;
        self.skip_space();
        Ok(text)
    }
}

const fn is_quote(next: char) -> bool {
    matches!(next, '"' | '\'')
}

/// Whether a word is a label without quotes: `51.0`, `1e3`, `2024-07`, `2024-07-15T06:30`.
fn is_label(word: &str) -> bool {
    let digits = word.trim_start_matches(['-', '+']);
    let is_float = digits.contains(['.', 'e', 'E'])
        && digits.starts_with(|next: char| next.is_ascii_digit() || next == '.')
        && word.parse::<f64>().is_ok_and(f64::is_finite);
    let date = word.split_once(':').map_or(word, |(date, _)| date);
    let parts: Vec<&str> = date.trim_end_matches('Z').split(['-', 'T']).collect();
    let is_number = |(part, len): (&&str, usize)| {
        part.len() == len && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_date = (2..=4).contains(&parts.len())
        && parts.iter().zip([4, 2, 2, 2]).all(is_number)
        && word.find('T').is_none_or(|at| at == 10);
    is_float || is_date
}

/// Letters of names that need no quotes. `-` is one, so that `sea-level=3` reads.
pub(super) fn is_word(next: char) -> bool {
    let reserved = [',', ':', '=', '~', '#', '"', '\'', '[', ']', '\\'];
    !next.is_whitespace() && !reserved.contains(&next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: i128, stop: i128, step: u64) -> AxisSelection {
        AxisSelection::Range {
            start: Some(Position::Index(start)),
            stop: Stop::Before(Position::Index(stop)),
            step,
        }
    }

    #[test]
    fn text_reads_as_written() {
        let all = AxisSelection::all;
        let point = |index: i64| AxisSelection::point(index);
        let nearest = |label: &str| AxisSelection::Point(Position::nearest(label));
        let number = |number: i128| AxisSelection::Point(Position::Number(number));
        let numbers = |start: i128, stop: i128| {
            let (start, stop) =
                (Some(Position::Number(start)), Stop::Through(Position::Number(stop)));
            AxisSelection::Range { start, stop, step: 1 }
        };
        let around = |head: Vec<_>, tail: Vec<_>| SelectionForm::Around { head, tail };
        let named = |name: &str, entry| SelectionForm::Named(vec![(name.into(), entry)]);
        let cases = [
            ("", SelectionForm::Named(vec![])),
            ("  ", SelectionForm::Named(vec![])),
            ("...", around(vec![], vec![])),
            (":", around(vec![all()], vec![])),
            ("::", around(vec![all()], vec![])),
            ("3", around(vec![point(3)], vec![])),
            ("-1,", around(vec![point(-1)], vec![])),
            ("+2", around(vec![point(2)], vec![])),
            ("0:10:3, :, -1", around(vec![range(0, 10, 3), all(), point(-1)], vec![])),
            (" 0 : 10 : 3 ,...,  2 ", around(vec![range(0, 10, 3)], vec![point(2)])),
            ("..., ::2", around(vec![], vec![all().step_by(2)])),
            ("-3:", around(vec![AxisSelection::from(-3)], vec![])),
            ("time=0:10", named("time", numbers(0, 10))),
            ("time#0:10", named("time", range(0, 10, 1))),
            ("time # -1", named("time", point(-1))),
            ("time#:", named("time", all())),
            ("0=5", named("0", number(5))),
            ("sea-level = 5", named("sea-level", number(5))),
            ("\"a, b\"=:", named("a, b", all())),
            ("\"a#b\"#2", named("a#b", point(2))),
            ("t=\"a\":\"b\":2", named("t", AxisSelection::through("a", "b").step_by(2))),
            ("\"a\":\"b\"", around(vec![AxisSelection::through("a", "b")], vec![])),
            ("station=Z\u{fc}rich", named("station", AxisSelection::point("Z\u{fc}rich"))),
            ("season=JJA:SON", named("season", AxisSelection::through("JJA", "SON"))),
            ("t='it''s'", named("t", AxisSelection::point("its"))),
            ("t=\"q\\\"\\\\\"", named("t", AxisSelection::point("q\"\\"))),
            ("t=\"\"", named("t", AxisSelection::point(""))),
            ("lat=51.0", named("lat", AxisSelection::point("51.0"))),
            ("lat=-.5:1e3", named("lat", AxisSelection::through("-.5", "1e3"))),
            ("lat~50", named("lat", nearest("50"))),
            ("lat ~ -0.5", named("lat", nearest("-0.5"))),
            ("t=~\"2024-07-15 06:00\"", named("t", nearest("2024-07-15 06:00"))),
            ("~50, :", around(vec![nearest("50"), all()], vec![])),
            (
                "lat~50 within 0.5",
                named(
                    "lat",
                    AxisSelection::Point(Position::Nearest {
                        label: "50".to_owned(),
                        within: Some("0.5".to_owned()),
                    }),
                ),
            ),
            ("18446744073709551615", around(vec![AxisSelection::point(u64::MAX)], vec![])),
        ];
        for (text, form) in cases {
            if text.contains("''") {
                assert!(Selection::parse(text).is_err(), "{text}");
                continue;
            }
            assert_eq!(Selection::parse(text), Ok(Selection { form }), "{text:?}");
        }
        let two = Selection::parse("time#0:10, lat=5").unwrap();
        assert_eq!(two, Selection::named([("time", range(0, 10, 1)), ("lat", number(5))]));
    }

    #[test]
    fn dates_are_read_to_their_ends() {
        let (point, through) = (
            |label: &str| AxisSelection::point(label),
            |start: &str, stop: &str| AxisSelection::through(start, stop),
        );
        let nearest = |label: &str| AxisSelection::Point(Position::nearest(label));
        let cases = [
            ("t=2024-07-15:2024-08", through("2024-07-15", "2024-08")),
            ("t=2024-07-15T06", point("2024-07-15T06")),
            ("t=2024-07-15T06:30", point("2024-07-15T06:30")),
            ("t=2024-07-15T06:30:15.5Z", point("2024-07-15T06:30:15.5Z")),
            (
                "t=2024-07-15T06:2024-07-15T12:30:2",
                through("2024-07-15T06", "2024-07-15T12:30").step_by(2),
            ),
            ("t=2024-07-15 06:30", point("2024-07-15T06:30")),
            ("t~2024-07-15T06:30", nearest("2024-07-15T06:30")),
        ];
        for (text, entry) in cases {
            assert_eq!(Selection::parse(text), Ok(Selection::named([("t", entry)])), "{text}");
        }
    }

    #[test]
    fn wrong_text_is_refused_at_its_place() {
        let cases = [
            (",", "a position, a range or `...` is wanted at column 1"),
            ("1,,2", "a position, a range or `...` is wanted at column 3"),
            ("1 2", "a comma or the end is wanted at column 3"),
            ("0:4:0", "a step of at least 1 is wanted at column 5"),
            (
                "0:4:-1",
                "a step of at least 1 is wanted, or a list of positions in their order, such as `lat#[2,1,0]`, at column 5",
            ),
            ("0:4:\"a\"", "a step of at least 1 is wanted at column 5"),
            ("0:4:1:1", "a comma or the end is wanted at column 6"),
            ("1e999", "an integer or a label in quotes is wanted at column 1"),
            ("2024-7", "an integer or a label in quotes is wanted at column 1"),
            ("lat~", "a label is wanted after ~ at column 5"),
            ("lat~5:", "~ takes one position, and no range is wanted at column 7"),
            ("lat=1:~5", "~ takes one position, and no range is wanted at column 9"),
            ("lat~,", "a label is wanted after ~ at column 5"),
            ("0:1O", "an integer or a label in quotes is wanted at column 3"),
            ("time=3rd", "a number, a date or a label in quotes is wanted at column 6"),
            ("time=", "a label or a range is wanted at column 6"),
            ("time#a", "an integer or a label in quotes is wanted at column 6"),
            ("time#2024-07", "# takes positions: integers at column 6"),
            ("time#0:5.0", "a range has two positions or two labels, not one of each at column 6"),
            ("0:\"b\"", "a range has two positions or two labels, not one of each at column 1"),
            ("lat~5 within", "a distance is wanted after `within` at column 13"),
            ("lat~5 within -1", "a distance is wanted after `within` at column 14"),
            ("lat~5 width 1", "a comma or the end is wanted at column 7"),
            ("-", "an integer or a label in quotes is wanted at column 1"),
            ("18446744073709551616", "a number below 2^64 is wanted at column 1"),
            ("-18446744073709551616:", "a number below 2^64 is wanted at column 1"),
            ("..., ...", "only one `...` is allowed, not a second at column 6"),
            ("0, t=1", "entries are all by position or all by name, not a mixture at column 4"),
            ("t=1, 0", "entries are all by position or all by name, not a mixture at column 6"),
            ("t=1, ...", "entries are all by position or all by name, not a mixture at column 6"),
            ("t=\"a", "the quote is never closed at column 3"),
            ("t=\"a\\", "the quote is never closed at column 3"),
        ];
        for (text, wanted) in cases {
            let message = Selection::parse(text).unwrap_err().to_string();
            assert_eq!(message, format!("selection {text:?}: {wanted}"));
        }
        let many = ":,".repeat(AXES_MAX);
        assert!(Selection::parse(&many).is_ok());
        assert!(Selection::parse(&format!("{many}:")).is_err());
    }
}
