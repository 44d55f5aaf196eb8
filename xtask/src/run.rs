//! Where the workspace is, and how a program is started in it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// Where builds and everything a chore makes go.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The cargo that runs this chore, started at the root.
pub(crate) fn cargo() -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root());
    command
}

/// Builds the command, without optimizing it, and gives its path.
pub(crate) fn program() -> Result<PathBuf> {
    check(cargo().args(["build", "--quiet", "--locked", "-p", "tet-cli"]))?;
    Ok(target().join("debug/tet"))
}

/// A program beside a test of the workspace, as the tests build it: that of its package alone has other features, for which
/// all crates would be compiled again.
pub(crate) fn tested(test: &str, program: &str) -> Result<PathBuf> {
    let build = ["test", "--quiet", "--locked", "--workspace", "--no-run", "--test", test];
    check(cargo().args(build))?;
    Ok(target().join("debug").join(program))
}

/// Builds the command as people use it, and gives its path.
pub(crate) fn optimized() -> Result<PathBuf> {
    check(cargo().args(["build", "--quiet", "--locked", "--release", "-p", "tet-cli"]))?;
    Ok(target().join("release/tet"))
}

/// Runs a program to its end; anything but success is an error.
pub(crate) fn check(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("could not start {}", line(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", line(command));
    }
    Ok(())
}

/// Runs a program to its end and gives what it prints; anything but success is an error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let line = line(command);
    let output = command.output().with_context(|| format!("could not start {line}"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("{line} ended with {}\n{errors}", output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// The program and its arguments as one would type them.
pub(crate) fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    std::iter::once(name)
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}
