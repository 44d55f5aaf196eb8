//! Files of version 2, which `ztensor` 2.1.2 writes: each is sound, and every object is read bit for bit.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::super::{fresh, listed, script, scripts};
use super::Sides;
use crate::{python, run};

/// Writes random files and reads them.
pub(super) fn read(sides: &Sides, folder: &Path, numbers: &[String]) -> Result<String> {
    let requirements = scripts().join("ztensor-2.txt");
    let python = python::environment(&folder.join("venv-2"), &requirements)?;
    let files = fresh(&folder.join("second"))?;
    script(&python, "zt2_files.py", &["write"], &files, numbers)?;
    let (paths, mut count) = (listed(&files, "zt")?, 0);
    for path in &paths {
        sides.verify(path)?;
        count += objects(sides, path)?;
    }
    Ok(format!("{} files of ztensor 2, {count} objects read by tet", paths.len()))
}

/// Compares every object of a file with its sheet; gives how many there are.
fn objects(sides: &Sides, path: &Path) -> Result<usize> {
    let lines: Vec<Value> =
        serde_json::from_str(&std::fs::read_to_string(path.with_extension("json"))?)?;
    let elements = std::fs::read(path.with_extension("bin"))?;
    let mut rest = elements.as_slice();
    for line in &lines {
        let name = line["name"].as_str().context("a sheet without names")?;
        let raw = path.with_extension("raw");
        let mut cat = Command::new(&sides.ours);
        cat.arg("cat").arg(path).arg(name).arg("-o").arg(&raw).arg("--force");
        run::output(&mut cat)?;
        let found = std::fs::read(&raw)?;
        let after = rest.strip_prefix(found.as_slice());
        rest = after.with_context(|| format!("{}: {name:?} is read otherwise", path.display()))?;
    }
    ensure!(rest.is_empty(), "{} bytes of {} are left", rest.len(), path.display());
    Ok(lines.len())
}
