//! The `tet` command as a library: [`run`] runs one command and returns its exit code.
//!
//! ```text
//!   args       flags, help, examples
//!   streams    standard streams and the environment; nothing else reads the environment
//!   context    passed to every command: streams, colors, notes, warnings
//!   open       opens a path as a catalog; target: the selected dataset and slice; part, preview: the shown part
//!   servers    files on servers: options and variables
//!   bar        the progress bar on standard error
//!   command/   one file for each command
//!   render/    tables, values, JSON
//!   help       -h, --help, `tet help`
//!   usage      errors of the arguments with suggestions
//!   exit       failures and exit codes
//! ```
//!
//! Only results go to standard output. Text from a file is escaped before it is printed. The types of
//! the JSON output are in `render/json`: their shape is a stable interface.

#![forbid(unsafe_code)]

pub mod args;
pub mod streams;

mod bar;
mod command;
mod completion;
mod context;
mod demo;
mod elsewhere;
mod escape;
mod exit;
mod failure;
mod help;
mod labels;
mod open;
mod output;
mod pager;
mod piped;
mod preview;
mod render;
mod servers;
mod size;
mod target;
mod usage;
mod warning;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use clap::{ColorChoice, CommandFactory, FromArgMatches};
use tet_io::Access;

use args::{Cli, ColorWhen, Command, NetArgs};
use bar::Bar;
use context::Context;
use usage::Early;

pub use command::convert::convert_flags;
pub use completion::answer_shell;
pub use exit::{Exit, Facts, Failure, Place};
pub use streams::Streams;

/// The definition of the command line, for help, completions and manual pages.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs one command and returns its exit code; no argument or file makes it panic.
pub fn run(args: impl IntoIterator<Item = OsString>, streams: &mut Streams) -> Exit {
    let args = with_info(args.into_iter().collect());
    let early = Early::scan(&args);
    let cli = match parse(&args, early) {
        Ok(cli) => cli,
        Err(error) => return usage::report(error, &args, early, streams),
    };
    let wants_json = cli.command.wants_json();
    if !cli.global.no_pager {
        pager::begin(&cli.command, streams);
    }
    let mut context = Context::new(streams, cli.global);
    let done = execute(cli.command, cli.net, &mut context)
        .and_then(|exit| context.streams.out.flush().map_err(Failure::from).map(|()| exit));
    match done {
        Ok(exit) => exit,
        Err(failure) => report_failure(&failure, wants_json, cli.global.color, streams),
    }
}

/// The arguments, with `info` before a file that is given without a command.
fn with_info(mut args: Vec<OsString>) -> Vec<OsString> {
    let Some(first) = args.get(1) else { return args };
    let text = first.to_string_lossy();
    // No command has a point or a slash in its name: a file that is not there is no misspelled command.
    let is_file =
        !text.starts_with('-') && (text.contains(['.', '/', '\\']) || Path::new(first).exists());
    let is_named = |it: &clap::Command| {
        it.get_name() == text || it.get_all_aliases().any(|alias| alias == text)
    };
    if is_file && text != "help" && !command().get_subcommands().any(is_named) {
        args.insert(1, "info".into());
    }
    args
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

/// Runs a command; the copy of a file on standard input is there until it ends.
fn execute(command: Command, net: NetArgs, context: &mut Context<'_>) -> exit::Result<Exit> {
    let bar = Bar::new(context, "transfer", 0);
    let access = Access { depth: net.io_depth, ..Access::SERVER };
    let cache = servers::register(net, context, &bar)?;
    let _copy = piped::copy(&command, context)?;
    let done = dispatch(command, access, context);
    bar.finish();
    if let Some((cache, problem)) = cache.as_ref().and_then(|it| Some((it, it.problem()?))) {
        let folder = cache.folder().display();
        context.warn(format_args!("nothing more is kept in the cache {folder}: {problem}"));
    }
    done
}

/// Runs a command; requests to servers cost `access`.
fn dispatch(command: Command, access: Access, context: &mut Context<'_>) -> exit::Result<Exit> {
    match command {
        Command::Demo(args) => command::demo::run(&args, context),
        Command::Info(args) => command::info::run(&args, context),
        Command::Cat(args) => command::cat::run(&args, context),
        Command::Query(args) => command::query::run(&args, context),
        Command::Explain(args) => command::explain::run(&args, access, context),
        Command::Plot(args) => command::plot::run(*args, context),
        Command::Stats(args) => command::stats::run(&args, context),
        Command::Diff(args) => command::diff::run(&args, context),
        Command::Convert(args) => command::convert::run(&args, context),
        Command::Edit(args) => command::edit::run(&args.verb, context),
        Command::Refs(args) => command::refs::run(&args, context),
        Command::Series(args) => command::series::run(&args.verb, context),
        Command::Verify(args) => command::verify::run(&args, context),
        Command::Dump(args) => command::dump::run(&args, context),
        Command::Repair(args) => command::repair::run(&args, context),
        Command::Digest(args) => command::digest::run(&args.verb, context),
        Command::Completions(args) => command::completions::run(&args, context),
        Command::Man(args) => command::man::run(&args, context),
    }
}

/// Prints a failure and returns its exit code; a broken pipe is not a failure.
fn report_failure(failure: &Failure, json: bool, color: ColorWhen, streams: &mut Streams) -> Exit {
    if failure.is_broken_pipe() {
        return Exit::Done;
    }
    let interrupted = streams.env.is_cancelled();
    let failure = if interrupted { &Failure::interrupted() } else { failure };
    // Print the results from before the failure. Ignore errors: there is no stream left to report them.
    let _ = streams.out.flush();
    let colored = streams.env.err_is_colored(color);
    let err = streams.err.as_mut();
    let _ = if json { failure.write_json(err) } else { failure.write_text(err, colored) };
    let _ = streams.err.flush();
    failure.exit
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
    fn the_definition_of_the_command_line_is_valid() {
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
    fn suggestions_are_options_and_commands_that_exist() {
        for (line, wanted) in [
            ("cat a.tet --wher x", None),
            ("query a.tet t --weigts lat", None),
            ("query a.tet t --wher lat", Some("a similar argument exists: '--where'")),
            ("diff a.tet b.tet --tolerance 1", Some("`tet diff` has --atol and --rtol")),
            ("query a.tet t --mask x", Some("--where TEST")),
            ("cat a.tet t --merge", Some("--merge is an option of `tet convert`")),
            ("stats a.tet --ad 3", None),
            ("mean a.tet", Some("tet query FILE DATASET --mean")),
            ("rename a.tet", Some("tet edit rename FILE")),
            ("show a.tet", Some("tet cat FILE DATASET")),
            ("convrt a.tet", Some("'convert'")),
            ("query a.tet t --plan", Some("`tet explain` shows")),
            ("query a.tet t --plan-chunks", Some("an option of `tet explain`")),
            ("zt append a.zt b.zt", Some("tet convert --merge FILE OTHER OUT")),
            ("digest add a.tet", Some("tet edit repack FILE --digests")),
            ("tgm ls a.tgm", Some("tet info FILE --keys")),
            ("zzzz", None),
        ] {
            let (exit, _, err) = tet(line);
            assert_eq!(exit, Exit::Usage, "{line}");
            assert!(!err.contains("as a value"), "{line}: {err}");
            match wanted {
                Some(wanted) => assert!(err.contains(wanted), "{line}: {err}"),
                None => assert!(!err.contains("tip:"), "{line}: {err}"),
            }
        }
        for line in ["missing.nc", "no/such", "missing.nc temp"] {
            let (exit, _, err) = tet(line);
            assert_eq!(exit, Exit::Environment, "{line}");
            assert!(err.contains("cannot open"), "{line}: {err}");
        }
    }

    #[test]
    fn options_of_every_command_come_last() {
        let root = command();
        for sub in root.get_subcommands().filter(|it| !it.has_subcommands()) {
            let (_, out, _) = tet(&format!("{} -h", sub.get_name()));
            let headings: Vec<&str> =
                out.lines().filter(|line| !line.starts_with(' ') && line.ends_with(':')).collect();
            assert_eq!(headings.last(), Some(&"Options of every command:"), "{}", sub.get_name());
            let options = out.split("Options of every command:").next().unwrap_or_default();
            assert!(!options.contains("--color"), "{}: {out}", sub.get_name());
        }
    }

    #[test]
    fn wrong_usage_is_json_when_json_is_requested() {
        let (exit, out, err) = tet("info --json --nonsense x.tet");
        assert_eq!((exit, out.as_str()), (Exit::Usage, ""));
        assert!(err.starts_with("{\"schema\":\"tet.error/1\",\"kind\":\"usage\""), "{err}");
        assert_eq!(err.lines().count(), 1);
    }
}
