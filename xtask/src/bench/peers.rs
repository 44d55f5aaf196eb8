//! Sets up the libraries and the program tet is compared with, and starts the comparison.

use std::process::Command;

use anyhow::Result;

use crate::{python, reference, run};

/// Everything that is compared, release builds of ours.
pub(super) fn run(rest: &[String]) -> Result<()> {
    let scripts = run::root().join("crates/tet-bench/peers");
    let folder = run::target().join("peers");
    let python = python::environment(&folder.join("venv"), &scripts.join("requirements.txt"))?;
    let reference = reference::program()?;
    for package in ["tet-cli", "tet-bench"] {
        run::check(run::cargo().args(["build", "--release", "--locked", "-p", package, "--bins"]))?;
    }
    let release = run::target().join("release");
    std::fs::create_dir_all(run::target().join("bench"))?;
    let mut command = Command::new(python);
    // Sources stay without what Python would compile beside them.
    command
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(scripts.join("peers.py"))
        .arg("--folder")
        .arg(folder.join("data"));
    command.arg("--tet").arg(release.join("tet")).arg("--bench").arg(release.join("tet-bench"));
    command.arg("--reference").arg(reference);
    command.arg("--out").arg(super::stored("peers")).args(rest);
    run::check(&mut command)
}
