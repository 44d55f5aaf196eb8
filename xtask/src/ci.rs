//! Everything a change must pass, in the order in which it fails fastest.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::{docs, families, package, run, tidy};

/// Packages with the features that an embedder may choose between.
const FEATURES: [(&str, [&str; 2]); 2] =
    [("tet-query", ["mmap", "zstd"]), ("tet-document", ["json", "toml"])];

/// The steps to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only the steps whose name contains this
    #[arg(long, value_name = "WORD")]
    only: Option<String>,
}

struct CiStep {
    name: &'static str,
    work: fn() -> Result<()>,
}

const STEPS: [CiStep; 11] = [
    CiStep { name: "fmt", work: || cargo(&["fmt", "--all", "--check"]) },
    CiStep { name: "tidy", work: tidy::run },
    CiStep {
        name: "clippy",
        work: || {
            cargo(&["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"])
        },
    },
    CiStep { name: "test", work: || cargo(&["test", "--locked", "--workspace", "--quiet"]) },
    CiStep {
        name: "no_std",
        work: || cargo(&["build", "--locked", "-p", "tet-format", "--no-default-features"]),
    },
    CiStep { name: "features", work: features },
    CiStep { name: "families", work: || families::run(&families::Options::default()) },
    CiStep { name: "example", work: example },
    CiStep { name: "doc", work: doc },
    CiStep { name: "docs", work: docs::check },
    CiStep { name: "python", work: package::run },
];

/// Runs the steps and prints what each took.
pub(crate) fn run(options: &Options) -> Result<()> {
    let start = Instant::now();
    let chosen =
        |step: &&CiStep| options.only.as_deref().is_none_or(|word| step.name.contains(word));
    let mut times = Vec::new();
    let mut left_out = None;
    let missing = package::missing();
    for step in STEPS.iter().filter(chosen) {
        if step.name == "python"
            && let Some(what) = &missing
        {
            anyhow::ensure!(std::env::var_os("CI").is_none(), "step `python` failed: {what}");
            left_out = Some(what);
            continue;
        }
        eprintln!("== {}", step.name);
        let begin = Instant::now();
        (step.work)().with_context(|| format!("step `{}` failed", step.name))?;
        times.push((step.name, begin.elapsed()));
    }
    anyhow::ensure!(!times.is_empty() || left_out.is_some(), "no step has that word in its name");
    for (name, time) in times {
        println!("{name:<10} {:>7.1} s", time.as_secs_f64());
    }
    println!("{:<10} {:>7.1} s", "all", start.elapsed().as_secs_f64());
    if let Some(what) = left_out {
        println!("left out: python, because {what}");
    }
    Ok(())
}

fn cargo(args: &[&str]) -> Result<()> {
    step(run::cargo().args(args))
}

fn doc() -> Result<()> {
    let args = ["doc", "--locked", "--workspace", "--no-deps"];
    step(run::cargo().args(args).env("RUSTDOCFLAGS", "-D warnings"))
}

/// The container outside of the workspace is formatted, builds, and passes its test.
///
/// Its dependencies are those of the workspace: the versions, the profiles and the target folder.
fn example() -> Result<()> {
    let folder = run::root().join("examples/container");
    std::fs::copy(run::root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    step(run::cargo().args(["fmt", "--check"]).current_dir(&folder))?;
    let test = ["test", "--quiet", "--offline", "--config", "../../Cargo.toml"];
    step(run::cargo().args(test).env("CARGO_TARGET_DIR", run::target()).current_dir(&folder))
}

/// Every subset of the features of a package lints clean on its own.
fn features() -> Result<()> {
    for (package, [first, second]) in FEATURES {
        for features in [String::new(), first.into(), second.into(), format!("{first},{second}")] {
            let of = ["clippy", "--quiet", "--locked", "-p", package, "--lib"];
            let some = ["--no-default-features", "--features", &features, "--", "-D", "warnings"];
            cargo(&[&of[..], &some[..]].concat())?;
        }
    }
    Ok(())
}

fn step(command: &mut Command) -> Result<()> {
    eprintln!("   {}", run::line(command));
    run::check(command)
}
