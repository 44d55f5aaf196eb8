//! Checking a file (section 7): every rule it breaks, each with its place.
//!
//! ```text
//!   messages and gaps -> frames -> metadata, index, hashes -> the bytes that have a hash -> elements
//! ```
//!
//! Bytes are compared with their hashes piece by piece and on several threads; what is found comes in
//! the order of the file.

mod collect;
mod digest;
pub(crate) mod fidelity;
mod message;
mod report;
mod said;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tet_format::{ForeignRule, Severity, Span};
use tet_io::{Progress, Source, Watch};

use self::collect::Collector;
use self::digest::Tasks;
use self::fidelity::{Objects, Total};
use crate::error::{Error, Fault, Result};
use crate::limits::Limits;
use crate::message::Message;
use crate::open::no_message;
use crate::rule;
use crate::scan::{Scan, scan};
use crate::window::Window;

pub use report::{Finding, Omitted, Report};

/// How closely to look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Level {
    /// Messages, frames, and what lies between them.
    Structure,
    /// What metadata, index and hash frames say, and whether that is so.
    Metadata,
    /// All bytes that have a hash are compared with it.
    #[default]
    Integrity,
    /// All objects are decoded.
    Fidelity,
}

/// Whether CBOR may be spelled in any way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Spelling {
    /// In any way that can be read.
    #[default]
    Any,
    /// In the one way that writers do; others are told.
    Canonical,
}

/// How closely to look, with what, and how much to say.
#[derive(Clone)]
#[non_exhaustive]
pub struct VerifyOptions {
    /// How closely to look.
    pub level: Level,
    /// Whether CBOR may be spelled in any way.
    pub spelling: Spelling,
    /// How much of the file's claims to believe.
    pub limits: Limits,
    /// How many findings of one rule are told; the rest are counted.
    pub findings_max: usize,
    /// Threads that compare bytes; 0 means as many as the machine runs at once.
    pub threads: usize,
    /// The most bytes that all objects together may decode to, some of them of next to no bytes; `None`
    /// is [`usual_decoded_max`] of the file.
    pub decoded_max: Option<u64>,
    /// Set by the caller to stop early.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Told how far it is.
    pub progress: Option<Progress>,
}

impl VerifyOptions {
    /// Watches over a look at so many bytes.
    pub(crate) fn watch(&self, all: u64) -> Watch<'_> {
        Watch::new(self.cancel.as_deref(), self.progress.as_ref(), all)
    }
}

impl Default for VerifyOptions {
    fn default() -> Self {
        VerifyOptions {
            level: Level::default(),
            spelling: Spelling::default(),
            limits: Limits::default(),
            findings_max: 64,
            threads: 0,
            decoded_max: None,
            cancel: None,
            progress: None,
        }
    }
}

impl fmt::Debug for VerifyOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifyOptions")
            .field("level", &self.level)
            .field("spelling", &self.spelling)
            .field("limits", &self.limits)
            .field("findings_max", &self.findings_max)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// Checks a whole file.
///
/// # Errors
///
/// Returns [`Error::Io`] when the file cannot be read or changes meanwhile, [`Error::Canceled`]
/// when the caller asks to stop, [`Error::Limit`] when the objects decode to more than
/// [`VerifyOptions::decoded_max`]. What is wrong with the file is in the report.
pub fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let (mut out, mut report) =
        (Collector::new(options.findings_max), Report::new(source, options));
    let watch = options.watch(match options.level {
        // Payloads are read once more.
        Level::Fidelity => source.len().saturating_mul(2),
        _ => source.len(),
    });
    let scan = match scan(source, &options.limits) {
        Ok(scan) => scan,
        Err(Error::Format(fault)) => {
            out.push(Finding { fault, message: None, object: None, len: 0 });
            return Ok(report.with(out));
        }
        Err(error) => return Err(error),
    };
    check_file(source, &scan, &watch, &mut out)?;
    report.message_count = scan.messages.len() as u64;
    report.damage_count = scan.damage_count;
    let (mut window, mut work) = (Window::new(source), Work::default());
    let total = Total::new(options.decoded_max, source);
    let watched = (&watch, &total);
    for (number, span) in scan.messages.iter().enumerate() {
        let found = check_message(&mut window, (number, *span), options, &mut work, &mut out);
        match found {
            Ok(message) => report.count_message(&message),
            Err(Error::Format(fault)) => {
                out.push(Finding { fault, message: Some(number), object: None, len: 0 });
            }
            Err(error) => return Err(error),
        }
        watch.tell(0)?;
        if work.bytes.is_full() {
            report.add_checked(work.run(source, options, watched, &mut out)?);
        }
    }
    report.add_checked(work.run(source, options, watched, &mut out)?);
    source.check_unchanged()?;
    Ok(report.with(out))
}

/// What is left to be done for the messages so far.
#[derive(Debug, Default)]
struct Work {
    bytes: Tasks,
    objects: Objects,
}

impl Work {
    /// Does it; says how many bytes were compared with hashes.
    fn run(
        &mut self,
        source: &Source,
        options: &VerifyOptions,
        (watch, total): (&Watch<'_>, &Total),
        out: &mut Collector,
    ) -> Result<u64> {
        let mut spoiled = BTreeSet::new();
        let checked_len = self.bytes.run(source, options, &mut spoiled, watch, out)?;
        self.objects.run((source, total), options, &spoiled, watch, out)?;
        Ok(checked_len)
    }
}

/// The first rule that a message breaks, all its objects decoded.
pub(crate) fn first_error(
    window: &mut Window<'_>,
    span: Span,
    options: &VerifyOptions,
    watched: (&Watch<'_>, &Total),
) -> Result<Option<&'static ForeignRule>> {
    let (mut out, mut work, source) = (Collector::new(0), Work::default(), window.source());
    match check_message(window, (0, span), options, &mut work, &mut out) {
        Ok(_) => {}
        Err(Error::Format(fault)) => return Ok(Some(fault.rule)),
        Err(error) => return Err(error),
    }
    if out.first_error().is_none() {
        work.run(source, options, watched, &mut out)?;
    }
    Ok(out.first_error())
}

/// What is wrong with the file as a whole: messages that do not stand, and bytes of none.
fn check_file(source: &Source, scan: &Scan, watch: &Watch<'_>, out: &mut Collector) -> Result<()> {
    let mut push = |fault, len| out.push(Finding { fault, message: None, object: None, len });
    for damage in &scan.damages {
        push(damage.fault, damage.span.end().saturating_sub(damage.fault.at));
    }
    if scan.messages.is_empty() && scan.damages.is_empty() {
        push(no_message(source, scan)?, source.len());
        return Ok(());
    }
    let mut window = Vec::new();
    for gap in &scan.gaps {
        let mut odd = false;
        source.for_windows(gap.range(), &mut window, |_, bytes| {
            watch.tell(0)?;
            odd = bytes.iter().any(|byte| *byte != 0);
            Ok::<_, Error>(!odd)
        })?;
        let rule = if odd { &rule::GAP_BYTES } else { &rule::GAP };
        push(Fault { rule, at: gap.start(), found: gap.len(), wanted: 0 }, gap.len());
    }
    Ok(())
}

/// Checks one message, as closely as is asked for.
fn check_message(
    window: &mut Window<'_>,
    (number, span): (usize, Span),
    options: &VerifyOptions,
    work: &mut Work,
    out: &mut Collector,
) -> Result<Message> {
    let mut push = |fault: Fault, object| {
        out.push(Finding { fault, message: Some(number), object, len: 0 });
    };
    let message = Message::read(window, span, &options.limits, &mut push)?;
    if options.level >= Level::Metadata {
        let said = message::check(window, &message, options, &mut push)?;
        if options.level >= Level::Integrity {
            work.bytes.take(number, &message, &said, &mut push);
        }
        if options.level >= Level::Fidelity {
            work.objects.take(number, &message);
        }
    }
    Ok(message)
}

impl Report {
    /// Whether there is no error.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.count(Severity::Error) == 0
    }
}
