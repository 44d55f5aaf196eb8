//! Bytes as hex and as text, escaped for a terminal.

use std::fmt::Write;

use crate::escape::Escaped;

/// Bytes of a line.
pub(crate) const LINE_LEN: usize = 8;

/// Bytes in hex, separated by spaces: `54 45 54 52`.
#[must_use]
pub(crate) fn spaced(bytes: &[u8]) -> String {
    join(bytes, " ")
}

/// Bytes in hex without separators: `54455452`.
#[must_use]
pub(crate) fn packed(bytes: &[u8]) -> String {
    join(bytes, "")
}

fn join(bytes: &[u8], between: &str) -> String {
    let mut out = String::with_capacity(bytes.len() * (2 + between.len()));
    for (at, byte) in bytes.iter().enumerate() {
        let between = if at == 0 { "" } else { between };
        // Writing to a string cannot fail.
        let _ = write!(out, "{between}{byte:02x}");
    }
    out
}

/// Bytes as text; invalid UTF-8 is shown as `\xff`, control characters are escaped.
#[must_use]
pub(crate) fn text(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        // Writing to a string cannot fail.
        let _ = write!(out, "{}", Escaped(chunk.valid()));
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// The number of bytes before a UTF-8 character that is cut off at the end; all bytes if none is.
#[must_use]
pub(crate) fn whole_text_len(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => error.valid_up_to(),
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_two_digits_each() {
        assert_eq!(spaced(b"TETR"), "54 45 54 52");
        assert_eq!(packed(&[0, 255]), "00ff");
        assert_eq!((spaced(&[]), packed(&[])), (String::new(), String::new()));
    }

    #[test]
    fn text_is_harmless_and_nothing_is_lost() {
        assert_eq!(text(b"a\x1b[0m\xff\xc3"), "a\\x1b[0m\\xff\\xc3");
        assert_eq!(text("\u{202e}b\n".as_bytes()), "\\u{202e}b\\n");
    }

    #[test]
    fn a_line_of_text_ends_between_characters() {
        let bytes = "ab\u{e9}".as_bytes();
        assert_eq!([2, 3, 4].map(|len| whole_text_len(&bytes[..len])), [2, 2, 4]);
        assert_eq!(whole_text_len(&bytes[2..3]), 1, "a lone piece is shown as a byte");
        assert_eq!(whole_text_len(b"\xff\xff"), 2);
    }
}
