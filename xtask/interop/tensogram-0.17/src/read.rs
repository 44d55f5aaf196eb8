//! Files of others, compared with their sheets.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Value as Json, json};
use tensogram::wire::Preamble;
use tensogram::{
    CompressionBackend, DecodeOptions, GlobalMetadata, IssueCode, MessageFlags, ValidateOptions,
    ValidationLevel,
};

/// What was read, and what was not.
#[derive(Default)]
struct Count {
    objects: usize,
    /// Messages without the key `version`, none of which the release reads.
    refused: usize,
    /// Objects of several zstd frames, of which the zstd of Rust reads the first.
    cut: usize,
}

/// Reads every file of a folder.
pub(crate) fn all(folder: &Path) -> Result<String> {
    let entries = std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = entries.collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|it| it == "tgm"));
    paths.sort();
    let mut count = Count::default();
    for path in &paths {
        file(path, &mut count).with_context(|| path.display().to_string())?;
    }
    ensure!(0 < count.objects, "nothing is read");
    Ok(count.to_string())
}

fn file(path: &Path, count: &mut Count) -> Result<()> {
    let content = std::fs::read(path)?;
    let sheets = std::fs::read_to_string(path.with_extension("json"))?;
    let sheets: Vec<Json> = serde_json::from_str(&sheets)?;
    let elements = std::fs::read(path.with_extension("bin"))?;
    let found = tensogram::scan(&content);
    ensure!(found.len() == sheets.len(), "{} messages are found", found.len());
    let (mut rest, refused) = (&elements[..], count.refused);
    for ((start, len), sheet) in found.into_iter().zip(&sheets) {
        message(&content[start..start + len], sheet, &mut rest, count)?;
    }
    ensure!(rest.is_empty(), "{} bytes are left", rest.len());
    if refused == count.refused && !is_rust() {
        validate(&content)?;
    }
    Ok(())
}

fn message(piece: &[u8], sheet: &Json, rest: &mut &[u8], count: &mut Count) -> Result<()> {
    let lines = sheet["objects"].as_array().context("a sheet without objects")?;
    let mut wanted = Vec::new();
    for line in lines {
        let len = line["len"].as_u64().context("a sheet without lengths")?;
        let (mine, after) = rest.split_at_checked(len as usize).context("too few bytes")?;
        (*rest, _) = (after, wanted.push(mine));
    }
    let decoded = tensogram::decode(piece, &DecodeOptions::default());
    if sheet["extra"].get("version").is_none() {
        let error = decoded.err().context("a message without a version is read")?;
        ensure!(error.to_string().contains("missing field `version`"), "{error}");
        count.refused += 1;
        return Ok(());
    }
    let (metadata, objects) = decoded?;
    said(&metadata, sheet)?;
    ensure!(objects.len() == lines.len(), "{} objects", objects.len());
    for ((line, wanted), (descriptor, values)) in lines.iter().zip(wanted).zip(objects) {
        let told = json!({ "dtype": descriptor.dtype.to_string(), "shape": descriptor.shape });
        ensure!(told["dtype"] == line["dtype"] && told["shape"] == line["shape"], "{told}");
        if let Some(first) = descriptor.params.get("zstd_frame_len").filter(|_| is_rust()) {
            let is_first = *first == (values.len() as u64).into();
            let is_part = descriptor.filter == "shuffle" || wanted.starts_with(&values);
            ensure!(is_first && is_part, "other than the first frame: {descriptor:?}");
            count.cut += 1;
            continue;
        }
        ensure!(values == wanted, "other elements: {descriptor:?}");
        count.objects += 1;
    }
    Ok(())
}

/// What is said of the message and its objects, but for what libraries say.
fn said(metadata: &GlobalMetadata, sheet: &Json) -> Result<()> {
    let mut extra = serde_json::to_value(&metadata.extra)?;
    // Sheets have it where readers since 0.18 find it.
    extra["version"] = metadata.version.into();
    ensure!(extra == sheet["extra"], "{extra}, not {}", sheet["extra"]);
    let mut base = metadata.base.clone();
    base.iter_mut().for_each(|entry| drop(entry.remove(tensogram::RESERVED_KEY)));
    let base = serde_json::to_value(base)?;
    ensure!(base == sheet["base"], "{base}, not {}", sheet["base"]);
    Ok(())
}

/// Lets the validator look at all of a file.
fn validate(content: &[u8]) -> Result<()> {
    let max_level = ValidationLevel::Fidelity;
    let options = ValidateOptions { max_level, check_canonical: true, checksum_only: false };
    let report = tensogram::validate_buffer(content, &options);
    ensure!(report.file_issues.is_empty(), "{:?}", report.file_issues);
    for ((start, _), report) in tensogram::scan(content).into_iter().zip(report.messages) {
        let flags = Preamble::read_from(&content[start..])?.flags;
        let has_hashes = flags.has(MessageFlags::HASHES_PRESENT) && 0 < report.object_count;
        ensure!(report.hash_verified == has_hashes, "hashes at {start}: {:?}", report.issues);
        for issue in report.issues {
            // It takes flags for promises that streams cannot keep.
            let is_known = match issue.code {
                IssueCode::FlagMismatch => true,
                IssueCode::NoHashAvailable => !has_hashes,
                _ => false,
            };
            ensure!(is_known, "{issue:?}");
        }
    }
    Ok(())
}

/// Whether the zstd of Rust is asked.
fn is_rust() -> bool {
    CompressionBackend::default() == CompressionBackend::Pure
}

impl fmt::Display for Count {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} objects", self.objects)?;
        if 0 < self.refused {
            write!(out, ", {} messages without a version refused", self.refused)?;
        }
        if 0 < self.cut {
            write!(out, ", {} objects cut short behind their first zstd frame", self.cut)?;
        }
        Ok(())
    }
}
