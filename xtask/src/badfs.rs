//! Runs the commands on a file system that fails, cuts files short, changes them and is slow.
//!
//! ```text
//! wire     the messages of FUSE
//! folder   the folder, in memory
//! fault    what goes wrong in it
//! mount    mounts it, answers the kernel
//! cases    files and commands
//! trial    runs a command while something goes wrong, judges what it prints and leaves
//! ```
//!
//! It takes minutes and needs Linux, `/dev/fuse` and the right to mount, so it is no part of `ci`.
//! What it cannot do fails: nothing is skipped.

mod cases;
mod fault;
mod folder;
mod mount;
mod trial;
mod wire;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, bail, ensure};

use crate::run;
use cases::Case;
use fault::Fault;
use folder::Files;
use mount::Mount;
use trial::{End, Trial};

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only the command lines that contain this, such as `verify raw.tet` or `--io mmap`
    #[arg(long, value_name = "WORD")]
    only: Option<String>,
    /// A built command to run, instead of building it
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
}

/// What became of the runs under one fault.
#[derive(Clone, Copy, Default)]
struct Tally {
    tried: usize,
    done: usize,
    refused: usize,
    wrong: usize,
}

/// What became of all runs.
#[derive(Default)]
struct Results {
    by_fault: BTreeMap<&'static str, Tally>,
    wrong: Vec<String>,
}

impl Results {
    fn add(&mut self, fault: &Fault, end: End, mut wrong: Vec<String>) {
        for name in [fault.name(), "~"] {
            let tally = self.by_fault.entry(name).or_default();
            tally.tried += 1;
            match end {
                End::Done => tally.done += 1,
                End::Refused => tally.refused += 1,
                End::Wrong => tally.wrong += 1,
            }
        }
        self.wrong.append(&mut wrong);
    }

    fn print(&self) {
        println!("{:<24} {:>7} {:>7} {:>8} {:>7}", "fault", "tried", "done", "refused", "failed");
        for (&name, tally) in &self.by_fault {
            let name = if name == "~" { "all" } else { name };
            let Tally { tried, done, refused, wrong } = tally;
            println!("{name:<24} {tried:>7} {done:>7} {refused:>8} {wrong:>7}");
        }
    }
}

/// Runs everything, prints a table, and fails if a run did what no run may do.
pub(crate) fn run(options: &Options) -> Result<()> {
    check_tools()?;
    let program = match &options.program {
        Some(program) => fs::canonicalize(program)?,
        None => run::program()?,
    };
    let folder = run::target().join("badfs");
    let made = cases::make(&program, &folder.join("in"), 1)?;
    let other = cases::make(&program, &folder.join("other"), 3)?;
    let mut cases = Case::all();
    cases.retain(|case| options.only.as_deref().is_none_or(|word| case.name().contains(word)));
    ensure!(!cases.is_empty(), "no command line contains that word");
    let (results, next) = (Mutex::new(Results::default()), AtomicUsize::new(0));
    let worker_count = thread::available_parallelism().map_or(1, usize::from).min(cases.len());
    thread::scope(|scope| {
        let work = |at: usize| {
            let mount = folder.join(format!("mount{at}"));
            work(&mount, &program, [&made, &other], &cases, &next, &results)
        };
        let workers: Vec<_> = (0..worker_count).map(|at| scope.spawn(move || work(at))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })?;
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    for wrong in &results.wrong {
        eprintln!("error: {wrong}");
    }
    println!("{} command lines", cases.len());
    results.print();
    if !results.wrong.is_empty() {
        bail!("{} things were wrong", results.wrong.len());
    }
    println!("no crash, no wrong answer, and every target was the old file or the new one");
    Ok(())
}

/// Takes command lines until there are none left.
fn work(
    at: &Path,
    program: &Path,
    made: [&Files; 2],
    cases: &[Case],
    next: &AtomicUsize,
    results: &Mutex<Results>,
) -> Result<()> {
    let mount = Mount::new(at)?;
    while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
        let trial = Trial::new(case, program, &mount, made)
            .with_context(|| format!("{} does not run", case.name()))?;
        trial::run_all(&trial, |fault, end, wrong| {
            results.lock().unwrap_or_else(PoisonError::into_inner).add(fault, end, wrong);
        })?;
    }
    Ok(())
}

/// Says what is missing before anything is built.
fn check_tools() -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "the file system is one of FUSE, which needs Linux");
    ensure!(Path::new("/dev/fuse").exists(), "/dev/fuse is missing");
    run::output(Command::new("timeout").arg("--version")).context("timeout is missing")?;
    Ok(())
}
