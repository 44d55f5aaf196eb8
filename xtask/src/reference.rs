//! Programs out of crates of others, built once into `target/interop`.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::run;

const TETRATION: &str = "0.8.3";
const S3S_FS: &str = "0.14.1";

/// The reference program of `.tet`.
///
/// It is built without the features that need C libraries; those read other formats.
pub(crate) fn tetration() -> Result<PathBuf> {
    let features = ["--no-default-features", "--features", "tetration-cli"];
    installed("tetration", TETRATION, "tet", &features)
}

/// A server of objects, which compares the signatures of requests.
pub(crate) fn s3s_fs() -> Result<PathBuf> {
    installed("s3s-fs", S3S_FS, "s3s-fs", &["--features", "binary"])
}

/// A program of a crate, installed when it is not there or of another version.
fn installed(name: &str, number: &str, program: &str, features: &[&str]) -> Result<PathBuf> {
    let folder = run::target().join("interop");
    let program = folder.join("bin").join(program);
    let version = program
        .is_file()
        .then(|| run::output(std::process::Command::new(&program).arg("--version")));
    if let Some(Ok(version)) = version
        && version.contains(number)
    {
        return Ok(program);
    }
    eprintln!("installing {name} {number} into {}", folder.display());
    let mut command = run::cargo();
    command
        .args(["install", name, "--locked", "--version", &format!("={number}")])
        .args(features)
        .arg("--root")
        .arg(&folder)
        .env("CARGO_TARGET_DIR", run::target().join("interop/build"));
    run::check(&mut command).with_context(|| format!("{name} cannot be installed"))?;
    ensure!(program.is_file(), "{name} has no program {}", program.display());
    Ok(program)
}
