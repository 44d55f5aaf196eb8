//! Attributes, labels and history.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use tet_convert::Opened;
use tet_file::TetFile;
use tet_query::{AttrText, Dataset};

use crate::context::Context;
use crate::escape::Escaped;
use crate::exit::Result;
use crate::render::json::{Attr, HistoryEntry};
use crate::render::table::{Side, Table};
use crate::size::Size;

/// At most this many characters of an attribute are printed; `--json` contains all.
const TEXT_MAX: usize = 100;
/// Labels printed of each end of an axis.
const LABELS_SHOWN: usize = 3;

/// Whether each axis of a dataset can grow; nothing where none can.
pub(crate) fn unlimited(dataset: &Dataset) -> Vec<bool> {
    if !dataset.unlimited.contains(&true) {
        return Vec::new();
    }
    let axes = 0..dataset.shape().len();
    axes.map(|axis| dataset.unlimited.get(axis) == Some(&true)).collect()
}

/// The names of the axes of a dataset, or the numbers of those that can grow.
pub(crate) fn axes(dataset: &Dataset) -> String {
    let unlimited = unlimited(dataset);
    let axis = |axis: usize| match (dataset.dims.get(axis), unlimited.get(axis)) {
        (Some(name), Some(true)) => Some(format!("{name} (unlimited)")),
        (Some(name), _) => Some(name.clone()),
        (None, Some(true)) => Some(format!("{axis} (unlimited)")),
        (None, _) => None,
    };
    let axes: Vec<String> = (0..dataset.shape().len()).filter_map(axis).collect();
    axes.join(", ")
}

/// The first of these attributes that is a text, on one line and not too long for a table.
pub(crate) fn text_of(dataset: &Dataset, keys: &[&str]) -> String {
    let is_text = |key: &&str| match dataset.attrs.get(*key) {
        Some(AttrText::Text(text)) => Some(Attr::Text(text.lines().next()?.trim().to_owned())),
        _ => None,
    };
    keys.iter().find_map(is_text).map_or_else(String::new, |value| text(&value))
}

/// The labels of a dataset, by name or number of the axis.
pub(crate) fn coords(dataset: &Dataset) -> BTreeMap<String, Vec<String>> {
    let name = |axis: usize| dataset.dims.get(axis).cloned().unwrap_or_else(|| axis.to_string());
    dataset.coords.iter().map(|(&axis, labels)| (name(axis), labels.clone())).collect()
}

/// The attributes of a dataset.
pub(crate) fn attrs(dataset: &Dataset) -> BTreeMap<String, Attr> {
    dataset.attrs.iter().map(|(key, value)| (key.clone(), attr(value))).collect()
}

/// The attributes of the file.
pub(crate) fn file_attrs(opened: &Opened) -> BTreeMap<String, Attr> {
    opened.catalog.attrs().iter().map(|(key, value)| (key.clone(), attr(value))).collect()
}

pub(crate) fn attr(value: &AttrText) -> Attr {
    match value {
        AttrText::Text(text) => Attr::Text(text.clone()),
        value => raw(value.text()),
    }
}

fn raw(json: &str) -> Attr {
    match RawValue::from_string(json.to_owned()) {
        // JSON with characters that control a terminal is printed as escaped text.
        Ok(raw) if !json.chars().any(crate::escape::acts) => Attr::Json(raw),
        _ => Attr::Text(json.to_owned()),
    }
}

/// The history of the file.
pub(crate) fn history(opened: &Opened) -> Vec<HistoryEntry> {
    let rows = opened.tet.as_ref().map(TetFile::history).unwrap_or_default();
    let entry = |row: &tet_file::HistoryRow| HistoryEntry {
        op: row.op.clone(),
        source: row.source.clone(),
        at: row.at.clone(),
        parents: row.parents.clone(),
        params: row.params.clone(),
    };
    rows.iter().map(entry).collect()
}

/// Prints the history.
///
/// # Errors
///
/// Writing to standard output fails.
pub(crate) fn write_history(opened: &Opened, context: &mut Context<'_>) -> Result<()> {
    context.line(format!("\n{}", context.paint.strong("history")))?;
    let history = history(opened);
    if history.is_empty() {
        return context.line(context.paint.faint("  none"));
    }
    let columns =
        [("at", Side::Left), ("op", Side::Left), ("source", Side::Left), ("params", Side::Left)];
    let mut table = Table::new(&columns);
    for row in history {
        let params = row.params.iter().map(|(key, value)| format!("{key}={value}"));
        let params = params.collect::<Vec<_>>().join(" ");
        table.row([date(&row.at), row.op, row.source, params]);
    }
    for line in table.lines(context.table_width(), context.paint) {
        context.line(line)?;
    }
    Ok(())
}

/// Prints attributes and labels.
///
/// # Errors
///
/// Writing to standard output fails.
pub(crate) fn write(opened: &Opened, context: &mut Context<'_>) -> Result<()> {
    let paint = context.paint;
    let mut table = Table::new(&[("", Side::Left), ("", Side::Left), ("", Side::Left)]);
    for (key, value) in file_attrs(opened) {
        table.row([String::new(), key, text(&value)]);
    }
    for dataset in opened.catalog.datasets() {
        for (key, value) in attrs(dataset) {
            table.row([dataset.name.clone(), key, text(&value)]);
        }
        for (axis, labels) in coords(dataset) {
            table.row([dataset.name.clone(), format!("labels of {axis}"), ends(&labels)]);
        }
    }
    context.line(format!("\n{}", paint.strong("metadata")))?;
    if table.is_empty() {
        return context.line(paint.faint("  none"));
    }
    for line in table.lines(context.table_width(), paint) {
        context.line(line)?;
    }
    Ok(())
}

/// The value, cut if it is too long for a table.
pub(crate) fn text(value: &Attr) -> String {
    let text = match value {
        Attr::Text(text) => text.as_str(),
        Attr::Json(json) => json.get(),
    };
    match text.char_indices().nth(TEXT_MAX) {
        Some((at, _)) => format!("{}... ({})", &text[..at], Size(len(text))),
        None => text.to_owned(),
    }
}

fn len(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

/// The first and last labels.
fn ends(labels: &[String]) -> String {
    let shown = |labels: &[String]| {
        labels.iter().map(|label| Escaped(label).to_string()).collect::<Vec<_>>().join(", ")
    };
    if labels.len() <= 2 * LABELS_SHOWN + 1 {
        return shown(labels);
    }
    let (first, last) = (&labels[..LABELS_SHOWN], &labels[labels.len() - LABELS_SHOWN..]);
    format!("{}, ..., {} ({})", shown(first), shown(last), labels.len())
}

/// Unix seconds as a date in UTC; other text unchanged.
fn date(at: &str) -> String {
    let seconds = at.parse::<i64>().ok().and_then(|at| u64::try_from(at).ok());
    match seconds.filter(|seconds| *seconds < 253_402_300_800) {
        Some(seconds) => tet_io::utc(seconds).replace('T', " "),
        None => at.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_shown_as_dates() {
        let cases = [
            ("0", "1970-01-01 00:00:00Z"),
            ("951782400", "2000-02-29 00:00:00Z"),
            ("1700000000", "2023-11-14 22:13:20Z"),
            ("4102444799", "2099-12-31 23:59:59Z"),
            ("-1", "-1"),
            ("yesterday", "yesterday"),
        ];
        for (at, want) in cases {
            assert_eq!(date(at), want);
        }
    }

    #[test]
    fn long_axes_show_the_ends_of_their_labels() {
        let labels: Vec<String> = (0..10).map(|at| at.to_string()).collect();
        assert_eq!(ends(&labels), "0, 1, 2, ..., 7, 8, 9 (10)");
        assert_eq!(ends(&labels[..3]), "0, 1, 2");
    }
}
