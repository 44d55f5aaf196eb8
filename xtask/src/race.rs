//! Reads files while another program replaces them, by turns, with two states.
//!
//! Each answer is that of one state, whole, or an error: a folder, a set of shards and a document
//! with pieces in other files count as one file does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, Result, ensure};

use crate::run;

/// How often, and what.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only the files whose name contains this
    #[arg(long, value_name = "WORD")]
    only: Option<String>,
    /// How often each file is read
    #[arg(long, value_name = "COUNT", default_value_t = 40)]
    count: usize,
}

/// Files, each with the options that make it.
const FILES: [(&str, &[&str]); 8] = [
    ("v3.zarr", &["--zarr", "3", "--chunks", "t=500"]),
    ("v2.zarr", &["--zarr", "2", "--chunks", "t=500"]),
    ("zip.zarr.zip", &["--chunks", "t=500"]),
    ("shards.safetensors", &["--shard-size", "170000"]),
    ("one.tet", &["--chunks", "t=500"]),
    ("one.h5", &["--chunks", "t=500"]),
    ("one.zt", &[]),
    ("one.tgm", &[]),
];

/// The states: every element is this number.
const STATES: [u32; 2] = [1, 2];

/// How reads of a file ended.
#[derive(Default)]
struct Tally {
    whole: [usize; 2],
    errors: usize,
    mixed: usize,
}

/// Reads each file while it is replaced.
///
/// # Errors
///
/// An answer is a mixture of two states, or the file cannot be made.
pub(crate) fn run(options: &Options) -> Result<()> {
    let program = run::program()?;
    let folder = run::target().join("race");
    let tables = make_states(&folder)?;
    let mut mixed = 0;
    println!("{:<20} {:>7} {:>7} {:>7} {:>7}", "file", "state 1", "state 2", "errors", "mixed");
    let is_chosen = |name: &&str| options.only.as_deref().is_none_or(|word| name.contains(word));
    for name in FILES.iter().map(|(name, _)| *name).filter(is_chosen) {
        let scene = Scene { program: &program, folder: &folder, name, tables: &tables };
        let tally = scene.race(options.count)?;
        let [first, second] = tally.whole;
        println!("{name:<20} {first:>7} {second:>7} {:>7} {:>7}", tally.errors, tally.mixed);
        mixed += tally.mixed;
    }
    ensure!(mixed == 0, "{mixed} answers mix two states");
    Ok(())
}

/// Tables of eight columns, each of one number.
fn make_states(folder: &Path) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(folder)?;
    let mut tables = Vec::new();
    for state in STATES {
        let row = vec![state.to_string(); 8].join(",");
        let rows = (0..20_000).map(|t| format!("{t},{row}\n"));
        let table = folder.join(format!("state{state}.csv"));
        fs::write(&table, format!("t,a,b,c,d,e,f,g,h\n{}", rows.collect::<String>()))?;
        tables.push(table);
    }
    Ok(tables)
}

/// A file of two states.
struct Scene<'a> {
    program: &'a Path,
    folder: &'a Path,
    name: &'a str,
    tables: &'a [PathBuf],
}

impl Scene<'_> {
    fn race(&self, count: usize) -> Result<Tally> {
        let mut answers = Vec::new();
        for table in self.tables {
            self.replace(table)?;
            answers.push(self.read()?.1.context("the file cannot be read")?);
        }
        ensure!(answers[0] != answers[1], "the states are the same");
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let writer = scope.spawn(|| -> Result<()> {
                while !is_over.load(Ordering::Relaxed) {
                    self.tables.iter().try_for_each(|table| self.replace(table))?;
                }
                Ok(())
            });
            let tally = self.read_often(count, &answers);
            is_over.store(true, Ordering::Relaxed);
            writer.join().map_err(|_| anyhow::anyhow!("the writer panicked"))??;
            tally
        })
    }

    fn read_often(&self, count: usize, answers: &[Vec<u8>]) -> Result<Tally> {
        let mut tally = Tally::default();
        for _ in 0..count {
            let (output, answer) = self.read()?;
            match (output.status.code(), answer) {
                (Some(0), Some(answer)) => {
                    match answers.iter().position(|state| *state == answer) {
                        Some(state) => tally.whole[state] += 1,
                        None => tally.mixed += 1,
                    }
                }
                (Some(3..=5), _) => tally.errors += 1,
                _ => {
                    let errors = String::from_utf8_lossy(&output.stderr);
                    println!("{}: {} {}", self.name, output.status, errors.trim());
                    tally.mixed += 1;
                }
            }
        }
        Ok(tally)
    }

    /// Writes a state to the file.
    fn replace(&self, table: &Path) -> Result<()> {
        let (_, args) =
            FILES.iter().find(|(name, _)| *name == self.name).context("no such file")?;
        let mut command = Command::new(self.program);
        command.arg("convert").arg(table).arg(self.folder.join(self.name)).args(*args);
        run::output(command.args(["--force", "--quiet", "--no-sync"]))?;
        Ok(())
    }

    /// Reads all of the file: the elements as the bytes of an `.npz` file.
    fn read(&self) -> Result<(Output, Option<Vec<u8>>)> {
        let index = self.folder.join(format!("{}.index.json", self.name));
        let input = if index.exists() { index } else { self.folder.join(self.name) };
        let answer = self.folder.join("answer.npz");
        let mut command = Command::new(self.program);
        command.arg("convert").arg(input).arg(&answer).args(["--force", "--quiet", "--no-sync"]);
        let output = command.output()?;
        let is_read = output.status.success();
        let bytes = if is_read { Some(fs::read(&answer)?) } else { None };
        Ok((output, bytes))
    }
}
