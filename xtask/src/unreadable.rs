//! Fails each call by which the commands that read look for, open, list and read files.
//!
//! A folder, a file of several parts and a document that names other files are read while one call
//! fails: the answer is that of the files as they are, or an error. It is never a fill value, a
//! shorter list or "no dataset".
//!
//! ```text
//! strace once:       which calls of the command concern the files
//! strace each call:  the same command, and this call gives EIO, EACCES, ...
//! ```
//!
//! It needs Linux and `strace`, and is no part of `ci`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};

use crate::run;

/// Which of the commands are run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only the inputs whose name contains this
    #[arg(long, value_name = "WORD")]
    only: Option<String>,
}

/// The calls by which files are looked for, opened, listed and read.
const CALLS: &str = "openat,openat2,statx,newfstatat,fstat,readlink,getdents64,read,pread64,preadv";

/// How a call fails that is no absence.
const ERRORS: [&str; 5] = ["EIO", "EACCES", "ELOOP", "ENOTDIR", INTERRUPTED];

/// The error of a call that a signal interrupts.
const INTERRUPTED: &str = "EINTR";

/// The calls that are repeated when a signal interrupts them.
const REPEATED: [&str; 3] = ["openat", "read", "pread64"];

/// Inputs, each with what makes it of the table `t.csv`.
const INPUTS: [(&str, &[&str]); 7] = [
    ("v3.zarr", &["--chunks", "t=8", "--zarr", "3"]),
    ("v2.zarr", &["--chunks", "t=8", "--zarr", "2"]),
    ("zip.zarr.zip", &["--chunks", "t=8"]),
    ("shards.safetensors", &["--shard-size", "600"]),
    ("parts.tets", &[]),
    ("whole.h5", &["--chunks", "t=8"]),
    ("whole.tet", &["--chunks", "t=8"]),
];

/// Commands that read all of a file; `IN` is the input, `OUT` a file that is written.
const COMMANDS: [&[&str]; 6] = [
    &["info", "IN", "--json"],
    &["stats", "IN", "--json"],
    &["query", "IN", "*", "--sum", "--json"],
    &["diff", "IN", "IN", "--json"],
    &["verify", "IN", "--json"],
    &["convert", "IN", "OUT", "--force", "--no-sync"],
];

/// An answer: how the command ended, and the bytes that it printed and wrote.
struct Outcome {
    code: Option<i32>,
    printed: Vec<u8>,
    written: Option<Vec<u8>>,
    errors: String,
}

/// A call that concerns the input: its name, and which of its calls it is.
struct Call {
    name: String,
    number: usize,
    line: String,
}

/// Fails every call of every command on every input.
///
/// # Errors
///
/// An answer is wrong and no error, or `strace` is missing.
pub(crate) fn run(options: &Options) -> Result<()> {
    let program = run::program()?;
    let folder = run::target().join("unreadable");
    let (mut tried, mut faults) = (0, Vec::new());
    let is_chosen = |name: &&str| options.only.as_deref().is_none_or(|word| name.contains(word));
    for name in INPUTS.iter().map(|(name, _)| *name).filter(is_chosen) {
        let input = make(&program, &folder, name)?;
        let mut of_input = 0;
        for args in COMMANDS {
            let scene = Scene { program: &program, args, input: &input, folder: &folder };
            of_input += scene.disturb(&mut faults)?;
        }
        println!("{name:<20} {of_input:>6} runs");
        tried += of_input;
    }
    faults.iter().for_each(|fault| println!("{fault}"));
    println!("{tried} runs, {} wrong", faults.len());
    ensure!(faults.is_empty(), "an answer is wrong where a call fails");
    Ok(())
}

/// Makes an input: numbers, some of them zeros so that chunks are left out, and texts.
fn make(program: &Path, folder: &Path, name: &str) -> Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let rows = (0..32).map(|t| format!("{t},{},{},{}\n", t * 3, i32::from(15 < t) * t, t % 5));
    let table = folder.join("t.csv");
    fs::write(&table, format!("t,a,g/b,g/c\n{}", rows.collect::<String>()))?;
    let (_, args) = INPUTS.iter().find(|(input, _)| *input == name).context("no such input")?;
    let output = folder.join(name);
    let is_series = name.ends_with(".tets");
    if is_series && output.exists() {
        fs::remove_dir_all(&output)?;
    }
    run::output(
        Command::new(program).arg("convert").arg(&table).arg(&output).args(*args).args(["--force"]),
    )?;
    let index = folder.join(format!("{name}.index.json"));
    Ok(if index.exists() { index } else { output })
}

/// A command on an input.
struct Scene<'a> {
    program: &'a Path,
    args: &'a [&'a str],
    input: &'a Path,
    folder: &'a Path,
}

impl Scene<'_> {
    /// Fails each call in each way, and returns how many runs it took.
    fn disturb(&self, faults: &mut Vec<String>) -> Result<usize> {
        let plain = self.start(&[])?;
        ensure!(plain.code == Some(0), "{} fails: {}", self.args[0], plain.errors);
        let mut count = 0;
        for call in self.calls()? {
            for error in ERRORS {
                let inject = format!("inject={}:error={error}:when={}", call.name, call.number);
                let outcome =
                    self.start(&["-e", &format!("trace={}", call.name), "-e", &inject])?;
                count += 1;
                let must_succeed = error == INTERRUPTED && REPEATED.contains(&&*call.name);
                if let Some(fault) = fault(&plain, &outcome, self.args[0]).or_else(|| {
                    (must_succeed && outcome.code != Some(0)).then(|| outcome.errors.clone())
                }) {
                    let input = self.input.display();
                    faults.push(format!(
                        "tet {} {input}: {error} at {}: {fault}",
                        self.args[0], call.line
                    ));
                }
            }
        }
        Ok(count)
    }

    /// The calls that concern the input, in the one thread there is.
    fn calls(&self) -> Result<Vec<Call>> {
        let log = self.folder.join("strace.log");
        let log_name = log.to_str().context("the path of the workspace is not text")?;
        self.start(&["-y", "-o", log_name, "-e", &format!("trace={CALLS}")])?;
        let input = self.input.with_extension("").with_extension("");
        let input = input.to_str().context("the path of the workspace is not text")?;
        let (mut numbers, mut calls) = (BTreeMap::<String, usize>::new(), Vec::new());
        for line in fs::read_to_string(&log)?.lines() {
            let Some((name, _)) = line.split_once('(') else { continue };
            let number = numbers.entry(name.to_owned()).or_default();
            *number += 1;
            if line.contains(input) {
                let line = line.chars().take(160).collect();
                calls.push(Call { name: name.to_owned(), number: *number, line });
            }
        }
        ensure!(!calls.is_empty(), "{} reads nothing", self.args[0]);
        Ok(calls)
    }

    /// Runs the command, under `strace` where there are arguments for it.
    fn start(&self, strace: &[&str]) -> Result<Outcome> {
        let output = self.folder.join("out.npz");
        let mut command = match strace {
            [] => Command::new(self.program),
            _ => {
                let mut command = Command::new("strace");
                command.args(["-qq"]).args(strace);
                if !strace.contains(&"-o") {
                    command.args(["-o", "/dev/null"]);
                }
                command.arg(self.program);
                command
            }
        };
        for arg in self.args {
            match *arg {
                "IN" => command.arg(self.input),
                "OUT" => command.arg(&output),
                other => command.arg(other),
            };
        }
        // One thread makes the same calls each time.
        if self.args[0] != "info" {
            command.args(["--threads", "1"]);
        }
        if output.exists() {
            fs::remove_file(&output)?;
        }
        let Output { status, stdout, stderr } = command.env("TET_CACHE", "").output()?;
        Ok(Outcome {
            code: status.code(),
            printed: stdout,
            written: fs::read(&output).ok(),
            errors: String::from_utf8_lossy(&stderr).into_owned(),
        })
    }
}

/// Fault in the output of a command of which a call failed.
fn fault(plain: &Outcome, outcome: &Outcome, command: &str) -> Option<String> {
    let is_same = outcome.printed == plain.printed && outcome.written == plain.written;
    match outcome.code {
        Some(0) if is_same => None,
        // Unreadable files are listed, with the reason.
        Some(0) if command == "info" && names_error(&outcome.printed) => None,
        Some(0) => Some(format!("another answer and exit 0; {}", outcome.errors.trim())),
        // Differences, and errors that a check found.
        Some(1) if command == "verify" => None,
        Some(3..=6) => None,
        code => Some(format!("exit {code:?}: {}", outcome.errors.trim())),
    }
}

/// Whether a listing contains the error of a call.
fn names_error(printed: &[u8]) -> bool {
    String::from_utf8_lossy(printed).contains("(os error ")
}
