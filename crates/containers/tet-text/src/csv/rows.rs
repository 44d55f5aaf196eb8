//! Text becomes rows of fields, in pieces of any length: a row may begin in one and end in another.
//!
//! ```text
//!         ,-----------------------------------------.
//!         v                                         |  end of a line
//!   Row --+--> Field --> Plain ---------------------+
//!                ^  `--> Quoted <--> Quote --> Plain
//!                `---------- delimiter -------------'
//! ```
//!
//! Fields are those of RFC 4180, and what other readers take too: lines end with `\n`, `\r` or both, empty lines are no
//! rows, and a quote within a field that does not begin with one is text. The crate csv-core says neither which fields
//! were between quotes nor where one begins; the tests compare this with it.

/// No row is longer: what a row holds in memory is bounded by it.
pub(crate) const ROW_LEN_MAX: usize = 16 << 20;
/// No row has more fields.
pub(crate) const COLUMNS_MAX: usize = 1 << 17;

const QUOTE: u8 = b'"';

/// Separator of fields.
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
    /// The text has ended within quotes.
    Unclosed,
}

/// Context of the next byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Another row.
    Row,
    /// Another field of the row.
    Field,
    /// A field without quotes, or what is behind them.
    Plain,
    /// A field between quotes.
    Quoted,
    /// Within quotes, and the last byte was a quote.
    Quote,
}

/// A row at a time.
pub(super) struct Rows {
    delimiter: Delimiter,
    state: State,
    /// The bytes of the fields, without what is between them.
    bytes: Vec<u8>,
    fields: Vec<Field>,
    /// Whether the next byte begins another row.
    is_whole: bool,
    /// Bytes that were taken since the first one.
    taken: u64,
    /// Where the field under way begins, and whether with a quote.
    field_at: u64,
    is_quoted: bool,
}

/// A field of a row.
#[derive(Clone, Copy, Debug)]
struct Field {
    /// Where its bytes end in those of the row.
    end: usize,
    /// Where it begins in the text, its quote included.
    at: u64,
    is_quoted: bool,
}

impl Rows {
    pub(super) fn new(delimiter: Delimiter) -> Rows {
        Rows {
            delimiter,
            state: State::Row,
            bytes: Vec::new(),
            fields: Vec::new(),
            is_whole: false,
            taken: 0,
            field_at: 0,
            is_quoted: false,
        }
    }

    /// Takes bytes up to the end of a row, and returns how many; no bytes are the end of the text.
    pub(super) fn take(&mut self, input: &[u8]) -> (usize, Step) {
        if std::mem::take(&mut self.is_whole) {
            self.bytes.clear();
            self.fields.clear();
        }
        if input.is_empty() {
            return (0, self.finish());
        }
        let (read, step) = match self.delimiter {
            Delimiter::Byte(delimiter) => self.split(delimiter, input),
            Delimiter::Blanks => self.split_blanks(input),
        };
        self.taken = self.taken.saturating_add(wide(read));
        self.is_whole = step == Step::Row;
        (read, step)
    }

    fn split(&mut self, delimiter: u8, input: &[u8]) -> (usize, Step) {
        let mut at = 0;
        while let Some((&byte, _)) = input.get(at..).and_then(<[u8]>::split_first) {
            match self.state {
                State::Row if is_line_end(byte) => at += 1,
                State::Row => self.state = State::Field,
                State::Field => {
                    self.field_at = self.taken.saturating_add(wide(at));
                    self.is_quoted = byte == QUOTE;
                    self.state = if self.is_quoted { State::Quoted } else { State::Plain };
                    at += usize::from(self.is_quoted);
                }
                State::Plain => {
                    let end = self.copy(input, at, |byte| byte == delimiter || is_line_end(byte));
                    let Some(&byte) = input.get(end) else { return (end, self.more()) };
                    let step = self.end_field();
                    if byte != delimiter {
                        self.state = State::Row;
                        return (end + 1, step.unwrap_or(Step::Row));
                    }
                    if let Some(step) = step {
                        return (end + 1, step);
                    }
                    self.state = State::Field;
                    at = end + 1;
                }
                State::Quoted => {
                    let end = self.copy(input, at, |byte| byte == QUOTE);
                    if end == input.len() || self.is_long() {
                        return (end, self.more());
                    }
                    self.state = State::Quote;
                    at = end + 1;
                }
                State::Quote if byte == QUOTE => {
                    self.bytes.push(byte);
                    self.state = State::Quoted;
                    at += 1;
                }
                State::Quote => self.state = State::Plain,
            }
        }
        (at, Step::More)
    }

    /// Splits a row whose fields are between blanks.
    fn split_blanks(&mut self, input: &[u8]) -> (usize, Step) {
        for (&byte, at) in input.iter().zip(0..) {
            let is_in_field = self.state == State::Plain;
            if !byte.is_ascii_whitespace() {
                if !is_in_field {
                    self.field_at = self.taken.saturating_add(wide(at));
                    self.state = State::Plain;
                }
                self.bytes.push(byte);
                if self.is_long() {
                    return (at, Step::TooLong);
                }
                continue;
            }
            if is_in_field {
                self.state = State::Field;
                if let Some(step) = self.end_field() {
                    return (at, step);
                }
            }
            if is_line_end(byte) && !self.fields.is_empty() {
                self.state = State::Row;
                return (at + 1, Step::Row);
            }
        }
        (input.len(), Step::More)
    }

    /// Takes the end of the text.
    fn finish(&mut self) -> Step {
        let is_begun = match (self.delimiter, self.state) {
            (Delimiter::Byte(_), State::Quoted) => return Step::Unclosed,
            (Delimiter::Byte(_), State::Row) => return Step::End,
            // Behind a delimiter is a field, if an empty one.
            (Delimiter::Byte(_), State::Field) => {
                (self.field_at, self.is_quoted) = (self.taken, false);
                true
            }
            (_, State::Plain | State::Quote) => true,
            (Delimiter::Blanks, _) => false,
        };
        let step = if is_begun { self.end_field() } else { None };
        if self.fields.is_empty() {
            return Step::End;
        }
        (self.state, self.is_whole) = (State::Row, true);
        step.unwrap_or(Step::Row)
    }

    /// Copies bytes from `at` on, up to one that ends them; returns where that is.
    fn copy(&mut self, input: &[u8], at: usize, is_end: impl Fn(u8) -> bool) -> usize {
        let rest = input.get(at..).unwrap_or_default();
        let len = rest.iter().position(|byte| is_end(*byte)).unwrap_or(rest.len());
        self.bytes.extend_from_slice(rest.get(..len).unwrap_or_default());
        at + len
    }

    /// Ends a field; a step where there are too many.
    fn end_field(&mut self) -> Option<Step> {
        if self.fields.len() >= COLUMNS_MAX {
            return Some(Step::TooMany);
        }
        let (end, at, is_quoted) = (self.bytes.len(), self.field_at, self.is_quoted);
        self.fields.push(Field { end, at, is_quoted });
        self.is_long().then_some(Step::TooLong)
    }

    fn more(&self) -> Step {
        if self.is_long() { Step::TooLong } else { Step::More }
    }

    fn is_long(&self) -> bool {
        ROW_LEN_MAX < self.bytes.len()
    }

    /// The fields of the row that has ended.
    pub(super) fn fields(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.fields.len()).map(|nth| self.field(nth))
    }

    /// A field of that row.
    pub(super) fn field(&self, nth: usize) -> &[u8] {
        let end = |nth: usize| self.fields.get(nth).map(|field| field.end);
        let begin = nth.checked_sub(1).map_or(Some(0), end);
        let range = begin.zip(end(nth)).and_then(|(begin, end)| self.bytes.get(begin..end));
        range.unwrap_or_default()
    }

    /// Whether each field of that row is between quotes.
    pub(super) fn quotes(&self) -> impl ExactSizeIterator<Item = bool> {
        self.fields.iter().map(|field| field.is_quoted)
    }

    /// Where each field of that row begins, counted from the first byte of the text.
    pub(super) fn starts(&self) -> impl ExactSizeIterator<Item = u64> {
        self.fields.iter().map(|field| field.at)
    }

    /// Where the field under way begins, counted so.
    pub(super) const fn field_at(&self) -> u64 {
        self.field_at
    }
}

fn wide(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

const fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
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
            Step::Row | Step::TooLong | Step::TooMany | Step::Unclosed => return false,
        }
    }
}

#[cfg(test)]
mod tests;
