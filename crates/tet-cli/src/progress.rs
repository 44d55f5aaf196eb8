//! A bar on standard error: on terminals only, after half a second only, never when quiet.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::context::Context;

/// What takes less time is not worth a bar.
const SILENCE: Duration = Duration::from_millis(500);

/// How far a long task is, in bytes. Clones show the same bar.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    bar: Option<Arc<Mutex<Bar>>>,
}

#[derive(Debug)]
struct Bar {
    bar: ProgressBar,
    since: Instant,
    visible: bool,
    what: String,
    /// Bytes of one pass.
    pass_len: u64,
    pass: u64,
}

impl Progress {
    /// A bar for a task over so many bytes; invisible where bars do not belong.
    #[must_use]
    pub(crate) fn new(context: &Context<'_>, what: &str, byte_count: u64) -> Progress {
        let visible = context.world().err_terminal && !context.quiet;
        let bar = visible.then(|| {
            let bar = ProgressBar::with_draw_target(Some(byte_count), ProgressDrawTarget::hidden());
            let template =
                "{prefix:>12} [{bar:28}] {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left";
            // The template is fixed; should it be wrong, the plain bar does.
            bar.set_style(ProgressStyle::with_template(template).map_or_else(
                |_| ProgressStyle::default_bar(),
                |style| style.progress_chars("=> "),
            ));
            bar.set_prefix(what.to_owned());
            Arc::new(Mutex::new(Bar {
                bar,
                since: Instant::now(),
                visible: false,
                what: what.to_owned(),
                pass_len: byte_count,

                pass: 1,
            }))
        });
        Progress { bar }
    }

    /// Does a task that is given what it tells how far it is; there is a bar once it does.
    pub(crate) fn of<T>(
        context: &Context<'_>,
        what: &str,
        task: impl FnOnce(&mut dyn FnMut(u64, u64)) -> T,
    ) -> T {
        let mut progress: Option<Progress> = None;
        let done = task(&mut |done, all| {
            progress.get_or_insert_with(|| Progress::new(context, what, all)).set(done);
        });
        if let Some(progress) = progress {
            progress.finish();
        }
        done
    }

    /// The same bar for the next task, over so many bytes.
    pub(crate) fn next(&self, what: &str, byte_count: u64) {
        self.with(|bar| {
            (bar.what, bar.pass_len) = (what.to_owned(), byte_count);
            bar.pass = 1;
            bar.bar.set_length(byte_count);
            bar.bar.set_position(0);
            bar.bar.set_prefix(what.to_owned());
            bar.bar.reset_eta();
        });
    }

    /// So many bytes are done.
    pub(crate) fn set(&self, byte_count: u64) {
        self.with(|bar| bar.bar.set_position(byte_count));
    }

    /// So many bytes of so many are done.
    pub(crate) fn tell(&self, byte_count: u64, all: u64) {
        self.with(|bar| {
            bar.bar.set_length(all);
            bar.bar.set_position(byte_count);
        });
    }

    /// So many more bytes are done; what comes after all of them is the next pass.
    pub(crate) fn add(&self, byte_count: u64) {
        self.with(|bar| {
            let done = bar.bar.position().saturating_add(byte_count);
            if done <= bar.pass_len || bar.pass_len == 0 {
                bar.bar.set_position(done);
                return;
            }
            bar.pass += 1;
            bar.bar.set_prefix(format!("{}, pass {}", bar.what, bar.pass));
            bar.bar.set_position(done - bar.pass_len);
            bar.bar.reset_eta();
        });
    }

    /// The task is over: the bar disappears.
    pub(crate) fn finish(&self) {
        if let Some(Ok(bar)) = self.bar.as_ref().map(|bar| bar.lock()) {
            bar.bar.finish_and_clear();
        }
    }

    fn with(&self, change: impl FnOnce(&mut Bar)) {
        let Some(Ok(mut bar)) = self.bar.as_ref().map(|bar| bar.lock()) else { return };
        if !bar.visible && bar.since.elapsed() >= SILENCE {
            bar.bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.visible = true;
        }
        change(&mut bar);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        // A failure on the way leaves a clean line for its message.
        self.bar.finish_and_clear();
    }
}
