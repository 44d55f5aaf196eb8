//! The reference program, `tetration`, built once into `target/interop`.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::run;

const VERSION: &str = "0.8.3";

/// The program, installed when it is not there or of another version.
///
/// It is built without the features that need C libraries; those read other formats.
pub(crate) fn program() -> Result<PathBuf> {
    let folder = run::target().join("interop");
    let program = folder.join("bin/tet");
    let version = program
        .is_file()
        .then(|| run::output(std::process::Command::new(&program).arg("--version")));
    if let Some(Ok(version)) = version
        && version.contains(VERSION)
    {
        return Ok(program);
    }
    eprintln!("installing tetration {VERSION} into {}", folder.display());
    let mut command = run::cargo();
    command
        .args(["install", "tetration", "--locked", "--version", &format!("={VERSION}")])
        .args(["--no-default-features", "--features", "tetration-cli", "--root"])
        .arg(&folder)
        .env("CARGO_TARGET_DIR", folder.join("build"));
    run::check(&mut command).context("the reference cannot be installed")?;
    ensure!(program.is_file(), "the reference has no program {}", program.display());
    Ok(program)
}
