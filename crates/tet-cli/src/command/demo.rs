//! `tet demo`: makes a small data set and shows commands on it.

use std::ffi::OsString;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use tet_io::publish::Sync;
use tet_io::{Overwrite, Publish, Publisher};

use crate::args::DemoArgs;
use crate::context::Context;
use crate::demo::{Field, write_npz};
use crate::exit::{Exit, Failure, Result};
use crate::streams::{Depth, Environment, Sink, Streams};

/// The most columns that the demo uses.
const WIDTH_MAX: usize = 80;
/// The most directory names that are tried.
const FOLDERS_MAX: usize = 10_000;

/// One step of the demo: a title and a command.
struct DemoCommand {
    title: &'static str,
    args: &'static [&'static str],
}

const CONVERT: DemoCommand = DemoCommand {
    title: "NumPy arrays become a .tet file",
    args: &[
        "convert",
        "climate.npz",
        "climate.tet",
        "--dims",
        "temp=month,lat,lon",
        "--dims",
        "elevation=lat,lon",
        "--attr",
        "temp:units=degC",
        "--attr",
        "elevation:units=m",
    ],
};

const STEPS: [DemoCommand; 6] = [
    DemoCommand { title: "What is in it", args: &["info", "climate.tet"] },
    DemoCommand {
        title: "Values of a slice, by position as in NumPy, or by label",
        args: &["cat", "climate.tet", "temp[month=7, lat=33:51, lon=3:45]"],
    },
    DemoCommand {
        title: "A reduction, by the names of the axes",
        args: &["query", "climate.tet", "temp", "--mean", "lat,lon"],
    },
    DemoCommand {
        title: "One number, of a part",
        args: &["query", "climate.tet", "temp", "--max", "--select", "month=7"],
    },
    DemoCommand { title: "Does the file have errors?", args: &["verify", "climate.tet"] },
    DemoCommand { title: "A heatmap: January", args: &["plot", "climate.tet", "temp[month=1]"] },
];

/// Further commands, with comments.
const NEXT: [(&str, &str); 6] = [
    ("tet plot climate.tet 'temp[6]' -o july.png", "July, as a file"),
    ("tet query climate.tet temp --min month,lon", "the coldest, by latitude"),
    ("tet query climate.tet '{\"dataset\": \"temp\", \"mean\": \"month\"}' --json", ""),
    ("tet cat climate.tet elevation -o elevation.npy", "for numpy.load"),
    ("tet info climate.tet --all", "everything about it"),
    ("tet --help", "all commands"),
];

/// Runs the command.
///
/// # Errors
///
/// The directory cannot be created, its files exist, or a step fails.
pub(crate) fn run(args: &DemoArgs, context: &mut Context<'_>) -> Result<Exit> {
    let shown = folder(args, context)?;
    let dir = context.env().at(&shown);
    write_archive(&dir, args.force)?;
    if context.quiet {
        let convert = arguments(&CONVERT, args.force);
        run_step(&convert, &dir, context)?;
        context.line(tet_io::shown(&shown))?;
        return Ok(Exit::Done);
    }
    let paint = context.paint;
    let title = "tet demo: a year of monthly temperatures on a map of the world";
    context.line(paint.strong(title))?;
    context.line(format!("{} {}", paint.faint("its files are in"), tet_io::shown(&shown)))?;
    show(1, &CONVERT, &dir, args.force, context)?;
    for (number, step) in (2..).zip(&STEPS) {
        context.check_cancelled()?;
        show(number, step, &dir, false, context)?;
    }
    context.line(format!("\n{}", paint.strong("Try next")))?;
    context
        .line(format!("  {}", paint.advice(format!("cd {}", quoted(&shown.to_string_lossy())))))?;
    for (command, why) in NEXT {
        let why = if why.is_empty() { String::new() } else { format!("  # {why}") };
        context.line(format!("  {}{}", paint.advice(command), paint.faint(why)))?;
    }
    Ok(Exit::Done)
}

/// The directory of the demo, created if missing; a new temporary one by default.
fn folder(args: &DemoArgs, context: &Context<'_>) -> Result<PathBuf> {
    let cannot = |path: &Path, error: &std::io::Error| {
        let text = format!("cannot create the directory {}: {error}", tet_io::shown(path));
        Failure::new(Exit::Environment, "io", text).about(path)
    };
    if let Some(dir) = &args.dir {
        let path = context.env().at(dir);
        std::fs::create_dir_all(&path).map_err(|error| cannot(dir, &error))?;
        return Ok(dir.clone());
    }
    let temp_dir = &context.env().temp_dir;
    for number in 1..=FOLDERS_MAX {
        let name = if number == 1 { "tet-demo".to_owned() } else { format!("tet-demo-{number}") };
        let dir = temp_dir.join(name);
        match std::fs::create_dir(&dir) {
            Ok(()) => return Ok(dir),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot(&dir, &error)),
        }
    }
    let text = format!("{} contains {FOLDERS_MAX} demos already", tet_io::shown(temp_dir));
    Err(Failure::usage("exists", text).hint("give a directory: tet demo DIR"))
}

fn write_archive(dir: &Path, force: bool) -> Result<()> {
    let archive = write_npz(Cursor::new(Vec::new()), &Field::new())?.into_inner();
    let force = if force { Overwrite::Replace } else { Overwrite::Refuse };
    let options = Publish { force, sync: Sync::None, ..Publish::default() };
    let mut publisher = Publisher::begin(dir.join("climate.npz"), &options)?;
    publisher.write_all(&archive).map_err(|error| publisher.write_fault(error))?;
    Ok(publisher.commit()?)
}

fn arguments(step: &DemoCommand, force: bool) -> Vec<&'static str> {
    let forced = force.then_some("--force");
    std::iter::once("tet").chain(step.args.iter().copied()).chain(forced).collect()
}

/// Prints a step: its title, its command, and the output of the command.
fn show(
    number: usize,
    step: &DemoCommand,
    dir: &Path,
    force: bool,
    context: &mut Context<'_>,
) -> Result<()> {
    let args = arguments(step, force);
    let paint = context.paint;
    context.line(format!(
        "\n{} {}",
        paint.strong(format!("{number}.")),
        paint.strong(step.title)
    ))?;
    for line in command_lines(&args) {
        context.line(paint.advice(line))?;
    }
    let output = run_step(&args, dir, context)?;
    context.out().write_all(&output)?;
    Ok(())
}

/// Runs a command in the directory and returns its output.
fn run_step(args: &[&str], dir: &Path, context: &Context<'_>) -> Result<Vec<u8>> {
    let (out, err) = (Sink::default(), Sink::default());
    let colored = context.depth != Depth::Plain;
    let env = Environment {
        input_terminal: false,
        out_terminal: true,
        err_terminal: true,
        width: context.env().width.min(WIDTH_MAX),
        out_color: colored,
        err_color: colored,
        base: dir.to_path_buf(),
        ..context.env().clone()
    };
    let mut streams = Streams {
        input: Box::new(std::io::empty()),
        out: Box::new(out.clone()),
        err: Box::new(err.clone()),
        env,
    };
    let exit = crate::run(args.iter().map(OsString::from), &mut streams);
    let (mut output, errors) = (out.bytes(), err.bytes());
    if exit == Exit::Done {
        output.extend(errors);
        return Ok(output);
    }
    let text = String::from_utf8_lossy(&errors);
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let failure = Failure::new(exit, "demo-step", first);
    Err(lines.fold(failure, |failure, line| failure.note(line.trim())))
}

/// The command as typed in a shell; a long one is wrapped before options.
fn command_lines(args: &[&str]) -> Vec<String> {
    let mut lines = vec!["$".to_owned()];
    let mut at = 0;
    while at < args.len() {
        // An option and its value are on one line.
        let is_option = args[at].starts_with("--");
        let has_value = is_option && args.get(at + 1).is_some_and(|arg| !arg.starts_with("--"));
        let end = if has_value { at + 2 } else { at + 1 };
        let word = args[at..end].iter().map(|arg| quoted(arg)).collect::<Vec<_>>().join(" ");
        let line = lines.last_mut().map_or(0, |line| line.len() + 1 + word.len() + 2);
        if line > WIDTH_MAX && is_option {
            if let Some(line) = lines.last_mut() {
                line.push_str(" \\");
            }
            lines.push("   ".to_owned());
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(&word);
        }
        at = end;
    }
    lines
}

/// An argument, quoted for a shell if necessary.
fn quoted(arg: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:#%+@".contains(c);
    if !arg.is_empty() && arg.chars().all(plain) && !arg.starts_with('#') {
        arg.to_owned()
    } else {
        format!("'{}'", arg.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted_and_fit_the_width() {
        assert_eq!(quoted("temp=month,lat"), "temp=month,lat");
        assert_eq!(quoted("temp[0]"), "'temp[0]'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted("#0"), "'#0'");
        for step in STEPS.iter().chain([&CONVERT]) {
            for line in command_lines(&arguments(step, true)) {
                assert!(line.len() <= WIDTH_MAX, "{line}");
            }
        }
    }

    #[test]
    fn the_tour_fits_eighty_columns_and_leaves_its_files() {
        let dir = tempfile::tempdir().expect("a folder");
        let (mut streams, out, err) = Streams::captured(b"");
        let args = ["tet", "demo", dir.path().to_str().expect("text")].map(OsString::from);
        let exit = crate::run(args, &mut streams);
        assert_eq!((exit, err.text()), (Exit::Done, String::new()), "{}", out.text());
        let text = out.text();
        for line in text.lines().filter(|line| !line.contains(dir.path().to_str().expect("text"))) {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(dir.path().join("climate.tet").exists());
        assert!(dir.path().join("climate.npz").exists());
    }
}
