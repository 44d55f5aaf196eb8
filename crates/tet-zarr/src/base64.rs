//! Base64 (RFC 4648, section 4): inline values of references, fill values.

/// The bytes of a text in base64, with or without the padding; `None` if it is not base64.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let text = match text {
        [text @ .., b'=', b'='] | [text @ .., b'='] => text,
        text => text,
    };
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(text.len() / 4 * 3 + 3).ok()?;
    for group in text.chunks(4) {
        let mut bits = 0_u32;
        for &byte in group {
            bits = bits << 6 | u32::from(digit(byte)?);
        }
        // A last group of 2 digits is 1 byte, of 3 digits 2 bytes.
        let count = match group.len() {
            4 => 3,
            3 => 2,
            2 => 1,
            _ => return None,
        };
        let missing = u32::try_from(4 - group.len()).ok()?;
        let [low, middle, high, _] = (bits << (6 * missing)).to_le_bytes();
        bytes.extend_from_slice(&[high, middle, low][..count]);
    }
    Some(bytes)
}

/// Bytes as a value in a document of references.
///
/// ```
/// assert_eq!(tet_zarr::inline_reference(b"foo"), "base64:Zm9v");
/// ```
#[must_use]
pub fn inline_reference(bytes: &[u8]) -> String {
    format!("base64:{}", encode(bytes))
}

/// The text of bytes in base64, with its padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4_usize {
            let shift = 18 - 6 * u32::try_from(at).unwrap_or(0);
            let digit = DIGITS.get(usize::try_from(bits >> shift & 63).unwrap_or(0));
            let is_padding = group.len() < at;
            text.push(if is_padding { '=' } else { digit.map_or('=', |digit| char::from(*digit)) });
        }
    }
    text
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_rfc_are_read() {
        let cases =
            [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob")];
        for (text, wanted) in cases {
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(wanted.as_bytes()), "{text}");
            assert_eq!(encode(wanted.as_bytes()), text);
        }
        assert_eq!(decode(b"Z"), None);
        assert_eq!(decode(b"Zm 9v"), None);
    }
}
