//! Chores of the workspace, one word each: `cargo xtask WORD`.

#![forbid(unsafe_code)]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a chore talks to the person who started it"
)]

mod bench;
mod ci;
mod crash;
mod docs;
mod fixtures;
mod interop;
mod oracle;
mod planted;
mod python;
mod reference;
mod run;
mod tidy;

use clap::{Parser, Subcommand};

/// Chores of the tet workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything a change must pass: format, tidy, lints, tests, docs, features
    Ci(ci::Options),
    /// The rules of the house a machine can check, without building anything
    Tidy,
    /// Writes the seeded .tet fixtures for tests, and large ones for benchmarks
    GenFixtures(fixtures::Options),
    /// Runs the benchmarks, each beside its own limit, and prints the ratios
    Bench(bench::Options),
    /// Writes docs/cli.md and the man pages; compares the rule table with the code
    Docs(docs::Options),
    /// Kills and fails the commands that write, at every call by which they write
    Crash(crash::Options),
    /// Checks files of ours with the reference program, installed into target/
    Interop(interop::Options),
    /// Asks documents by the thousand of NumPy, installed into target/, and of us
    Oracle(oracle::Options),
    /// Plants bugs that people make, and looks whether the tests notice each
    Planted(planted::Options),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().task {
        Task::Ci(options) => ci::run(&options),
        Task::Tidy => tidy::run(),
        Task::GenFixtures(options) => fixtures::run(&options),
        Task::Bench(options) => bench::run(&options),
        Task::Docs(options) => docs::run(&options),
        Task::Crash(options) => crash::run(&options),
        Task::Interop(options) => interop::run(&options),
        Task::Oracle(options) => oracle::run(&options),
        Task::Planted(options) => planted::run(&options),
    }
}
