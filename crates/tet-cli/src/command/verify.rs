//! `tet verify`: reports every error of files, with its place.

mod lost;

use std::path::Path;

use tet_convert::Note;
use tet_io::{Source, Writers};
use tet_verify::{Finding, Integrity, Level, Report, Severity, Strictness, VerifyOptions};

use crate::args::VerifyArgs;
use crate::bar::Bar;
use crate::context::Context;
use crate::escape::Message;
use crate::exit::{Exit, Failure, Place, Result};
use crate::open::MIXED;
use crate::render::json::{FindingShape, OmittedShape, Verified};
use crate::size::{Size, counted, grouped};

/// Runs the command: checks all files, and returns the worst exit code.
///
/// # Errors
///
/// The only file cannot be read, or writing to standard output fails.
pub(crate) fn run(args: &VerifyArgs, context: &mut Context<'_>) -> Result<Exit> {
    let mut worst = Exit::Done;
    for path in &args.files {
        context.check_cancelled()?;
        let exit = match verify(path, args, context) {
            Ok((report, writers, part)) => {
                let exit = print_report(path, &report, args, context)?;
                part.iter().for_each(|part| context.warn(part));
                if writers == Writers::Present && report.integrity != Integrity::Verified {
                    context.warn(MIXED);
                }
                exit
            }
            Err(failure) if failure.exit == Exit::Interrupted => return Err(failure),
            Err(failure) if args.files.len() == 1 => return Err(failure),
            Err(failure) => {
                context.fail(&failure, args.json);
                failure.exit
            }
        };
        if exit.code() > worst.code() {
            worst = exit;
        }
    }
    Ok(worst)
}

/// The report of a file, whether another program has it open for writing, and the note that it is a part of a model.
fn verify(
    path: &Path,
    args: &VerifyArgs,
    context: &Context<'_>,
) -> Result<(Report, Writers, Option<Note>)> {
    let about = |failure: Failure| failure.about(path);
    let source = Source::open(tet_convert::document_of(&context.env().at(path)))
        .map_err(|error| about(error.into()))?;
    let bar = Bar::new(context, "verifying", 0);
    let report = tet_convert::verify(&source, &options(args, &bar, context));
    bar.finish();
    let report =
        report.and_then(|report| Ok((report, source.writers(), tet_convert::part_of(&source)?)));
    report.map_err(|error| match error {
        tet_convert::Error::NotVerifiable { format, .. } => {
            // The message contains the path as the user wrote it.
            let text =
                format!("{} is {format}, which `tet verify` cannot check", tet_io::shown(path));
            let advice = tet_convert::reading_advice(format);
            let exit = if advice.is_some() { Exit::Unsupported } else { Exit::Format };
            about(Failure::new(exit, "unknown-format", text)).hint(advice.unwrap_or_default())
        }
        error => about(error.into()),
    })
}

fn options(args: &VerifyArgs, bar: &Bar, context: &Context<'_>) -> VerifyOptions {
    let mut options = VerifyOptions {
        level: if args.quick { Level::Structure } else { Level::Deep },
        ..VerifyOptions::default()
    };
    if args.strict {
        options.strictness = Strictness::Strict;
    }
    if let Some(memory) = args.memory {
        options.memory_budget = memory;
    }
    options.decoded_max = args.max_decoded;
    options.threads = args.threads;
    options.progress = bar.progress(context);
    options
}

fn print_report(
    path: &Path,
    report: &Report,
    args: &VerifyArgs,
    context: &mut Context<'_>,
) -> Result<Exit> {
    let exit = if report.is_ok() { Exit::Done } else { Exit::No };
    if args.json {
        context.json(&shape(path, report, args))?;
    } else if !context.quiet {
        write(path, report, context)?;
    }
    Ok(exit)
}

fn write(path: &Path, report: &Report, context: &mut Context<'_>) -> Result<()> {
    let paint = context.paint;
    let truncated = lost::truncated(report);
    let shown = tet_io::shown(path);
    let (errors, warnings) = (report.count(Severity::Error), report.count(Severity::Warning));
    let facts = format!(
        "{}, {}, {}; {}",
        counted(report.dataset_count, "dataset"),
        counted(report.row_count, "chunk"),
        Size(report.file_len),
        checked_text(report)
    );
    let good = paint.good(if report.level == Level::Deep { "ok" } else { "structure ok" });
    let verdict = match (errors, warnings) {
        (0, 0) => good.to_string(),
        (0, _) => format!("{good}, {}", paint.warning(counted(warnings, "warning"))),
        (_, 0) => paint.wrong(counted(errors, "error")).to_string(),
        _ => {
            let errors = paint.wrong(counted(errors, "error"));
            format!("{errors}, {}", paint.warning(counted(warnings, "warning")))
        }
    };
    let verdict = match &truncated {
        Some(text) => paint.wrong(text).to_string(),
        None => verdict,
    };
    let integrity = match report.integrity {
        Integrity::Mismatch => paint.wrong(report.integrity).to_string(),
        Integrity::Verified => paint.good(report.integrity).to_string(),
        Integrity::Unchecked if report.level != Level::Deep => "data not checked".to_owned(),
        state if report.level != Level::Deep => format!("data not checked, {state}"),
        state => state.to_string(),
    };
    let is_silent = report.integrity == Integrity::Unprotected && report.level == Level::Deep;
    let said = match (errors, is_silent) {
        // Decoding finds what does not decode, and nothing else.
        (0, true) => {
            let warned = if warnings == 0 { String::new() } else { format!("{verdict}, ") };
            format!("{warned}readable; {NOT_NOTICED}")
        }
        (_, true) => verdict,
        _ => format!("{verdict}, {integrity}"),
    };
    context.line(format!("{}: {said} ({facts})", Message(&shown)))?;
    if errors != 0 {
        for line in lost::lines(path, report, context) {
            context.line(format!("  {}", Message(&line)))?;
        }
    }
    if truncated.is_some() {
        let errors = counted(errors, "error");
        return context.line(paint.faint(format!("  {errors} in all: --json lists them")));
    }
    for finding in &report.findings {
        let text = finding.to_string();
        let (severity, rest) = text.split_once(' ').unwrap_or((&text, ""));
        let rest = Message(rest);
        match finding.severity {
            Severity::Error => context.line(format!("  {} {rest}", paint.wrong(severity)))?,
            Severity::Warning => context.line(format!("  {} {rest}", paint.warning(severity)))?,
            Severity::Note => context.line(format!("  {severity} {rest}"))?,
        }
        if !finding.advice().is_empty() {
            context.line(format!("    {}", paint.advice(finding.advice())))?;
        }
    }
    for omitted in &report.omitted {
        let text = format!("  ... and {} more of {}", grouped(omitted.count), omitted.code);
        context.line(paint.faint(text))?;
    }
    Ok(())
}

/// Limits of a check of a file that has no checksums, or not of all values.
const NOT_NOTICED: &str =
    "the file has no checksums of all values, so changed ones may not be noticed";

/// Whether payloads were read and checked, or there are none.
fn is_checked(report: &Report) -> bool {
    report.level == Level::Deep && (report.is_ok() || report.payload_len != 0)
}

/// Numbers of checked objects, as text.
fn checked_text(report: &Report) -> String {
    // Objects that a broken structure hides are in no total.
    let is_broken = |it: &Finding| it.severity == Severity::Error && it.level == Level::Structure;
    let is_whole = report.payload_len == report.stored_len
        && report.gap_len_left == 0
        && !report.findings.iter().any(is_broken);
    let mut words = match report.level {
        Level::Deep if is_checked(report) && is_whole => "every byte",
        // Without checksums the bytes can only be decoded.
        Level::Deep if report.is_ok() && report.integrity == Integrity::Unprotected => {
            "every object decoded, no checksums to compare"
        }
        Level::Deep if report.is_ok() => "every byte that can be checked",
        Level::Deep if report.payload_len != 0 => "every byte except those after errors",
        Level::Deep => "structure, as far as it can be read",
        _ => "structure",
    }
    .to_owned();
    if report.gap_len_left != 0 {
        words += &format!(", {} of no dataset not checked", Size(report.gap_len_left));
    }
    words
}

fn shape(path: &Path, report: &Report, args: &VerifyArgs) -> Verified {
    Verified {
        schema: "tet.verify/1",
        file: tet_io::without_secrets(path).into_owned(),
        ok: report.is_ok(),
        errors: report.count(Severity::Error),
        warnings: report.count(Severity::Warning),
        level: report.level.name(),
        data_checked: is_checked(report),
        integrity: report.integrity.name(),
        strict: args.strict,
        file_len: report.file_len,
        dataset_count: report.dataset_count,
        row_count: report.row_count,
        stored_len: report.stored_len,
        decoded_len: report.decoded_len,
        payload_len: report.payload_len,
        gap_len_left: report.gap_len_left,
        findings: report.findings.iter().map(finding).collect(),
        omitted: report
            .omitted
            .iter()
            .map(|omitted| OmittedShape { code: omitted.code.id(), count: omitted.count })
            .collect(),
    }
}

/// A finding as JSON.
pub(super) fn finding(finding: &Finding) -> FindingShape {
    let place = &finding.place;
    let number = || place.dataset.map(|dataset| format!("#{dataset}"));
    FindingShape {
        code: finding.code.id(),
        severity: finding.severity.name(),
        level: finding.level.name(),
        message: finding.text(),
        place: Place {
            shard: place.shard.clone(),
            region: Some(place.region.to_owned()),
            field: Some(place.field.to_owned()),
            offset: Some(place.offset),
            line: place.line,
            len: Some(place.len),
            dataset: place.dataset_name.clone().or_else(number),
            attribute: place.attribute.clone(),
            chunk: place.chunk.clone(),
            ..Place::default()
        },
        found: finding.found,
        wanted: finding.wanted,
        hint: Some(finding.advice()).filter(|advice| !advice.is_empty()),
    }
}
