//! How a table is written: where its rows begin, what is between its fields, and whether it begins with names.

use std::path::Path;

use tet_format::{ForeignFault, ForeignRule};

use super::cell::Kinds;
use super::rows::{Delimiter, Rows, Step};
use super::{TAB_SUFFIX, rule};

/// Bytes at the beginning of a file that show how it is written.
pub(super) const SAMPLE_LEN: u64 = 64 << 10;
/// Rows that show it.
const SAMPLE_ROWS: usize = 32;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The form of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) delimiter: Delimiter,
    /// The offset of the first row of values.
    pub(super) begin: u64,
    /// The names of the columns, if the table has them.
    pub(super) names: Option<Vec<Name>>,
    /// Whether one of these names is without quotes, in a row of names.
    pub(super) has_bare_name: bool,
}

/// The name of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) bytes: Vec<u8>,
    /// Where it begins in the file.
    pub(super) at: u64,
}

/// Which delimiter is tried first: the one that the suffix of the file names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Favored {
    Comma,
    Tab,
}

impl Favored {
    pub(super) fn for_path(path: Option<&Path>) -> Favored {
        let suffix = path.and_then(Path::extension).unwrap_or_default();
        if suffix.eq_ignore_ascii_case(TAB_SUFFIX) { Favored::Tab } else { Favored::Comma }
    }
}

impl Dialect {
    /// The form of a table that begins with `sample`, the whole of it if `is_all`; `None` where the first row ends
    /// behind it.
    pub(super) fn find(
        sample: &[u8],
        is_all: bool,
        favored: Favored,
    ) -> Result<Option<Dialect>, ForeignFault> {
        let zero = sample.iter().position(|byte| *byte == 0);
        if let Some(at) = zero {
            return Err(fault(&rule::ENCODING, offset(at)));
        }
        let mark = if sample.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let (begin, comment) = skip_comments(sample, mark);
        let text = sample.get(begin..).unwrap_or_default();
        let delimiter = delimiter(text, is_all, favored);
        let first = first_row(delimiter, text, offset(begin));
        let is_cut = match &first {
            Ok(first) => text.len() <= first.len,
            Err(fault) => [rule::NO_ROWS.id, rule::UNCLOSED.id].contains(&fault.rule.id),
        };
        if is_cut && !is_all {
            return Ok(None);
        }
        let first = first?;
        let find = |names: Vec<Name>| Some(names).filter(|names| names.len() == first.names.len());
        if Kinds::are_names(first.names.iter().map(|name| name.bytes.as_slice())) {
            let begin = offset(begin.saturating_add(first.len));
            let has_bare_name = first.has_bare;
            return Ok(Some(Dialect { delimiter, begin, names: Some(first.names), has_bare_name }));
        }
        // As numpy.savetxt writes names: in a comment above the rows.
        let names = comment.and_then(|(at, line)| first_row(delimiter, line, offset(at)).ok());
        let names = names.and_then(|row| find(row.names));
        Ok(Some(Dialect { delimiter, begin: offset(begin), names, has_bare_name: false }))
    }
}

fn offset(at: usize) -> u64 {
    u64::try_from(at).unwrap_or(u64::MAX)
}

fn fault(rule: &'static ForeignRule, at: u64) -> ForeignFault {
    ForeignFault { rule, at, found: 0, wanted: 0 }
}

/// Where the first line begins that is neither empty nor begins with `#`, and the last comment before it,
/// without its sign, and where it is.
fn skip_comments(text: &[u8], mut at: usize) -> (usize, Option<(usize, &[u8])>) {
    let mut comment = None;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let len = rest.iter().position(|byte| *byte == b'\n');
        let line = rest.get(..len.unwrap_or(rest.len())).unwrap_or_default();
        match line.trim_ascii() {
            [b'#', comment_text @ ..] => {
                let sign = line.len() - line.trim_ascii_start().len() + 1;
                comment = Some((at.saturating_add(sign), comment_text));
            }
            [] if len.is_some() => {}
            _ => return (at, comment),
        }
        let Some(len) = len else { return (text.len(), comment) };
        at = at.saturating_add(len).saturating_add(1);
    }
}

/// Delimiter of these rows: the first delimiter that is in all rows as often, or blanks that are,
/// in rows of numbers; else the comma. That of the suffix comes first: others may be within texts.
fn delimiter(text: &[u8], is_all: bool, favored: Favored) -> Delimiter {
    let bytes = match favored {
        Favored::Comma => [b',', b'\t', b';', b'|'],
        Favored::Tab => [b'\t', b',', b';', b'|'],
    };
    let is_regular = |delimiter: &Delimiter| {
        let rows = sampled(*delimiter, text, is_all);
        let is_same = |first: &RowShape| rows.iter().all(|row| row.count == first.count);
        let is_table = rows.first().is_some_and(|first| 1 < first.count && is_same(first));
        is_table && (*delimiter != Delimiter::Blanks || rows.iter().any(|row| row.is_numbers))
    };
    let ways = bytes.map(Delimiter::Byte).into_iter().chain([Delimiter::Blanks]);
    ways.into_iter().find(is_regular).unwrap_or(Delimiter::Byte(b','))
}

struct RowShape {
    count: usize,
    /// Whether all fields are numbers.
    is_numbers: bool,
}

/// The first rows, without one that the sample cuts.
fn sampled(delimiter: Delimiter, text: &[u8], is_all: bool) -> Vec<RowShape> {
    let (mut rows, mut rest, mut shapes) = (Rows::new(delimiter), text, Vec::new());
    while shapes.len() < SAMPLE_ROWS {
        if rest.is_empty() && !is_all && !shapes.is_empty() {
            break;
        }
        let (read, step) = rows.take(rest);
        rest = rest.get(read..).unwrap_or_default();
        match step {
            Step::Row => {
                let is_numbers = rows.fields().all(|field| Kinds::from_field(field).is_number());
                shapes.push(RowShape { count: rows.fields().len(), is_numbers });
            }
            Step::More => {}
            Step::End | Step::TooLong | Step::TooMany | Step::Unclosed => break,
        }
    }
    shapes
}

struct FirstRow {
    names: Vec<Name>,
    /// Whether a name is without quotes.
    has_bare: bool,
    /// Bytes up to its end.
    len: usize,
}

/// The first row of a text that begins at `begin` in the file.
fn first_row(delimiter: Delimiter, text: &[u8], begin: u64) -> Result<FirstRow, ForeignFault> {
    let mut rows = Rows::new(delimiter);
    let (mut len, mut step) = rows.take(text);
    if step == Step::More {
        let (read, at_end) = rows.take(&[]);
        len = len.saturating_add(read);
        step = at_end;
    }
    let name = |(field, at): (&[u8], u64)| {
        let bytes = field.trim_ascii().to_vec();
        Name { bytes, at: begin.saturating_add(at) }
    };
    match step {
        Step::Row => {
            let names: Vec<Name> = rows.fields().zip(rows.starts()).map(name).collect();
            let mut fields = names.iter().zip(rows.quotes());
            let has_bare = fields.any(|(name, is_quoted)| !is_quoted && !name.bytes.is_empty());
            Ok(FirstRow { names, has_bare, len })
        }
        Step::TooLong => Err(fault(&rule::LIMIT_ROW, begin)),
        Step::TooMany => Err(fault(&rule::LIMIT_COLUMNS, begin)),
        Step::Unclosed => Err(fault(&rule::UNCLOSED, begin.saturating_add(rows.field_at()))),
        Step::More | Step::End => Err(fault(&rule::NO_ROWS, begin)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> (char, u64, Option<Vec<String>>) {
        found_as(text, Favored::Comma)
    }

    fn found_as(text: &str, favored: Favored) -> (char, u64, Option<Vec<String>>) {
        let found = Dialect::find(text.as_bytes(), true, favored).unwrap().unwrap();
        let delimiter = match found.delimiter {
            Delimiter::Byte(byte) => char::from(byte),
            Delimiter::Blanks => ' ',
        };
        let text = |name: Name| String::from_utf8(name.bytes).unwrap();
        (delimiter, found.begin, found.names.map(|it| it.into_iter().map(text).collect()))
    }

    #[test]
    fn delimiter_and_header_are_found() {
        let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        for (text, wanted) in [
            ("1,2\n3,4\n", (',', 0, None)),
            ("a,b\n3,4\n", (',', 4, names(&["a", "b"]))),
            ("\u{feff}a, b\n3,4\n", (',', 8, names(&["a", "b"]))),
            ("a;b\n1,5;2,5\n", (';', 4, names(&["a", "b"]))),
            ("a\tb\n1 2\tx,y\n", ('\t', 4, names(&["a", "b"]))),
            ("a|b\n1|2", ('|', 4, names(&["a", "b"]))),
            ("  1.0e+00   2\n 3 4\n", (' ', 0, None)),
            ("# made by a program\n\n# x y\n1 2\n3 4\n", (' ', 27, names(&["x", "y"]))),
            ("# made by a program\n1,2\n3,4\n", (',', 20, None)),
            ("\"a,b\",c\n1,2\n", (',', 8, names(&["a,b", "c"]))),
            ("value\n1\n2\n", (',', 6, names(&["value"]))),
            ("1\n2\n", (',', 0, None)),
            (",x\n0,1\n", (',', 3, names(&["", "x"]))),
            ("a,b", (',', 3, names(&["a", "b"]))),
            ("a line of text\n", (',', 15, names(&["a line of text"]))),
            ("x y\n1 2\n", (' ', 4, names(&["x", "y"]))),
            ("a,b\n1,2,3\n", (',', 4, names(&["a", "b"]))),
            // Values are no names.
            ("NaN,NaN\n1,2\n", (',', 0, None)),
            ("true\nfalse\n", (',', 0, None)),
            (",\n1,2\n", (',', 0, None)),
            ("a;b,c;d\ne;f,g;h\n", (',', 8, names(&["a;b", "c;d"]))),
        ] {
            assert_eq!(found(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn the_suffix_chooses_between_delimiters_that_fit() {
        let text = "a,b\tc,d\n1,2\t3,4\n";
        let names = |names: [&str; 2]| Some(names.map(str::to_owned).to_vec());
        assert_eq!(found_as(text, Favored::Tab), ('\t', 8, names(["a,b", "c,d"])));
        assert_eq!(found_as(text, Favored::Comma).0, ',');
        assert_eq!(found_as("a,b\n1,2\n", Favored::Tab), (',', 4, names(["a", "b"])));
        for (path, favored) in [
            (Some("a.TSV"), Favored::Tab),
            (Some("a.tsv.csv"), Favored::Comma),
            (None, Favored::Comma),
        ] {
            assert_eq!(Favored::for_path(path.map(Path::new)), favored);
        }
    }

    #[test]
    fn names_know_where_they_are() {
        for (text, wanted) in
            [("\u{feff}a,\"a\",b\n1,2,3\n", [3, 5, 9]), ("# x y z\n1 2 3\n", [2, 4, 6])]
        {
            let found = Dialect::find(text.as_bytes(), true, Favored::Comma).unwrap().unwrap();
            let names = found.names.unwrap();
            assert_eq!(names.iter().map(|name| name.at).collect::<Vec<_>>(), wanted);
        }
    }

    #[test]
    fn a_row_that_the_sample_cuts_is_not_counted() {
        let cut = Dialect::find(b"1;2;3\n4;5", false, Favored::Comma).unwrap().unwrap();
        assert_eq!(cut.delimiter, Delimiter::Byte(b';'));
        for text in [&b"a,b"[..], b"1,2", b"# a comment\n", b"\n\n", b"\"a\n"] {
            assert_eq!(Dialect::find(text, false, Favored::Comma).unwrap(), None, "{text:?}");
        }
    }

    #[test]
    fn text_of_two_bytes_a_character_and_nothing_are_refused() {
        let rule = |text: &[u8]| Dialect::find(text, true, Favored::Comma).unwrap_err().rule.id;
        assert_eq!(rule(b"\xff\xfea\0,\0b\0"), "CSV-E1");
        assert_eq!(rule(b"\xef\xbb\xbf"), "CSV-R2");
        assert_eq!(rule(b"# only a comment"), "CSV-R2");
        assert_eq!(rule(b"\n\n\n"), "CSV-R2");
        assert_eq!(rule(b"a,\"b\n1,2\n"), "CSV-R3");
    }
}
