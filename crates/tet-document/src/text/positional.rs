//! A selection by position -> text.

use tet_query::{AxisSelection, Position, Stop};

/// Writes a selection by position the way `Selection::parse` reads it.
pub(super) fn text(head: &[AxisSelection], tail: &[AxisSelection]) -> String {
    let mut entries: Vec<String> = head.iter().map(entry_text).collect();
    entries.push("...".to_owned());
    entries.extend(tail.iter().map(entry_text));
    entries.join(", ")
}

fn entry_text(entry: &AxisSelection) -> String {
    match entry {
        AxisSelection::Point(position) => position_text(position),
        AxisSelection::Range { start, stop, step } => {
            let mut text = start.as_ref().map(position_text).unwrap_or_default();
            text.push(':');
            match stop {
                Stop::End => {}
                Stop::Before(position) => text.push_str(&position_text(position)),
                // Text cannot say it; no text reads into it, and builders give other forms.
                Stop::Through(label) => text.push_str(&quoted_text(label)),
            }
            if *step != 1 {
                text.push_str(&format!(":{step}"));
            }
            text
        }
    }
}

fn position_text(position: &Position) -> String {
    match position {
        Position::Index(index) => index.to_string(),
        Position::Label(label) => quoted_text(label),
        Position::Nearest(label) => format!("~{}", quoted_text(label)),
    }
}

fn quoted_text(label: &str) -> String {
    let mut text = String::from('"');
    for next in label.chars() {
        if matches!(next, '"' | '\\') {
            text.push('\\');
        }
        text.push(next);
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use tet_query::{Selection, SelectionForm};

    #[test]
    fn written_text_reads_back() {
        for written in ["0:10:3, :, -1, ...", "..., \"a\\\"b\":, ::2", "..."] {
            let SelectionForm::Around { head, tail } = Selection::parse(written).unwrap().form
            else {
                panic!("{written} is by position");
            };
            let again = text(&head, &tail);
            assert_eq!(
                Selection::parse(&again).unwrap().form,
                SelectionForm::Around { head, tail }
            );
        }
    }
}
