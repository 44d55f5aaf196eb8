//! Virtual environments of Python, with pinned packages.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::run;

/// The version of `python3`, such as (3, 11); `None` where there is none.
pub(crate) fn version() -> Option<(u32, u32)> {
    let code = "import sys; print(*sys.version_info[:2])";
    let output = Command::new("python3").args(["-c", code]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    let (major, minor) = text.trim().split_once(' ')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The interpreter of an environment in `folder` that holds what `requirements` lists.
pub(crate) fn environment(folder: &Path, requirements: &Path) -> Result<PathBuf> {
    let python = folder.join("bin/python");
    let wanted = std::fs::read_to_string(requirements)
        .with_context(|| format!("{} is not readable", requirements.display()))?;
    let stamp = folder.join("requirements.txt");
    if python.is_file() && std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }
    eprintln!("setting up {}", folder.display());
    run::check(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder))?;
    let install =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    run::check(Command::new(&python).args(install).arg(requirements))?;
    std::fs::write(&stamp, wanted)?;
    Ok(python)
}
