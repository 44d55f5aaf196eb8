//! Tensogram files of ours: messages of every kind, in every way to write them, each with its sheet.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value as Json, json};
use tet_tensogram::{
    HashChoice, ListPlace, Metadata, Readers, StreamWriter, VersionKey, WriteOptions,
    encode_message,
};

use super::objects::{Object, every};
use super::said;

/// How a message is written.
#[derive(Clone, Copy)]
enum Form {
    /// All of it is known.
    Whole,
    /// Tensor by tensor, with preceders.
    Stream,
    /// Tensor by tensor, with preceders; the length is filled in at the end.
    Backfilled,
}

/// A way to write a file.
struct Way {
    label: String,
    form: Form,
    options: WriteOptions,
}

/// Writes a file for each way to write, and its sheet beside it.
pub(super) fn write(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    let (usual, all) = (every(Readers::Since019)?, every(Readers::All)?);
    for way in ways() {
        let path = folder.join(format!("{}.tgm", way.label));
        let objects = match way.options.version_key {
            VersionKey::Absent => &usual,
            VersionKey::Written => &all,
        };
        one(&path, &way, objects).with_context(|| path.display().to_string())?;
        paths.push(path);
    }
    Ok(paths)
}

/// Every way, by the name of its file.
fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    let usual = WriteOptions::default();
    let mut push = |label: String, form, options| ways.push(Way { label, form, options });
    for (said, version_key) in [("", VersionKey::Absent), ("-universal", VersionKey::Written)] {
        for (form, word) in
            [(Form::Whole, "whole"), (Form::Stream, "stream"), (Form::Backfilled, "backfilled")]
        {
            let mut options = usual;
            options.version_key = version_key;
            push(format!("{word}{said}"), form, options);
            options.hash = HashChoice::None;
            push(format!("{word}-unhashed{said}"), form, options);
        }
    }
    for align in [8, 4096] {
        let mut options = usual;
        options.align = align;
        push(format!("whole-{align}"), Form::Whole, options);
        push(format!("stream-{align}"), Form::Stream, options);
    }
    for (word, list) in
        [("footer", ListPlace::Footer), ("both", ListPlace::Both), ("nowhere", ListPlace::Nowhere)]
    {
        let mut options = usual;
        options.list = list;
        push(format!("whole-list-{word}"), Form::Whole, options);
    }
    let mut options = usual;
    options.list = ListPlace::Nowhere;
    push("stream-list-nowhere".to_owned(), Form::Stream, options);
    ways
}

/// A file of a message with all objects, one with a few, one with none, and one with few again.
fn one(path: &Path, way: &Way, objects: &[Object]) -> Result<()> {
    let (mut bytes, mut sheets, mut elements) = (Vec::new(), Vec::new(), Vec::new());
    for part in [objects, &objects[..3], &[], &objects[1..2]] {
        let base: Vec<Json> = (0..part.len()).map(entry).collect();
        let mut extra = json!({ "title": "what is said of all", "count": part.len(), "pi": 3.25 });
        let message = message(way, bytes.len() as u64, part, &base, &extra)?;
        bytes.extend(message);
        if way.options.version_key == VersionKey::Written {
            // Readers since 0.18 take it for the user's.
            extra["version"] = json!(3);
        }
        sheets.push(sheet(&base, &extra, part));
        elements.extend(part.iter().flat_map(|it| it.elements.iter().copied()));
    }
    std::fs::write(path, bytes)?;
    beside(path, sheets, &elements)
}

/// Contents of a message.
pub(super) fn sheet(base: &[Json], extra: &Json, objects: &[Object]) -> Json {
    let line = |it: &Object| json!({ "dtype": it.dtype.name(), "shape": it.shape, "len": it.elements.len() });
    let lines: Vec<Json> = objects.iter().map(line).collect();
    json!({ "base": base, "extra": extra, "objects": lines })
}

/// Writes the sheets of the messages of a file, and the elements of all, beside it.
pub(super) fn beside(path: &Path, sheets: Vec<Json>, elements: &[u8]) -> Result<()> {
    std::fs::write(path.with_extension("json"), Json::from(sheets).to_string())?;
    Ok(std::fs::write(path.with_extension("bin"), elements)?)
}

/// Metadata of an object.
fn entry(number: usize) -> Json {
    match number % 3 {
        0 => json!({ "name": format!("caf\u{e9}/{number}"), "step": number }),
        1 => json!({ "mars": { "param": "2t", "levels": [1, [2.5]], "f": 0.1 }, "negative": -7 }),
        _ => json!({ "null": null, "truth": true, "large": i64::MAX, "small": i64::MIN }),
    }
}

fn message(
    way: &Way,
    start: u64,
    objects: &[Object],
    base: &[Json],
    extra: &Json,
) -> Result<Vec<u8>> {
    let mut options = way.options;
    options.start = start;
    let base = base.iter().map(said::pairs).collect();
    let mut metadata = Metadata { base, extra: said::pairs(extra), ..Metadata::default() };
    if let Form::Whole = way.form {
        let tensors = objects.iter().map(Object::tensor).collect();
        return Ok(encode_message(&metadata, tensors, &options)?);
    }
    // Metadata of an object is before it, and that of the message at the end.
    let said = std::mem::take(&mut metadata.base);
    let mut writer = StreamWriter::new(Cursor::new(Vec::new()), &Metadata::default(), &options)?;
    for (object, pairs) in objects.iter().zip(&said) {
        writer.preceder(pairs)?;
        writer.whole(&object.descriptor, &object.region)?;
    }
    let (out, _) = match way.form {
        Form::Backfilled => writer.finish_backfilled(&metadata)?,
        Form::Whole | Form::Stream => writer.finish(&metadata)?,
    };
    Ok(out.into_inner())
}
