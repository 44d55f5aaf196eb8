//! Files that change while a command reads them: an answer of one state of the file, or an error.
//!
//! Every command is shaken by every attack in every way to read, at moments drawn by dice from the
//! time that the command takes undisturbed, so that slow machines are shaken too. A failure prints
//! the seed; `SEED=7 cargo test -p tet-tests --test world -- shake::` draws other moments.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a suite, and what it found")]

mod attack;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant, SystemTime};

use attack::Attack;
use tempfile::TempDir;
use tet_tests::program;
use tet_tests::sim::Dice;

const SEED_DEFAULT: u64 = 1;

/// A command that takes longer hangs.
const TIME_MAX: Duration = Duration::from_secs(60);

/// Ways to read; commands without the flag are shaken as often.
const WAYS: [&str; 3] = ["auto", "pread", "mmap"];

/// Whether a command has the flag `--io`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Io {
    Flag,
    None,
}

/// Commands that read a file, which is their first word with a dot. Raw chunks are mapped by
/// `--io auto` as well, for they are long enough.
const COMMANDS: [(Io, &str); 12] = [
    (Io::Flag, "query bare.tet #0 --sum -q"),
    (Io::Flag, "query bare.tet #0 --median -q"),
    (Io::Flag, "query open.npy --mean -q"),
    (Io::Flag, "query sealed.tet #0 --sum --digests always -q"),
    (Io::Flag, "query packed.tet #0 --sum --json"),
    (Io::Flag, "stats open.npy --json"),
    (Io::Flag, "cat bare.tet #0[500:2500] -o -"),
    (Io::Flag, "cat open.npy -o made.npy"),
    (Io::None, "verify packed.tet --deep --json"),
    (Io::None, "edit repack bare.tet --digests -o made.tet"),
    (Io::None, "digest create sealed.tet made.sum"),
    (Io::None, "convert open.npy made.tet --codec raw"),
];

/// Rows of 4 KiB.
const ROW_COUNT: u32 = 3072;

/// The files, and those that replace them.
struct Files {
    _folder: TempDir,
    now: PathBuf,
    next: PathBuf,
    /// Where commands run.
    here: PathBuf,
}

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [now, next, here] = ["now", "next", "here"].map(|name| folder.path().join(name));
        for (path, salt) in [(&now, 1), (&next, 2)] {
            fs::create_dir(path).unwrap();
            fs::write(path.join("open.npy"), npy(salt)).unwrap();
            for line in [
                "convert open.npy bare.tet --codec raw --no-digests",
                "convert open.npy sealed.tet --codec raw",
                "convert open.npy packed.tet --codec zstd",
            ] {
                let outcome = run(path, line, "").1;
                assert_eq!(outcome.code(), Some(0), "{line}: {}", outcome.told);
            }
        }
        fs::create_dir(&here).unwrap();
        Files { _folder: folder, now, next, here }
    }

    /// The place of `name` where commands run, with a fresh copy in it, and beside it one of what
    /// may replace it.
    fn lay(&self, name: &str) -> (PathBuf, PathBuf) {
        fs::remove_dir_all(&self.here).unwrap();
        fs::create_dir(&self.here).unwrap();
        let (path, next) = (self.here.join(name), self.here.join("next"));
        fs::copy(self.now.join(name), &path).unwrap();
        fs::copy(self.next.join(name), &next).unwrap();
        // Older than any change of it, whatever the clock of the file system.
        let hour = Duration::from_secs(3600);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - hour).unwrap();
        (path, next)
    }
}

/// A `.npy` of numbers that look random; its last page holds elements alone.
fn npy(salt: u32) -> Vec<u8> {
    let header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({ROW_COUNT}, 1024), }}");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{header:<117}\n").as_bytes());
    let element = |at: u32| (at ^ salt).wrapping_mul(2_654_435_761) >> 20;
    #[allow(clippy::cast_precision_loss, reason = "below 4096")]
    bytes.extend((0..ROW_COUNT * 1024).flat_map(|at| (element(at) as f32).to_le_bytes()));
    bytes
}

/// Outcome of a command.
#[derive(PartialEq, Eq)]
struct Outcome {
    status: ExitStatus,
    said: Vec<u8>,
    made: Option<Vec<u8>>,
    told: String,
}

impl Outcome {
    fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Whether both say and make the same; what is told beside an answer is no part of it.
    fn is_same(&self, other: &Outcome) -> bool {
        (self.status, &self.said, &self.made) == (other.status, &other.said, &other.made)
    }

    /// Whether it is an error that leaves nothing, but for the first part of this answer.
    fn is_refusal_of(&self, answer: &Outcome) -> bool {
        let is_error = matches!(self.code(), Some(3..=5));
        is_error && self.made.is_none() && answer.said.starts_with(&self.said)
    }

    fn is_changed(&self) -> bool {
        self.code() == Some(5) && self.told.contains("changed while")
    }
}

/// Starts a command in a folder.
fn start(folder: &Path, line: &str, flags: &str) -> std::process::Child {
    Command::new(program::tet())
        .args(line.split(' ').chain(flags.split_whitespace()))
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .current_dir(folder)
        .stdin(std::process::Stdio::null())
        .stdout(File::create(folder.join("said")).unwrap())
        .stderr(File::create(folder.join("told")).unwrap())
        .spawn()
        .unwrap()
}

/// Waits for the end of a command; one that hangs is stopped.
fn finish(mut child: std::process::Child, folder: &Path, line: &str) -> Outcome {
    let since = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if TIME_MAX < since.elapsed() => {
                child.kill().unwrap();
                panic!("{line} hangs");
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let made = line.split(' ').find(|word| word.starts_with("made."));
    Outcome {
        status,
        said: without_warnings(fs::read(folder.join("said")).unwrap()),
        made: made.and_then(|name| fs::read(folder.join(name)).ok()),
        told: String::from_utf8(fs::read(folder.join("told")).unwrap()).unwrap(),
    }
}

/// A JSON answer without its warnings: that a program has the file open is said of the state after an attack, too.
fn without_warnings(said: Vec<u8>) -> Vec<u8> {
    let Ok(mut answer) = serde_json::from_slice::<serde_json::Value>(&said) else { return said };
    let warnings = answer.as_object_mut().and_then(|it| it.remove("warnings"));
    if warnings.is_some() { answer.to_string().into_bytes() } else { said }
}

/// Runs a command undisturbed and says how long it took.
fn run(folder: &Path, line: &str, flags: &str) -> (Duration, Outcome) {
    let since = Instant::now();
    let child = start(folder, line, flags);
    let outcome = finish(child, folder, line);
    (since.elapsed(), outcome)
}

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// The answer of the file as it was.
    Before,
    /// That of the file as it became.
    After,
    /// The error that says that the file changed.
    Changed,
    /// Another error: no lease, bytes of no sense.
    Refused,
}

/// A command under an attack.
struct Trial<'a> {
    files: &'a Files,
    line: &'static str,
    flags: String,
    attack: Attack,
    /// Outcome of the undisturbed command.
    before: &'a Outcome,
}

impl Trial<'_> {
    fn name(&self) -> &'static str {
        self.line.split(' ').find(|word| word.contains('.')).unwrap()
    }

    /// Runs the command and changes its file after `delay`. Every fourth time the file is opened
    /// before the command starts, which is given no lease then.
    fn shake(&self, delay: Duration, dice: &mut Dice) -> Result<Verdict, String> {
        let (path, next) = self.files.lay(self.name());
        let early = (dice.below(4) == 0).then(|| self.attack.open(&path)).flatten();
        let child = start(&self.files.here, self.line, &self.flags);
        std::thread::sleep(delay);
        let file = early.or_else(|| self.attack.open(&path));
        self.attack.strike(file.as_ref(), &path, &next);
        let outcome = finish(child, &self.files.here, self.line);
        self.judge(&outcome).map_err(|fault| {
            let Self { line, flags, attack, .. } = self;
            let Outcome { status, told, .. } = &outcome;
            format!("{line} {flags}, {attack:?} after {delay:?}: {fault}: {status} {told}")
        })
    }

    fn judge(&self, outcome: &Outcome) -> Result<Verdict, String> {
        let Some(code) = outcome.code() else { return Err("died".to_owned()) };
        if outcome.is_same(self.before) {
            return Ok(Verdict::Before);
        }
        let refused = if outcome.is_changed() { Verdict::Changed } else { Verdict::Refused };
        let is_harmless = self.attack == Attack::Replace;
        if !is_harmless && outcome.is_refusal_of(self.before) {
            return Ok(refused);
        }
        for step_count in 1..=self.attack.step_count() {
            let after = self.after(step_count);
            if outcome.is_same(&after) {
                return Ok(Verdict::After);
            }
            if !is_harmless && outcome.is_refusal_of(&after) {
                return Ok(refused);
            }
        }
        Err(if code == 0 { "a wrong answer" } else { "an error of no state" }.to_owned())
    }

    /// Outcome of the command when the file was changed before.
    fn after(&self, step_count: usize) -> Outcome {
        let (path, next) = self.files.lay(self.name());
        let file = self.attack.open(&path);
        for step in 0..step_count {
            self.attack.step(step, file.as_ref(), &path, &next).unwrap();
        }
        drop(file);
        run(&self.files.here, self.line, &self.flags).1
    }
}

/// Shakes one command by all attacks in all ways; adds to the verdicts of each attack.
fn shake(
    files: &Files,
    io: Io,
    line: &'static str,
    dice: &mut Dice,
    verdicts: &mut [Vec<Verdict>; 6],
) -> Result<(), String> {
    let name = line.split(' ').find(|word| word.contains('.')).unwrap();
    for way in WAYS {
        let flags = if io == Io::Flag { format!("--io {way}") } else { String::new() };
        files.lay(name);
        let (time, before) = run(&files.here, line, &flags);
        if before.code() != Some(0) {
            return Err(format!("{line} {flags}: {}", before.told));
        }
        let delay_max = u64::try_from(time.as_micros()).unwrap();
        for (attack, verdicts) in Attack::ALL.into_iter().zip(&mut *verdicts) {
            let delay = Duration::from_micros(dice.below(delay_max));
            let trial = Trial { files, line, flags: flags.clone(), attack, before: &before };
            verdicts.push(trial.shake(delay, dice)?);
        }
    }
    Ok(())
}

#[test]
fn a_file_that_changes_while_it_is_read_gives_no_wrong_answer() {
    let seed =
        std::env::var("SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(SEED_DEFAULT);
    let (files, mut dice) = (Files::new(), Dice::new(seed));
    let mut verdicts: [Vec<Verdict>; 6] = Default::default();
    for (io, line) in COMMANDS {
        let outcome = shake(&files, io, line, &mut dice, &mut verdicts);
        outcome.unwrap_or_else(|fault| panic!("SEED={seed}: {fault}"));
    }
    let count = |of: &[Verdict], verdict| of.iter().filter(|&&it| it == verdict).count();
    let mut changed = 0;
    for (attack, of) in Attack::ALL.into_iter().zip(&verdicts) {
        let all = [Verdict::Before, Verdict::After, Verdict::Changed, Verdict::Refused];
        let [before, after, noticed, refused] = all.map(|verdict| count(of, verdict));
        println!(
            "{attack:?}: {before} before, {after} after, {noticed} changed, {refused} refused"
        );
        assert_eq!(before + after + noticed + refused, COMMANDS.len() * WAYS.len());
        // Random times within a command fall into its reads often enough.
        assert!(attack == Attack::Replace || 0 < noticed, "SEED={seed}: {attack:?} never seen");
        changed += noticed;
    }
    assert!(40 <= changed, "SEED={seed}: {changed} of {} are too few", COMMANDS.len() * 18);
}
