//! The suites, built with bugs in them that sleep until one is named.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::run;

/// A suite that takes longer does not end.
const TIME_MAX: Duration = Duration::from_secs(300);

/// How often is looked whether a suite has ended.
const PERIOD: Duration = Duration::from_millis(20);

/// The programs of all suites, by source file.
pub(super) struct Suites {
    programs: BTreeMap<String, Program>,
    folder: PathBuf,
}

/// A suite's program, and the folder of its package, where cargo would run it.
struct Program {
    path: PathBuf,
    package: PathBuf,
}

/// How a suite ended.
pub(super) enum Verdict {
    Passes,
    /// The first of the tests that failed.
    Fails(String),
    Hangs,
}

impl Suites {
    /// Builds them, and the command with them.
    ///
    /// Through a wrapper cargo plants bugs in our crates alone, and keeps what it builds beside what
    /// it builds without.
    pub(super) fn build() -> Result<Self> {
        let folder = run::target().join("planted");
        fs::create_dir_all(&folder)?;
        let wrapper = folder.join("rustc");
        fs::write(&wrapper, "#!/bin/sh\nexec \"$@\" --cfg planted\n")?;
        fs::set_permissions(&wrapper, Permissions::from_mode(0o755))?;
        let told = run::output(
            run::cargo()
                .args(["test", "--no-run", "--locked", "--workspace", "--exclude", "tet-bench"])
                .args(["--exclude", "xtask", "--message-format=json-render-diagnostics"])
                .env("RUSTC_WORKSPACE_WRAPPER", wrapper)
                .stderr(Stdio::inherit()),
        )?;
        let programs = told.lines().filter_map(|line| program(line).transpose());
        Ok(Self { programs: programs.collect::<Result<_>>()?, folder })
    }

    /// Runs the tests of a suite whose names contain a word, with a bug or with none.
    pub(super) fn run(&self, (source, word): (&str, &str), bug: &str) -> Result<Verdict> {
        let program =
            self.programs.get(source).with_context(|| format!("{source} was not built"))?;
        let told = self.folder.join("told.txt");
        let out = File::create(&told)?;
        let mut command = Command::new(&program.path);
        command
            .args(Some(word).filter(|word| !word.is_empty()))
            .current_dir(&program.package)
            .env("TET_PLANTED", bug)
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out);
        let Some(status) = finish(&mut command)? else { return Ok(Verdict::Hangs) };
        if status.success() {
            return Ok(Verdict::Passes);
        }
        let told = fs::read(&told)?;
        Ok(Verdict::Fails(failed(&String::from_utf8_lossy(&told), status)))
    }
}

/// The program that a line of cargo tells of, if it is that of a suite.
fn program(line: &str) -> Result<Option<(String, Program)>> {
    let Ok(told) = serde_json::from_str::<Value>(line) else { return Ok(None) };
    let text = |place: &str| told.pointer(place).and_then(Value::as_str);
    let is_test = told.pointer("/profile/test").and_then(Value::as_bool) == Some(true);
    let (Some(path), true) = (text("/executable"), is_test) else { return Ok(None) };
    let source = text("/target/src_path").context("a suite without a source")?;
    let source = Path::new(source).strip_prefix(run::root())?.to_string_lossy().into_owned();
    let manifest = Path::new(text("/manifest_path").context("a suite without a package")?);
    let package = manifest.parent().unwrap_or(run::root()).to_path_buf();
    Ok(Some((source, Program { path: path.into(), package })))
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
fn failed(told: &str, status: ExitStatus) -> String {
    let failed =
        |line: &str| Some(line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?.to_owned());
    told.lines().find_map(failed).unwrap_or_else(|| status.to_string())
}
