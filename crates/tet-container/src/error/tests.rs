//! Errors as text.

use super::*;

#[test]
fn names_are_shown_escaped() {
    let text = Error::NoLabeledAxis { axis: "\u{1b}[31m\u{202e}".to_owned() }.to_string();
    assert!(text.is_ascii() && !text.contains('\u{1b}'), "{text}");
}
