//! Every source file is reached from a crate root by `mod` lines.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Findings;

/// Looks for files under any `src` that no `mod` line leads to.
pub(super) fn check(root: &Path, files: &[PathBuf], findings: &mut Findings) -> Result<()> {
    let sources = || files.iter().filter(|path| is_in_src(path.strip_prefix(root).unwrap_or(path)));
    let mut reached = BTreeSet::new();
    for path in sources().filter(|path| is_root(path)) {
        follow(path, &mut reached)?;
    }
    for path in sources().filter(|path| !reached.contains(*path)) {
        let name = path.strip_prefix(root).unwrap_or(path);
        findings.fault(name.display(), "no `mod` line leads here");
    }
    Ok(())
}

fn is_in_src(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
        && path.components().any(|part| part.as_os_str() == "src")
}

fn is_root(path: &Path) -> bool {
    let in_src = path.parent().is_some_and(|folder| folder.ends_with("src"));
    let in_bin = path.parent().is_some_and(|folder| folder.ends_with("src/bin"));
    in_bin || in_src && (path.ends_with("lib.rs") || path.ends_with("main.rs"))
}

fn follow(path: &Path, reached: &mut BTreeSet<PathBuf>) -> Result<()> {
    if !reached.insert(path.to_owned()) {
        return Ok(());
    }
    let text = std::fs::read_to_string(path)?;
    for name in text.lines().filter_map(declared) {
        for child in files_of(path, name).into_iter().filter(|child| child.is_file()) {
            follow(&child, reached)?;
        }
    }
    Ok(())
}

/// Where the file of a module may be that a file declares.
pub(super) fn files_of(path: &Path, name: &str) -> [PathBuf; 2] {
    let stem = path.file_stem().unwrap_or_default();
    let folder = path.parent().unwrap_or(path);
    let own = ["lib", "main", "mod"].iter().any(|name| stem == *name);
    let children = if own { folder.to_owned() } else { folder.join(stem) };
    [children.join(format!("{name}.rs")), children.join(name).join("mod.rs")]
}

/// The name in a line such as `pub(crate) mod name;`.
pub(super) fn declared(line: &str) -> Option<&str> {
    let line = line.trim();
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1,
        Some(rest) => rest,
        None => line,
    };
    let name = line.trim_start().strip_prefix("mod ")?.split(';').next()?.trim();
    (line.contains(';') && !name.contains(' ')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mod_lines_are_seen() {
        assert_eq!(declared("mod a;"), Some("a"));
        assert_eq!(declared("  pub(crate) mod b; // why"), Some("b"));
        assert_eq!(declared("pub mod c;"), Some("c"));
        assert_eq!(declared("mod tests {"), None);
        assert_eq!(declared("// mod d;"), None);
        assert_eq!(declared("let modest = 1;"), None);
    }
}
