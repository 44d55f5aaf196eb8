//! `tet digest`: writes lists of checksums of files, and compares files with them.

mod members;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tet_io::{Publish, Publisher, Source};
use tet_verify::sum::{RangeContent, Sum, contents};

use self::members::ListedFile;
use crate::args::{DigestCheckArgs, DigestCreateArgs, DigestVerb};
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
        DigestVerb::Create(args) => create(args, context),
        DigestVerb::Check(args) => check(args, context),
    }
}

fn source(path: &Path, asked: &Path) -> Result<Source> {
    Source::open(path).map_err(|error| Failure::from(error).about(asked))
}

fn create(args: &DigestCreateArgs, context: &mut Context<'_>) -> Result<Exit> {
    let (files, given) = match (&args.files[..], &args.output) {
        ([file, sum], None) if is_list_name(sum) => (vec![file.clone()], Some(sum.clone())),
        (files, output) => (files.to_vec(), output.clone()),
    };
    if given.is_some() && files.len() != 1 {
        let text = "one list is of one file or folder";
        return Err(
            Failure::usage("list", text).hint("without --output each has its own, FILE.sum")
        );
    }
    for file in &files {
        let output = given.clone().unwrap_or_else(|| default_list(file));
        create_one(file, &output, args, context)?;
    }
    Ok(Exit::Done)
}

/// Writes the list of a file or of a folder.
fn create_one(
    file: &Path,
    output: &Path,
    args: &DigestCreateArgs,
    context: &mut Context<'_>,
) -> Result<()> {
    let path = context.env().at(file);
    let target = context.env().at(output);
    let (force, sync) = open::publish_options(args.write);
    let members = members::list(&path, file)?;
    let about = |error: tet_io::Error| Failure::from(error).about(file);
    let stamp = match &members[..] {
        [member] => member.open().map_err(about)?.stamp(),
        _ => None,
    };
    let inputs = stamp.into_iter().collect();
    let publish = Publish { force, sync, inputs, ..Publish::default() };
    let exists = |error: tet_io::Error| Failure::from(error).about(output);
    let mut publisher = Publisher::begin(&target, &publish).map_err(exists)?;
    let (mut block_count, mut file_len) = (0_u64, 0_u64);
    for member in &members {
        let progress = Bar::new(context, "digesting", 0).progress(context);
        let source = member.open().map_err(about)?;
        let sum = Sum::compute(&source, &member.name, &progress);
        let sum = sum.map_err(|error| Failure::from(error).about(file))?;
        let written = publisher.write_all(sum.to_text().as_bytes());
        written.map_err(|error| publisher.write_fault(error))?;
        block_count = block_count.saturating_add(sum.blocks.len() as u64);
        file_len = file_len.saturating_add(sum.file_len);
    }
    publisher.commit().map_err(exists)?;
    if args.json {
        let output = Some(tet_io::without_secrets(output).into_owned());
        context.json(&shape(file, output, file_len))?;
    } else {
        let of_files = match members.len() {
            1 => String::new(),
            count => format!("{}, ", counted(count as u64, "file")),
        };
        let blocks = counted(block_count, "block");
        context.note(format!("wrote {}: {of_files}{blocks}", tet_io::shown(output)));
    }
    Ok(())
}

/// Whether a path is named as lists are.
fn is_list_name(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("sum"))
}

/// The default path of the list of a file; for a URL, in the current folder.
fn default_list(file: &Path) -> PathBuf {
    let is_url = tet_io::is_url(file);
    // A slash behind the name of a folder is no part of it.
    let plain: PathBuf = file.components().collect();
    let mut name = if is_url { tet_io::file_name(file).into() } else { OsString::from(plain) };
    name.push(".sum");
    name.into()
}

fn check(args: &DigestCheckArgs, context: &mut Context<'_>) -> Result<Exit> {
    let is_list = |path: &Path, context: &Context<'_>| {
        is_list_name(path) || members::is_list(&context.env().at(path))
    };
    if let [sum, file] = &args.files[..]
        && is_list(sum, context)
        && !is_list(file, context)
    {
        return check_one(sum, Some(file), args, context);
    }
    let mut exit = Exit::Done;
    for path in &args.files {
        let list = default_list(path);
        let checked = if is_list(path, context) {
            check_one(path, None, args, context)
        } else if context.env().at(&list).exists() {
            check_one(&list, Some(path), args, context)
        } else {
            let text =
                format!("there is no list of {}: {}", tet_io::shown(path), tet_io::shown(&list));
            Err(Failure::new(Exit::Environment, "no-list", text)
                .hint(format!("`tet digest create {}` writes it", tet_io::shown(path))))
        };
        if checked? == Exit::No {
            exit = Exit::No;
        }
    }
    Ok(exit)
}

/// Compares a file or a folder with its list.
fn check_one(
    list: &Path,
    file: Option<&Path>,
    args: &DigestCheckArgs,
    context: &mut Context<'_>,
) -> Result<Exit> {
    let sums = read_sum(&context.env().at(list), list)?;
    let folder = file.map_or_else(|| list.with_extension(""), Path::to_path_buf);
    if context.env().at(&folder).is_dir() {
        return check_folder(&folder, list, &sums, args, context);
    }
    let [sum] = &sums[..] else {
        let text = format!("{} is a list of {} files", tet_io::shown(list), sums.len());
        return Err(Failure::usage("list", text).hint("give the folder that they are in after it"));
    };
    let file = match file {
        Some(file) => file.to_path_buf(),
        None => named(list, &sum.name)?,
    };
    let source = source(&context.env().at(&file), &file)?;
    let comparison = compare(sum, &source, &file, context)?;
    report(&comparison, &file, list, args, context)?;
    Ok(if comparison.differs.is_empty() { Exit::Done } else { Exit::No })
}

/// Compares the files of a folder with its list: those that are missing and those that are new have changed.
fn check_folder(
    folder: &Path,
    list: &Path,
    sums: &[Sum],
    args: &DigestCheckArgs,
    context: &mut Context<'_>,
) -> Result<Exit> {
    let members = members::list(&context.env().at(folder), folder)?;
    let mut members: BTreeMap<String, ListedFile> =
        members.into_iter().map(|it| (it.name.clone(), it)).collect();
    let mut differing = 0_u64;
    for sum in sums {
        let path = folder.join(&sum.name);
        match members.remove(&sum.name) {
            Some(member) => {
                let source = member.open().map_err(|error| Failure::from(error).about(&path))?;
                let comparison = compare(sum, &source, &path, context)?;
                differing += u64::from(!comparison.differs.is_empty());
                if args.json || !comparison.differs.is_empty() {
                    report(&comparison, &path, list, args, context)?;
                }
            }
            None => {
                differing += 1;
                differing_file(&path, "missing", list, args, context)?;
            }
        }
    }
    for name in members.keys() {
        differing += 1;
        differing_file(&folder.join(name), "new", list, args, context)?;
    }
    if !args.json && !context.quiet {
        let count = counted(sums.len() as u64, "file");
        let word = match differing {
            0 => context.paint.good("ok").to_string(),
            differing => format!("{differing} changed"),
        };
        context.line(format!("{}: {word} ({count})", Message(&tet_io::without_secrets(folder))))?;
    }
    Ok(if differing == 0 { Exit::Done } else { Exit::No })
}

/// Says what became of a file that only one of list and folder has.
fn differing_file(
    file: &Path,
    word: &str,
    list: &Path,
    args: &DigestCheckArgs,
    context: &mut Context<'_>,
) -> Result<()> {
    if args.json {
        let output = Some(tet_io::without_secrets(list).into_owned());
        return context.json(&DigestShape { ok: false, ..shape(file, output, 0) });
    }
    if context.quiet {
        return Ok(());
    }
    let word = context.paint.wrong(word).to_string();
    context.line(format!("{}: {word}", Message(&tet_io::without_secrets(file))))
}

/// How a file differs from its list.
struct Comparison {
    file_len: u64,
    /// The bytes that differ.
    differs: Vec<Range<u64>>,
    /// The parts of the file that have such bytes.
    holds: Vec<RangeContent>,
}

/// Compares a file with its list.
fn compare(
    sum: &Sum,
    source: &Source,
    file: &Path,
    context: &mut Context<'_>,
) -> Result<Comparison> {
    let about = |error: tet_verify::Error| Failure::from(error).about(file);
    let progress = Bar::new(context, "comparing", 0).progress(context);
    let differs = sum.compare(source, &progress).map_err(about)?;
    drop(progress);
    let holds =
        if differs.is_empty() { Vec::new() } else { contents(source, &differs).map_err(about)? };
    Ok(Comparison { file_len: source.len(), differs, holds })
}

fn report(
    comparison: &Comparison,
    file: &Path,
    list: &Path,
    args: &DigestCheckArgs,
    context: &mut Context<'_>,
) -> Result<()> {
    let Comparison { file_len, differs, holds } = comparison;
    if args.json {
        let output = Some(tet_io::without_secrets(list).into_owned());
        let spans = differs
            .iter()
            .map(|it| SpanShape { offset: it.start, len: it.end.saturating_sub(it.start) });
        context.json(&DigestShape {
            ok: differs.is_empty(),
            differs: spans.collect(),
            holds: holds.iter().map(part_shape).collect(),
            ..shape(file, output, *file_len)
        })?;
    } else if !context.quiet {
        write(file, differs, holds, context)?;
    }
    Ok(())
}

fn read_sum(path: &Path, asked: &Path) -> Result<Vec<Sum>> {
    let source = source(path, asked)?;
    if SUM_LEN_MAX < source.len() {
        let text = format!("a list of {} is too long", Size(source.len()));
        return Err(Failure::new(Exit::Limit, "limit", text).about(asked));
    }
    let mut bytes = vec![0; usize::try_from(source.len()).unwrap_or(0)];
    source.read_exact_at(0, &mut bytes).map_err(|error| Failure::from(error).about(asked))?;
    let text = str::from_utf8(&bytes).unwrap_or_default();
    Sum::parse_all(text).map_err(|error| {
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
