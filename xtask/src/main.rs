//! Chores of the workspace, one word each: `cargo xtask WORD`.

#![forbid(unsafe_code)]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a chore talks to the person who started it"
)]

mod bench;
mod ci;
mod coastlines;
mod crash;
mod docs;
mod families;
mod fixtures;
mod fuzz;
mod interop;
mod oracle;
mod package;
mod python;
mod race;
mod reference;
mod release;
mod remote;
mod run;
mod scale;
mod suite;
mod tidy;
mod unreadable;

use clap::{Parser, Subcommand};

/// Chores of the tet workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: XtaskCommand,
}

#[derive(Subcommand)]
enum XtaskCommand {
    /// Everything a change must pass: format, tidy, lints, tests, docs, features
    Ci(ci::Options),
    /// The rules of the house a machine can check, without building anything
    Tidy,
    /// Writes the seeded .tet fixtures for tests, and large ones for benchmarks
    GenFixtures(fixtures::Options),
    /// Runs the benchmarks, each beside its own limit, and prints the ratios
    Bench(bench::Options),
    /// Builds the command with some families of formats alone, and tries each build
    Families(families::Options),
    /// Writes docs/reference/cli.md and the man pages; compares the rule table with the code
    Docs(docs::Options),
    /// Writes the coastlines of maps, of land-110m.json of the npm package world-atlas
    Coastlines(coastlines::Options),
    /// Kills and fails the commands that write, at every call by which they write
    Crash(crash::Options),
    /// Reads files while they are replaced: each answer is of one state
    Race(race::Options),
    /// Fails the commands that read, at every call by which they look for, list and read files
    Unreadable(unreadable::Options),
    /// Fuzzes what reads bytes, by libFuzzer and by chance, and writes the ledger
    Fuzz(fuzz::Options),
    /// Changes every bit of small files, one after the other, and asks them everything
    Bitflip,
    /// Reads every prefix of every accepted file
    Truncate,
    /// Puts the numbers at which things turn over into every field, alone and in pairs
    Fields,
    /// Spoils bursts of bytes in small files
    Rot,
    /// Writes sectors of small files to wrong places
    Swap,
    /// Changes a bit in chunks of megabytes, and asks questions in every way; counts threads
    Integrity,
    /// Changes every byte and every field of small files of all containers, and looks for datasets that are gone
    Vanish,
    /// Measures how the time of each command grows with the number of datasets and attributes
    Scale(scale::Options),
    /// Gives every hostile file to the library, and to every command
    Zoo,
    /// Compares dependencies with deny.toml: advisories, licenses, sources; needs cargo-deny
    Deny,
    /// Lets programs of others, installed into target/, read what we write, and reads what they write
    Interop(interop::Options),
    /// Asks documents by the thousand of NumPy, installed into target/, and of us
    Oracle(oracle::Options),
    /// Builds the Python package, installs it into target/, and runs its tests
    Python(package::Options),
    /// Makes what people download: archive, wheel, crates, checksums; installs and tries them
    Release(release::Options),
    /// Reads and writes files on servers of others: nginx, moto and s3s-fs
    Remote(remote::Options),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().task {
        XtaskCommand::Ci(options) => ci::run(&options),
        XtaskCommand::Tidy => tidy::run(),
        XtaskCommand::GenFixtures(options) => fixtures::run(&options),
        XtaskCommand::Bench(options) => bench::run(&options),
        XtaskCommand::Coastlines(options) => coastlines::run(&options),
        XtaskCommand::Families(options) => families::run(&options),
        XtaskCommand::Docs(options) => docs::run(&options),
        XtaskCommand::Crash(options) => crash::run(&options),
        XtaskCommand::Race(options) => race::run(&options),
        XtaskCommand::Unreadable(options) => unreadable::run(&options),
        XtaskCommand::Fuzz(options) => fuzz::run(&options),
        XtaskCommand::Bitflip => suite::run(&[("memory", "damage::bitflip")]),
        XtaskCommand::Truncate => suite::run(&[("engine", "truncate::")]),
        XtaskCommand::Fields => suite::run(&[("memory", "damage::fields")]),
        XtaskCommand::Rot => suite::run(&[("memory", "damage::rot")]),
        XtaskCommand::Swap => suite::run(&[("memory", "damage::swap")]),
        XtaskCommand::Integrity => suite::run(&[("engine", "integrity::"), ("threads", "")]),
        XtaskCommand::Vanish => suite::vanish(),
        XtaskCommand::Zoo => suite::run(&[("memory", "hostile::"), ("world", "commands::")]),
        XtaskCommand::Scale(options) => scale::run(&options),
        XtaskCommand::Deny => run::check(run::cargo().args(["deny", "--locked", "check"])),
        XtaskCommand::Interop(options) => interop::run(&options),
        XtaskCommand::Oracle(options) => oracle::run(&options),
        XtaskCommand::Release(options) => release::run(&options),
        XtaskCommand::Remote(options) => remote::run(&options),
        XtaskCommand::Python(options) => package::test(options),
    }
}
