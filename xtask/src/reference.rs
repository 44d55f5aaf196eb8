//! Programs out of crates of others, built once into `target/interop`.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::run;

const TETRATION: &str = "0.8.3";

/// The reference program of `.tet`, installed when it is not there or of another version.
///
/// It is built without the features that need C libraries; those read other formats.
pub(crate) fn tetration() -> Result<PathBuf> {
    let folder = run::target().join("interop");
    let program = folder.join("bin/tet");
    let version = program
        .is_file()
        .then(|| run::output(std::process::Command::new(&program).arg("--version")));
    if let Some(Ok(version)) = version
        && version.contains(TETRATION)
    {
        return Ok(program);
    }
    eprintln!("installing tetration {TETRATION} into {}", folder.display());
    let mut command = run::cargo();
    command
        .args(["install", "tetration", "--locked", "--version", &format!("={TETRATION}")])
        .args(["--no-default-features", "--features", "tetration-cli", "--root"])
        .arg(&folder)
        .env("CARGO_TARGET_DIR", build());
    run::check(&mut command).context("the reference cannot be installed")?;
    ensure!(program.is_file(), "the reference has no program {}", program.display());
    Ok(program)
}

/// The program around the crate `tensogram` 0.17.0, with the versions of its own lock file.
pub(crate) fn tensogram() -> Result<PathBuf> {
    let mut command = run::cargo();
    command
        .args(["build", "--release", "--quiet", "--locked", "--manifest-path"])
        .arg("xtask/interop/tensogram-0.17/Cargo.toml")
        .env("CARGO_TARGET_DIR", build());
    run::check(&mut command).context("the program around tensogram 0.17 cannot be built")?;
    Ok(build().join("release/tensogram-peer"))
}

fn build() -> PathBuf {
    run::target().join("interop/build")
}
