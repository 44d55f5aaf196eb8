//! Tensogram files, ours and those of `tensogram`: its packages 0.24.0 and 0.19.0, its crate 0.17.0.
//!
//! ```text
//! ours        every way to write, all codecs      -> all read it, value for value; 0.24.0 and 0.17.0
//!                                                    validate it
//! converted   `tet convert --profile universal`   -> the same
//! theirs      random messages of each             -> tet reads and verifies them, value for value
//! ```
//!
//! `xtask/interop` has the other sides, in environments of their own under `target/interop`. What
//! 0.17.0 does not read is counted: messages without the key `version`, which it must refuse, and
//! objects of several zstd frames, of which the zstd of Rust that it can be built with must take the
//! first for all.

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

use crate::{python, reference, run};

/// A release that is asked.
struct Release {
    name: &'static str,
    side: Side,
    /// What `tet verify --deep` may find in what it writes.
    normal: &'static [&'static str],
}

/// Who answers for a release.
enum Side {
    Python(PathBuf),
    Program(PathBuf),
}

/// Where the crate looks which zstd it is to ask; that of C unless told.
const BACKEND: &str = "TENSOGRAM_COMPRESSION_BACKEND";

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
        let Release { name, side, normal } = &release;
        for (what, from, files) in
            [("ours", &ours, written.len()), ("tet convert", &converted, made.len())]
        {
            for read in side.read(from)? {
                println!("{files} files of {what}, read by tensogram {name}: {}", read.trim());
            }
        }
        let theirs = super::fresh(&folder.join(format!("theirs-{name}")))?;
        let said = side.ask(&["write"], &theirs, &numbers, None)?;
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
/// Parameters of simple_packing in the older spelling.
const PARAMETERS: &str = "TGM-N22";

/// All of them, set up where they are not.
fn releases(folder: &Path) -> Result<[Release; 3]> {
    let package = |name| {
        let requirements = super::scripts().join(format!("tensogram-{name}.txt"));
        let python = python::environment(&folder.join(format!("venv-{name}")), &requirements)?;
        anyhow::Ok(Side::Python(python))
    };
    Ok([
        Release { name: "0.24", side: package("0.24")?, normal: &[BITS, OFFSETS] },
        Release { name: "0.19", side: package("0.19")?, normal: &[BITS, OFFSETS, HASHES] },
        Release {
            name: "0.17",
            side: Side::Program(reference::tensogram()?),
            normal: &[HASHES, PARAMETERS],
        },
    ])
}

impl Side {
    /// What it says of a folder of files with sheets, once for each zstd that it can be built with.
    fn read(&self, folder: &Path) -> Result<Vec<String>> {
        let with = |(backend, name)| {
            let said = self.ask(&["read"], folder, &[], Some(backend))?;
            anyhow::Ok(format!("{} (zstd of {name})", said.trim()))
        };
        match self {
            Side::Python(_) => Ok(vec![self.ask(&["read"], folder, &[], None)?]),
            Side::Program(_) => [("ffi", "C"), ("pure", "Rust")].into_iter().map(with).collect(),
        }
    }

    fn ask(
        &self,
        words: &[&str],
        folder: &Path,
        numbers: &[String],
        backend: Option<&str>,
    ) -> Result<String> {
        let program = match self {
            Side::Python(it) => return super::script(it, "tgm_files.py", words, folder, numbers),
            Side::Program(program) => program,
        };
        let mut command = Command::new(program);
        command.env_remove(BACKEND).envs(backend.map(|it| (BACKEND, it)));
        run::output(command.args(words).arg(folder).args(numbers))
    }
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
