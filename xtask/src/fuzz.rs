//! Fuzzing: libFuzzer, guided by what the code reaches, then changes at full speed that nothing guides.
//!
//! ```text
//! tests/src/fuzz   the targets, and what they start from
//! fuzz/            the targets with coverage counters; the corpus; the ledger
//! target/fuzz      builds, the working corpus, and inputs that a target failed on
//! ```
//!
//! The corpus that is kept is small, and `ci` replays it. Each run goes on from where the ledger ends.

mod corpus;
mod ledger;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::run;
use ledger::{Entry, Way};

/// The targets, and how often each is to have been executed.
const TARGETS: [(&str, u64); 23] = [
    ("open", 100_000_000),
    ("footer", 10_000_000),
    ("decode", 10_000_000),
    ("verify", 10_000_000),
    ("query_doc", 10_000_000),
    ("model", 10_000_000),
    ("repair", 10_000_000),
    ("roundtrip", 10_000_000),
    ("ztensor", 10_000_000),
    ("tgm_scan", 10_000_000),
    ("tgm_decode", 10_000_000),
    ("tgm_metadata", 10_000_000),
    ("tgm_pipeline", 10_000_000),
    ("netcdf", 10_000_000),
    ("gguf", 10_000_000),
    ("hdf5", 10_000_000),
    ("zarr", 10_000_000),
    ("pipeline", 10_000_000),
    ("ztensor2", 10_000_000),
    ("fits", 10_000_000),
    ("torch", 10_000_000),
    ("csv", 10_000_000),
    ("stats", 10_000_000),
];

/// Coverage counters and comparisons, as libFuzzer wants them.
const COVERAGE: [&str; 6] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];
/// The stable compiler takes the flags above under this one.
const BOOTSTRAP: (&str, &str) = ("RUSTC_BOOTSTRAP", "1");
const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// Bounds of a single execution; beyond them it counts as a failure.
const BOUNDS: [&str; 3] = ["-rss_limit_mb=512", "-timeout=10", "-max_len=8192"];

/// The targets to run, and how long.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only these targets
    targets: Vec<String>,
    /// Seconds of guided fuzzing for each target
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Unguided executions of each target after that
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    blind: u64,
    /// Keeps the corpus that reaches as much with the fewest and shortest inputs
    #[arg(long)]
    minimize: bool,
    /// Looks for misused memory too (AddressSanitizer), at a third of the speed
    #[arg(long)]
    address: bool,
    /// Prints the ledger, and runs nothing
    #[arg(long)]
    ledger: bool,
}

/// Runs the targets and writes what they did into the ledger.
pub(crate) fn run(options: &Options) -> Result<()> {
    if options.ledger {
        return ledger::print(&TARGETS);
    }
    let known = |name: &String| TARGETS.iter().any(|(each, _)| each == name);
    let unknown = options.targets.iter().find(|name| !known(name));
    ensure!(unknown.is_none(), "no target is called {}", unknown.map_or("", String::as_str));
    let chosen = |name: &str| {
        options.targets.is_empty() || options.targets.iter().any(|target| target == name)
    };
    let driver = driver()?;
    let seeds = work().join("seeds");
    run::check(Command::new(&driver).arg("seeds").arg(&seeds))?;
    let programs =
        if options.seconds > 0 || options.minimize { Some(build(options.address)?) } else { None };
    for (name, _) in TARGETS.into_iter().filter(|(name, _)| chosen(name)) {
        corpus::unpack(name, &folder(name))?;
        if let Some(programs) = programs.as_ref().filter(|_| options.seconds > 0) {
            guided(name, programs, &seeds.join(name), options.seconds)?;
        }
        if options.blind > 0 {
            blind(name, &driver, &seeds.join(name), options.blind)?;
        }
        if let Some(programs) = programs.as_ref().filter(|_| options.minimize) {
            minimize(name, programs, &seeds.join(name))?;
        }
    }
    ledger::print(&TARGETS)
}

/// Where all that is not kept lies.
fn work() -> PathBuf {
    run::target().join("fuzz")
}

/// The working corpus of a target.
fn folder(name: &str) -> PathBuf {
    work().join("corpus").join(name)
}

fn driver() -> Result<PathBuf> {
    let args = ["build", "--locked", "--release", "--quiet", "-p", "tet-tests", "--bin", "drive"];
    run::check(run::cargo().args(args))?;
    Ok(run::target().join("release/drive"))
}

/// Builds the targets and says where they are.
fn build(address: bool) -> Result<PathBuf> {
    let folder = work().join(if address { "address" } else { "plain" });
    let mut flags = COVERAGE.join(" ");
    if address {
        flags.push_str(" -Zsanitizer=address");
    }
    let mut cargo = run::cargo();
    cargo.current_dir(run::root().join("fuzz"));
    cargo.args(["build", "--locked", "--release", "--quiet", "--target", TRIPLE]);
    cargo.env(BOOTSTRAP.0, BOOTSTRAP.1).env("RUSTFLAGS", flags).env("CARGO_TARGET_DIR", &folder);
    run::check(&mut cargo).context("the targets cannot be built")?;
    Ok(folder.join(TRIPLE).join("release"))
}

fn guided(name: &str, programs: &Path, seeds: &Path, seconds: u64) -> Result<()> {
    let failures = work().join("failures").join(name);
    fs::create_dir_all(&failures)?;
    let mut fuzzer = Command::new(programs.join(name));
    fuzzer.args(BOUNDS).arg(format!("-max_total_time={seconds}")).arg("-print_final_stats=1");
    fuzzer.arg(format!("-artifact_prefix={}/", failures.display()));
    fuzzer.arg(folder(name)).arg(seeds);
    eprintln!("== {name}: {seconds} s, guided");
    let output = fuzzer.output().with_context(|| format!("could not start {name}"))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let last: Vec<&str> = stderr.lines().rev().take(40).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        anyhow::bail!("{name} fails; its input is in {}\n{}", failures.display(), last.join("\n"));
    }
    let executions = number_after(&stderr, "number_of_executed_units:").context("no count")?;
    let edges = number_after(&stderr, "cov:").context("no coverage")?;
    ledger::append(&Entry { target: name.to_owned(), way: Way::Guided, executions, edges })
}

/// Many changes of the corpus on every thread of the machine.
fn blind(name: &str, driver: &Path, seeds: &Path, count: u64) -> Result<()> {
    let corpus = folder(name);
    corpus::copy(seeds, &corpus)?;
    let workers = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let begin = ledger::executions(name)?;
    eprintln!("== {name}: {count} executions, unguided");
    let mut children = Vec::new();
    for worker in 0..workers {
        let share = count / workers + u64::from(worker < count % workers);
        let mut child = Command::new(driver);
        child.args(["run", name, &share.to_string(), &(begin + worker).to_string()]).arg(&corpus);
        children.push(child.spawn().context("could not start the driver")?);
    }
    for mut child in children {
        ensure!(child.wait()?.success(), "{name} fails; its input is beside {}", corpus.display());
    }
    ledger::append(&Entry { target: name.to_owned(), way: Way::Blind, executions: count, edges: 0 })
}

/// Keeps what adds coverage, the shortest inputs first.
fn minimize(name: &str, programs: &Path, seeds: &Path) -> Result<()> {
    let kept = work().join("kept").join(name);
    if kept.exists() {
        fs::remove_dir_all(&kept)?;
    }
    fs::create_dir_all(&kept)?;
    let mut fuzzer = Command::new(programs.join(name));
    fuzzer.arg("-merge=1").arg(format!("-max_len={}", corpus::INPUT_LEN_MAX));
    let output = fuzzer.args(BOUNDS).arg(&kept).arg(folder(name)).arg(seeds).output()?;
    ensure!(output.status.success(), "{name}: the corpus cannot be merged");
    corpus::pack(name, &kept)
}

/// The number that follows a word the last time that it occurs.
fn number_after(text: &str, word: &str) -> Option<u64> {
    let (_, after) = text.rsplit_once(word)?;
    let digits: String = after.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}
