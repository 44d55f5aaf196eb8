//! Elements as text: one line per row of the last axis, values between commas or tabs, no header.
//!
//! Leading axes follow one another in row-major order, so an array of rank 3 is its matrices one
//! below the other; an array of rank 1 is one value per line. Values read back as themselves:
//! floats have the fewest digits that do, and `NaN`, `inf` and `-inf` are written so.

use std::io::{self, Write};

use tet_format::{DType, Shape};

use super::text;

/// The character between values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delimiter {
    /// A comma.
    Comma,
    /// A tab.
    Tab,
}

impl Delimiter {
    /// The character.
    pub const fn char(self) -> char {
        match self {
            Delimiter::Comma => ',',
            Delimiter::Tab => '\t',
        }
    }
}

/// Which texts are between quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quotes {
    /// Those that would break a line, or begin a comment or a mark of byte order.
    Needed,
    /// Those too that have what is between the fields of other tables: in a column that is alone, nothing else shows
    /// what is not.
    Alone,
    /// All of them.
    All,
}

/// Lines under way.
#[derive(Debug)]
pub struct Lines {
    delimiter: Delimiter,
    dtype: DType,
    /// Values per line.
    width: u64,
    /// Values on the line so far.
    column: u64,
}

impl Lines {
    /// A writer of lines of the last axis.
    pub fn new(dtype: DType, shape: &Shape, delimiter: Delimiter) -> Self {
        Self { delimiter, dtype, width: width_of(shape), column: 0 }
    }

    /// Writes the next elements; blocks may end anywhere in a line.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(&mut self, elements: &[u8], out: &mut dyn Write) -> io::Result<()> {
        const BUFFER_LEN: usize = 1 << 16;
        let size = self.dtype.size().and_then(|size| usize::try_from(size).ok()).unwrap_or(1);
        let mut buffer = String::with_capacity(BUFFER_LEN);
        for element in elements.chunks_exact(size) {
            text::push(self.dtype, element, &mut buffer);
            self.column += 1;
            if self.column == self.width {
                self.column = 0;
                buffer.push('\n');
            } else {
                buffer.push(self.delimiter.char());
            }
            if buffer.len() > BUFFER_LEN - 64 {
                out.write_all(buffer.as_bytes())?;
                buffer.clear();
            }
        }
        out.write_all(buffer.as_bytes())
    }
}

/// Lines of texts under way.
#[derive(Debug)]
pub struct TextLines {
    delimiter: Delimiter,
    quotes: Quotes,
    /// Texts per line.
    width: u64,
    /// Texts on the line so far.
    column: u64,
}

impl TextLines {
    /// A writer of lines of the last axis.
    pub fn new(shape: &Shape, delimiter: Delimiter, quotes: Quotes) -> Self {
        Self { delimiter, quotes, width: width_of(shape), column: 0 }
    }

    /// Writes the next texts; blocks may end anywhere in a line.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(&mut self, texts: &[String], out: &mut dyn Write) -> io::Result<()> {
        let mut buffer = String::new();
        for text in texts {
            buffer.clear();
            if text.is_empty() && self.width == 1 {
                // An empty line is none.
                buffer.push_str("\"\"");
            } else {
                push_text(text, self.delimiter, self.quotes, &mut buffer);
            }
            self.column += 1;
            let is_end = self.column == self.width;
            if is_end {
                self.column = 0;
            }
            buffer.push(if is_end { '\n' } else { self.delimiter.char() });
            out.write_all(buffer.as_bytes())?;
        }
        Ok(())
    }
}

/// Whether a text is written without quotes: it has no delimiter, quote or line end, and begins no comment and no mark
/// of byte order.
pub fn is_bare(text: &str, delimiter: Delimiter, quotes: Quotes) -> bool {
    let is_plain = !text.contains([delimiter.char(), '"', '\n', '\r'])
        && !text.trim_ascii_start().starts_with(['#', '\u{feff}']);
    match quotes {
        Quotes::Needed => is_plain,
        // An empty line is none.
        Quotes::Alone => is_plain && !text.is_empty() && !text.contains([',', ';', '|', '\t', ' ']),
        Quotes::All => false,
    }
}

/// Appends a text, between quotes as RFC 4180 has it where it is not bare.
pub fn push_text(text: &str, delimiter: Delimiter, quotes: Quotes, out: &mut String) {
    if is_bare(text, delimiter, quotes) {
        return out.push_str(text);
    }
    out.push('"');
    for char in text.chars() {
        out.extend(std::iter::repeat_n(char, if char == '"' { 2 } else { 1 }));
    }
    out.push('"');
}

/// Values per line.
fn width_of(shape: &Shape) -> u64 {
    if shape.rank() < 2 { 1 } else { shape.last().copied().unwrap_or(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_would_break_a_line_are_quoted() {
        let texts = ["a", "b,c", "\"d\"", "e\nf", "", " g\r"].map(str::to_owned);
        for cut in 0..=texts.len() {
            let shape = Shape::from([3, 2]);
            let (mut lines, mut out) =
                (TextLines::new(&shape, Delimiter::Comma, Quotes::Needed), Vec::new());
            lines.write(&texts[..cut], &mut out).unwrap();
            lines.write(&texts[cut..], &mut out).unwrap();
            let wanted = "a,\"b,c\"\n\"\"\"d\"\"\",\"e\nf\"\n,\" g\r\"\n";
            assert_eq!(String::from_utf8(out).unwrap(), wanted);
        }
        let texts = ["a,b", "c\td", "#e", "", " #f"].map(str::to_owned);
        let (mut lines, mut out) =
            (TextLines::new(&Shape::from([5]), Delimiter::Tab, Quotes::Needed), Vec::new());
        lines.write(&texts, &mut out).unwrap();
        let wanted = "a,b\n\"c\td\"\n\"#e\"\n\"\"\n\" #f\"\n";
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }

    #[test]
    fn lines_are_rows_of_the_last_axis() {
        for (shape, wanted) in [
            (&[][..], "0\n"),
            (&[3], "0\n1\n2\n"),
            (&[2, 3], "0,1,2\n3,4,5\n"),
            (&[2, 2, 2], "0,1\n2,3\n4,5\n6,7\n"),
        ] {
            let count = shape.iter().product::<u64>() as u8;
            let elements = (0..count).collect::<Vec<_>>();
            for cut in 0..elements.len() {
                let mut lines = Lines::new(DType::UInt8, &Shape::from(shape), Delimiter::Comma);
                let mut out = vec![];
                lines.write(&elements[..cut], &mut out).unwrap();
                lines.write(&elements[cut..], &mut out).unwrap();
                assert_eq!(String::from_utf8(out).unwrap(), wanted, "{shape:?} cut at {cut}");
            }
        }
    }
}
