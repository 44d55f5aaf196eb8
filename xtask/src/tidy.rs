//! The rules of the house a machine can check, without building anything.
//!
//! ```text
//! edges   who may depend on whom, and on what from outside   (manifests)
//! text    length, ASCII, banned words, `unsafe`              (every source)
//! reach   every source file is reached by a `mod` line       (src folders)
//! circles files import each other in no circle               (`use` lines)
//! ratchet  shared names and missing examples may not grow in number
//! ceilings  no crate grows past its lines
//! words   vague names and comments may not grow in number
//! ```

mod ceilings;
mod circles;
mod edges;
mod ratchet;
mod reach;
mod text;
mod words;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::run;

/// Results of tidy: a fault fails, a warning is only printed.
#[derive(Default)]
pub(crate) struct Findings {
    faults: Vec<String>,
    warnings: Vec<String>,
}

impl Findings {
    fn fault(&mut self, place: impl std::fmt::Display, what: impl std::fmt::Display) {
        self.faults.push(format!("{place}: {what}"));
    }

    fn warn(&mut self, place: impl std::fmt::Display, what: impl std::fmt::Display) {
        self.warnings.push(format!("{place}: {what}"));
    }

    /// Compares a count that may fall and not rise with its bound.
    fn ratchet(&mut self, kind: &str, count: usize, bound: usize) {
        if bound < count {
            self.fault("workspace", format!("{count} {kind}; there were {bound}"));
        } else if count < bound {
            self.warn("workspace", format!("{count} {kind}; lower the bound of {bound}"));
        }
    }
}

/// Checks the whole tree and prints what it finds.
pub(crate) fn run() -> Result<()> {
    let root = run::root();
    let mut findings = Findings::default();
    edges::check(root, &mut findings)?;
    let files = files(root)?;
    for path in &files {
        let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
        if text::is_read(&name) {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("{name} is not readable as UTF-8"))?;
            text::check(&name, &text, &mut findings);
        }
    }
    reach::check(root, &files, &mut findings)?;
    circles::check(root, &files, &mut findings)?;
    ratchet::check(root, &files, &mut findings)?;
    ceilings::check(root, &files, &mut findings)?;
    words::check(&files, &mut findings)?;
    for warning in &findings.warnings {
        eprintln!("warning: {warning}");
    }
    for fault in &findings.faults {
        eprintln!("error: {fault}");
    }
    if !findings.faults.is_empty() {
        bail!("tidy found {} faults", findings.faults.len());
    }
    Ok(())
}

/// All files of the tree but those that are made.
pub(crate) fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            let made = path.ends_with("target") || path.ends_with(".git");
            if path.is_dir() && !made {
                folders.push(path);
            } else if path.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
