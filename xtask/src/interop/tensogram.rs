//! Tensogram files, ours and those of the package `tensogram`, of 0.24.0 and of 0.19.0.
//!
//! ```text
//! ours     every way to write, all codecs   -> both read it, value for value; 0.24.0 validates it
//! theirs   random messages of both          -> tet reads and verifies them, value for value
//! ```
//!
//! `xtask/interop` has the side of Python, in environments of their own under `target/interop`.

mod files;
mod objects;
mod said;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value as Json;
use tet_io::Source;
use tet_tensogram::{Limits, TensogramFile};

use crate::{python, run};

/// The releases that are asked.
const RELEASES: [&str; 2] = ["0.24", "0.19"];

/// Checks both ways, with so many files of each release.
pub(super) fn run(seed: u64, count: u64) -> Result<()> {
    let folder = run::target().join("interop/tensogram");
    let program = run::program()?;
    let ours = super::fresh(&folder.join("ours"))?;
    let written = files::write(&ours)?;
    for path in &written {
        verify(&program, path)?;
    }
    let numbers = [seed.to_string(), count.to_string()];
    for release in RELEASES {
        let requirements = super::scripts().join(format!("tensogram-{release}.txt"));
        let python = python::environment(&folder.join(format!("venv-{release}")), &requirements)?;
        let read = super::script(&python, "tgm_files.py", &["read"], &ours, &[])?;
        let (files, read) = (written.len(), read.trim());
        println!("{files} files of ours, {read} objects read by tensogram {release}");
        let theirs = super::fresh(&folder.join(format!("theirs-{release}")))?;
        super::script(&python, "tgm_files.py", &["write"], &theirs, &numbers)?;
        let mut objects = 0;
        let paths = super::listed(&theirs, "tgm")?;
        for path in &paths {
            objects += compare(&program, path).with_context(|| path.display().to_string())?;
        }
        let files = paths.len();
        println!("{files} files of tensogram {release}, {objects} objects read by tet");
    }
    Ok(())
}

fn verify(program: &Path, path: &Path) -> Result<()> {
    run::output(Command::new(program).args(["verify", "--deep"]).arg(path))?;
    Ok(())
}

/// A file of theirs: sound, read bit for bit, and with what is said of its objects.
fn compare(program: &Path, path: &Path) -> Result<usize> {
    let sheets = std::fs::read_to_string(path.with_extension("json"))?;
    let sheets: Vec<Json> = serde_json::from_str(&sheets)?;
    let elements = std::fs::read(path.with_extension("bin"))?;
    verify(program, path)?;
    let file = TensogramFile::open(Source::open(path)?, &Limits::default())?;
    ensure!(file.len() == sheets.len(), "{} messages", file.len());
    let (mut rest, mut position, raw) = (&elements[..], 0, path.with_file_name("v.raw"));
    for (number, sheet) in sheets.iter().enumerate() {
        let said = file.metadata(number)?;
        let entries = sheet["base"].as_array().context("a sheet without entries")?;
        ensure!(said::is_same(&said.extra, &sheet["extra"]), "message {number}: {said:?}");
        ensure!(said.base.len() == entries.len(), "message {number}: {said:?}");
        let pairs = said.base.iter().zip(entries);
        for (at, (found, wanted)) in pairs.enumerate() {
            ensure!(said::is_same(found, wanted), "object {at} of message {number}: {found:?}");
        }
        for line in sheet["objects"].as_array().context("a sheet without objects")? {
            let len = line["len"].as_u64().context("a sheet without lengths")?;
            let (mine, after) =
                rest.split_at_checked(usize::try_from(len)?).context("too few bytes")?;
            rest = after;
            let mut cat = Command::new(program);
            cat.arg("cat").arg(path).arg(format!("#{position}")).arg("-o").arg(&raw).arg("--force");
            run::output(&mut cat)?;
            ensure!(std::fs::read(&raw)? == mine, "#{position} is read otherwise: {line}");
            position += 1;
        }
    }
    ensure!(rest.is_empty(), "{} bytes are left", rest.len());
    Ok(position)
}
