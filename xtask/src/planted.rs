//! Plants bugs that people make, one at a time, and checks that the suites notice them.
//!
//! ```text
//! copy     the sources -> target/planted/source; what is built of them -> target/planted/build
//! sound    every suite of the list is built and run without a bug: it passes
//! bug      a file of the copy is patched, and the suite of the bug built and run: it fails
//! ```
//!
//! The bugs are in `xtask/planted.txt`. Measured on two busy cores, with nothing of ours optimized: 20
//! minutes, 11 of them for the suites without a bug. The first run builds the dependencies too.

mod bug;
mod copy;
mod suite;

use std::collections::BTreeSet;
use std::time::Instant;

use anyhow::{Result, ensure};

use crate::run;
use bug::Bug;
use copy::SourceCopy;
use suite::Verdict;

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only the bugs whose name contains this
    #[arg(long, value_name = "WORD")]
    only: Option<String>,
}

/// Copies the sources, runs the suites without a bug, then with each.
pub(crate) fn run(options: &Options) -> Result<()> {
    let start = Instant::now();
    let mut bugs = bug::read();
    bugs.retain(|bug| options.only.as_deref().is_none_or(|word| bug.name.contains(word)));
    ensure!(!bugs.is_empty(), "no bug has that word in its name");
    let copy = SourceCopy::make(run::root(), &run::target().join("planted"))?;
    for suite in bugs.iter().map(|bug| bug.suite).collect::<BTreeSet<_>>() {
        let since = Instant::now();
        let verdict = suite::run(&copy, suite)?;
        ensure!(verdict == Verdict::Passes, "without a bug, {suite}: {verdict}");
        println!("{:<15} {:>6.1} s  {suite}", "sound", since.elapsed().as_secs_f64());
    }
    let mut unnoticed = Vec::new();
    for Bug { name, does, suite, patch } in &bugs {
        let since = Instant::now();
        let verdict = copy.patched(patch, || suite::run(&copy, suite))?;
        let seconds = since.elapsed().as_secs_f64();
        println!("{name:<15} {seconds:>6.1} s  {suite}: {verdict}\n{:26}{does}", "");
        if !matches!(verdict, Verdict::Fails(_)) {
            unnoticed.push(*name);
        }
    }
    println!("{} bugs, {} unnoticed, {:.0?}", bugs.len(), unnoticed.len(), start.elapsed());
    ensure!(unnoticed.is_empty(), "not noticed: {}", unnoticed.join(", "));
    Ok(())
}
