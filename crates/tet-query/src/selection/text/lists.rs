//! Lists of labels and positions, and sets of parts of dates.
//!
//! ```text
//!   list   := "[" place { "," place } "]"  |  "~" "[" label { "," label } "]" [ "within" number ]
//!   among  := name "." part "=" items      items := item { "," item }  |  "[" item { "," item } "]"
//!   item   := integer [ ":" integer ]  |  a season, of the part `season`
//! ```

use std::ops::RangeInclusive;

use super::super::error::SelectionError;
use super::super::{AxisSelection, Position};
use super::{Integers, Reader, is_quote};
use crate::labels::{DatePart, months_of_season};

/// The part of dates that is written as runs of initials of months.
const SEASON: &str = "season";

type Result<T> = std::result::Result<T, SelectionError>;
type Ranges = Vec<RangeInclusive<i64>>;

/// The name of an axis and the name of a part of its dates, of a name such as `time.month`.
pub(super) fn dated(name: &str) -> Option<(&str, &str)> {
    let (axis, part) = name.rsplit_once('.').filter(|(axis, _)| !axis.is_empty())?;
    let is_part = part == SEASON || part_named(part).is_some();
    is_part.then_some((axis, part))
}

fn part_named(name: &str) -> Option<DatePart> {
    DatePart::ALL.into_iter().find(|part| part.name() == name)
}

impl Reader<'_> {
    /// A list of labels or positions in brackets.
    pub(super) fn list(&mut self, integers: Integers) -> Result<AxisSelection> {
        let mut places = Vec::new();
        self.each_in_brackets(|reader| {
            let wanted = match integers {
                Integers::Positions => "a position or a label in quotes is wanted",
                Integers::Labels => "a label is wanted",
            };
            let at = reader.at;
            let place = reader.place(integers)?.ok_or_else(|| reader.wanted(wanted))?;
            if matches!(place, Position::Nearest { .. }) {
                return Err(reader.wanted_at(at, "~ stands before the list, as lat~[48.1,52.5]"));
            }
            if reader.peek() == Some(':') {
                return Err(reader.wanted("a list has no ranges: a comma or ] is wanted"));
            }
            places.push(place);
            Ok(())
        })?;
        Ok(AxisSelection::List(places))
    }

    /// The labels in brackets after `~`, and how far the nearest may be from each.
    pub(super) fn nearest_list(&mut self) -> Result<AxisSelection> {
        let mut labels = Vec::new();
        self.each_in_brackets(|reader| {
            labels.push(reader.nearest_label()?);
            Ok(())
        })?;
        let within = self.within()?;
        let nearest = |label| Position::Nearest { label, within: within.clone() };
        Ok(AxisSelection::List(labels.into_iter().map(nearest).collect()))
    }

    /// Steps over `[`, items that `read` reads with commas between them, and `]`.
    fn each_in_brackets(&mut self, mut read: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        let start = self.at;
        self.take('[');
        loop {
            read(self)?;
            if self.take(']') {
                return Ok(());
            }
            if !self.take(',') {
                let wanted = match self.peek() {
                    None => return Err(self.wanted_at(start, "the list is never closed")),
                    Some(_) => "a comma or ] is wanted",
                };
                return Err(self.wanted(wanted));
            }
        }
    }

    /// The numbers after `time.month=`.
    pub(super) fn among(&mut self, part: &str) -> Result<AxisSelection> {
        let mut ranges = Vec::new();
        if self.peek() == Some('[') {
            self.each_in_brackets(|reader| {
                ranges.extend(reader.item(part)?);
                Ok(())
            })?;
        } else {
            ranges.extend(self.item(part)?);
            while self.is_item_next() {
                self.take(',');
                ranges.extend(self.item(part)?);
            }
        }
        // Seasons are months.
        let part = part_named(part).unwrap_or(DatePart::Month);
        Ok(AxisSelection::Among { part, ranges })
    }

    /// Whether a comma comes next and then an item, not the name of another axis.
    fn is_item_next(&mut self) -> bool {
        let start = self.at;
        let is_item = self.take(',') && {
            let word = self.peek().is_some_and(|next| !is_quote(next)).then(|| self.word());
            self.skip_space();
            word.is_some_and(|word| !word.is_empty())
                && !matches!(self.peek(), Some('=' | '#' | '~'))
        };
        self.at = start;
        is_item
    }

    fn item(&mut self, part: &str) -> Result<Ranges> {
        let start = self.at;
        let Some(part) = part_named(part) else {
            let season = self.word();
            self.skip_space();
            let wanted = "a season is wanted, such as JJA: initials of months in a row";
            let months = months_of_season(&season).ok_or_else(|| self.wanted_at(start, wanted))?;
            return Ok(months.into_iter().map(|month| month..=month).collect());
        };
        let first = self.number_of(part)?;
        if !self.take(':') {
            return Ok(vec![first..=first]);
        }
        let last = self.number_of(part)?;
        if first <= last {
            return Ok(vec![first..=last]);
        }
        // From November to February, from 22 to 4 o'clock.
        match part {
            DatePart::Year => Err(self.wanted_at(start, "years go up, as 1979:2020")),
            part => Ok(vec![first..=*part.bounds().end(), *part.bounds().start()..=last]),
        }
    }

    fn number_of(&mut self, part: DatePart) -> Result<i64> {
        let start = self.at;
        let number = self.word().parse::<i64>().ok();
        self.skip_space();
        let number = number.filter(|number| part.bounds().contains(number));
        number.ok_or_else(|| {
            let wanted = match part {
                DatePart::Year => "a year is wanted",
                DatePart::Quarter => "a quarter is wanted, from 1 to 4",
                DatePart::Month => "a month is wanted, from 1 to 12",
                DatePart::DayOfYear => "a day of the year is wanted, from 1 to 366",
                DatePart::Day => "a day of the month is wanted, from 1 to 31",
                DatePart::Hour => "an hour is wanted, from 0 to 23",
                DatePart::Minute | DatePart::Second => "a number from 0 to 59 is wanted",
            };
            self.wanted_at(start, wanted)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::Selection;

    fn among(part: DatePart, ranges: &[RangeInclusive<i64>]) -> AxisSelection {
        AxisSelection::Among { part, ranges: ranges.to_vec() }
    }

    #[test]
    fn lists_keep_the_order_of_the_text() {
        let list = |places: Vec<Position>| AxisSelection::List(places);
        let label = |text: &str| Position::Label(text.to_owned());
        let near = |label: &str, within: Option<&str>| Position::Nearest {
            label: label.to_owned(),
            within: within.map(str::to_owned),
        };
        for (text, entry) in [
            ("x=[85000, 50000]", list(vec![Position::Number(85000), Position::Number(50000)])),
            ("x=[1.5,-2]", list(vec![label("1.5"), Position::Number(-2)])),
            ("x = [ Oslo , \"St. John's\" ]", list(vec![label("Oslo"), label("St. John's")])),
            (
                "x=[2001-06-15T12:00,2001-07]",
                list(vec![label("2001-06-15T12:00"), label("2001-07")]),
            ),
            ("x#[0,-1, 3]", list(vec![0.into(), (-1).into(), 3.into()])),
            ("x~[48.1,52.5]", list(vec![near("48.1", None), near("52.5", None)])),
            ("x~[1] within 0.5", list(vec![near("1", Some("0.5"))])),
        ] {
            assert_eq!(Selection::parse(text), Ok(Selection::named([("x", entry)])), "{text}");
        }
        let two = Selection::parse("[0,2], :").unwrap();
        assert_eq!(two, Selection::parse(" [ 0 , 2 ] , : ").unwrap());
    }

    #[test]
    fn sets_of_parts_of_dates_end_before_the_next_axis() {
        use DatePart::{Hour, Month, Year};
        for (text, entry) in [
            ("t.month=6", among(Month, &[6..=6])),
            ("t.month=6,7,8", among(Month, &[6..=6, 7..=7, 8..=8])),
            ("t.month=[6, 8]", among(Month, &[6..=6, 8..=8])),
            ("t.month=6:8", among(Month, &[6..=8])),
            ("t.month=11:2", among(Month, &[11..=12, 1..=2])),
            ("t.hour=22:4,12", among(Hour, &[22..=23, 0..=4, 12..=12])),
            ("t.season=DJF", among(Month, &[12..=12, 1..=1, 2..=2])),
            ("t.year=1979:2020,2022,", among(Year, &[1979..=2020, 2022..=2022])),
        ] {
            assert_eq!(Selection::parse(text), Ok(Selection::named([("t", entry)])), "{text}");
        }
        for text in ["t.month=6,7, lat=40:60", "lat=40:60, t.month=6,7", "t.month=[6,7],lat=40:60"]
        {
            let found = Selection::parse(text).unwrap();
            let again = Selection::parse(&text.replace("6,7", "6:6,7:7")).unwrap();
            assert_eq!(found, again, "{text}");
        }
        let season = Selection::parse("t.season=JJA,lat~5, lon#3").unwrap();
        assert!(matches!(&season.form, crate::SelectionForm::Named(named) if named.len() == 3));
        // In quotes it is a name.
        let quoted = Selection::parse("\"t.month\"=6").unwrap();
        assert_eq!(
            quoted,
            Selection::named([("t.month", AxisSelection::Point(Position::Number(6)))])
        );
    }

    #[test]
    fn wrong_lists_are_refused_at_their_places() {
        for (text, wanted) in [
            ("x=[]", "a label is wanted at column 4"),
            ("x=[1", "the list is never closed at column 3"),
            ("x=[1,", "a label is wanted at column 6"),
            ("x=[1 2]", "a comma or ] is wanted at column 6"),
            ("x=[1:2]", "a list has no ranges: a comma or ] is wanted at column 5"),
            ("x=[~1]", "~ stands before the list, as lat~[48.1,52.5] at column 4"),
            ("x=[1]:[2]", "a list is no end of a range at column 6"),
            ("x#[0,1.5]", "# takes positions: integers at column 3"),
            ("x~[]", "a label is wanted after ~ at column 4"),
            ("[a]", "an integer or a label in quotes is wanted at column 2"),
            ("t.month=0", "a month is wanted, from 1 to 12 at column 9"),
            ("t.month=6,13", "a month is wanted, from 1 to 12 at column 11"),
            ("t.month=", "a month is wanted, from 1 to 12 at column 9"),
            ("t.year=2020:1979", "years go up, as 1979:2020 at column 8"),
            (
                "t.season=XYZ",
                "a season is wanted, such as JJA: initials of months in a row at column 10",
            ),
            ("t.month=6 7", "a comma or the end is wanted at column 11"),
        ] {
            let message = Selection::parse(text).unwrap_err().to_string();
            assert_eq!(message, format!("selection {text:?}: {wanted}"));
        }
    }
}
