//! `tet-bench [NAME] [--rounds N]`: measures all workloads or one group, prints the table, stores
//! the JSON. `tet-bench --peer [WORKS]` runs works that are compared with other libraries.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use tet_bench::data::Folder;
use tet_bench::peer;
use tet_bench::report::Report;
use tet_bench::workloads::{self, Measured};

/// The fewest rounds that count.
const ROUNDS: usize = 15;

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn say(text: &str) {
    println!("{text}");
}

fn run(args: Vec<String>) -> Result<()> {
    let mut name = None;
    let mut rounds = ROUNDS;
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            workloads::CHILD => return workloads::child(&args.collect::<Vec<_>>(), say),
            peer::FLAG => {
                let (works, lines) = (args.next(), std::io::stdin().lock());
                return peer::serve(&Folder::new(&target())?, works.as_deref(), lines, say);
            }
            "--rounds" => {
                let count = args.next().context("--rounds takes a number")?;
                rounds = count.parse().context("--rounds takes a number")?;
            }
            _ if arg.starts_with('-') || name.is_some() => bail!("unknown argument {arg}"),
            _ => name = Some(arg),
        }
    }
    let target = target();
    let folder = Folder::new(&target)?;
    let mut rows = Vec::new();
    for group in workloads::groups(name.as_deref())? {
        say(group.id);
        let run = Measured { folder: &folder, rounds };
        rows.extend((group.measure)(run).with_context(|| group.id)?);
    }
    let report = Report::new(rounds, rows);
    say(&report.table());
    let path = report.store(&target, name.as_deref().unwrap_or("all"))?;
    say(&path.display().to_string());
    Ok(())
}

/// The folder of everything built.
fn target() -> PathBuf {
    let default = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target");
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(default, PathBuf::from)
}
