//! `tet digest`: adds digests to files, and compares files with lists of checksums.

use std::ffi::OsString;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tet_format::Limits;
use tet_io::{Publish, Publisher, Source};
use tet_verify::protect::protect;
use tet_verify::repair::Output;
use tet_verify::sum::{RangeContent, Sum, contents};

use crate::args::{DigestAddArgs, DigestCheckArgs, DigestCreateArgs, DigestVerb};
use crate::bar::Bar;
use crate::context::Context;
use crate::escape::{Escaped, Message};
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::render::json::{ChangedPartShape, DigestShape, SpanShape};
use crate::size::{Size, counted};

/// The most bytes of a list.
const SUM_LEN_MAX: u64 = 1 << 30;

/// At most this many changed chunks are listed.
const NAMED_MAX: usize = 20;

/// Runs the command.
///
/// # Errors
///
/// The file or the list cannot be read, or the output cannot be written.
pub(crate) fn run(verb: &DigestVerb, context: &mut Context<'_>) -> Result<Exit> {
    match verb {
        DigestVerb::Add(args) => add(args, context),
        DigestVerb::Create(args) => create(args, context),
        DigestVerb::Check(args) => check(args, context),
    }
}

fn add(args: &DigestAddArgs, context: &mut Context<'_>) -> Result<Exit> {
    let path = context.env().at(&args.file);
    let source = source(&path, &args.file)?;
    check_format(&source, &args.file)?;
    let (force, sync) = open::publish_options(args.write);
    let publish = Publish { force, sync, ..Publish::default() };
    let output = args.output.as_ref().map(|output| context.env().at(output));
    let place = output.as_deref().map_or(Output::InPlace(&path), Output::NewFile);
    let bar = Bar::new(context, "digesting", 0);
    let progress = bar.progress(context);
    let added = protect(&source, place, &publish, &Limits::default(), &progress);
    bar.finish();
    let added = added.map_err(|error| refused(error, &args.file))?;
    let written = args.output.as_ref().unwrap_or(&args.file);
    if args.json {
        let output = added.map(|_| tet_io::without_secrets(written).into_owned());
        let file_len = added.unwrap_or_else(|| source.len());
        context.json(&shape(&args.file, output, file_len))?;
    } else {
        match added {
            None => context.note(format!("{} has digests that match", tet_io::shown(&args.file))),
            Some(len) => context.note(format!("wrote {}: {}", tet_io::shown(written), Size(len))),
        }
    }
    Ok(Exit::Done)
}

/// Refuses a file of another format than `.tet`. A file of unknown format may be a damaged `.tet` file.
fn check_format(source: &Source, file: &Path) -> Result<()> {
    let format = tet_convert::sniff(source).map_err(|error| Failure::from(error).about(file))?;
    if format.may_be_tet() {
        return Ok(());
    }
    let text = format!("{} is {format}, and digests are added to .tet files", tet_io::shown(file));
    let hint = "`tet digest create` writes the checksums of any file into a second file";
    Err(Failure::usage("no-digests", text).hint(hint))
}

/// The failure of `tet digest add`, with a hint if the file is damaged.
fn refused(error: tet_verify::Error, file: &Path) -> Failure {
    use tet_verify::Error as E;
    let hint = match &error {
        E::NotSound { .. } => "run `tet repair` to see what can be repaired",
        E::Unused { .. } => "`tet repair` removes them",
        _ => "",
    };
    Failure::from(error).hint(hint).about(file)
}

fn source(path: &Path, asked: &Path) -> Result<Source> {
    Source::open(path).map_err(|error| Failure::from(error).about(asked))
}

fn create(args: &DigestCreateArgs, context: &mut Context<'_>) -> Result<Exit> {
    let source = source(&context.env().at(&args.file), &args.file)?;
    let name = tet_io::file_name(&args.file);
    let output = args.sum.clone().unwrap_or_else(|| default_list(&args.file));
    let target = context.env().at(&output);
    let (force, sync) = open::publish_options(args.write);
    let publish =
        Publish { force, sync, inputs: source.stamp().into_iter().collect(), ..Publish::default() };
    let exists = |error: tet_io::Error| Failure::from(error).about(&output);
    let mut publisher = Publisher::begin(&target, &publish).map_err(exists)?;
    let sum = Sum::of(&source, &name, &Bar::new(context, "digesting", 0).progress(context));
    let sum = sum.map_err(|error| Failure::from(error).about(&args.file))?;
    let text = sum.to_text();
    publisher.write_all(text.as_bytes()).map_err(|error| publisher.write_fault(error))?;
    publisher.commit().map_err(exists)?;
    if args.json {
        let output = Some(tet_io::without_secrets(&output).into_owned());
        context.json(&shape(&args.file, output, sum.file_len))?;
    } else {
        let blocks = counted(sum.blocks.len() as u64, "block");
        context.note(format!("wrote {}: {blocks}", tet_io::shown(&output)));
    }
    Ok(Exit::Done)
}

/// The default path of the list of a file; for a URL, in the current folder.
fn default_list(file: &Path) -> PathBuf {
    let is_url = tet_io::is_url(file);
    let mut name = if is_url { tet_io::file_name(file).into() } else { OsString::from(file) };
    name.push(".sum");
    name.into()
}

fn check(args: &DigestCheckArgs, context: &mut Context<'_>) -> Result<Exit> {
    let sum = read_sum(&context.env().at(&args.sum), &args.sum)?;
    let file = match &args.file {
        Some(file) => file.clone(),
        None => named(&args.sum, &sum.name)?,
    };
    let source = source(&context.env().at(&file), &file)?;
    let about = |error: tet_verify::Error| Failure::from(error).about(&file);
    let progress = Bar::new(context, "comparing", 0).progress(context);
    let differs = sum.compare(&source, &progress).map_err(about)?;
    drop(progress);
    let holds =
        if differs.is_empty() { Vec::new() } else { contents(&source, &differs).map_err(about)? };
    if args.json {
        let output = Some(tet_io::without_secrets(&args.sum).into_owned());
        let spans = differs
            .iter()
            .map(|it| SpanShape { offset: it.start, len: it.end.saturating_sub(it.start) });
        context.json(&DigestShape {
            ok: differs.is_empty(),
            differs: spans.collect(),
            holds: holds.iter().map(part_shape).collect(),
            ..shape(&file, output, source.len())
        })?;
    } else if !context.quiet {
        write(&file, &differs, &holds, context)?;
    }
    Ok(if differs.is_empty() { Exit::Done } else { Exit::No })
}

fn read_sum(path: &Path, asked: &Path) -> Result<Sum> {
    let source = source(path, asked)?;
    if SUM_LEN_MAX < source.len() {
        let text = format!("a list of {} is too long", Size(source.len()));
        return Err(Failure::new(Exit::Limit, "limit", text).about(asked));
    }
    let mut bytes = vec![0; usize::try_from(source.len()).unwrap_or(0)];
    source.read_exact_at(0, &mut bytes).map_err(|error| Failure::from(error).about(asked))?;
    let text = str::from_utf8(&bytes).unwrap_or_default();
    Sum::parse(text).map_err(|error| {
        let failure = Failure::from(error).about(asked);
        // The argument may be the file itself instead of its list.
        let [list, at] = [asked, path].map(|path| {
            let mut name = path.as_os_str().to_owned();
            name.push(".sum");
            PathBuf::from(name)
        });
        if at.exists() {
            failure.hint(format!("did you mean {}?", tet_io::shown(&list)))
        } else {
            failure.hint("give the .sum file that `tet digest create` wrote")
        }
    })
}

/// The file that a list names; it must be in the directory of the list.
fn named(sum: &Path, name: &str) -> Result<PathBuf> {
    let is_plain = Path::new(name).file_name().is_some_and(|plain| plain == name);
    if !is_plain || name.contains(['/', '\\']) {
        let text = format!("the list names \"{}\", which is not a file name", Escaped(name));
        return Err(Failure::usage("name", text).hint("give the file after the list").about(sum));
    }
    Ok(sum.with_file_name(name))
}

fn write(
    file: &Path,
    differs: &[Range<u64>],
    holds: &[RangeContent],
    context: &mut Context<'_>,
) -> Result<()> {
    let paint = context.paint;
    let name = tet_io::without_secrets(file);
    if differs.is_empty() {
        return context.line(format!("{}: {}", Message(&name), paint.good("ok")));
    }
    context.line(format!("{}: {}", Message(&name), paint.wrong("changed")))?;
    for Range { start, end } in differs {
        context.line(format!("  bytes {start} to {end} differ"))?;
    }
    for held in holds.iter().take(NAMED_MAX) {
        let text = match held {
            RangeContent::Chunk { dataset, coord } => {
                format!("dataset \"{}\", chunk {coord:?}", Escaped(dataset))
            }
            RangeContent::Structure => "superblock, directory or index".to_owned(),
            _ => "footer".to_owned(),
        };
        context.line(format!("  changed: {text}"))?;
    }
    if let Some(more) = holds.len().checked_sub(NAMED_MAX).filter(|&more| more != 0) {
        context.line(paint.faint(format!("  ... and {more} more")))?;
    }
    Ok(())
}

fn part_shape(held: &RangeContent) -> ChangedPartShape {
    type Shape = ChangedPartShape;
    match held {
        RangeContent::Chunk { dataset, coord } => {
            Shape { what: "chunk", dataset: Some(dataset.clone()), chunk: Some(coord.clone()) }
        }
        RangeContent::Structure => Shape { what: "structure", dataset: None, chunk: None },
        RangeContent::Footer => Shape { what: "footer", dataset: None, chunk: None },
    }
}

fn shape(file: &Path, output: Option<String>, file_len: u64) -> DigestShape {
    let file = tet_io::without_secrets(file).into_owned();
    let (differs, holds) = (Vec::new(), Vec::new());
    DigestShape { schema: "tet.digest/1", file, output, ok: true, file_len, differs, holds }
}
