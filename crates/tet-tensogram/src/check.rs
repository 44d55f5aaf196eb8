//! //! Checking a file (section 7): every rule it breaks, each with its offset.
//!
//! ```text
//!   messages and gaps -> frames -> metadata, index, hashes -> the bytes that have a hash -> elements
//! ```
//!
//! Bytes are compared with their hashes in pieces and on several threads. Findings are reported in
//! the order of the file.

mod conflict;
mod digest;
pub(crate) mod fidelity;
pub(crate) mod message;

use std::collections::BTreeSet;

use tet_format::Span;
use tet_io::{Progress, Source};
use tet_report::{Finding, ForeignFound, Level, Report, integrity_of};

use self::digest::Tasks;
use self::fidelity::{Objects, Total};
use crate::error::{Error, Fault, Result};
use crate::limits::Limits;
use crate::message::Message;
use crate::open::no_message;
use crate::rule;
use crate::scan::{Scan, scan};
use crate::window::Window;

/// The sink of all checks.
type Collector = tet_report::Collector<Finding>;

/// How thoroughly to check a Tensogram file, with which limits, and how much to report.
pub type VerifyOptions = tet_report::VerifyOptions<Limits>;

/// Checks a whole file.
///
/// # Errors
///
/// Returns [`Error::Io`] when the file cannot be read or changes meanwhile, [`Error::Canceled`]
/// when the caller asks to stop, [`Error::Limit`] when the objects decode to more than
/// [`VerifyOptions::decoded_max`]. What is wrong with the file is in the report.
pub fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let (mut out, mut seen) = (Collector::new(options.findings_max), Counts::default());
    let progress = options.progress.begin(match options.level {
        // Payloads are read once more.
        Level::Deep => source.len().saturating_mul(2),
        _ => source.len(),
    });
    let scan = match scan(source, &options.limits) {
        Ok(scan) => scan,
        Err(Error::Format(fault)) => {
            out.push(finding(fault, None, None, 0));
            return Ok(seen.report(source, options, out));
        }
        Err(error) => return Err(error),
    };
    check_file(source, &scan, &progress, &mut out)?;
    let (mut window, mut work) = (Window::new(source), Work::default());
    let total = Total::new(options.decoded_max, source);
    for (number, span) in scan.messages.iter().enumerate() {
        let found = check_message(&mut window, number, *span, options, &mut work, &mut out);
        match found {
            Ok(message) => seen.count_message(&message),
            Err(Error::Format(fault)) => {
                out.push(finding(fault, Some(number), None, 0));
            }
            Err(error) => return Err(error),
        }
        progress.advance(0)?;
        if work.bytes.is_full() {
            seen.add_checked(work.run(source, options, &progress, &total, &mut out)?);
        }
    }
    seen.add_checked(work.run(source, options, &progress, &total, &mut out)?);
    source.check_unchanged()?;
    Ok(seen.report(source, options, out))
}

#[derive(Debug, Default)]
struct Counts {
    object_count: u64,
    /// Objects without a hash.
    unverified_count: u64,
    /// Bytes that were compared with their hashes.
    checked_len: u64,
}

impl Counts {
    fn count_message(&mut self, message: &Message) {
        let frames = (0..message.len()).filter_map(|number| message.object_frame(number));
        let bare = frames.filter(|frame| message.hash(frame).is_none()).count();
        self.object_count = self.object_count.saturating_add(message.len() as u64);
        self.unverified_count = self.unverified_count.saturating_add(bare as u64);
    }

    fn add_checked(&mut self, len: u64) {
        self.checked_len = self.checked_len.saturating_add(len);
    }

    fn report(self, source: &Source, options: &VerifyOptions, out: Collector) -> Report {
        let Counts { object_count, unverified_count, checked_len } = self;
        let (mut findings, counts) = out.into_parts();
        findings.sort_by_key(|finding| finding.place.offset);
        let file_len = source.len();
        Report {
            integrity: integrity_of(&counts, &rule::HASH, unverified_count, object_count),
            file_len,
            dataset_count: object_count,
            row_count: object_count,
            stored_len: file_len,
            decoded_len: file_len,
            payload_len: checked_len.min(file_len),
            unverified_count,
            checked_len,
            ..Report::new(options, findings, &counts)
        }
    }
}

/// A fault of a message or an object of it.
pub(crate) fn finding(
    fault: Fault,
    message: Option<usize>,
    object: Option<usize>,
    len: u64,
) -> Finding {
    let found = ForeignFound { fault, field: fault.rule.region, len, dataset: None };
    let mut finding = Finding::from(found);
    (finding.place.message, finding.place.object) = (message, object);
    finding
}

/// The checks that are still to be run for the messages so far.
#[derive(Debug, Default)]
struct Work {
    bytes: Tasks,
    objects: Objects,
}

impl Work {
    /// Runs them and returns the number of bytes that were compared with hashes.
    fn run(
        &mut self,
        source: &Source,
        options: &VerifyOptions,
        progress: &Progress,
        total: &Total,
        out: &mut Collector,
    ) -> Result<u64> {
        let mut spoiled = BTreeSet::new();
        let checked_len = self.bytes.run(source, options, &mut spoiled, progress, out)?;
        self.objects.run(source, total, options, &spoiled, progress, out)?;
        Ok(checked_len)
    }
}

/// Checks the file as a whole: damaged messages, and bytes outside all messages.
fn check_file(
    source: &Source,
    scan: &Scan,
    progress: &Progress,
    out: &mut Collector,
) -> Result<()> {
    let mut push = |fault, len| out.push(finding(fault, None, None, len));
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
            progress.advance(0)?;
            odd = bytes.iter().any(|byte| *byte != 0);
            Ok::<_, Error>(!odd)
        })?;
        let rule = if odd { &rule::GAP_BYTES } else { &rule::GAP };
        push(Fault { rule, at: gap.start(), found: gap.len(), wanted: 0 }, gap.len());
    }
    Ok(())
}

/// Checks one message at the requested level.
fn check_message(
    window: &mut Window<'_>,
    number: usize,
    span: Span,
    options: &VerifyOptions,
    work: &mut Work,
    out: &mut Collector,
) -> Result<Message> {
    let mut push = |fault, object| out.push(finding(fault, Some(number), object, 0));
    let message = Message::read(window, span, &options.limits, &mut push)?;
    let lists = message::check(window, &message, &options.limits, &mut push)?;
    if options.level >= Level::Checksums {
        work.bytes.take(number, &message, &lists, &mut push);
    }
    if options.level >= Level::Deep {
        work.objects.take(number, &message);
    }
    Ok(message)
}
