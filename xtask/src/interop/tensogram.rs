//! Tensogram files, ours and those of `tensogram`: its packages 0.24.0 and 0.19.0.
//!
//! ```text
//! ours        every way to write, all codecs      -> both read it, value for value; 0.24.0 validates it
//! converted   `tet convert --profile universal`   -> the same
//! theirs      random messages of each             -> tet reads and verifies them, value for value
//! ```
//!
//! `xtask/interop` has the other side, in environments of its own under `target/interop`.

mod converted;
mod files;
mod objects;
mod said;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value as Json;
use tet_io::Source;
use tet_tensogram::{Limits, TensogramFile};

use crate::{python, run};

/// A release that is asked.
struct Release {
    name: &'static str,
    python: PathBuf,
    /// Expected findings of `tet verify --deep` in its files.
    normal: &'static [&'static str],
}

/// Checks both ways, with so many files of each release.
pub(super) fn run(seed: u64, count: u64) -> Result<()> {
    let folder = run::target().join("interop/tensogram");
    let program = run::program()?;
    let ours = super::fresh(&folder.join("ours"))?;
    let converted = super::fresh(&folder.join("converted"))?;
    let written = files::write(&ours)?;
    let made = converted::write(&program, &converted)?;
    for path in written.iter().chain(&made) {
        verify(&program, path, &[])?;
    }
    let numbers = [seed.to_string(), count.to_string()];
    for release in releases(&folder)? {
        let Release { name, python, normal } = &release;
        let script = |word, folder: &Path, numbers: &[String]| {
            super::script(python, "tgm_files.py", &[word], folder, numbers)
        };
        for (what, from, files) in
            [("ours", &ours, written.len()), ("tet convert", &converted, made.len())]
        {
            let read = script("read", from, &[])?;
            println!("{files} files of {what}, read by tensogram {name}: {}", read.trim());
        }
        let theirs = super::fresh(&folder.join(format!("theirs-{name}")))?;
        let said = script("write", &theirs, &numbers)?;
        let (mut messages, mut objects) = (0, 0);
        let paths = super::listed(&theirs, "tgm")?;
        for path in &paths {
            let found =
                compare(&program, path, normal).with_context(|| path.display().to_string())?;
            (messages, objects) = (messages + found.0, objects + found.1);
        }
        let files = paths.len();
        println!(
            "{files} files of tensogram {name}, read by tet: {objects} objects in {messages} messages"
        );
        if !said.is_empty() {
            println!("  {}", said.trim());
        }
    }
    Ok(())
}

/// Bits behind the last element, which the packages keep as they are given.
const BITS: &str = "TGM-N31";
/// Intervals of szip that start elsewhere than the packages say.
const OFFSETS: &str = "TGM-N27";
/// Hashes that the preamble alone tells of.
const HASHES: &str = "TGM-N11";

/// All of them, set up where they are not.
fn releases(folder: &Path) -> Result<[Release; 2]> {
    let package = |name| {
        let requirements = super::scripts().join(format!("tensogram-{name}.txt"));
        python::environment(&folder.join(format!("venv-{name}")), &requirements)
    };
    Ok([
        Release { name: "0.24", python: package("0.24")?, normal: &[BITS, OFFSETS] },
        Release { name: "0.19", python: package("0.19")?, normal: &[BITS, OFFSETS, HASHES] },
    ])
}

/// Sound, and nothing is told of it but what is normal.
fn verify(program: &Path, path: &Path, normal: &[&str]) -> Result<()> {
    let told = run::output(Command::new(program).args(["verify", "--deep", "--json"]).arg(path))?;
    let told: Json = serde_json::from_str(&told)?;
    for finding in told["findings"].as_array().context("a report without findings")? {
        let code = finding["code"].as_str().context("a finding without a code")?;
        ensure!(normal.contains(&code), "{}: {finding}", path.display());
    }
    Ok(())
}

/// The elements of an object, as `tet cat` writes them.
fn cat(program: &Path, path: &Path, position: usize) -> Result<Vec<u8>> {
    let raw = path.with_file_name("v.raw");
    let mut cat = Command::new(program);
    cat.arg("cat").arg(path).arg(format!("#{position}")).arg("-o").arg(&raw).arg("--force");
    run::output(&mut cat)?;
    Ok(std::fs::read(&raw)?)
}

/// A file of theirs: sound, read bit for bit, and with what is said of its objects; gives how many
/// messages and objects it has.
fn compare(program: &Path, path: &Path, normal: &[&str]) -> Result<(usize, usize)> {
    let sheets = std::fs::read_to_string(path.with_extension("json"))?;
    let sheets: Vec<Json> = serde_json::from_str(&sheets)?;
    let elements = std::fs::read(path.with_extension("bin"))?;
    verify(program, path, normal)?;
    let file = TensogramFile::open(Source::open(path)?, &Limits::default())?;
    ensure!(file.len() == sheets.len(), "{} messages", file.len());
    let (mut rest, mut position) = (&elements[..], 0);
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
            let is_same = cat(program, path, position)? == mine;
            ensure!(is_same, "#{position} is read otherwise: {line}");
            position += 1;
        }
    }
    ensure!(rest.is_empty(), "{} bytes are left", rest.len());
    Ok((sheets.len(), position))
}
