//! Text becomes rows of fields, in pieces of any length: a row may begin in one and end in another.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

/// No row is longer: what a row holds in memory is bounded by it.
pub(super) const ROW_LEN_MAX: usize = 16 << 20;
/// No row has more fields.
pub(super) const COLUMNS_MAX: usize = 1 << 17;

/// What is between fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delimiter {
    /// This byte; fields with it in them are between quotes.
    Byte(u8),
    /// Spaces and tabs, as many as there are.
    Blanks,
}

/// How far a piece of text went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// All of it was taken, and the row goes on.
    More,
    /// A row has ended.
    Row,
    /// The text has ended, and no row was begun.
    End,
    /// The row is longer than is allowed.
    TooLong,
    /// The row has more fields than are allowed.
    TooMany,
}

enum Splitter {
    Fields(Box<Reader>),
    Blanks {
        /// Whether the last byte was one of a field.
        in_field: bool,
    },
}

/// A row at a time.
pub(super) struct Rows {
    splitter: Splitter,
    /// The bytes of the fields, without what is between them.
    bytes: Vec<u8>,
    len: usize,
    /// Where each field ends.
    ends: Vec<usize>,
    count: usize,
    /// Whether the next byte begins another row.
    is_whole: bool,
}

impl Rows {
    pub(super) fn new(delimiter: Delimiter) -> Rows {
        let splitter = match delimiter {
            Delimiter::Byte(byte) => {
                Splitter::Fields(Box::new(ReaderBuilder::new().delimiter(byte).build()))
            }
            Delimiter::Blanks => Splitter::Blanks { in_field: false },
        };
        let (bytes, ends) = (vec![0; 1 << 12], vec![0; 1 << 6]);
        Rows { splitter, bytes, len: 0, ends, count: 0, is_whole: false }
    }

    /// Takes bytes up to the end of a row, and returns how many; no bytes are the end of the text.
    pub(super) fn take(&mut self, input: &[u8]) -> (usize, Step) {
        if std::mem::take(&mut self.is_whole) {
            (self.len, self.count) = (0, 0);
        }
        let mut at = 0;
        loop {
            let rest = input.get(at..).unwrap_or_default();
            let out = self.bytes.get_mut(self.len..).unwrap_or_default();
            let ends = self.ends.get_mut(self.count..).unwrap_or_default();
            let (result, read, written, ended) = match &mut self.splitter {
                Splitter::Fields(reader) => reader.read_record(rest, out, ends),
                Splitter::Blanks { in_field } => {
                    split_blanks(in_field, rest, (out, self.len), (ends, self.count))
                }
            };
            at += read;
            self.len += written;
            self.count += ended;
            let is_all = at == input.len() && !input.is_empty();
            match result {
                ReadRecordResult::Record => {
                    self.is_whole = true;
                    return (at, Step::Row);
                }
                ReadRecordResult::End => return (at, Step::End),
                ReadRecordResult::InputEmpty => return (at, Step::More),
                ReadRecordResult::OutputFull if self.bytes.len() >= ROW_LEN_MAX => {
                    return (at, Step::TooLong);
                }
                ReadRecordResult::OutputFull => self.bytes.resize(self.bytes.len() * 2, 0),
                ReadRecordResult::OutputEndsFull if self.ends.len() > COLUMNS_MAX => {
                    return (at, Step::TooMany);
                }
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
            }
            if is_all {
                return (at, Step::More);
            }
        }
    }

    /// The fields of the row that has ended.
    pub(super) fn fields(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.count).map(|nth| self.field(nth))
    }

    /// A field of that row.
    pub(super) fn field(&self, nth: usize) -> &[u8] {
        let begin = nth.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        let end = self.ends.get(nth).copied().filter(|_| nth < self.count);
        let range = begin.zip(end).and_then(|(begin, end)| self.bytes.get(begin..end));
        range.unwrap_or_default()
    }
}

/// Calls `visit` with each row of a text; whether all rows could be read, and all calls returned true.
pub(super) fn for_rows(
    delimiter: Delimiter,
    text: &[u8],
    visit: &mut dyn FnMut(&Rows) -> bool,
) -> bool {
    let (mut rows, mut rest) = (Rows::new(delimiter), text);
    loop {
        let (read, step) = rows.take(rest);
        rest = rest.get(read..).unwrap_or_default();
        match step {
            Step::Row if visit(&rows) => {}
            Step::More => {}
            Step::End => return true,
            Step::Row | Step::TooLong | Step::TooMany => return false,
        }
    }
}

/// As [`Reader::read_record`], for fields between blanks.
fn split_blanks(
    in_field: &mut bool,
    input: &[u8],
    (out, len): (&mut [u8], usize),
    (ends, count): (&mut [usize], usize),
) -> (ReadRecordResult, usize, usize, usize) {
    let (mut written, mut ended) = (0, 0);
    let is_end = input.is_empty();
    // The end of the text ends a line.
    let input = if is_end { b"\n" } else { input };
    for (&byte, at) in input.iter().zip(0..) {
        if !byte.is_ascii_whitespace() {
            let Some(place) = out.get_mut(written) else {
                return (ReadRecordResult::OutputFull, at, written, ended);
            };
            *place = byte;
            written += 1;
            *in_field = true;
            continue;
        }
        if *in_field {
            let Some(place) = ends.get_mut(ended) else {
                return (ReadRecordResult::OutputEndsFull, at, written, ended);
            };
            *place = len + written;
            ended += 1;
            *in_field = false;
        }
        let is_line = matches!(byte, b'\n' | b'\r');
        if is_line && 0 < count + ended {
            let read = if is_end { 0 } else { at + 1 };
            return (ReadRecordResult::Record, read, written, ended);
        }
    }
    if is_end {
        return (ReadRecordResult::End, 0, written, ended);
    }
    (ReadRecordResult::InputEmpty, input.len(), written, ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(delimiter: Delimiter, text: &[u8], piece: usize) -> Vec<Vec<String>> {
        let (mut rows, mut found) = (Rows::new(delimiter), Vec::new());
        let mut pieces: Vec<&[u8]> = text.chunks(piece).collect();
        pieces.push(&[]);
        for mut piece in pieces {
            loop {
                let (read, step) = rows.take(piece);
                piece = &piece[read..];
                match step {
                    Step::Row => {
                        let fields = rows.fields().map(|it| String::from_utf8_lossy(it).into());
                        found.push(fields.collect());
                        if piece.is_empty() {
                            break;
                        }
                    }
                    Step::More | Step::End => break,
                    Step::TooLong | Step::TooMany => panic!("{step:?}"),
                }
            }
        }
        found
    }

    #[test]
    fn rows_do_not_depend_on_the_pieces() {
        let comma = Delimiter::Byte(b',');
        for (delimiter, text, wanted) in [
            (comma, "a,b\n1,2\n", vec![vec!["a", "b"], vec!["1", "2"]]),
            (comma, "a,b\r\n\r\n1,\"2,\"\"x\n\"", vec![vec!["a", "b"], vec!["1", "2,\"x\n"]]),
            (comma, ",\n,", vec![vec!["", ""], vec!["", ""]]),
            (comma, "", vec![]),
            (comma, "\n\n", vec![]),
            (Delimiter::Byte(b';'), "1;2,5\n", vec![vec!["1", "2,5"]]),
            (
                Delimiter::Blanks,
                "  1  2\t3 \r\n\n4 5 6",
                vec![vec!["1", "2", "3"], vec!["4", "5", "6"]],
            ),
            (Delimiter::Blanks, " \n ", vec![]),
        ] {
            for piece in 1..=text.len().max(1) {
                assert_eq!(all(delimiter, text.as_bytes(), piece), wanted, "{text:?} by {piece}");
            }
        }
    }

    #[test]
    fn long_rows_grow_what_holds_them_up_to_a_bound() {
        let wide = vec!["7"; 5000].join(",");
        let long = format!("{},1\n", "x".repeat(100_000));
        let comma = Delimiter::Byte(b',');
        assert_eq!(all(comma, wide.as_bytes(), 777)[0].len(), 5000);
        assert_eq!(all(comma, long.as_bytes(), 777)[0][0].len(), 100_000);
        let wide = vec!["7"; 5000].join(" ");
        assert_eq!(all(Delimiter::Blanks, wide.as_bytes(), 777)[0].len(), 5000);
        for delimiter in [comma, Delimiter::Blanks] {
            let mut rows = Rows::new(delimiter);
            let step = (0..40).map(|_| rows.take(&[b'x'; 1 << 20]).1).find(|it| *it != Step::More);
            assert_eq!(step, Some(Step::TooLong));
        }
        let mut rows = Rows::new(comma);
        assert_eq!(rows.take(&[b','; 1 << 19]).1, Step::TooMany);
        let mut rows = Rows::new(Delimiter::Blanks);
        assert_eq!(rows.take(&b" 1".repeat(1 << 19)).1, Step::TooMany);
    }
}
