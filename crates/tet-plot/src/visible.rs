//! Texts from files: what would act on a terminal or is not allowed in XML is shown as a replacement.

/// Replaces each character that controls a terminal, changes the direction of reading, or is not allowed in XML, by a
/// replacement character.
pub(crate) fn visible(text: &str) -> String {
    text.chars().map(|c| if acts(c) { '\u{fffd}' } else { c }).collect()
}

fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}')
}

/// The text cut to at most `len_max` characters, with `~` for what is left out.
pub(crate) fn cut(text: &str, len_max: usize) -> String {
    if text.chars().count() <= len_max {
        return text.to_owned();
    }
    text.chars().take(len_max.saturating_sub(1)).chain(['~']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_replaced() {
        assert_eq!(
            visible("a\u{1b}[2J\u{202e}b\u{0}\u{ffff}"),
            "a\u{fffd}[2J\u{fffd}b\u{fffd}\u{fffd}"
        );
        assert_eq!(visible("\u{b0}C & <x>"), "\u{b0}C & <x>");
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!([cut("abc", 3), cut("abcd", 3), cut("", 0)], ["abc", "ab~", ""]);
    }
}
