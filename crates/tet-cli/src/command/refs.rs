//! `tet refs`: references to the stored chunks of files, for readers of Zarr.

use std::path::{Path, PathBuf};

use tet_convert::{
    EdgeChoice, RefsAddress, RefsOptions, RefsReport, UnsupportedChoice, ZarrFormat,
};

use super::convert::failed;
use crate::args::{EdgesName, RefsArgs};
use crate::bar::Bar;
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::piped;
use crate::render::json::{Referenced, Sidecar};
use crate::size::{Size, counted};

/// The name of a document on its way to standard output.
const NAME: &str = "refs.json";

/// Runs the command.
///
/// # Errors
///
/// A file cannot be read or has no references, an option is invalid, or the output cannot be written.
pub(crate) fn run(args: &RefsArgs, context: &mut Context<'_>) -> Result<Exit> {
    if args.concat.is_none() && 1 < args.files.len() {
        let text = format!("there are {} files", args.files.len());
        let hint =
            "--concat AXIS makes one array of the chunks of all, -o one document of each FILE";
        return Err(Failure::usage("options", text).hint(hint));
    }
    if args.output.as_os_str() == "-" {
        if args.edges == Some(EdgesName::Sidecar) {
            let failure = Failure::usage("options", "--edges sidecar writes a file beside OUT");
            return Err(failure.hint("name OUT with -o, or give --edges inline"));
        }
        if args.json {
            let failure =
                Failure::usage("options", "--json and the document both go to standard output");
            return Err(failure.hint("name OUT with -o"));
        }
        let write = |path: &Path, context: &mut Context<'_>| written(args, path, context);
        let report = piped::text_output(Path::new(NAME), context, write)?;
        context.warn_all(&report.notes);
        return Ok(Exit::Done);
    }
    let output = context.env().at(&args.output);
    let report = written(args, &output, context)?;
    context.warn_all(&report.notes);
    if args.json {
        context.json(&shape(args, &report))?;
    } else {
        print(args, &report, context);
    }
    Ok(Exit::Done)
}

/// The report as JSON.
fn shape(args: &RefsArgs, report: &RefsReport) -> Referenced {
    let text = |path: &Path| tet_io::without_secrets(path).into_owned();
    let sidecar = report.sidecar.as_ref();
    Referenced {
        schema: "tet.refs/1",
        inputs: args.files.iter().map(|file| text(file)).collect(),
        output: text(&args.output),
        output_len: report.output_len,
        array_count: report.array_count,
        stored_count: report.stored_count,
        inlined_count: report.inlined_count,
        sidecar: sidecar.map(|(path, len)| Sidecar { path: text(path), len: *len }),
        notes: report.notes.iter().map(ToString::to_string).collect(),
    }
}

fn print(args: &RefsArgs, report: &RefsReport, context: &mut Context<'_>) {
    let arrays = counted(u64::try_from(report.array_count).unwrap_or(u64::MAX), "array");
    let (stored, inlined) = (report.stored_count, report.inlined_count);
    let output = tet_io::shown(&args.output);
    let chunks = counted(stored, "chunk");
    context.note(format!(
        "wrote {output}: {arrays}, {chunks} in place and {inlined} copied, {}",
        Size(report.output_len)
    ));
    if let Some((path, len)) = &report.sidecar {
        context.note(format!("wrote {}: filled edge chunks, {}", tet_io::shown(path), Size(*len)));
    }
}

/// Writes the document to the file `output`.
fn written(args: &RefsArgs, output: &Path, context: &mut Context<'_>) -> Result<RefsReport> {
    let files: Vec<PathBuf> = args.files.iter().map(|file| context.env().at(file)).collect();
    let bar = Bar::new(context, "locating chunks", 0);
    let mut options = options(args, context);
    options.execution.progress = bar.progress(context);
    let report = tet_convert::write_references(&files, output, &options);
    bar.finish();
    let report = report.map_err(|error| failed(error, &args.files, &args.output));
    report.map_err(|failure| match failure.code.as_str() {
        "merge" => of_files(failure).hint("--exclude leaves the dataset out"),
        "references" => of_files(failure),
        _ => open::footer_hint(failure, args.read.no_footer),
    })
}

/// A failure whose message names its files.
fn of_files(mut failure: Failure) -> Failure {
    failure.file = None;
    failure
}

fn options(args: &RefsArgs, context: &Context<'_>) -> RefsOptions {
    let (overwrite, sync) = open::publish_options(args.write);
    let url = args.url.clone();
    RefsOptions {
        include: args.dataset.clone(),
        exclude: args.exclude.clone(),
        format: if args.zarr == "3" { ZarrFormat::V3 } else { ZarrFormat::V2 },
        edges: match args.edges {
            None => EdgeChoice::Refused,
            Some(EdgesName::Inline) => EdgeChoice::Inline,
            Some(EdgesName::Sidecar) => EdgeChoice::Sidecar,
        },
        inline_len: args.inline,
        address: url.map_or(RefsAddress::Path, RefsAddress::Prefix),
        unsupported: match args.skip_unsupported {
            true => UnsupportedChoice::Skipped,
            false => UnsupportedChoice::Refused,
        },
        concat: args.concat.clone(),
        overwrite,
        sync,
        open: open::options(&args.read),
        execution: open::with_flags(open::unflagged(context), &args.read),
    }
}
