//! The copy of the sources that bugs are planted in. The sources themselves are not touched.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::bug::Patch;
use crate::{run, tidy};

/// The copy, and where it is built.
pub(super) struct SourceCopy {
    pub(super) source: PathBuf,
    pub(super) build: PathBuf,
}

impl SourceCopy {
    /// Makes the copy of a workspace, or brings one of an earlier run up to date.
    ///
    /// Files with the same content are not written, so cargo does not build them anew.
    pub(super) fn make(root: &Path, folder: &Path) -> Result<Self> {
        let copy = Self { source: folder.join("source"), build: folder.join("build") };
        fs::create_dir_all(&copy.source)?;
        for path in tidy::files(root)? {
            let target = copy.source.join(path.strip_prefix(root)?);
            let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
            if fs::read(&target).is_ok_and(|old| old == bytes) {
                continue;
            }
            fs::create_dir_all(target.parent().unwrap_or(&target))?;
            fs::write(target, bytes)?;
        }
        for path in tidy::files(&copy.source)? {
            if !root.join(path.strip_prefix(&copy.source)?).is_file() {
                fs::remove_file(path)?;
            }
        }
        Ok(copy)
    }

    /// Does something while a file of the copy is patched.
    pub(super) fn patched<T>(&self, patch: &Patch, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let path = self.source.join(patch.file);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        fs::write(&path, patch.apply(&text)?)?;
        let result = work();
        fs::write(&path, text)?;
        result
    }

    /// A command of cargo in the copy. Patches may leave names unused, so it does not warn.
    pub(super) fn cargo(&self) -> Command {
        let mut cargo = run::cargo();
        cargo.current_dir(&self.source).env("CARGO_TARGET_DIR", &self.build);
        cargo.env("RUSTFLAGS", "-Awarnings");
        cargo
    }
}
