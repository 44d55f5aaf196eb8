//! Texts in the room that they have: on several lines, and cut where these are too few.

use crate::font::Font;

/// The distance of two lines, as a part of the size of their letters.
const LINE: f32 = 1.25;
/// A line may end behind these, if there is no blank.
const BREAKS: [char; 5] = ['/', '_', '.', ',', '-'];
/// Widths that are tried for even lines, as parts of the room.
const NARROWEST: u8 = 8;
const WHOLE: u8 = 16;
/// No more characters of a text are drawn.
const LEN_MAX: usize = 400;

/// The height of a line.
pub(super) const fn line_height(size: f32) -> f32 {
    size * LINE
}

/// The width of the widest text.
pub(super) fn widest<'t>(texts: impl IntoIterator<Item = &'t str>, size: f32) -> f32 {
    let font = Font::sized(size);
    texts.into_iter().map(|text| font.width(text)).fold(0.0, f32::max)
}

/// The text in at most so many lines that are no wider than `room`; the last one is cut if that is too few.
pub(super) fn wrapped(text: &str, size: f32, room: f32, lines_max: usize) -> Vec<String> {
    let font = Font::sized(size);
    let mut rest: Vec<char> = text.chars().take(LEN_MAX).collect();
    let mut lines = Vec::new();
    while lines.len() + 1 < lines_max {
        let fitting = fitting(&rest, &font, room);
        if fitting == rest.len() {
            break;
        }
        let last = |breaks: &[char]| rest[..fitting].iter().rposition(|c| breaks.contains(c));
        let end = last(&[' ']).or_else(|| last(&BREAKS)).map(|at| at + 1);
        let line: Vec<char> = rest.drain(..end.unwrap_or(fitting.max(1))).collect();
        lines.push(line.iter().collect::<String>().trim().to_owned());
    }
    let last: String = rest.iter().collect();
    lines.push(elided(last.trim(), size, room));
    lines
}

/// As [`wrapped`], with lines of about the same width.
pub(super) fn balanced(text: &str, size: f32, room: f32, lines_max: usize) -> Vec<String> {
    let lines = wrapped(text, size, room, lines_max);
    if lines.len() == 1 || lines.last().is_some_and(|line| line.ends_with("...")) {
        return lines;
    }
    // No word is cut for it.
    let word = widest(text.split(' '), size);
    let rooms = (NARROWEST..WHOLE).map(|part| room * f32::from(part) / f32::from(WHOLE));
    let narrower = rooms.filter(|room| word <= *room);
    let mut narrower = narrower.map(|room| wrapped(text, size, room, lines.len() + 1));
    // One line more than there is room for shows that this is too narrow.
    let fitting = narrower.find(|narrow| narrow.len() == lines.len());
    fitting.unwrap_or(lines)
}

/// How many characters are no wider than `room`; a blank at the end may be.
fn fitting(text: &[char], font: &Font, room: f32) -> usize {
    let mut width = 0.0;
    let is_wider = |c: &char| {
        width += font.width(c.encode_utf8(&mut [0; 4]));
        room < width
    };
    text.iter().position(is_wider).unwrap_or(text.len())
}

/// The text, cut so that it is no wider than `room`.
pub(super) fn elided(text: &str, size: f32, room: f32) -> String {
    let font = Font::sized(size);
    let chars: Vec<char> = text.chars().take(LEN_MAX + 1).collect();
    if chars.len() <= LEN_MAX && fitting(&chars, &font, room) == chars.len() {
        return text.to_owned();
    }
    let end = fitting(&chars, &font, room - font.width("..."));
    chars[..end].iter().collect::<String>().trim_end().to_owned() + "..."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_have_several_lines_and_no_text_is_wider_than_its_room() {
        let text = "Mauna Loa Observatory, Hawaii";
        let whole = widest([text], 12.0);
        assert_eq!(wrapped(text, 12.0, whole, 1), [text]);
        assert_eq!(wrapped(text, 12.0, whole * 0.8, 2), ["Mauna Loa Observatory,", "Hawaii"]);
        assert_eq!(wrapped("layers.0.self_attn", 12.0, 60.0, 3), ["layers.0.", "self_attn"]);
        let title = "a title of many words and one";
        assert_eq!(
            balanced(title, 12.0, widest([title], 12.0) * 0.95, 2),
            ["a title of many", "words and one"]
        );
        let name = "Hohenpeissenberg Observatory";
        assert_eq!(balanced(name, 12.0, 130.0, 5), ["Hohenpeissenberg", "Observatory"]);
        for text in [text, "unbreakable", "i", "", "a  b"] {
            for room in [1.0, 20.0, 50.0, 90.0] {
                for lines_max in 1..4 {
                    let lines = wrapped(text, 12.0, room, lines_max);
                    assert!((1..=lines_max).contains(&lines.len()), "{text} {room}: {lines:?}");
                    let is_in = |line: &String| line.len() <= 3 || widest([&**line], 12.0) <= room;
                    assert!(lines.iter().all(is_in), "{text} {room} {lines_max}: {lines:?}");
                    let shown: String = lines.concat().replace("...", "").replace(' ', "");
                    assert!(text.replace(' ', "").starts_with(&shown), "{text}: {lines:?}");
                }
            }
        }
    }
}
