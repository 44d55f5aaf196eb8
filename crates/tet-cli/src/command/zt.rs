//! `tet zt`: edits zTensor files without changing the bytes of tensors.

use std::path::{Path, PathBuf};

use tet_convert::{AppendPlace, ConvertOptions, Format};
use tet_io::{Publish, Source};
use tet_ztensor::Limits;
use tet_ztensor::edit::{Draft, Output};

use super::convert;
use crate::args::{
    ZtAppendArgs, ZtCompactArgs, ZtDropArgs, ZtPlaceArgs, ZtRenameArgs, ZtSetArgs, ZtVerb,
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
/// The file cannot be read, a name or a field is unknown, or the output cannot be written.
pub(crate) fn run(verb: &ZtVerb, context: &mut Context<'_>) -> Result<Exit> {
    match verb {
        ZtVerb::Rename(ZtRenameArgs { file, name, to, place }) => {
            edit(file, place, context, |draft| Ok(draft.rename(name, to)?))
        }
        ZtVerb::Drop(ZtDropArgs { file, names, place }) => edit(file, place, context, |draft| {
            names.iter().try_for_each(|name| Ok(draft.remove(name)?))
        }),
        ZtVerb::Set(args) => edit(&args.file, &args.place, context, |draft| set(draft, args)),
        ZtVerb::Compact(ZtCompactArgs { file, place }) => edit(file, place, context, |draft| {
            draft.compact();
            Ok(())
        }),
        ZtVerb::Append(args) => append(args, context),
    }
}

fn edit(
    file: &Path,
    place: &ZtPlaceArgs,
    context: &mut Context<'_>,
    change: impl FnOnce(&mut Draft) -> Result<()>,
) -> Result<Exit> {
    let path = context.env().at(file);
    let source = Source::open(&path).map_err(|error| Failure::from(error).about(file))?;
    let about = |failure: Failure| failure.about(file);
    check_format(&source, file)?;
    let draft = Draft::open(&source, &Limits::default());
    let mut draft = draft.map_err(|error| about(error.into()))?;
    change(&mut draft).map_err(about)?;
    let (force, sync) = open::publish_options(place.write);
    let publish = Publish { force, sync, inputs: Vec::new() };
    let output: Option<PathBuf> = place.output.as_ref().map(|output| context.env().at(output));
    let target = output.as_deref().map_or(Output::InPlace(&path), Output::NewFile);
    let named = place.output.as_deref().unwrap_or(file);
    let written =
        draft.save(target, &publish).map_err(|error| Failure::from(error).about(named))?;
    let count = counted(written.tensor_count, "tensor");
    context.note(format!("wrote {}: {count}, {}", tet_io::shown(named), Size(written.file_len)));
    Ok(Exit::Done)
}

/// Checks that the file is a zTensor file; the failure for another container names its format.
fn check_format(source: &Source, file: &Path) -> Result<()> {
    let format = tet_convert::sniff(source).map_err(|error| Failure::from(error).about(file))?;
    if matches!(format, Format::ZTENSOR | Format::UNKNOWN) {
        return Ok(());
    }
    let text = format!(
        "{} is {format}, and `tet zt` edits zTensor files of version 0.1.0",
        tet_io::shown(file)
    );
    Err(Failure::usage("not-ztensor", text).hint("`tet convert` converts it to such a .zt file"))
}

fn set(draft: &mut Draft, args: &ZtSetArgs) -> Result<()> {
    for text in &args.fields {
        let Some((key, value)) = text.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            let text = format!("{text:?} is not a field");
            return Err(Failure::usage("field", text).hint("write KEY=VALUE"));
        };
        draft.set(&args.name, key, &tet_convert::field_of_text(value))?;
    }
    for key in &args.unset {
        if !draft.unset(&args.name, key)? {
            let text = format!("{:?} has no field {key:?}", args.name);
            return Err(Failure::usage("field", text).hint("`tet info FILE --metadata` lists them"));
        }
    }
    Ok(())
}

fn append(args: &ZtAppendArgs, context: &mut Context<'_>) -> Result<Exit> {
    let mut options = ConvertOptions::default();
    convert::check_level(&args.store)?;
    options.ztensor = convert::ztensor_options(&args.store, &args.zt)?;
    options.codecs = convert::codec_rules(&args.store.codec, &args.store.level);
    options.sparse = convert::sparse_output(&args.zt);
    options.dense = convert::dense_output(&args.zt);
    options.tet.include.clone_from(&args.dataset);
    options.tet.exclude.clone_from(&args.exclude);
    (options.tet.overwrite, options.tet.sync) = open::publish_options(args.write);
    let place = if args.in_place { AppendPlace::InPlace } else { AppendPlace::Beside };
    let (input, target) = (context.env().at(&args.input), context.env().at(&args.file));
    let bar = Bar::new(context, "appending", 0);
    options.execution.progress = bar.progress(context);
    let report = tet_convert::append_ztensor(&input, &target, place, &options);
    bar.finish();
    let report = report.map_err(|error| {
        let failure = convert::failure(error);
        let is_of_input = failure.code == "no-such-dataset";
        failure.about(if is_of_input { &args.input } else { &args.file })
    })?;
    convert::print_report(
        std::slice::from_ref(&args.input),
        &args.file,
        &report,
        args.json,
        context,
    )
}
