//! Opens a path as a container, by its content, and sets how it is read from the options.

use std::path::Path;
use std::sync::Arc;

use tet_convert::{Io, Note, OpenOptions, Opened};
use tet_file::{FooterMode, Protection, TetFile};
use tet_io::publish::Sync;
use tet_io::{Overwrite, Writers};
use tet_query::{Dataset, DigestPolicy, Execution, Integrity, StatisticsPolicy};
use tet_verify::Finding;

use crate::args::{DigestName, IoName, MeaningArgs, ReadArgs, StatsName, WriteArgs};
use crate::bar::Bar;
use crate::context::Context;
use crate::exit::{Failure, Result};
use crate::size::counted;
use crate::warning::aggregated;

/// As many warnings about a file are printed by commands that read some values.
const SHOWN_MAX: usize = 8;

/// Opens a file for reading values.
///
/// # Errors
///
/// The file is missing, damaged, or of a format this build does not read.
pub(crate) fn open(path: &Path, args: &ReadArgs, context: &Context<'_>) -> Result<Opened> {
    open_for(path, "", args, context)
}

/// Opens a file for reading values of the dataset `asked`, such as `#12[0]`. If the file has many
/// datasets, metadata of the others may be left unread.
///
/// # Errors
///
/// The file is missing, damaged, or of a format this build does not read.
pub(crate) fn open_for(
    path: &Path,
    asked: &str,
    args: &ReadArgs,
    context: &Context<'_>,
) -> Result<Opened> {
    let mut options = options(args);
    let number = asked.split('[').next().and_then(|name| name.strip_prefix('#'));
    options.only = number.and_then(|number| number.parse().ok());
    open_by(path, &options, context).map_err(|failure| footer_hint(failure, args.no_footer))
}

/// Decodes packed and masked values, unless they are to be used as they are stored.
pub(crate) fn decode(mut opened: Opened, meaning: MeaningArgs) -> Opened {
    opened.catalog = meaning.decoding().shown(opened.catalog);
    opened
}

/// Opens a file with this footer mode.
///
/// # Errors
///
/// The file is missing, damaged, or of a format this build does not read.
pub(crate) fn open_with(
    path: &Path,
    io: IoName,
    memory: Option<u64>,
    footer: FooterMode,
    context: &Context<'_>,
) -> Result<Opened> {
    open_by(path, &options_with(io, memory, footer), context)
}

/// Opens a file with these options.
fn open_by(path: &Path, options: &OpenOptions, context: &Context<'_>) -> Result<Opened> {
    let mut options = options.clone();
    options.scratch = Some(context.env().temp_dir.clone());
    // A table of text is read once when it is opened.
    let bar = Bar::new(context, "opening", 0);
    options.progress = bar.progress(context);
    let opened = tet_convert::open(context.env().at(path), &options);
    bar.finish();
    opened.map_err(|error| Failure::from(error).about(path))
}

/// The options to open a file for reading values.
pub(crate) fn options(args: &ReadArgs) -> OpenOptions {
    let footer = if args.no_footer { FooterMode::Ignore } else { FooterMode::Required };
    options_with(args.io, args.memory, footer)
}

fn options_with(io: IoName, memory: Option<u64>, footer: FooterMode) -> OpenOptions {
    let mut options = OpenOptions::default();
    options.footer = footer;
    options.memory_budget = memory.unwrap_or(options.memory_budget);
    options.io = match io {
        IoName::Auto => Io::Auto,
        IoName::Pread => Io::Pread,
        IoName::Mmap => Io::Mmap,
    };
    options
}

/// Adds the hint that values can be read without a damaged footer.
pub(crate) fn footer_hint(mut failure: Failure, no_footer: bool) -> Failure {
    let region = failure.place.region.as_deref().unwrap_or_default();
    let of_footer = failure.code.starts_with("TET-H") || failure.code.starts_with("TET-M");
    if !no_footer && (of_footer || region == "footer") {
        let hint = "the footer is damaged; --no-footer reads the values without it";
        failure.hint = Some(hint.to_owned());
    }
    failure
}

/// How a file is read, with the options of the command line.
#[must_use]
pub(crate) fn execution(args: &ReadArgs, opened: &Opened, context: &Context<'_>) -> Execution {
    let memory_len = context.env().memory_len;
    with_flags(unflagged(context).within(memory_hint(opened, memory_len)), args)
}

/// How files are read by default: in 1 GiB, or in a quarter of the memory if that is less.
#[must_use]
pub(crate) fn unflagged(context: &Context<'_>) -> Execution {
    let how = Execution { progress: context.progress(), ..Execution::default() };
    how.within(Some(context.env().memory_len / 4))
}

/// The memory hint in the index of a `.tet` file, in bytes.
#[must_use]
pub(crate) fn memory_hint(opened: &Opened, memory_len: u64) -> Option<u64> {
    opened.tet.as_ref()?.index().header().memory_hint(memory_len)
}

/// Opens a file with the options of the command line applied.
#[must_use]
pub(crate) fn with_flags(mut how: Execution, args: &ReadArgs) -> Execution {
    if args.threads > 0 {
        how.threads = args.threads;
    }
    if let Some(memory) = args.memory {
        how.memory_budget = memory;
    }
    how.decoded_max = args.max_decoded;
    how.digests = match args.digests {
        DigestName::Auto => DigestPolicy::Auto,
        DigestName::Always => DigestPolicy::Always,
        DigestName::Never => DigestPolicy::Never,
    };
    how.statistics = match args.stats {
        StatsName::Never => StatisticsPolicy::Never,
        StatsName::Verified => StatisticsPolicy::Verified,
        StatsName::Trust => StatisticsPolicy::Trust,
    };
    how
}

/// Whether to replace an existing output, and whether to sync it.
#[must_use]
pub(crate) fn publish_options(args: WriteArgs) -> (Overwrite, Sync) {
    let overwrite = if args.force { Overwrite::Replace } else { Overwrite::Refuse };
    (overwrite, if args.no_sync { Sync::None } else { Sync::Full })
}

/// Warnings about a file of which some values are read.
pub(crate) fn warnings(opened: &Opened, args: &ReadArgs) -> Vec<String> {
    let digests = (args.digests == DigestName::Always).then(|| not_compared(opened)).flatten();
    let mut found = aggregated(findings(opened));
    if SHOWN_MAX < found.len() {
        let more = u64::try_from(found.len() - SHOWN_MAX).unwrap_or(u64::MAX);
        found.truncate(SHOWN_MAX);
        found.push(format!("{}: `tet info` prints all", counted(more, "more warning")));
    }
    let part = opened.part_of().map(ToString::to_string);
    part.into_iter().chain(loss(opened)).chain(found).chain(digests).collect()
}

/// Warnings about a file of which all datasets are counted or compared: what is not listed is named too.
pub(crate) fn warnings_of_all(opened: &Opened, args: &ReadArgs) -> Vec<String> {
    let left_out = opened.left_out().filter(|it| !matches!(it, Note::PartOf { .. }));
    let left_out = left_out.map(ToString::to_string);
    warnings(opened, args).into_iter().chain(left_out).collect()
}

/// Findings about a file, without those that its datasets list.
pub(crate) fn findings(opened: &Opened) -> impl Iterator<Item = String> {
    let text = |it: &Finding| match (opened.is_form(it), opened.is_loss(it)) {
        (true, _) => malformation(it),
        (_, true) => {
            let what = without_severity(it);
            format!("a part of this file cannot be read: {what}; `tet verify` lists all errors")
        }
        _ => without_severity(it),
    };
    opened.warnings().map(text)
}

/// A finding without the word `warning` or `error` at its beginning: what it is printed with has such a word.
fn without_severity(finding: &Finding) -> String {
    let text = finding.to_string();
    let bare = ["warning ", "error "].into_iter().find_map(|word| text.strip_prefix(word));
    bare.map_or_else(|| text.clone(), str::to_owned)
}

/// Whether all of a file is listed.
pub(crate) fn is_complete(opened: &Opened) -> bool {
    opened.losses().next().is_none() && opened.malformed().is_none() && loss(opened).is_none()
}

/// Why no data of a file can be compared with digests; `None` if it can.
fn not_compared(opened: &Opened) -> Option<String> {
    let why = match opened.tet.as_ref().map(TetFile::protection) {
        Some(Protection::Stale) => "its digests are stale",
        Some(Protection::Unknown) => "its digests are of an unknown version",
        None | Some(Protection::None) if integrity(opened) == Integrity::Unprotected => {
            "the file has no digests"
        }
        _ => return None,
    };
    Some(format!("--digests always: {why}, so nothing was compared"))
}

/// A warning if datasets of a file cannot be read; it is printed for every part that is requested.
fn loss(opened: &Opened) -> Option<String> {
    let lost = opened.catalog.datasets().iter().filter(|dataset| is_lost(dataset));
    let count = u64::try_from(lost.clone().count()).unwrap_or(u64::MAX);
    let first = lost.filter_map(Dataset::why).map(ToString::to_string).next()?;
    let what = counted(count, "dataset");
    Some(format!("{what} of this file cannot be read: {first}; `tet verify` lists all errors"))
}

/// The warning about a file that breaks a rule although all of it can be read.
fn malformation(finding: &Finding) -> String {
    let what = without_severity(finding);
    format!("this file is malformed, and other programs may refuse it: {what}")
}

/// Whether a dataset breaks a rule of its container so that its type is unknown.
fn is_lost(dataset: &Dataset) -> bool {
    dataset.dtype_name.is_empty() && matches!(dataset.why(), Some(tet_query::Error::Foreign { .. }))
}

/// Checks that a dataset can be read.
///
/// # Errors
///
/// The dataset is damaged or of a dtype this build does not know.
pub(crate) fn check_readable(dataset: &Dataset) -> Result<()> {
    match &dataset.fault {
        None => Ok(()),
        Some(cause) => {
            let (dataset, cause) = (dataset.name.clone(), Arc::clone(cause));
            Err(tet_query::Error::Unreadable { dataset, cause }.into())
        }
    }
}

/// The integrity state of a file of which no values are read.
#[must_use]
pub(crate) fn integrity(opened: &Opened) -> Integrity {
    if let Some(tet) = &opened.tet {
        return tet.protection().integrity();
    }
    let each = opened.catalog.datasets().iter().map(|dataset| dataset.chunks.integrity());
    match each.reduce(Integrity::and) {
        // The checksum of a dataset does not cover the structure around it.
        Some(Integrity::Verified) => Integrity::Unchecked,
        integrity => integrity.unwrap_or(Integrity::Unprotected),
    }
}

/// The warning about a file that changes while it is read.
pub(crate) const MIXED: &str =
    "another program has the file open for writing: this may mix two states of it";

/// A warning if the values are not verified and another program has the file open for writing.
#[must_use]
pub(crate) fn doubt(opened: &Opened, integrity: Integrity) -> Option<String> {
    let is_written =
        || integrity != Integrity::Verified && opened.catalog.writers() == Writers::Present;
    is_written().then(|| MIXED.to_owned())
}

/// Reports an answer whose bytes were not all compared on standard error, also with `--quiet`: for answers that are
/// pictures or data, which have no place for it.
pub(crate) fn report_unchecked(integrity: Integrity, context: &mut Context<'_>) {
    if integrity == Integrity::Unchecked {
        context.warn_always(
            "unchecked: not all bytes of this answer were compared with a checksum; --digests always compares them",
        );
    }
}
