//! `tet tgm`: lists Tensogram files, and edits them without changing payloads.

mod ls;
mod value;

use std::path::Path;

use tet_convert::Format;
use tet_io::{Output, Progress, Publish, Source, Stamp, commit_all};
use tet_tensogram::edit::{
    self, Assignment, Clash, Filter, Image, Key, Provenance, Template, split_outside,
};
use tet_tensogram::{Limits, Maker, TensogramFile};

use crate::args::{
    ProvenanceName, StrategyName, TgmAppendArgs, TgmCopyArgs, TgmMergeArgs, TgmProvenanceArgs,
    TgmReshuffleArgs, TgmSetArgs, TgmSplitArgs, TgmVerb, TgmWhereArgs, WriteArgs,
};
use crate::bar::Bar;
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::size::{Size, counted};

/// Runs the command.
///
/// # Errors
///
/// A file cannot be read, a key or a clause is invalid, or the output cannot be written.
pub(crate) fn run(verb: &TgmVerb, context: &mut Context<'_>) -> Result<Exit> {
    match verb {
        TgmVerb::Ls(args) => ls::list(args, context),
        TgmVerb::Get(args) => ls::get(args, context),
        TgmVerb::Set(args) => set(args, context),
        TgmVerb::Copy(args) => copy(args, context),
        TgmVerb::Merge(args) => merge(args, context),
        TgmVerb::Split(args) => split(args, context),
        TgmVerb::Reshuffle(args) => reshuffle(args, context),
        TgmVerb::Append(args) => append(args, context),
    }
}

fn set(args: &TgmSetArgs, context: &mut Context<'_>) -> Result<Exit> {
    let (filter, assignments) = (filter(&args.filter)?, assignments(args)?);
    let input = open_file(&args.input, context)?;
    let provenance = provenance(args.provenance, ProvenanceName::New, context);
    let edited = edit::set(&input, &filter, &assignments, provenance);
    let (image, changed) = edited.map_err(|error| of_input(error, &args.input))?;
    if changed == 0 {
        context.warn("no message is changed: no object matches, or all have these values already");
    }
    save_edit(&image, &input, &args.output, args.write, context)
}

fn assignments(args: &TgmSetArgs) -> Result<Vec<Assignment>> {
    let mut assignments = Vec::new();
    for text in args.set.iter().flat_map(|texts| split_outside(texts, ',')) {
        let Some((key, value)) = text.split_once('=') else {
            let text = format!("{text:?} does not set a key");
            return Err(Failure::usage("key", text).hint("write KEY=VALUE,KEY=VALUE"));
        };
        let key = settable(key.trim())?;
        let value = value::value_of_text(value.trim()).map_err(|it| past(&key, &it))?;
        assignments.push(Assignment { key, value: Some(value) });
    }
    for key in &args.unset {
        assignments.push(Assignment { key: settable(key)?, value: None });
    }
    Ok(assignments)
}

/// The failure for an integer out of range.
fn past(key: &Key, integer: &str) -> Failure {
    let text = format!("key {:?}: {integer} is not in the range -2^64 to 2^64 - 1", key.text());
    Failure::usage("key", text).hint("write a float with .0, and digits as text in quotes: '\"1\"'")
}

fn settable(text: &str) -> Result<Key> {
    let key = Key::parse(text)?;
    key.check_settable()?;
    Ok(key)
}

fn copy(args: &TgmCopyArgs, context: &mut Context<'_>) -> Result<Exit> {
    let (filter, template) = (filter(&args.filter)?, Template::parse(&args.output)?);
    let input = open_file(&args.input, context)?;
    let images = edit::copy(&input, &filter, &template);
    let images = images.map_err(|error| of_input(error, &args.input))?;
    if images.is_empty() {
        let failure = Failure::usage("no-match", "no object matches, and nothing was written");
        return Err(failure.about(&args.input).hint("`tet tgm ls -w CLAUSES` lists the matches"));
    }
    save_all(&images, &input, args.write, context)
}

fn merge(args: &TgmMergeArgs, context: &mut Context<'_>) -> Result<Exit> {
    let open = |path| open_file(path, context);
    let inputs = args.inputs.iter().map(|path| open(path)).collect::<Result<Vec<_>>>()?;
    let clash = match args.strategy {
        StrategyName::First => Clash::First,
        StrategyName::Last => Clash::Last,
        StrategyName::Error => Clash::Refused,
    };
    // Errors of `merge` do not name the file, so each file is checked on its own.
    for (input, path) in inputs.iter().zip(&args.inputs) {
        edit::check_sound(input).map_err(|error| of_input(error, path))?;
    }
    let provenance = provenance(args.provenance, ProvenanceName::New, context);
    let image = edit::merge(&inputs, clash, provenance).map_err(Failure::from);
    let alone = |failure: Failure| match args.inputs.as_slice() {
        [path] => failure.about(path),
        _ => failure,
    };
    let (target, publish) = (context.env().at(&args.output), publish(args.write, &inputs));
    save(&image.map_err(alone)?, Output::NewFile(&target), &args.output, &publish, context)
}

fn split(args: &TgmSplitArgs, context: &mut Context<'_>) -> Result<Exit> {
    let template = Template::parse(&args.output)?.numbered();
    let input = open_file(&args.input, context)?;
    let provenance = provenance(args.provenance, ProvenanceName::New, context);
    let images = edit::split(&input, &template, provenance);
    let images = images.map_err(|error| of_input(error, &args.input))?;
    save_all(&images, &input, args.write, context)
}

fn reshuffle(args: &TgmReshuffleArgs, context: &mut Context<'_>) -> Result<Exit> {
    let input = open_file(&args.input, context)?;
    let provenance = provenance(args.provenance, ProvenanceName::Keep, context);
    let edited = edit::reshuffle(&input, provenance);
    let (image, _) = edited.map_err(|error| of_input(error, &args.input))?;
    save_edit(&image, &input, &args.output, args.write, context)
}

fn append(args: &TgmAppendArgs, context: &mut Context<'_>) -> Result<Exit> {
    let target = open_file(&args.file, context)?;
    edit::check_sound(&target).map_err(|error| of_input(error, &args.file))?;
    let mut image = Image::behind(&target);
    for path in &args.inputs {
        let hint = "`tet convert` converts it to a .tgm file, which can be appended";
        let input = open_file(path, context).map_err(|failure| match &*failure.code {
            "not-tensogram" => failure.hint(hint),
            _ => failure,
        })?;
        let about = |error| of_input(error, path);
        edit::check_sound(&input).map_err(about)?;
        (0..input.len()).try_for_each(|number| image.copy(&input, number)).map_err(about)?;
    }
    if args.in_place {
        let written = with_bar(&image, "appending", context, |it| image.append_in_place(it));
        written.map_err(|error| Failure::from(error).about(&args.file))?;
        print_written(&image, &args.file, context);
        return Ok(Exit::Done);
    }
    let write = WriteArgs { force: false, no_sync: args.no_sync };
    let file = context.env().at(&args.file);
    save(&image, Output::InPlace(&file), &args.file, &publish(write, &[]), context)
}

/// Opens a Tensogram file; the failure for another container names its format.
fn open_file(path: &Path, context: &Context<'_>) -> Result<TensogramFile> {
    let about = |failure: Failure| failure.about(path);
    let source = Source::open(context.env().at(path)).map_err(|it| about(it.into()))?;
    let format = tet_convert::sniff(&source).map_err(|it| about(it.into()))?;
    if format == Format::EMPTY {
        let text = format!("{} is {format}", tet_io::shown(path));
        return Err(about(Failure::new(Exit::Format, "unknown-format", text)));
    }
    if !matches!(format, Format::TENSOGRAM | Format::UNKNOWN) {
        let text = format!("{} is {format}, and `tet tgm` is for .tgm files", tet_io::shown(path));
        return Err(Failure::usage("not-tensogram", text));
    }
    TensogramFile::open(source, &Limits::default()).map_err(|error| about(error.into()))
}

/// The failure of an input, with a hint if the file is damaged.
fn of_input(error: tet_tensogram::Error, path: &Path) -> Failure {
    let is_damage = matches!(error, tet_tensogram::Error::Format(_));
    let failure = Failure::from(error).about(path);
    if is_damage {
        failure.hint("nothing was written; `tet verify` lists all errors")
    } else {
        failure
    }
}

fn filter(args: &TgmWhereArgs) -> Result<Filter> {
    let mut filter = Filter::default();
    for text in &args.clauses {
        filter = filter.and(Filter::parse(text)?);
    }
    Ok(filter)
}

fn provenance(
    args: TgmProvenanceArgs,
    default: ProvenanceName,
    context: &Context<'_>,
) -> Provenance {
    let none = args.no_provenance.then_some(ProvenanceName::None);
    match none.or(args.provenance).unwrap_or(default) {
        ProvenanceName::Keep => Provenance::Kept,
        ProvenanceName::None => Provenance::Absent,
        ProvenanceName::New => {
            let (version, time) = (env!("CARGO_PKG_VERSION"), context.env().now());
            Provenance::New(Maker { name: "tet", version, time })
        }
    }
}

/// Writes a file; `path` is the output as the user wrote it.
fn save(
    image: &Image,
    output: Output<'_>,
    path: &Path,
    publish: &Publish,
    context: &mut Context<'_>,
) -> Result<Exit> {
    let saved = with_bar(image, "writing", context, |it| image.save(output, publish, it));
    saved.map_err(|error| Failure::from(error).about(path))?;
    print_written(image, path, context);
    Ok(Exit::Done)
}

/// Writes a file that is made from `input`, and may replace it.
fn save_edit(
    image: &Image,
    input: &TensogramFile,
    path: &Path,
    write: WriteArgs,
    context: &mut Context<'_>,
) -> Result<Exit> {
    let target = context.env().at(path);
    let there = std::fs::metadata(&target).ok();
    let there = there.map(|metadata| Stamp::from_metadata(&metadata));
    let is_input =
        there.zip(input.source().stamp()).is_some_and(|(there, input)| input.is_same_file(&there));
    let output = if is_input { Output::InPlace(&target) } else { Output::NewFile(&target) };
    save(image, output, path, &publish(write, std::slice::from_ref(input)), context)
}

/// Writes all files, and renames them when all are complete; the input is not among them.
fn save_all(
    images: &[(String, Image)],
    input: &TensogramFile,
    write: WriteArgs,
    context: &mut Context<'_>,
) -> Result<Exit> {
    let publish = publish(write, std::slice::from_ref(input));
    let at = |name: &String| context.env().at(name.as_ref());
    for (name, image) in images {
        let checked = image.check_target(&at(name), &publish);
        checked.map_err(|error| Failure::from(error).about(name.as_ref()))?;
    }
    let mut settled = Vec::new();
    for (name, image) in images {
        context.check_cancelled()?;
        let written =
            with_bar(image, "writing", context, |it| image.settle(&at(name), &publish, it));
        settled.push(written.map_err(|error| Failure::from(error).about(name.as_ref()))?);
    }
    context.check_cancelled()?;
    commit_all(settled, None)?;
    for (name, image) in images {
        print_written(image, name.as_ref(), context);
    }
    Ok(Exit::Done)
}

/// Writes with a progress bar; Ctrl-C cancels it.
fn with_bar<T>(
    image: &Image,
    what: &str,
    context: &Context<'_>,
    write: impl FnOnce(&Progress) -> T,
) -> T {
    let bar = Bar::new(context, what, image.len());
    let done = write(&bar.progress(context));
    bar.finish();
    done
}

fn publish(write: WriteArgs, inputs: &[TensogramFile]) -> Publish {
    let (force, sync) = open::publish_options(write);
    let inputs = inputs.iter().filter_map(|input| input.source().stamp()).collect();
    Publish { force, sync, inputs, ..Publish::default() }
}

fn print_written(image: &Image, path: &Path, context: &mut Context<'_>) {
    let count = counted(u64::try_from(image.message_count()).unwrap_or(0), "message");
    context.note(format!("wrote {}: {count}, {}", tet_io::shown(path), Size(image.len())));
}
