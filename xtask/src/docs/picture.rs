//! The picture of the README, drawn by `tet plot` from the data of `tet demo`.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use tet_cli::{Exit, Streams};

use crate::run;

/// Where it is.
pub(super) const PATH: &str = "docs/images/mean.png";

/// Arguments of the plot, without its output.
const PLOT: [&str; 5] = ["plot", "climate.tet", "temp", "--mean", "month"];

/// Draws the picture.
pub(super) fn write(root: &Path) -> Result<()> {
    Ok(std::fs::write(root.join(PATH), draw()?)?)
}

/// Compares the picture with what the command draws.
pub(super) fn check(root: &Path) -> Result<()> {
    let found = std::fs::read(root.join(PATH)).with_context(|| format!("{PATH} is not there"))?;
    ensure!(found == draw()?, "{PATH} is out of date: run `cargo xtask docs`");
    Ok(())
}

fn draw() -> Result<Vec<u8>> {
    let folder = run::target().join("picture");
    std::fs::create_dir_all(&folder)?;
    tet(&folder, &["demo", "-q", "-f", "."])?;
    tet(&folder, &[&PLOT[..], &["-o", "mean.png", "-f"]].concat())?;
    Ok(std::fs::read(folder.join("mean.png"))?)
}

/// Runs the command in a folder.
fn tet(folder: &Path, args: &[&str]) -> Result<()> {
    let (mut streams, _, err) = Streams::captured(b"");
    streams.env.base = folder.to_path_buf();
    let exit = tet_cli::run(std::iter::once(&"tet").chain(args).map(OsString::from), &mut streams);
    ensure!(exit == Exit::Done, "tet {}: {}", args.join(" "), err.text());
    Ok(())
}
