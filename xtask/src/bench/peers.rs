//! Sets up the libraries and the program tet is compared with, and starts the comparisons.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::{package, python, reference, run};

/// The folder of the scripts, and of what they make.
fn folders() -> (PathBuf, PathBuf) {
    (run::root().join("crates/tet-bench/peers"), run::target().join("peers"))
}

/// Everything that is compared, release builds of ours.
pub(super) fn run(rest: &[String]) -> Result<()> {
    let (scripts, folder) = folders();
    let python = python::environment(&folder.join("venv"), &scripts.join("requirements.txt"))?;
    let reference = reference::tetration()?;
    let mut command = script(&python, "peers")?;
    run::check(command.arg("--reference").arg(reference).args(rest))
}

/// Those that read and write tensors; two of them go by one name, so that each has an environment.
pub(super) fn run_weights(rest: &[String]) -> Result<()> {
    let (scripts, folder) = folders();
    let environment = |name: &str| {
        let requirements = scripts.join(format!("weights-{name}.txt"));
        python::environment(&folder.join(format!("venv-weights-{name}")), &requirements)
    };
    let (old, new) = (environment("old")?, environment("new")?);
    let mut command = script(&new, "weights")?;
    run::check(command.arg("--old").arg(old).arg("--new").arg(&new).args(rest))
}

/// The wheel that reads and writes messages.
pub(super) fn run_messages(rest: &[String]) -> Result<()> {
    let (scripts, folder) = folders();
    let requirements = scripts.join("messages.txt");
    let python = python::environment(&folder.join("venv-messages"), &requirements)?;
    let mut command = script(&python, "messages")?;
    run::check(command.arg("--python").arg(&python).args(rest))
}

/// Those that read HDF5, NetCDF and Zarr.
pub(super) fn run_arrays(rest: &[String]) -> Result<()> {
    run_with_arrays("arrays", rest)
}

/// Edits of a large file beside a copy, h5repack and h5py.
pub(super) fn run_edits(rest: &[String]) -> Result<()> {
    run_with_arrays("edits", rest)
}

fn run_with_arrays(name: &str, rest: &[String]) -> Result<()> {
    let (scripts, folder) = folders();
    let requirements = scripts.join("arrays.txt");
    let python = python::environment(&folder.join("venv-arrays"), &requirements)?;
    let mut command = script(&python, name)?;
    run::check(command.args(rest))
}

/// The Python package, as it is released, and the packages that it is compared with.
pub(super) fn run_python(rest: &[String]) -> Result<()> {
    let (scripts, folder) = folders();
    let requirements = scripts.join("python.txt");
    let python = python::environment(&folder.join("venv-python"), &requirements)?;
    package::install(&python, &folder.join("wheels"), "dist")?;
    let mut command = script(&python, "python")?;
    run::check(command.args(rest))
}

/// A script with our programs, what it makes, and where it stores what it finds.
fn script(python: &Path, name: &str) -> Result<Command> {
    for package in ["tet-cli", "tet-bench"] {
        let build = ["build", "--profile", "dist", "--locked", "-p", package, "--bins"];
        run::check(run::cargo().args(build))?;
    }
    let (scripts, folder) = folders();
    let programs = run::target().join("dist");
    std::fs::create_dir_all(run::target().join("bench"))?;
    let mut command = Command::new(python);
    // Sources stay without what Python would compile beside them.
    command
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(scripts.join(format!("{name}.py")))
        .arg("--folder")
        .arg(folder.join("data"));
    command.arg("--tet").arg(programs.join("tet")).arg("--bench").arg(programs.join("tet-bench"));
    command.arg("--out").arg(super::stored(name));
    Ok(command)
}
