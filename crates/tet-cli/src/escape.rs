//! Escapes names and texts from a file for a terminal and for a log.
//!
//! Text from a file must not move the cursor, set a title, forge a line or change the reading direction.
//! Everything printed from a file passes through [`Escaped`].

use std::fmt;

/// Prints a text with every character that could act on a terminal written as an escape.
///
/// Control characters (C0, DEL, C1), bidirectional controls, zero-width characters and line
/// separators become `\n`, `\t`, `\x1b` or `\u{202e}`. A backslash is doubled, so that escapes are
/// unambiguous.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escaped(self.0).fmt(f)
    }
}

/// Prints a message that quotes a file: like [`Escaped`], but line feeds and backslashes are
/// unchanged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message<'a>(pub(crate) &'a str);

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '\n' => f.write_str("\n")?,
                c if acts(c) => write_escape(f, c)?,
                c => fmt::Write::write_char(f, c)?,
            }
        }
        Ok(())
    }
}

/// Whether a character controls a terminal, or is invisible.
#[must_use]
pub(crate) fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\\' {
            out.push_str("\\\\");
        } else if acts(c) {
            // Writing to a string cannot fail.
            let _ = write_escape(&mut out, c);
        } else {
            out.push(c);
        }
    }
    out
}

fn write_escape(out: &mut impl fmt::Write, c: char) -> fmt::Result {
    match c {
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        c if u32::from(c) < 0x80 => write!(out, "\\x{:02x}", u32::from(c)),
        c => write!(out, "\\u{{{:x}}}", u32::from(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h13_no_character_that_acts_is_printed_raw() {
        for code in 0..=0x10_ffff_u32 {
            let Some(c) = char::from_u32(code) else { continue };
            let text = Escaped(&c.to_string()).to_string();
            assert!(!text.chars().any(acts), "U+{code:04X} is printed as {text:?}");
        }
    }

    #[test]
    fn escapes_are_unambiguous() {
        let cases = [
            ("plain", "plain"),
            ("temp\u{b0}C", "temp\u{b0}C"),
            ("a\nb", "a\\nb"),
            ("a\\nb", "a\\\\nb"),
            ("\u{1b}[31m", "\\x1b[31m"),
            ("\u{202e}txt", "\\u{202e}txt"),
            ("\u{9b}1m", "\\u{9b}1m"),
            ("", ""),
        ];
        for (text, want) in cases {
            assert_eq!(Escaped(text).to_string(), want);
        }
    }

    #[test]
    fn a_message_keeps_its_lines_only() {
        assert_eq!(Message("no \u{1b}]0;x\u{7}\nnext").to_string(), "no \\x1b]0;x\\x07\nnext");
    }

    #[test]
    fn width_and_alignment_apply_to_the_escaped_text() {
        assert_eq!(format!("{:>4}|{:<3}|", Escaped("\n"), Escaped("a")), "  \\n|a  |");
    }
}
