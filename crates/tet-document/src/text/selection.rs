//! A selection -> text, the way `Selection::parse` reads it.

use tet_query::{AxisRef, AxisSelection, Position, Stop};

/// Writes a selection by position.
pub(super) fn around(head: &[AxisSelection], tail: &[AxisSelection]) -> String {
    let mut entries: Vec<String> = head.iter().map(entry_text).collect();
    entries.push("...".to_owned());
    entries.extend(tail.iter().map(entry_text));
    entries.join(", ")
}

/// Writes a selection by names of axes.
pub(super) fn named(entries: &[(AxisRef, AxisSelection)]) -> String {
    let entry = |(axis, entry): &(AxisRef, AxisSelection)| {
        let name = match axis {
            AxisRef::Number(number) => number.to_string(),
            AxisRef::Name(name) => quoted_text(name),
        };
        let sign = if is_by_position(entry) { '#' } else { '=' };
        format!("{name}{sign}{}", entry_text(entry))
    };
    entries.iter().map(entry).collect::<Vec<_>>().join(", ")
}

/// Whether text alone says this: an object has no whole numbers that are labels or positions, and no distances.
pub(super) fn is_only_text(entry: &AxisSelection) -> bool {
    let is = |position: &Position| {
        matches!(position, Position::Number(_) | Position::Nearest { within: Some(_), .. })
    };
    match entry {
        AxisSelection::Point(position) => is(position),
        AxisSelection::Range { start, stop, .. } => {
            start.iter().any(is)
                || matches!(stop, Stop::Through(stop) | Stop::Before(stop) if is(stop))
        }
    }
}

fn is_by_position(entry: &AxisSelection) -> bool {
    let is = |position: &Position| matches!(position, Position::Index(_));
    match entry {
        AxisSelection::Point(position) => is(position),
        AxisSelection::Range { start, stop, .. } => {
            start.iter().any(is) || matches!(stop, Stop::Before(stop) if is(stop))
        }
    }
}

fn entry_text(entry: &AxisSelection) -> String {
    match entry {
        AxisSelection::Point(position) => position_text(position),
        AxisSelection::Range { start, stop, step } => {
            let mut text = start.as_ref().map(position_text).unwrap_or_default();
            text.push(':');
            match stop {
                Stop::End => {}
                // Before a label is nothing that text can say; no text reads into it, and builders give other forms.
                Stop::Before(position) | Stop::Through(position) => {
                    text.push_str(&position_text(position));
                }
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
        Position::Index(number) | Position::Number(number) => number.to_string(),
        Position::Label(label) => quoted_text(label),
        Position::Nearest { label, within: None } => format!("~{}", quoted_text(label)),
        Position::Nearest { label, within: Some(within) } => {
            format!("~{} within {within}", quoted_text(label))
        }
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
        for written in [
            "0:10:3, :, -1, ...",
            "..., \"a\\\"b\":, ::2",
            "...",
            "lat=40:60, lon~-8.9 within 0.5, time#-1, \"a b\"=Oslo, 0=5",
            "time=2001-07-15T12:30:2001-08:2, x#1:9:3, y=:5",
        ] {
            let form = Selection::parse(written).unwrap().form;
            let again = match &form {
                SelectionForm::Around { head, tail } => around(head, tail),
                SelectionForm::Named(entries) => named(entries),
                SelectionForm::Each(_) => panic!("{written} is no list"),
            };
            assert_eq!(Selection::parse(&again).unwrap().form, form, "{again}");
        }
    }
}
