//! Integers in JSON that `serde_json` reads as floats, as they are past 64 bits, and that CBOR has.
//!
//! Its feature `arbitrary_precision` would hold for every crate of the build, and change how they read, compare and print
//! numbers.

use std::borrow::Cow;

/// Digits of integers that no 64 bits hold, at least.
const DIGITS_MIN: usize = 19;

/// JSON with the object `{"$int": "digits"}` in place of each of these integers.
pub(super) fn with_wide(text: &str) -> Cow<'_, str> {
    if !text.as_bytes().windows(DIGITS_MIN).any(|it| it.iter().all(u8::is_ascii_digit)) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(|c: char| c == '"' || is_of_number(c)) {
        let (before, from) = rest.split_at(at);
        let len = if from.starts_with('"') { quoted_len(from) } else { number_len(from) };
        let (token, behind) = from.split_at(len);
        out.push_str(before);
        match wide(token) {
            Some(integer) => out.push_str(&format!("{{\"$int\":\"{integer}\"}}")),
            None => out.push_str(token),
        }
        rest = behind;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E')
}

fn number_len(text: &str) -> usize {
    text.find(|c| !is_of_number(c)).unwrap_or(text.len())
}

/// The length of a string with its quotes; that of the rest if it has no end.
fn quoted_len(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let is_end = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |(at, _)| at.saturating_add(1))
}

/// The integer of a token of JSON, if CBOR has it and 64 bits do not.
fn wide(token: &str) -> Option<i128> {
    let digits = token.strip_prefix('-').unwrap_or(token);
    let is_integer = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    let integer = token.parse().ok().filter(|_| is_integer)?;
    let is_narrow = (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&integer);
    let is_of_cbor = (-(1_i128 << 64)..1 << 64).contains(&integer);
    (is_of_cbor && !is_narrow).then_some(integer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_integers_are_marked_and_nothing_else() {
        for integer in ["-9223372036854775809", "-18446744073709551616"] {
            let marked = format!("{{\"$int\":\"{integer}\"}}");
            assert_eq!(with_wide(integer), marked);
            let list = format!("[\"\\\"1 {integer}\", {integer}, {{\"a\": {integer}}}]");
            let wanted = format!("[\"\\\"1 {integer}\", {marked}, {{\"a\": {marked}}}]");
            assert_eq!(with_wide(&list), wanted);
        }
        let others = [
            "18446744073709551615",
            "-9223372036854775808",
            "-18446744073709551617",
            "-18446744073709551616.0",
            "-18446744073709551616e0",
            "\"-18446744073709551616",
            "[\"\u{e9}-18446744073709551616\"]",
            "",
        ];
        for text in others {
            assert_eq!(with_wide(text), text);
        }
    }
}
