//! A command and its target: what it makes, and what is left of the target when it is disturbed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};

use super::content::{Content, edges_path};
use super::{Case, Kind, Tally};

/// Whether there is a target before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Onto {
    Nothing,
    Old,
}

impl Onto {
    /// Targets that make sense for a command of this kind.
    pub(super) fn for_kind(kind: Kind) -> impl Iterator<Item = Onto> {
        let all = [Onto::Nothing, Onto::Old];
        let is_edit = matches!(kind, Kind::Edit(_));
        all.into_iter().filter(move |&onto| !is_edit || onto == Onto::Old)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Onto::Nothing => "nothing",
            Onto::Old => "another",
        }
    }
}

/// A command, its target, and what was seen so far.
pub(super) struct Scene<'a> {
    case: &'a Case,
    onto: Onto,
    program: &'a Path,
    args: Vec<String>,
    /// The folder of the target; nothing else is in it.
    out: &'a Path,
    old: Option<Content>,
    new: Content,
    pub(super) tally: Tally,
    pub(super) faults: Vec<String>,
}

/// Outcomes that a disturbed run may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Allowed {
    /// It dies: one named file may stay, and one of edge chunks.
    Death,
    /// It fails, and says so.
    Failure,
    /// It fails, or cannot remove the folder that it replaced, of which a named rest may stay.
    Rest,
    /// It fails, and cannot say so.
    Muteness,
    /// It fails, and cannot even clean up or say so.
    Helplessness,
}

impl<'a> Scene<'a> {
    /// Runs the command undisturbed, twice: it must make the same file.
    pub(super) fn new(
        case: &'a Case,
        onto: Onto,
        program: &'a Path,
        inputs: &'a Path,
        out: &'a Path,
    ) -> Result<Self> {
        let old = match (onto, case.kind) {
            (Onto::Nothing, _) => None,
            // A good one of the past.
            (Onto::Old, Kind::Edit(input) | Kind::Output(input)) => {
                Some(Content::read(&inputs.join(input))?.context("the input is not there")?)
            }
        };
        let place = |arg: &&str| {
            let (inputs, out) = (inputs.display(), out.display());
            arg.replace("IN/", &format!("{inputs}/")).replace("OUT/", &format!("{out}/"))
        };
        let mut args: Vec<String> = case.args.iter().map(place).collect();
        if onto == Onto::Old && matches!(case.kind, Kind::Output(_)) {
            args.push("--force".to_owned());
        }
        let (tally, faults) = (Tally::default(), Vec::new());
        // Until it is made, any.
        let new = Content::read(inputs)?.context("the inputs are not there")?;
        let mut scene = Self { case, onto, program, args, out, old, new, tally, faults };
        scene.new = scene.make()?;
        ensure!(scene.new == scene.make()?, "it makes another one each time");
        ensure!(scene.old_named().as_ref() != Some(&scene.new), "the new one is the old one");
        Ok(scene)
    }

    fn make(&self) -> Result<Content> {
        let output = self.start(&[])?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{} says {stderr}", self.args.join(" "));
        Ok(Content::read(&self.target())?.context("it makes nothing")?.named())
    }

    /// Content of the target before, as it is compared.
    fn old_named(&self) -> Option<Content> {
        self.old.as_ref().map(Content::named)
    }

    pub(super) fn target(&self) -> PathBuf {
        self.out.join(self.case.target)
    }

    /// The folder of the target.
    pub(super) fn out(&self) -> &Path {
        self.out
    }

    /// How long the longest new file is.
    pub(super) fn new_len(&self) -> usize {
        self.new.longest()
    }

    /// How many files and folders the old target is.
    pub(super) fn old_count(&self) -> usize {
        self.old.as_ref().map_or(0, Content::entry_count)
    }

    /// Whether a folder is replaced, which is removed after that.
    pub(super) fn is_folder_replaced(&self) -> bool {
        self.old.as_ref().is_some_and(Content::is_folder)
    }

    /// The command line.
    pub(super) fn command(&self) -> impl Iterator<Item = &std::ffi::OsStr> {
        let program = std::iter::once(self.program.as_os_str());
        program.chain(self.args.iter().map(std::ffi::OsStr::new))
    }

    /// Puts the target into its first state, alone in its folder.
    pub(super) fn prepare(&self) -> Result<()> {
        if self.out.exists() {
            fs::remove_dir_all(self.out)?;
        }
        fs::create_dir_all(self.out)?;
        if let Some(old) = &self.old {
            old.write(&self.target())?;
        }
        Ok(())
    }

    /// Runs the command under another program, from the first state on.
    pub(super) fn start(&self, under: &[&str]) -> Result<Output> {
        self.prepare()?;
        self.launch(under)
    }

    /// Runs the command under another program, whatever state the target is in.
    pub(super) fn launch(&self, under: &[&str]) -> Result<Output> {
        // Commands that hang are killed, and reported as such.
        let mut command = Command::new("timeout");
        command.args(["-s", "KILL", "60"]).args(under).args(self.command());
        command.env("SOURCE_DATE_EPOCH", "0").env_remove("RUST_BACKTRACE");
        command.output().context("could not start timeout")
    }

    /// Looks at what is left in the folder, and writes down what should not be.
    pub(super) fn judge(&mut self, what: &str, allowed: Allowed, output: &Output) -> Result<()> {
        self.judge_in(self.out, what, allowed, output)
    }

    /// Looks at what is left in a copy of the folder.
    pub(super) fn judge_in(
        &mut self,
        folder: &Path,
        what: &str,
        allowed: Allowed,
        output: &Output,
    ) -> Result<()> {
        let found = Content::read(&folder.join(self.case.target))?.map(|found| found.named());
        let is_new = found.as_ref() == Some(&self.new);
        let is_old = found == self.old_named();
        let is_edges = found.as_ref().is_some_and(|found| self.is_edges(found));
        let edges = edges_path(self.case.target.as_ref());
        let mut strays = Vec::new();
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name != self.case.target && Path::new(&name) != edges {
                strays.push(name);
            }
        }
        let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let code = output.status.code();
        let mut wrong = Vec::new();
        if !is_old && !is_new && !is_edges {
            let found = found.map_or_else(|| "nothing".to_owned(), |found| found.shown());
            wrong.push(format!("what is there is neither: {found}"));
        }
        if code == Some(0) && !is_new {
            wrong.push("success, but the old one".to_owned());
        }
        if is_new && code == Some(5) && !says_new(&stderr) && allowed == Allowed::Failure {
            wrong.push("a failure, but the new one".to_owned());
        }
        let may_stay = [Allowed::Death, Allowed::Helplessness, Allowed::Rest];
        let strays_max = if may_stay.contains(&allowed) { self.new.published_count() } else { 0 };
        if strays_max < strays.len() || !strays.iter().all(|name| self.is_hidden_name(name)) {
            wrong.push(format!("litter: {strays:?}"));
        }
        let is_death = allowed == Allowed::Death && code.is_none();
        if !is_death && !matches!(code, Some(0 | 5)) {
            wrong.push(format!("it ended with {}", output.status));
        }
        if allowed == Allowed::Failure && code == Some(5) && !self.names_step_and_path(&stderr) {
            wrong.push("no step or no path in what it says".to_owned());
        }
        for wrong in wrong {
            let (name, onto) = (self.case.name, self.onto.name());
            self.faults.push(format!("{name} onto {onto}, {what}: {wrong}; it says: {stderr}"));
        }
        self.tally.old += usize::from(is_old);
        self.tally.new += usize::from(is_new);
        self.tally.edges += usize::from(is_edges);
        self.tally.strays += strays.len();
        Ok(())
    }

    /// Whether edge chunks are there without a document: it is removed before they are replaced, and written last.
    fn is_edges(&self, found: &Content) -> bool {
        found.is_edges_of(&self.new) || self.old.as_ref().is_some_and(|old| found.is_edges_of(old))
    }

    fn is_hidden_name(&self, name: &str) -> bool {
        let is_of = |infix| name.starts_with(&format!(".{}{infix}.tet-", self.case.target));
        (is_of("") || is_of(".edges")) && name.ends_with(".tmp")
    }

    fn names_step_and_path(&self, stderr: &str) -> bool {
        // Members of an archive are unpacked next to the target first.
        let places = [self.case.target, "the output", "a scratch file in "];
        stderr.contains("cannot ") && places.iter().any(|place| stderr.contains(place))
    }
}

/// Whether a failure is of what comes after the rename.
fn says_new(stderr: &str) -> bool {
    stderr.contains("cannot sync the folder of") || stderr.contains("cannot write the output")
}
