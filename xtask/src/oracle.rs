//! Documents by the thousand, answered by `NumPy` and by us.
//!
//! `xtask/oracle` makes the cases in an environment of its own under `target/oracle`, pinned by its
//! `requirements.txt`; the suite `oracle` of `tests/` answers them. Making the environment needs the
//! network once, so this is no part of `ci`, which has the kept cases.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::{python, run};

/// The cases that are kept: their number, their seed, the elements of an array, the documents for
/// each.
const KEPT: [&str; 4] = ["2400", "7", "36", "8"];
/// Where they are kept.
const KEPT_PATH: &str = "tests/data/oracle/cases.jsonl";
/// The kept cases stay a file one can look at.
const KEPT_LEN_MAX: u64 = 2 << 20;

/// The documents to ask.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How many documents
    #[arg(long, default_value_t = 20_000)]
    cases: u64,
    /// Where chance starts; every seed asks other documents
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Elements of an array, at most
    #[arg(long, default_value_t = 150)]
    size: u64,
    /// Writes the cases that are kept for `ci` anew, and answers those
    #[arg(long, conflicts_with_all = ["cases", "seed", "size"])]
    bless: bool,
}

/// Makes the cases and answers them.
pub(crate) fn run(options: &Options) -> Result<()> {
    let folder = run::target().join("oracle");
    let python = python::environment(&folder.join("venv"), &sources().join("requirements.txt"))?;
    let (numbers, name) = if options.bless {
        (KEPT.map(str::to_owned), "kept.jsonl".to_owned())
    } else {
        let numbers = [options.cases, options.seed, options.size, 8].map(|it| it.to_string());
        (numbers, format!("cases-{}.jsonl", options.seed))
    };
    let path = folder.join(name);
    let mut generate = Command::new(&python);
    generate.arg(sources().join("generate.py"));
    for (flag, number) in ["--cases", "--seed", "--size", "--each"].iter().zip(&numbers) {
        generate.arg(flag).arg(number);
    }
    run::check(generate.arg("--out").arg(&path)).context("the cases cannot be made")?;
    if options.bless {
        let len = std::fs::copy(&path, run::root().join(KEPT_PATH))?;
        ensure!(len <= KEPT_LEN_MAX, "{len} bytes are too many to keep");
    }
    let mut answer = run::cargo();
    answer.args(["test", "--quiet", "--locked", "-p", "tet-tests", "--test", "engine"]);
    answer.args(["oracle::", "--", "--nocapture"]).env("TET_ORACLE_CASES", &path);
    let said = format!("some answers about {} differ", path.display());
    run::check(&mut answer).context(said)
}

fn sources() -> PathBuf {
    run::root().join("xtask/oracle")
}
