//! Changes of an edit: a line each for people, one `tet.edit/1` object for programs.

use std::path::Path;

use tet_convert::{DatasetChange, EditReport, FileEdit};
use tet_query::Catalog;

use crate::args::EditPlaceArgs;
use crate::context::Context;
use crate::escape::Message;
use crate::exit::{Exit, Result};
use crate::render::json::{EditLine, Edited};
use crate::size::Size;

/// Prints what was changed, or would be; `done` is the verb for it: `appended 2 files`.
///
/// # Errors
///
/// Writing to standard output fails.
pub(super) fn print(
    file: &Path,
    place: &EditPlaceArgs,
    report: &EditReport,
    edits: Vec<EditLine>,
    done: &str,
    context: &mut Context<'_>,
) -> Result<Exit> {
    context.warn_all(&report.notes);
    let output = place.output.as_deref().unwrap_or(file);
    if place.json {
        context.json(&Edited {
            schema: "tet.edit/1",
            file: tet_io::without_secrets(file).into_owned(),
            output: tet_io::without_secrets(output).into_owned(),
            dry_run: place.dry_run,
            edits,
            kept: report.kept.clone(),
            kept_len: report.kept_len,
            written_len: report.written_len(),
            file_len: report.file_len,
            notes: report.notes.iter().map(ToString::to_string).collect(),
        })?;
        return Ok(Exit::Done);
    }
    if place.dry_run {
        for edit in &edits {
            context.line(Message(&edit.text))?;
        }
    }
    if let Some(len) = report.file_len {
        context.note(format!("{done}: {}, {}", tet_io::shown(output), Size(len)));
    }
    Ok(Exit::Done)
}

/// The edits of names and metadata, one each.
pub(super) fn lines(edits: &[FileEdit], catalog: &Catalog) -> Vec<EditLine> {
    let line = |edit: &FileEdit| {
        let name = |at: &usize| catalog.datasets().get(*at).map(|it| it.name.clone());
        let of = EditLine { text: edit.describe(catalog), ..EditLine::default() };
        match edit {
            FileEdit::Rename { dataset, to } => {
                EditLine { kind: "rename", dataset: name(dataset), to: Some(to.clone()), ..of }
            }
            FileEdit::Drop { dataset } => EditLine { kind: "drop", dataset: name(dataset), ..of },
            FileEdit::Attr { dataset, key, .. } => {
                let dataset = dataset.as_ref().and_then(name);
                EditLine { kind: "attr", dataset, key: Some(key.clone()), ..of }
            }
            FileEdit::Dims { dataset, .. } => {
                EditLine { kind: "dims", dataset: name(dataset), ..of }
            }
            FileEdit::Labels { dataset, axis, .. } => {
                EditLine { kind: "labels", dataset: name(dataset), axis: Some(*axis), ..of }
            }
            FileEdit::Compact => EditLine { kind: "compact", ..of },
        }
    };
    edits.iter().map(line).collect()
}

/// The datasets that were written anew, one each.
pub(super) fn changes(report: &EditReport) -> Vec<EditLine> {
    let line = |change: &DatasetChange| {
        let (text, dataset) = (change.to_string(), Some(change.dataset().to_owned()));
        let of = EditLine { text, dataset, ..EditLine::default() };
        match change {
            DatasetChange::Grown { axis, from, to, .. } => {
                EditLine { kind: "append", axis: Some(*axis), extents: Some([*from, *to]), ..of }
            }
            DatasetChange::Repacked { .. } => EditLine { kind: "repack", ..of },
        }
    };
    report.changes.iter().map(line).collect()
}
