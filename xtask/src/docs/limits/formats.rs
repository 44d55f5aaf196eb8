//! The verbs that each container takes, and its codecs.

use std::path::Path;

use tet_convert::{Container, EditKind, Error, Input, OpenOptions, WriteOption};
use tet_io::Source;

use super::{noun, suffixes};

/// A row for each container, and a column for each verb.
pub(super) fn table() -> String {
    let mut out = String::from(
        "| format | list, read | verify | repair | edit | write |\n|---|---|---|---|---|---|\n",
    );
    for it in tet_convert::containers() {
        let title = it.format().to_string();
        let names = match it.suffixes() {
            [] => String::new(),
            all => format!(": {}", suffixes(all)),
        };
        let read = if is_read(it) { "yes" } else { "no" };
        let cells = [read, verify(it), repair(it), &edit(it), &write(it)].join(" | ");
        out.push_str(&format!("| {}{names} | {cells} |\n", noun(&title)));
    }
    out
}

/// Whether such files are opened: another error than that they are not read.
fn is_read(container: &dyn Container) -> bool {
    let (path, source) = (Path::new("x"), Source::from_bytes(Vec::new()));
    let opened = container.open(Input { path, source }, &OpenOptions::default());
    !matches!(opened, Err(Error::NotReadable { .. }))
}

fn verify(container: &dyn Container) -> &'static str {
    match (is_read(container), container.has_checksums()) {
        (false, _) => "no",
        (true, true) => "structure, checksums",
        (true, false) => "structure: no checksums",
    }
}

fn repair(container: &dyn Container) -> &'static str {
    let is_folder = !container.folder_documents().is_empty();
    match (container.repairer(), container.has_checksums()) {
        (Some(_), _) => "a flipped bit",
        (None, true) if is_folder => "each part",
        (None, true) => "all that its digests prove",
        (None, false) => "no",
    }
}

fn edit(container: &dyn Container) -> String {
    let Some(editor) = container.editor() else { return "no".to_owned() };
    editor.can().iter().map(|kind| word(*kind)).collect::<Vec<_>>().join(", ")
}

/// The subcommand or option of `tet edit`.
fn word(kind: EditKind) -> &'static str {
    match kind {
        EditKind::Rename => "rename",
        EditKind::Drop => "drop",
        EditKind::Attr => "attributes",
        EditKind::FileAttr => "file attributes",
        EditKind::Dims => "axes",
        EditKind::Labels => "labels",
        EditKind::Compact => "compact",
        EditKind::Append => "append",
        EditKind::Repack => "repack",
        EditKind::Reserve => "reserve",
    }
}

fn write(container: &dyn Container) -> String {
    let Some(writer) = container.writer() else { return "no".to_owned() };
    let names = suffixes(container.usual_suffixes());
    if writer.can().several { names } else { format!("{names}, one dataset") }
}

/// The codecs that are decoded and written in files of each container that has any.
pub(super) fn codecs() -> String {
    let mut out = String::from("| format | decoded | written |\n|---|---|---|\n");
    for it in tet_convert::containers() {
        let written = it.writer().map(|writer| writer.can().options).unwrap_or_default();
        let written = written.iter().filter_map(|option| match option {
            WriteOption::Codec(codec) => Some(codec.name()),
            _ => None,
        });
        let (decoded, written) = (it.codecs(), written.collect::<Vec<_>>());
        if decoded.is_empty() && written.is_empty() {
            continue;
        }
        let title = it.format().to_string();
        let cell = |names: &[&str]| if names.is_empty() { "-".into() } else { names.join(", ") };
        out.push_str(&format!("| {} | {} | {} |\n", noun(&title), cell(&decoded), cell(&written)));
    }
    out
}
