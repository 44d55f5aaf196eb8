//! Ledger of all executions: a line for each run of a target.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::run;

/// One run of a target.
pub(super) struct Entry {
    pub(super) target: String,
    pub(super) way: Way,
    pub(super) executions: u64,
    /// Edges of the code that were reached; 0 where nothing counts them.
    pub(super) edges: u64,
}

/// Origin of the inputs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// libFuzzer, by coverage.
    Guided,
    /// Chance.
    Blind,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Guided => "guided",
            Way::Blind => "blind",
        }
    }
}

fn path() -> PathBuf {
    run::root().join("fuzz/ledger.tsv")
}

/// Writes a line.
pub(super) fn append(entry: &Entry) -> Result<()> {
    let Entry { target, way, executions, edges } = entry;
    let mut file = OpenOptions::new().append(true).create(true).open(path())?;
    writeln!(file, "{target}\t{}\t{executions}\t{edges}", way.name())?;
    eprintln!("   {target}: {executions} executions");
    Ok(())
}

fn entries() -> Result<Vec<Entry>> {
    let text = fs::read_to_string(path()).unwrap_or_default();
    let entry = |line: &str| {
        let mut words = line.split('\t');
        let target = words.next()?.to_owned();
        let way = [Way::Guided, Way::Blind].into_iter();
        let name = words.next()?;
        let way = way.into_iter().find(|way| way.name() == name)?;
        let executions = words.next()?.parse().ok()?;
        let edges = words.next()?.parse().ok()?;
        Some(Entry { target, way, executions, edges })
    };
    text.lines().map(|line| entry(line).with_context(|| format!("ledger.tsv: {line}"))).collect()
}

/// How often a target was executed.
pub(super) fn executions(target: &str) -> Result<u64> {
    let entries = entries()?;
    Ok(entries.iter().filter(|entry| entry.target == target).map(|entry| entry.executions).sum())
}

/// Prints how often each target was executed, and how often it is to be.
pub(super) fn print(targets: &[(&str, u64)]) -> Result<()> {
    let entries = entries()?;
    println!("{:<12} {:>12} {:>12} {:>7}  of", "target", "guided", "blind", "edges");
    for (name, wanted) in targets {
        let own = || entries.iter().filter(|entry| entry.target == *name);
        let sum = |way: Way| -> u64 {
            own().filter(|entry| entry.way == way).map(|entry| entry.executions).sum()
        };
        let edges = own().map(|entry| entry.edges).max().unwrap_or(0);
        println!(
            "{name:<12} {:>12} {:>12} {edges:>7}  {wanted}",
            sum(Way::Guided),
            sum(Way::Blind)
        );
    }
    Ok(())
}
