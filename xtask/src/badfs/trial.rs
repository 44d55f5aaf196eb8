//! Runs a command while something goes wrong, and judges what it did.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::cases::{Case, Kind};
use super::fault::{self, Fault};
use super::folder::Files;
use super::mount::Mount;

/// The longest that a command may take.
const TIME_MAX: Duration = Duration::from_secs(60);

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It did what it was asked for.
    Done,
    /// It failed with an exit code of the table.
    Refused,
    /// It did what no run may do.
    Wrong,
}

/// A command line, and what it does when nothing goes wrong.
pub(super) struct Trial<'a> {
    pub(super) case: &'a Case,
    program: &'a Path,
    mount: &'a Mount,
    before: Files,
    /// The same with other elements.
    before_other: Files,
    truth: Seen,
    truth_other: Seen,
    read_count: u64,
}

/// What a run leaves.
#[derive(PartialEq, Eq)]
struct Seen {
    code: Option<i32>,
    printed: Vec<u8>,
    files: Files,
}

impl<'a> Trial<'a> {
    /// Runs the command when nothing goes wrong.
    pub(super) fn new(
        case: &'a Case,
        program: &'a Path,
        mount: &'a Mount,
        made: [&Files; 2],
    ) -> Result<Self> {
        let [before, before_other] = made.map(|files| before(case, files));
        let (files, printed) = (Files::new(), Vec::new());
        let truth = Seen { code: None, printed, files };
        let (files, printed) = (Files::new(), Vec::new());
        let truth_other = Seen { code: None, printed, files };
        let read_count = 0;
        let mut trial =
            Self { case, program, mount, before, before_other, truth, truth_other, read_count };
        trial.truth_other = trial.undisturbed(&trial.before_other)?;
        trial.truth = trial.undisturbed(&trial.before)?;
        trial.read_count = mount.folder().read_count;
        ensure!(trial.truth == trial.undisturbed(&trial.before)?, "it does not do the same twice");
        ensure!(trial.is_map() || 0 < trial.read_count, "it does not read the file");
        let is_printed = trial.truth.printed != trial.truth_other.printed;
        let is_written = trial.truth.files.get(case.target().unwrap_or_default())
            != trial.truth_other.files.get(case.target().unwrap_or_default());
        let needs_elements = !matches!(case.verb.name, "info" | "verify" | "repair");
        ensure!(!needs_elements || is_printed || is_written, "other elements change nothing");
        Ok(trial)
    }

    fn undisturbed(&self, files: &Files) -> Result<Seen> {
        let (output, seen) = self.run(files, &Fault::None)?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        if self.is_map() && seen.code != Some(0) {
            // A map is refused: what is left to compare with is the same command without one.
            ensure!(stderr.contains("--io pread"), "no hint: {stderr}");
            ensure!(seen.files == *files, "it is refused and changes files");
            let (_, seen) = self.run_with(files, &Fault::None, &self.args_without_map())?;
            ensure!(seen.code == Some(0), "it fails without a map");
            return Ok(seen);
        }
        ensure!(seen.code == Some(0), "{} fails: {stderr}", self.case.name());
        Ok(seen)
    }

    fn is_map(&self) -> bool {
        self.case.io == Some("mmap")
    }

    fn args_without_map(&self) -> Vec<&'static str> {
        self.case.args().into_iter().map(|arg| if arg == "mmap" { "auto" } else { arg }).collect()
    }

    fn run(&self, files: &Files, fault: &Fault) -> Result<(Output, Seen)> {
        self.run_with(files, fault, &self.case.args())
    }

    fn run_with(&self, files: &Files, fault: &Fault, args: &[&str]) -> Result<(Output, Seen)> {
        self.mount.folder().set(files, fault.clone(), self.case.container.file);
        let mut command = Command::new("timeout");
        command.args(["-s", "KILL", &TIME_MAX.as_secs().to_string()]).arg(self.program).args(args);
        command.current_dir(self.mount.at());
        command.env("SOURCE_DATE_EPOCH", "0").env_remove("RUST_BACKTRACE");
        let output = command.output().context("could not start timeout")?;
        let files = self.mount.folder().files();
        let code = output.status.code();
        let seen = Seen { code, printed: output.stdout.clone(), files };
        Ok((output, seen))
    }

    /// What can go wrong with this command.
    pub(super) fn faults(&self) -> Result<Vec<Fault>> {
        let file = self.case.container.file;
        let (bytes, other) =
            self.before.get(file).zip(self.before_other.get(file)).context(file)?;
        let mut faults = fault::of_reads(bytes.len(), self.read_count, other);
        if !self.case.container.is_guarded {
            // Without checksums nothing can tell.
            faults.retain(|fault| !matches!(fault, Fault::FlipUnseen { .. }));
        }
        if let Some(target) = self.case.target() {
            faults.extend(fault::of_writes(self.truth.files.get(target).context(target)?.len()));
        }
        Ok(faults)
    }

    /// Runs the command while this goes wrong; says what it did that it may not do.
    pub(super) fn run_under(&self, fault: &Fault) -> Result<(End, Vec<String>)> {
        let begin = Instant::now();
        let (output, seen) = self.run(&self.before, fault)?;
        let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let mut wrong = Vec::new();
        if TIME_MAX <= begin.elapsed() {
            wrong.push("it took too long".to_owned());
        }
        let is_done = seen.code == Some(0);
        match seen.code {
            Some(0) => self.judge_success(fault, &seen, &stderr, &mut wrong),
            Some(1 | 3 | 4 | 5) => self.judge_refusal(fault, &seen, &stderr, &mut wrong),
            Some(2) if self.is_map() && stderr.contains("--io pread") => {}
            _ => wrong.push(format!("it ended with {}", output.status)),
        }
        let is_warned = is_done && is_warned(&seen, &stderr);
        self.judge_files((fault, is_warned), &seen.files, &mut wrong);
        if wrong.is_empty() {
            return Ok((if is_done { End::Done } else { End::Refused }, wrong));
        }
        let name = self.case.name();
        let line = |wrong| format!("{name}, {fault}: {wrong}; stderr: {stderr}");
        Ok((End::Wrong, wrong.into_iter().map(line).collect()))
    }

    fn judge_success(&self, fault: &Fault, seen: &Seen, stderr: &str, wrong: &mut Vec<String>) {
        let is_warned = is_warned(seen, stderr);
        let mut truths = vec![&self.truth];
        if matches!(fault, Fault::Replace { .. }) {
            truths.push(&self.truth_other);
        }
        // What an edit prints is no answer, and names the flipped bits that it repaired.
        let is_answer = self.case.verb.kind != Kind::Edit;
        if is_answer && !is_warned && truths.iter().all(|truth| seen.printed != truth.printed) {
            let printed = String::from_utf8_lossy(&seen.printed);
            wrong.push(format!("success, but another answer: {}", printed.trim()));
        }
        if let Some(target) = self.case.target() {
            let found = seen.files.get(target);
            let is_flip = found.is_some_and(|found| self.is_flip_of_new(fault, target, found));
            let is_new = truths.iter().any(|truth| found == truth.files.get(target));
            if !is_warned && !is_new && !is_flip {
                wrong.push("success, but not the new file".to_owned());
            }
        }
    }

    fn judge_refusal(&self, fault: &Fault, seen: &Seen, stderr: &str, wrong: &mut Vec<String>) {
        let is_read = self.case.verb.kind == Kind::Read || *fault != Fault::ListFails;
        if fault.is_harmless_to_reads() && is_read && !self.is_map() {
            wrong.push(format!("exit code {:?} for nothing", seen.code));
        }
        // `verify` and `repair` report what is wrong in their answer.
        let reports = matches!(self.case.verb.name, "verify" | "repair" | "repair --all");
        let is_reported = reports && !seen.printed.is_empty();
        if stderr.is_empty() && !is_reported {
            wrong.push("it fails and says nothing".to_owned());
        }
        let Some(target) = self.case.target() else { return };
        let is_new = seen.files.get(target) == self.truth.files.get(target);
        if is_new && !stderr.contains("cannot sync the folder of") {
            wrong.push("a failure, but the new file".to_owned());
        }
    }

    /// Every file is the old or the new one, and there is no other file.
    fn judge_files(
        &self,
        (fault, is_warned): (&Fault, bool),
        files: &Files,
        wrong: &mut Vec<String>,
    ) {
        let file = self.case.container.file;
        let mut inputs = self.before.clone();
        // What the fault made of the file that is read.
        let changed = self.before.get(file).and_then(|bytes| fault.changed(bytes));
        for (name, bytes) in files {
            let old = inputs.remove(name);
            let is_target = self.case.target() == Some(name);
            let is_old = old.as_ref() == Some(bytes);
            let is_new = is_target
                && (self.new_files(name).any(|new| new == bytes)
                    || self.is_flip_of_new(fault, name, bytes)
                    || is_warned);
            let is_changed = name == file && changed.as_ref() == Some(bytes);
            match old {
                _ if is_old || is_new || is_changed => {}
                Some(_) if is_target => wrong.push(format!("{name} is neither file")),
                Some(_) => wrong.push(format!("the input {name} is another")),
                None => wrong.push(format!("it leaves {name}")),
            }
        }
        wrong.extend(inputs.keys().map(|name| format!("{name} is gone")));
    }

    /// Whether these are the bytes that an edit makes of a file with a flipped bit: it copies the
    /// elements as they are, together with their checksum, which `verify` compares.
    fn is_flip_of_new(&self, fault: &Fault, name: &str, bytes: &[u8]) -> bool {
        let is_edit = self.case.verb.kind == Kind::Edit;
        let new = self.truth.files.get(name).filter(|new| new.len() == bytes.len());
        is_edit
            && matches!(fault, Fault::FlipUnseen { .. })
            && new.is_some_and(|new| {
                let bits = new.iter().zip(bytes).map(|(new, byte)| (new ^ byte).count_ones());
                bits.sum::<u32>() == 1
            })
    }

    fn new_files(&self, name: &str) -> impl Iterator<Item = &Arc<Vec<u8>>> {
        [&self.truth, &self.truth_other].into_iter().filter_map(move |seen| seen.files.get(name))
    }
}

/// Whether a successful run warns that its elements were not compared with checksums.
fn is_warned(seen: &Seen, stderr: &str) -> bool {
    let printed = String::from_utf8_lossy(&seen.printed);
    stderr.contains("warning") || printed.contains("unchecked") || stderr.contains("not compared")
}

/// The files before: the one that is read, and an older output.
fn before(case: &Case, made: &Files) -> Files {
    let mut files = Files::new();
    if let Some(bytes) = made.get(case.container.file) {
        files.insert(case.container.file.to_owned(), Arc::clone(bytes));
    }
    if let Kind::Output(name) = case.verb.kind {
        files.insert(name.to_owned(), Arc::new(b"an older output".to_vec()));
    }
    files
}

/// Runs the whole row of a command line.
pub(super) fn run_all(
    trial: &Trial<'_>,
    mut report: impl FnMut(&Fault, End, Vec<String>),
) -> Result<()> {
    let faults = trial.faults()?;
    if faults.is_empty() {
        bail!("nothing can go wrong with {}", trial.case.name());
    }
    for fault in &faults {
        let (end, wrong) = trial.run_under(fault)?;
        report(fault, end, wrong);
    }
    Ok(())
}
