//! Everything a change must pass, in the order in which it fails fastest.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::{docs, run, tidy};

/// Features of `tet-query` that an embedder may choose between.
const QUERY_FEATURES: [&str; 4] = ["mmap", "zstd", "json", "toml"];

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only the steps whose name contains this
    #[arg(long, value_name = "WORD")]
    only: Option<String>,
}

struct Step {
    name: &'static str,
    work: fn() -> Result<()>,
}

const STEPS: [Step; 8] = [
    Step { name: "fmt", work: || cargo(&["fmt", "--all", "--check"]) },
    Step { name: "tidy", work: tidy::run },
    Step {
        name: "clippy",
        work: || {
            cargo(&["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"])
        },
    },
    Step { name: "test", work: || cargo(&["test", "--locked", "--workspace", "--quiet"]) },
    Step {
        name: "no_std",
        work: || cargo(&["build", "--locked", "-p", "tet-format", "--no-default-features"]),
    },
    Step { name: "features", work: query_features },
    Step { name: "doc", work: doc },
    Step { name: "docs", work: docs::check },
];

/// Runs the steps and prints what each took.
pub(crate) fn run(options: &Options) -> Result<()> {
    let start = Instant::now();
    let chosen = |step: &&Step| options.only.as_deref().is_none_or(|word| step.name.contains(word));
    let mut times = Vec::new();
    for step in STEPS.iter().filter(chosen) {
        eprintln!("== {}", step.name);
        let begin = Instant::now();
        (step.work)().with_context(|| format!("step `{}` failed", step.name))?;
        times.push((step.name, begin.elapsed()));
    }
    anyhow::ensure!(!times.is_empty(), "no step has that word in its name");
    for (name, time) in times {
        println!("{name:<10} {:>7.1} s", time.as_secs_f64());
    }
    println!("{:<10} {:>7.1} s", "all", start.elapsed().as_secs_f64());
    Ok(())
}

fn cargo(args: &[&str]) -> Result<()> {
    step(run::cargo().args(args))
}

fn doc() -> Result<()> {
    let args = ["doc", "--locked", "--workspace", "--no-deps"];
    step(run::cargo().args(args).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Every subset of the features lints clean on its own.
fn query_features() -> Result<()> {
    for subset in 0..1_usize << QUERY_FEATURES.len() {
        let features: Vec<&str> = QUERY_FEATURES
            .iter()
            .enumerate()
            .filter(|(bit, _)| subset >> bit & 1 == 1)
            .map(|(_, &feature)| feature)
            .collect();
        let features = features.join(",");
        cargo(&[
            "clippy",
            "--quiet",
            "--locked",
            "-p",
            "tet-query",
            "--lib",
            "--no-default-features",
            "--features",
            &features,
            "--",
            "-D",
            "warnings",
        ])?;
    }
    Ok(())
}

fn step(command: &mut Command) -> Result<()> {
    eprintln!("   {}", run::line(command));
    run::check(command)
}
