//! A suite, built from the copy and run.

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

use super::copy::SourceCopy;
use crate::run;

/// A suite that takes longer is stopped: the slowest takes minutes where nothing is optimized.
const TIME_MAX: Duration = Duration::from_mins(15);

/// How often is checked whether a suite has ended.
const PERIOD: Duration = Duration::from_millis(20);

/// How a suite ended.
#[derive(PartialEq)]
pub(super) enum Verdict {
    Passes,
    /// The first of the tests that failed.
    Fails(String),
    Hangs,
    /// What the compiler printed.
    DoesNotBuild(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passes => f.write_str("NO TEST FAILS"),
            Self::Fails(test) => f.write_str(test),
            Self::Hangs => write!(f, "DOES NOT END IN {TIME_MAX:?}"),
            Self::DoesNotBuild(errors) => write!(f, "DOES NOT BUILD\n{errors}"),
        }
    }
}

/// Builds and runs a suite: arguments of `cargo test`.
pub(super) fn run(copy: &SourceCopy, suite: &str) -> Result<Verdict> {
    let (target, words) = suite.split_once(" -- ").unwrap_or((suite, ""));
    // Some of the suites in `tests/` run the command.
    let is_of_tests = target.starts_with("-p tet-tests ");
    if is_of_tests && let Err(errors) = build(copy, "build -p tet-cli")? {
        return Ok(Verdict::DoesNotBuild(errors));
    }
    let lines = match build(copy, &format!("test --no-run {target}"))? {
        Ok(lines) => lines,
        Err(errors) => return Ok(Verdict::DoesNotBuild(errors)),
    };
    let program = lines.lines().find_map(program);
    let (program, package) = program.with_context(|| format!("{suite}: nothing was built"))?;
    let printed = copy.build.join("printed.txt");
    let out = File::create(&printed)?;
    let mut command = Command::new(program);
    command.args(words.split_whitespace()).current_dir(package);
    command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out);
    let Some(status) = finish(&mut command)? else { return Ok(Verdict::Hangs) };
    if status.success() {
        return Ok(Verdict::Passes);
    }
    Ok(Verdict::Fails(failed(&String::from_utf8_lossy(&fs::read(&printed)?), status)))
}

/// Builds with cargo: the lines that name what was built, or what the compiler printed.
fn build(copy: &SourceCopy, args: &str) -> Result<Result<String, String>> {
    let mut cargo = copy.cargo();
    cargo.args(args.split(' ')).args(["--locked", "--message-format=json-render-diagnostics"]);
    let output = cargo.output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) })
}

/// The program of tests that a line of cargo names, and the folder where cargo would run it.
fn program(line: &str) -> Option<(PathBuf, PathBuf)> {
    let line = serde_json::from_str::<Value>(line).ok()?;
    let text = |place: &str| line.pointer(place).and_then(Value::as_str);
    line.pointer("/profile/test").filter(|test| **test == true)?;
    let package = Path::new(text("/manifest_path")?).parent()?;
    Some((text("/executable")?.into(), package.into()))
}

/// Runs a program to its end, or stops it when it takes too long.
fn finish(command: &mut Command) -> Result<Option<ExitStatus>> {
    let since = Instant::now();
    let mut child = command.spawn().with_context(|| run::line(command))?;
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(Some(status)),
            None if TIME_MAX < since.elapsed() => {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            None => thread::sleep(PERIOD),
        }
    }
}

/// The first test that failed, or how the program ended.
fn failed(printed: &str, status: ExitStatus) -> String {
    let failed =
        |line: &str| Some(line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?.to_owned());
    printed.lines().find_map(failed).unwrap_or_else(|| status.to_string())
}
