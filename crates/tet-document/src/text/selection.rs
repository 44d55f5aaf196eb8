//! A selection -> text, the way `Selection::parse` reads it.

use std::ops::RangeInclusive;

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
        let name = match (axis, entry) {
            (AxisRef::Number(number), _) => number.to_string(),
            // In quotes a part of dates is a part of the name.
            (AxisRef::Name(name), AxisSelection::Among { part, .. }) => {
                format!("{name}.{}", part.name())
            }
            (AxisRef::Name(name), _) => quoted_text(name),
        };
        let sign = match entry {
            AxisSelection::List(places) if places.iter().any(is_nearest) => '~',
            entry if is_by_position(entry) => '#',
            _ => '=',
        };
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
        AxisSelection::List(_) | AxisSelection::Among { .. } => true,
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
        AxisSelection::List(places) => places.iter().any(is),
        AxisSelection::Among { .. } => false,
        AxisSelection::Range { start, stop, .. } => {
            start.iter().any(is) || matches!(stop, Stop::Before(stop) if is(stop))
        }
    }
}

const fn is_nearest(position: &Position) -> bool {
    matches!(position, Position::Nearest { .. })
}

fn entry_text(entry: &AxisSelection) -> String {
    match entry {
        AxisSelection::List(places) => list_text(places),
        AxisSelection::Among { ranges, .. } => {
            let range = |it: &RangeInclusive<i64>| match (it.start(), it.end()) {
                (first, last) if first == last => first.to_string(),
                (first, last) => format!("{first}:{last}"),
            };
            ranges.iter().map(range).collect::<Vec<_>>().join(",")
        }
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

/// A list in brackets; of nearest labels, which `~` comes before, the labels alone.
fn list_text(places: &[Position]) -> String {
    let text = |position: &Position| match position {
        Position::Nearest { label, .. } => quoted_text(label),
        position => position_text(position),
    };
    let texts: Vec<String> = places.iter().map(text).collect();
    let within = match places.first() {
        Some(Position::Nearest { within: Some(within), .. }) => format!(" within {within}"),
        _ => String::new(),
    };
    format!("[{}]{within}", texts.join(", "))
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
            "plev=[85000,50000.0,\"a\"], lat~[48.1,52.5] within 2, x#[0,-1]",
            "time.month=6,7:9,11:2, t.season=DJF, s.year=1979:2020",
            "[0,7], :, ...",
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
