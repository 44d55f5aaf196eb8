//! Elements as text: one line per row of the last axis, values between commas, no header.
//!
//! Leading axes follow one another in row-major order, so an array of rank 3 is its matrices one
//! below the other; an array of rank 1 is one value per line. Values read back as themselves:
//! floats have the fewest digits that do, and `NaN`, `inf` and `-inf` are written so.

use std::io::{self, Write};

use tet_format::{DType, Shape};

use super::text;

/// Lines under way.
#[derive(Debug)]
pub(crate) struct Lines {
    dtype: DType,
    /// Values per line.
    width: u64,
    /// Values on the line so far.
    column: u64,
}

impl Lines {
    pub(crate) fn new(dtype: DType, shape: &Shape) -> Self {
        Self { dtype, width: width_of(shape), column: 0 }
    }

    /// Writes the next elements; blocks may end anywhere in a line.
    pub(crate) fn write(&mut self, elements: &[u8], out: &mut dyn Write) -> io::Result<()> {
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
                buffer.push(',');
            }
            if buffer.len() > BUFFER_LEN - 64 {
                out.write_all(buffer.as_bytes())?;
                buffer.clear();
            }
        }
        out.write_all(buffer.as_bytes())
    }
}

/// Lines of texts under way: a text with a comma, a quote or a line end is between quotes, as RFC 4180 has it.
#[derive(Debug)]
pub(crate) struct TextLines {
    /// Texts per line.
    width: u64,
    /// Texts on the line so far.
    column: u64,
}

impl TextLines {
    pub(crate) fn new(shape: &Shape) -> Self {
        Self { width: width_of(shape), column: 0 }
    }

    /// Writes the next texts; blocks may end anywhere in a line.
    pub(crate) fn write(&mut self, texts: &[String], out: &mut dyn Write) -> io::Result<()> {
        for text in texts {
            if text.contains([',', '"', '\n', '\r']) {
                write!(out, "\"{}\"", text.replace('"', "\"\""))?;
            } else {
                out.write_all(text.as_bytes())?;
            }
            self.column += 1;
            let is_end = self.column == self.width;
            if is_end {
                self.column = 0;
            }
            out.write_all(if is_end { b"\n" } else { b"," })?;
        }
        Ok(())
    }
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
            let (mut lines, mut out) = (TextLines::new(&Shape::from([3, 2])), Vec::new());
            lines.write(&texts[..cut], &mut out).unwrap();
            lines.write(&texts[cut..], &mut out).unwrap();
            let wanted = "a,\"b,c\"\n\"\"\"d\"\"\",\"e\nf\"\n,\" g\r\"\n";
            assert_eq!(String::from_utf8(out).unwrap(), wanted);
        }
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
                let mut lines = Lines::new(DType::UInt8, &Shape::from(shape));
                let mut out = vec![];
                lines.write(&elements[..cut], &mut out).unwrap();
                lines.write(&elements[cut..], &mut out).unwrap();
                assert_eq!(String::from_utf8(out).unwrap(), wanted, "{shape:?} cut at {cut}");
            }
        }
    }
}
