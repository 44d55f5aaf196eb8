//! The `tet` command as a library: [`run`] takes arguments and streams and says how it went.
//!
//! ```text
//!   args       flags, help, examples
//!   streams    the three streams and the world around them (all reading of the environment)
//!   context    what every command is given: streams, colors, notes, warnings
//!   open       a path becomes a catalog; target: what of it is meant; part, corner: what is shown
//!   progress   a bar on standard error
//!   command/   one file a command
//!   render/    tables, values, pictures, JSON
//!   exit       failures and exit codes
//! ```
//!
//! Results go to standard output and nothing else does. What comes from a file is escaped before
//! it is printed. Types that become JSON live here, for their shape is a promise of the command.

#![forbid(unsafe_code)]

pub mod args;
pub mod streams;

mod bar;
mod command;
mod context;
mod corner;
mod demo;
mod escape;
mod exit;
mod failure;
mod open;
mod part;
mod picture;
mod render;
mod size;
mod target;

use std::ffi::OsString;
use std::io::Write;

use clap::{ColorChoice, CommandFactory, FromArgMatches};

use args::{Cli, ColorWhen, Command};
use context::Context;

pub use exit::{Exit, Facts, Failure, Place};
pub use streams::Streams;

/// The definition of the command line, for help, completions and manual pages.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs one command and says how it went; never panics on any arguments or files.
pub fn run(args: impl IntoIterator<Item = OsString>, streams: &mut Streams) -> Exit {
    let args: Vec<OsString> = args.into_iter().collect();
    let early = Early::scan(&args);
    let cli = match parse(&args, early) {
        Ok(cli) => cli,
        Err(error) => return tell_usage(&error, early, streams),
    };
    let wants_json = cli.command.wants_json();
    let mut context = Context::new(streams, cli.global);
    let done = dispatch(cli.command, &mut context)
        .and_then(|exit| context.streams.out.flush().map_err(Failure::from).map(|()| exit));
    match done {
        Ok(exit) => exit,
        Err(failure) => tell(&failure, wants_json, cli.global.color, streams),
    }
}

fn parse(args: &[OsString], early: Early) -> Result<Cli, clap::Error> {
    let color = match early.color {
        ColorWhen::Auto => ColorChoice::Auto,
        ColorWhen::Always => ColorChoice::Always,
        ColorWhen::Never => ColorChoice::Never,
    };
    let matches = command().color(color).try_get_matches_from(args)?;
    Cli::from_arg_matches(&matches)
}

fn dispatch(command: Command, context: &mut Context<'_>) -> exit::Result<Exit> {
    match command {
        Command::Demo(args) => command::demo::run(&args, context),
        Command::Info(args) => command::info::run(&args, context),
        Command::Cat(args) => command::cat::run(&args, context),
        Command::Query(args) => command::query::run(&args, context),
        Command::Explain(args) => command::explain::run(&args, context),
        Command::Stats(args) => command::stats::run(&args, context),
        Command::Convert(args) => command::convert::run(&args, context),
        Command::Export(args) => command::export::run(&args, context),
        Command::Zt(args) => command::zt::run(&args.verb, context),
        Command::Tgm(args) => command::tgm::run(&args.verb, context),
        Command::Verify(args) => command::verify::run(&args, context),
        Command::Dump(args) => command::dump::run(&args, context),
        Command::Repair(args) => command::repair::run(&args, context),
        Command::Digest(args) => command::digest::run(&args.verb, context),
        Command::Completions(args) => command::completions::run(&args, context),
        Command::Man(args) => command::man::run(&args, context),
    }
}

/// Tells a failure and gives its exit code; a reader that left is no failure.
fn tell(failure: &Failure, json: bool, color: ColorWhen, streams: &mut Streams) -> Exit {
    if failure.is_broken_pipe() {
        return Exit::Done;
    }
    let interrupted = streams.world.is_cancelled();
    let failure = if interrupted { &Failure::interrupted() } else { failure };
    // What was found before the failure is worth having; a stream that fails now has no reader.
    let _ = streams.out.flush();
    let colored = streams.world.err_is_colored(color);
    let err = streams.err.as_mut();
    let _ = if json { failure.write_json(err) } else { failure.write_text(err, colored) };
    let _ = streams.err.flush();
    failure.exit
}

/// Help and version go to standard output; wrong usage goes to standard error.
fn tell_usage(error: &clap::Error, early: Early, streams: &mut Streams) -> Exit {
    use clap::error::ErrorKind::{DisplayHelp, DisplayVersion};
    let asked = matches!(error.kind(), DisplayHelp | DisplayVersion);
    if !asked && early.json {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        let failure = Failure::usage("usage", first.trim_start_matches("error: "));
        return tell(&failure.hint("see `tet --help`"), true, early.color, streams);
    }
    let world = &streams.world;
    let colored = if asked {
        world.out_depth(early.color) != streams::Depth::Plain
    } else {
        world.err_is_colored(early.color)
    };
    let text = error.render();
    let text = if colored { text.ansi().to_string() } else { text.to_string() };
    let stream = if asked { streams.out.as_mut() } else { streams.err.as_mut() };
    let written = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
    match written.map_err(Failure::from) {
        Err(failure) if asked => tell(&failure, early.json, early.color, streams),
        _ if asked => Exit::Done,
        _ => Exit::Usage,
    }
}

/// What must be known before the arguments are understood: how to tell that they are not.
#[derive(Debug, Clone, Copy, Default)]
struct Early {
    color: ColorWhen,
    json: bool,
}

impl Early {
    fn scan(args: &[OsString]) -> Early {
        let mut early = Early::default();
        let mut words = args.iter().skip(1).filter_map(|arg| arg.to_str()).peekable();
        while let Some(word) = words.next() {
            let value = words.peek().copied().unwrap_or_default();
            match word {
                "--" => break,
                "--json" | "--format=json" => early.json = true,
                "--format" if value == "json" => early.json = true,
                "--color=always" => early.color = ColorWhen::Always,
                "--color=never" => early.color = ColorWhen::Never,
                "--color" if value == "always" => early.color = ColorWhen::Always,
                "--color" if value == "never" => early.color = ColorWhen::Never,
                _ => {}
            }
        }
        early
    }
}

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;

#[cfg(test)]
mod tests {
    use super::*;

    fn tet(line: &str) -> (Exit, String, String) {
        let (mut streams, out, err) = Streams::captured(b"");
        let args = std::iter::once("tet").chain(line.split_whitespace()).map(OsString::from);
        let exit = run(args, &mut streams);
        (exit, out.text(), err.text())
    }

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_command_has_long_help_with_examples() {
        for sub in command().get_subcommands() {
            let name = sub.get_name();
            let (exit, out, err) = tet(&format!("{name} --help"));
            assert_eq!((exit, err.as_str()), (Exit::Done, ""), "{name}");
            assert!(out.contains("EXAMPLES"), "{name} has no examples");
            assert!(out.contains(&format!("tet {name}")), "{name} is not in its own examples");
        }
    }

    #[test]
    fn wrong_usage_is_exit_2_on_standard_error() {
        for line in ["", "nonsense", "info", "cat --nonsense x", "query --mean a --sum b x y"] {
            let (exit, out, err) = tet(line);
            assert_eq!((exit, out.as_str()), (Exit::Usage, ""), "{line:?}");
            assert!(!err.is_empty(), "{line:?}");
        }
    }

    #[test]
    fn wrong_usage_is_json_when_json_was_asked_for() {
        let (exit, out, err) = tet("info --json --nonsense x.tet");
        assert_eq!((exit, out.as_str()), (Exit::Usage, ""));
        assert!(err.starts_with("{\"schema\":\"tet.error/1\",\"kind\":\"usage\""), "{err}");
        assert_eq!(err.lines().count(), 1);
    }
}
