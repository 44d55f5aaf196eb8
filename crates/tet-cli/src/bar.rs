//! A bar on standard error: on terminals only, after half a second only, never when quiet.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tet_io::Progress;

use crate::context::Context;

/// What takes less time is not worth a bar.
const SILENCE: Duration = Duration::from_millis(500);

/// How far a long task is, in bytes. Clones show the same bar.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    shown: Option<Arc<Mutex<Shown>>>,
}

#[derive(Debug)]
struct Shown {
    bar: ProgressBar,
    since: Instant,
    visible: bool,
    what: String,
    /// Bytes of the task, or of one pass of it.
    len: u64,
    /// Bytes that were done before this task, and with it.
    before: u64,
    done: u64,
}

impl Bar {
    /// A bar for a task over so many bytes; invisible where bars do not belong.
    #[must_use]
    pub(crate) fn new(context: &Context<'_>, what: &str, len: u64) -> Bar {
        let visible = context.world().err_terminal && !context.quiet;
        Bar { shown: visible.then(|| Arc::new(Mutex::new(Shown::new(what, len)))) }
    }

    /// What a task is given that tells how far it is, and stops when the user asks for it.
    #[must_use]
    pub(crate) fn progress(&self, context: &Context<'_>) -> Progress {
        let cancel = Arc::clone(&context.world().cancel);
        if self.shown.is_none() {
            return Progress::default().with_cancel(cancel);
        }
        let bar = self.clone();
        Progress::new(move |done, all| bar.with(|shown| shown.tell(done, all))).with_cancel(cancel)
    }

    /// The same bar for the next task, over so many bytes.
    pub(crate) fn next(&self, what: &str, len: u64) {
        self.with(|shown| {
            what.clone_into(&mut shown.what);
            (shown.len, shown.before) = (len, shown.done);
            shown.begin(len);
        });
    }

    /// The task is over: the bar disappears.
    pub(crate) fn finish(&self) {
        if let Some(Ok(shown)) = self.shown.as_ref().map(|shown| shown.lock()) {
            shown.bar.finish_and_clear();
        }
    }

    fn with(&self, change: impl FnOnce(&mut Shown)) {
        let Some(Ok(mut shown)) = self.shown.as_ref().map(|shown| shown.lock()) else { return };
        if !shown.visible && shown.since.elapsed() >= SILENCE {
            shown.bar.set_draw_target(ProgressDrawTarget::stderr());
            shown.visible = true;
        }
        change(&mut shown);
    }
}

impl Shown {
    fn new(what: &str, len: u64) -> Shown {
        let bar = ProgressBar::with_draw_target(Some(len), ProgressDrawTarget::hidden());
        let template = "{prefix:>12} [{bar:28}] {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left";
        // The template is fixed; should it be wrong, the plain bar does.
        bar.set_style(
            ProgressStyle::with_template(template)
                .map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("=> ")),
        );
        bar.set_prefix(what.to_owned());
        let (since, what) = (Instant::now(), what.to_owned());
        Shown { bar, since, visible: false, what, len, before: 0, done: 0 }
    }

    /// Starts again at the left.
    fn begin(&mut self, len: u64) {
        self.bar.reset();
        self.bar.set_length(len);
        self.bar.set_prefix(self.what.clone());
    }

    /// So many bytes of so many are done. Where the task does not know how many there are, the bytes
    /// that come after those of one pass belong to the next.
    fn tell(&mut self, done: u64, all: u64) {
        if all != 0 {
            if all != self.len {
                self.len = all;
                self.begin(all);
            }
            self.bar.set_position(done);
            return;
        }
        let passes = |done: u64| done.saturating_sub(1).checked_div(self.len).unwrap_or(0);
        let (last, now) = (self.done - self.before, done.saturating_sub(self.before));
        let pass = passes(now);
        if pass != passes(last) {
            self.bar.set_prefix(format!("{}, pass {}", self.what, pass + 1));
            self.bar.reset_eta();
        }
        self.bar.set_position(now - pass * self.len);
        self.done = self.done.max(done);
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        // A failure on the way leaves a clean line for its message.
        self.bar.finish_and_clear();
    }
}
