//! What every command is given: streams, colors, and the two ways to speak beside the result.

use std::fmt::Display;
use std::io::Write;
use std::sync::Arc;

use serde::Serialize;
use tet_io::Progress;

use crate::args::{ColorWhen, GlobalArgs};
use crate::escape::Message;
use crate::exit::{Failure, Result};
use crate::render::json;
use crate::render::paint::Paint;
use crate::streams::{Depth, Streams, World};

/// A command's surroundings.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    /// The streams.
    pub(crate) streams: &'a mut Streams,
    /// No progress and no notes.
    pub(crate) quiet: bool,
    /// When to use colors.
    pub(crate) color: ColorWhen,
    /// The styles of standard output.
    pub(crate) paint: Paint,
    /// The colors of standard output.
    pub(crate) depth: Depth,
}

impl<'a> Context<'a> {
    /// The surroundings under the flags every command takes.
    pub(crate) fn new(streams: &'a mut Streams, global: GlobalArgs) -> Context<'a> {
        let depth = streams.world.out_depth(global.color);
        Context {
            streams,
            quiet: global.quiet,
            color: global.color,
            paint: Paint::when(depth != Depth::Plain),
            depth,
        }
    }

    /// What the environment says.
    #[must_use]
    pub(crate) fn world(&self) -> &World {
        &self.streams.world
    }

    /// Standard output.
    pub(crate) fn out(&mut self) -> &mut dyn Write {
        self.streams.out.as_mut()
    }

    /// The width tables wrap at: the terminal's, or no limit in a pipe.
    #[must_use]
    pub(crate) fn table_width(&self) -> Option<usize> {
        self.world().out_terminal.then_some(self.world().width)
    }

    /// Prints a line of the result.
    ///
    /// # Errors
    ///
    /// Standard output does not take it.
    pub(crate) fn line(&mut self, text: impl Display) -> Result<()> {
        Ok(writeln!(self.streams.out, "{text}")?)
    }

    /// Prints the result for programs.
    ///
    /// # Errors
    ///
    /// Standard output does not take it.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<()> {
        Ok(json::write_pretty(self.streams.out.as_mut(), value)?)
    }

    /// Says something pleasant to know, to people only.
    pub(crate) fn note(&mut self, text: impl Display) {
        if self.world().err_terminal && !self.quiet {
            let text = text.to_string();
            self.say(&Message(&text).to_string());
        }
    }

    /// Says something to be known, unless quiet.
    pub(crate) fn warn(&mut self, text: impl Display) {
        if !self.quiet {
            let paint = Paint::when(self.world().err_is_colored(self.color));
            let text = text.to_string();
            self.say(&format!("{} {}", paint.warning("warning:"), Message(&text)));
        }
    }

    /// Tells a failure and goes on.
    pub(crate) fn fail(&mut self, failure: &Failure, json: bool) {
        let colored = self.world().err_is_colored(self.color);
        let _ = self.streams.out.flush();
        let err = self.streams.err.as_mut();
        let _ = if json { failure.write_json(err) } else { failure.write_text(err, colored) };
    }

    // Notes and warnings are not worth failing for.
    fn say(&mut self, line: &str) {
        let _ = self.streams.out.flush();
        let _ = writeln!(self.streams.err, "{line}");
    }

    /// For a task that shows no bar, and stops when the user asks for it.
    #[must_use]
    pub(crate) fn progress(&self) -> Progress {
        Progress::default().with_cancel(Arc::clone(&self.world().cancel))
    }

    /// Stops when the user asked to stop.
    ///
    /// # Errors
    ///
    /// The user asked to stop.
    pub(crate) fn check_cancelled(&self) -> Result<()> {
        if self.world().is_cancelled() { Err(Failure::interrupted()) } else { Ok(()) }
    }
}
