//! Elements as JSON: lists within lists, as many as there are axes; without axes the element alone.
//!
//! Numbers have the fewest digits that read back as themselves, and what is not finite is `"NaN"`, `"Infinity"` or
//! `"-Infinity"`. An array without elements is `[]`.

use std::io::{self, Write};

use tet_format::{DType, Shape};

use super::text;

/// Bytes that are collected before they are written.
const BUFFER_LEN: usize = 1 << 16;

/// Lists under way.
#[derive(Debug)]
pub struct Lists {
    /// Elements of a list of each axis, the outer one first.
    lens: Vec<u64>,
    /// Elements so far.
    at: u64,
    buffer: String,
}

impl Lists {
    /// A writer of nested lists of this shape.
    pub fn new(shape: &Shape) -> Self {
        let mut len = 1_u64;
        let mut lens: Vec<u64> = shape
            .iter()
            .rev()
            .map(|extent| {
                len = len.saturating_mul(*extent);
                len
            })
            .collect();
        lens.reverse();
        Self { lens, at: 0, buffer: String::new() }
    }

    /// Writes the next elements of numbers; blocks may end anywhere.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(&mut self, dtype: DType, elements: &[u8], out: &mut dyn Write) -> io::Result<()> {
        let size = dtype.size().and_then(|size| usize::try_from(size).ok()).unwrap_or(1);
        let mut number = String::new();
        for element in elements.chunks_exact(size) {
            number.clear();
            text::push(dtype, element, &mut number);
            let quoted = match number.as_str() {
                "NaN" => Some("\"NaN\""),
                "inf" => Some("\"Infinity\""),
                "-inf" => Some("\"-Infinity\""),
                _ => None,
            };
            self.element(quoted.unwrap_or(&number), out)?;
        }
        Ok(())
    }

    /// Writes the next texts.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_texts(&mut self, texts: &[String], out: &mut dyn Write) -> io::Result<()> {
        texts.iter().try_for_each(|text| {
            let quoted = serde_json::to_string(text).map_err(io::Error::other)?;
            self.element(&quoted, out)
        })
    }

    fn element(&mut self, json: &str, out: &mut dyn Write) -> io::Result<()> {
        let begun = self.lens.iter().filter(|len| self.at.is_multiple_of(**len)).count();
        if 0 < self.at {
            self.buffer.push(',');
            if 0 < begun {
                self.buffer.push('\n');
            }
        }
        self.buffer.extend(std::iter::repeat_n('[', begun));
        self.buffer.push_str(json);
        self.at += 1;
        let ended = self.lens.iter().filter(|len| self.at.is_multiple_of(**len)).count();
        self.buffer.extend(std::iter::repeat_n(']', ended));
        if BUFFER_LEN < self.buffer.len() {
            out.write_all(self.buffer.as_bytes())?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Writes what is left, and the end of the line.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn finish(mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.at == 0 {
            self.buffer.push_str("[]");
        }
        self.buffer.push('\n');
        out.write_all(self.buffer.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(shape: &[u64], cut: usize) -> String {
        let elements: Vec<u8> = (0..shape.iter().product::<u64>()).map(|it| it as u8).collect();
        let (mut lists, mut out) = (Lists::new(&Shape::from(shape)), Vec::new());
        let (head, tail) = elements.split_at(cut.min(elements.len()));
        lists.write(DType::UInt8, head, &mut out).unwrap();
        lists.write(DType::UInt8, tail, &mut out).unwrap();
        lists.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lists_are_as_deep_as_there_are_axes() {
        for (shape, wanted) in [
            (&[][..], "0\n"),
            (&[3], "[0,1,2]\n"),
            (&[1, 1], "[[0]]\n"),
            (&[2, 2], "[[0,1],\n[2,3]]\n"),
            (&[2, 1, 2], "[[[0,1]],\n[[2,3]]]\n"),
            (&[0], "[]\n"),
            (&[2, 0], "[]\n"),
        ] {
            for cut in 0..5 {
                assert_eq!(written(shape, cut), wanted, "{shape:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn numbers_and_texts_are_json() {
        let values = [0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e300];
        let (mut lists, mut out) = (Lists::new(&Shape::from([6])), Vec::new());
        lists.write(DType::Float64, &values.map(f64::to_le_bytes).concat(), &mut out).unwrap();
        lists.finish(&mut out).unwrap();
        let wanted = "[0.1,\"NaN\",\"Infinity\",\"-Infinity\",-0.0,1e300]\n";
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
        let texts = ["a\"b\n", "", "\u{e9}"].map(str::to_owned);
        let (mut lists, mut out) = (Lists::new(&Shape::from([3])), Vec::new());
        lists.write_texts(&texts, &mut out).unwrap();
        lists.finish(&mut out).unwrap();
        let found: Vec<String> = serde_json::from_slice(&out).unwrap();
        assert_eq!(found, texts);
    }
}
