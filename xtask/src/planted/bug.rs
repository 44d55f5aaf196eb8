//! The bugs in `xtask/planted.txt`: blocks of lines, each with a key or a sign in front.

use anyhow::{Result, ensure};

/// A bug, and the suite that must notice it.
pub(super) struct Bug {
    pub(super) name: &'static str,
    /// What is wrong with it.
    pub(super) does: &'static str,
    /// Arguments of `cargo test`: a package, one of its targets, a part of the names of its tests.
    pub(super) suite: &'static str,
    pub(super) patch: Patch,
}

/// Another text in the place of one that a file contains once.
pub(super) struct Patch {
    /// The path from the root of the workspace.
    pub(super) file: &'static str,
    from: String,
    to: String,
}

/// All bugs, in the order of the file.
pub(super) fn read() -> Vec<Bug> {
    include_str!("../../planted.txt").trim_end().split("\n\n").skip(1).map(parse).collect()
}

fn parse(text: &'static str) -> Bug {
    let lines = |key| text.lines().filter_map(move |line| line.strip_prefix(key));
    let line = |key| lines(key).next().unwrap_or_default();
    let block = |key| lines(key).collect::<Vec<_>>().join("\n");
    let patch = Patch { file: line("file "), from: block("- "), to: block("+ ") };
    Bug { name: line("name "), does: line("does "), suite: line("suite "), patch }
}

impl Patch {
    /// The text of the file with the patch.
    ///
    /// # Errors
    ///
    /// Returns an error if the text to replace is not there exactly once.
    pub(super) fn apply(&self, text: &str) -> Result<String> {
        let Self { file, from, to } = self;
        let count = text.matches(from).count();
        ensure!(count == 1, "{file} contains this {count} times instead of once:\n{from}");
        Ok(text.replace(from, to))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Bug, read};
    use crate::run;

    #[test]
    fn every_patch_fits_its_file() {
        for Bug { name, patch, .. } in read() {
            let text = fs::read_to_string(run::root().join(patch.file)).unwrap_or_default();
            if let Err(error) = patch.apply(&text) {
                panic!("{name} in xtask/planted.txt: {error}");
            }
        }
    }
}
