//! Passed to every command: streams, colors, notes and warnings.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::Write;
use std::sync::Arc;

use serde::Serialize;
use tet_io::Progress;
use tet_query::SelectionNote;

use crate::args::{ColorWhen, GlobalArgs};
use crate::escape::Message;
use crate::exit::{Failure, Result};
use crate::render::json;
use crate::render::paint::Paint;
use crate::streams::{Depth, Environment, Streams};

/// The streams and settings of a command.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    /// The streams.
    pub(crate) streams: &'a mut Streams,
    /// Whether to print no progress, notes or warnings.
    pub(crate) quiet: bool,
    /// When to use colors.
    pub(crate) color: ColorWhen,
    /// The styles of standard output.
    pub(crate) paint: Paint,
    /// The colors of standard output.
    pub(crate) depth: Depth,
}

impl<'a> Context<'a> {
    /// The context under the global options.
    pub(crate) fn new(streams: &'a mut Streams, global: GlobalArgs) -> Context<'a> {
        let depth = streams.env.out_depth(global.color);
        Context {
            streams,
            quiet: global.quiet,
            color: global.color,
            paint: Paint::when(depth != Depth::Plain),
            depth,
        }
    }

    /// The environment.
    #[must_use]
    pub(crate) fn env(&self) -> &Environment {
        &self.streams.env
    }

    /// Standard output.
    pub(crate) fn out(&mut self) -> &mut dyn Write {
        self.streams.out.as_mut()
    }

    /// The width of tables: that of the terminal; no limit in a pipe.
    #[must_use]
    pub(crate) fn table_width(&self) -> Option<usize> {
        self.env().out_terminal.then_some(self.env().width)
    }

    /// Prints a line of the result.
    ///
    /// # Errors
    ///
    /// Writing to standard output fails.
    pub(crate) fn line(&mut self, text: impl Display) -> Result<()> {
        Ok(writeln!(self.streams.out, "{text}")?)
    }

    /// Prints the result as JSON.
    ///
    /// # Errors
    ///
    /// Writing to standard output fails.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<()> {
        Ok(json::write_pretty(self.streams.out.as_mut(), value)?)
    }

    /// Prints one of several objects, on a line of its own.
    ///
    /// # Errors
    ///
    /// Writing to standard output fails.
    pub(crate) fn json_line(&mut self, value: &impl Serialize) -> Result<()> {
        serde_json::to_writer(self.streams.out.as_mut(), value).map_err(std::io::Error::from)?;
        self.line("")
    }

    /// Prints a note, only on a terminal.
    pub(crate) fn note(&mut self, text: impl Display) {
        if self.env().err_terminal && !self.quiet {
            let text = text.to_string();
            self.print_err(&Message(&text).to_string());
        }
    }

    /// Prints what selections took for granted, each note once, unless quiet.
    pub(crate) fn selection_notes<'n>(
        &mut self,
        notes: impl IntoIterator<Item = &'n SelectionNote>,
    ) {
        self.notes(notes.into_iter().map(|note| (note.to_string(), note.is_warning())));
    }

    /// Prints notes, each once, unless quiet; with each whether it is a warning.
    pub(crate) fn notes(&mut self, notes: impl IntoIterator<Item = (String, bool)>) {
        let mut printed = BTreeSet::new();
        for (text, is_warning) in notes {
            match printed.insert(text.clone()) && !self.quiet {
                true if is_warning => self.warn_always(text),
                true => self.assumed(text),
                false => {}
            }
        }
    }

    /// Prints what an answer takes for granted, unless quiet.
    pub(crate) fn assumed(&mut self, text: impl Display) {
        if !self.quiet {
            let text = text.to_string();
            self.print_err(&format!("note: {}", Message(&text)));
        }
    }

    /// Prints a warning, unless quiet.
    pub(crate) fn warn(&mut self, text: impl Display) {
        if !self.quiet {
            self.warn_always(text);
        }
    }

    /// Prints a warning, also with `--quiet`: one about the answer itself.
    pub(crate) fn warn_always(&mut self, text: impl Display) {
        let paint = Paint::when(self.env().err_is_colored(self.color));
        let text = text.to_string();
        self.print_err(&format!("{} {}", paint.warning("warning:"), Message(&text)));
    }

    /// Prints warnings, unless quiet: those that say the same of many datasets as one.
    pub(crate) fn warn_all(&mut self, warnings: impl IntoIterator<Item = impl Display>) {
        let warnings = warnings.into_iter().map(|warning| warning.to_string());
        crate::warning::aggregated(warnings).iter().for_each(|warning| self.warn(warning));
    }

    /// Prints a failure; the command continues.
    pub(crate) fn fail(&mut self, failure: &Failure, json: bool) {
        let colored = self.env().err_is_colored(self.color);
        let _ = self.streams.out.flush();
        let err = self.streams.err.as_mut();
        let _ = if json { failure.write_json(err) } else { failure.write_text(err, colored) };
    }

    // A note or warning that cannot be printed is not a failure.
    fn print_err(&mut self, line: &str) {
        let _ = self.streams.out.flush();
        let _ = writeln!(self.streams.err, "{line}");
    }

    /// The progress of a task without a bar; Ctrl-C cancels it.
    #[must_use]
    pub(crate) fn progress(&self) -> Progress {
        Progress::default().with_cancel(Arc::clone(&self.env().cancel))
    }

    /// Fails if the user pressed Ctrl-C.
    ///
    /// # Errors
    ///
    /// The user pressed Ctrl-C.
    pub(crate) fn check_cancelled(&self) -> Result<()> {
        if self.env().is_cancelled() { Err(Failure::interrupted()) } else { Ok(()) }
    }
}
