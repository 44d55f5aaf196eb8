//! The progress bar on standard error: only on a terminal, after half a second, and not with --quiet.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tet_io::Progress;

use crate::context::Context;

/// Shorter tasks show no bar.
const SILENCE: Duration = Duration::from_millis(500);

/// The progress of a long task, in bytes. Clones show the same bar.
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
    /// Bytes processed before this task.
    before: u64,
    /// Bytes processed in all, this task included.
    done: u64,
}

impl Bar {
    /// A bar for a task over `len` bytes; hidden if standard error is no terminal or with --quiet.
    #[must_use]
    pub(crate) fn new(context: &Context<'_>, what: &str, len: u64) -> Bar {
        let visible = context.env().err_terminal && !context.quiet;
        Bar { shown: visible.then(|| Arc::new(Mutex::new(Shown::new(what, len)))) }
    }

    /// The progress that a task reports to; it shows the bar and cancels the task on Ctrl-C.
    #[must_use]
    pub(crate) fn progress(&self, context: &Context<'_>) -> Progress {
        let cancel = Arc::clone(&context.env().cancel);
        if self.shown.is_none() {
            return Progress::default().with_cancel(cancel);
        }
        let bar = self.clone();
        Progress::new(move |done, all| bar.with(|shown| shown.set(done, all))).with_cancel(cancel)
    }

    /// Starts the next task, over `len` bytes, in the same bar.
    pub(crate) fn next(&self, what: impl fmt::Display, len: u64) {
        self.with(|shown| {
            shown.what = what.to_string();
            (shown.len, shown.before) = (len, shown.done);
            shown.begin(len);
        });
    }

    /// Removes the bar.
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
        let template = "{prefix:>12} [{bar:14}] {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left";
        bar.set_style(
            ProgressStyle::with_template(template)
                .map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("=> ")),
        );
        bar.set_prefix(what.to_owned());
        let (since, what) = (Instant::now(), what.to_owned());
        Shown { bar, since, visible: false, what, len, before: 0, done: 0 }
    }

    /// Resets the bar to the start.
    fn begin(&mut self, len: u64) {
        self.bar.reset();
        self.bar.set_length(len);
        self.bar.set_prefix(self.what.clone());
    }

    /// Sets the number of bytes processed, of `all` bytes. If `all` is 0, the task does not know it: then
    /// every `len` bytes are one pass.
    fn set(&mut self, done: u64, all: u64) {
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
        // An error message must not follow a bar on the same line.
        self.bar.finish_and_clear();
    }
}
