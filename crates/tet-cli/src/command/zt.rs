//! `tet zt`: appends to zTensor files, also in place.

use std::path::Path;

use tet_convert::{AppendPlace, ConvertOptions, Format};
use tet_io::Source;

use super::convert;
use crate::args::{ZtAppendArgs, ZtVerb};
use crate::bar::Bar;
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::open;

/// Runs the command.
///
/// # Errors
///
/// The file cannot be read, a name or a field is unknown, or the output cannot be written.
pub(crate) fn run(verb: &ZtVerb, context: &mut Context<'_>) -> Result<Exit> {
    match verb {
        ZtVerb::Append(args) => append(args, context),
    }
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
    check_format(&target, &args.file)?;
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

/// Checks that a file is a zTensor file; the failure for another container names its format.
fn check_format(path: &Path, file: &Path) -> Result<()> {
    let about = |failure: Failure| failure.about(file);
    let source = Source::open(path).map_err(|error| about(error.into()))?;
    let format = tet_convert::sniff(&source).map_err(|error| about(error.into()))?;
    if matches!(format, Format::ZTENSOR | Format::UNKNOWN) {
        return Ok(());
    }
    let name = tet_io::shown(file);
    let text = format!("{name} is {format}, and `tet zt append` is for .zt files of version 0.1.0");
    Err(Failure::usage("not-ztensor", text).hint("`tet convert` makes such a file"))
}
