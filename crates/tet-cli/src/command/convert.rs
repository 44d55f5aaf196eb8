//! `tet convert`: writes the arrays of a file in another format.

mod outputs;
mod report;
mod storage;
mod tet;

use std::path::{Path, PathBuf};

use tet_convert::{
    Capabilities, Combining, Conflict, ConvertOptions, ImportReport, UnsupportedChoice, WriteOption,
};

use crate::args::{ConvertArgs, PreferName};
use crate::bar::Bar;
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::output;
use crate::piped;

use self::outputs::check_level;
pub(super) use self::outputs::check_levels;
pub use self::outputs::convert_flags;
pub(crate) use self::outputs::no_option;
pub(super) use self::report::{failed, print_report};
pub(super) use self::storage::{checksum, chunk_rules, codec_rules, filter, payload_codec};
use self::storage::{dense_output, dtype_rules, sparse_output};
pub(super) use self::tet::{attr, attr_key, dims, labels};

/// Runs the command.
///
/// # Errors
///
/// The input cannot be read, an option is invalid, or the output cannot be written.
pub(crate) fn run(args: &ConvertArgs, context: &mut Context<'_>) -> Result<Exit> {
    let to = args.to.as_deref().map(output::named).transpose()?;
    let can = target(to.as_deref().unwrap_or(&args.output))?;
    if args.no_history && !can.options.contains(&WriteOption::History) {
        return Err(no_option(&args.output, &WriteOption::History));
    }
    if args.shard_size == Some(0) {
        let failure = Failure::usage("shard-size", "the shard size must not be 0");
        return Err(failure.hint("omit --shard-size to write one file"));
    }
    check_level(&args.store)?;
    if args.json && args.output.as_os_str() == "-" {
        let failure = Failure::usage("options", "--json and the file both go to standard output");
        return Err(failure.hint("omit --json, or write to a path"));
    }
    let mut options = options(args, context)?;
    options.to = to;
    let is_stacked = args.stack.is_some() && 1 < args.inputs.len();
    let is_combined = args.concat.is_some() || args.merge || is_stacked;
    if !is_combined && args.inputs.len() != 1 {
        let text = format!("there are {} inputs", args.inputs.len());
        let hint = "--merge writes the datasets of all to OUT, --concat AXIS appends them along an axis, \
             --stack AXIS along a new one";
        return Err(Failure::usage("options", text).hint(hint));
    }
    let combining = args.concat.as_deref().map_or(Combining::Merge, Combining::Concat);
    let report = write(&args.inputs, combining, &args.output, options, context)
        .map_err(|failure| open::footer_hint(failure, args.read.no_footer))?;
    print_report(&args.inputs, &args.output, &report, args.json, context)
}

/// The output format, from the suffix.
///
/// # Errors
///
/// The suffix is unknown, or nothing names the format of standard output.
pub(super) fn target(output: &Path) -> Result<Capabilities> {
    if output.as_os_str() == "-" {
        return Err(output::unnamed());
    }
    match tet_convert::writable(output) {
        Ok((_, writer)) => Ok(writer.can()),
        Err(error) => Err(Failure::from(error).about(output)),
    }
}

/// Converts to the file `output`, or to standard output.
///
/// # Errors
///
/// The input cannot be read, an option is invalid, or the output cannot be written.
pub(super) fn write(
    inputs: &[PathBuf],
    combining: Combining<'_>,
    output: &Path,
    mut options: ConvertOptions,
    context: &mut Context<'_>,
) -> Result<ImportReport> {
    let name = options.to.clone().unwrap_or_default();
    let mut write_to = |path: &Path, context: &mut Context<'_>| {
        let from: Vec<_> = inputs.iter().map(|input| context.env().at(input).into()).collect();
        let bar = Bar::new(context, "converting", 0);
        options.execution.progress = bar.progress(context);
        let report = tet_convert::convert_combined(&from, path, combining, &options);
        bar.finish();
        report.map_err(|error| failed(error, inputs, output))
    };
    if output.as_os_str() == "-" {
        return piped::output(&name, context, write_to);
    }
    write_to(&context.env().at(output), context)
}

/// Treatment of different datasets of one name.
pub(super) const fn conflict(prefer: Option<PreferName>) -> Conflict {
    match prefer {
        Some(PreferName::First) => Conflict::First,
        None => Conflict::Refused,
    }
}

/// An old name and a new one.
fn rename(text: &str) -> Result<(String, String)> {
    let pair = text.split_once('=').filter(|(old, new)| !old.is_empty() && !new.is_empty());
    let pair = pair.map(|(old, new)| (old.to_owned(), new.to_owned()));
    pair.ok_or_else(|| {
        let text = format!("{text:?} does not rename a dataset");
        Failure::usage("rename", text).hint("write OLD=NEW")
    })
}

fn options(args: &ConvertArgs, context: &Context<'_>) -> Result<ConvertOptions> {
    let mut options = ConvertOptions::default();
    options.tet = tet::options(args, context)?;
    options.storage = storage::storage(args)?;
    options.sparse = sparse_output(&args.zt);
    options.dense = dense_output(&args.zt);
    options.codecs = codec_rules(&args.store.codec, &args.store.level);
    options.decoding = args.values.decoding();
    options.dtypes = dtype_rules(&args.dtype);
    options.stack.clone_from(&args.stack);
    options.select.clone_from(&args.select);
    options.renames = args.rename.iter().map(|text| rename(text)).collect::<Result<_>>()?;
    options.allow_empty = args.allow_empty;
    options.conflict = conflict(args.prefer);
    options.shard_len = args.shard_size;
    if args.skip_unsupported {
        options.unsupported = UnsupportedChoice::Skipped;
    }
    if args.salvage {
        options.salvage();
    }
    options.execution = open::with_flags(open::unflagged(context), &args.read);
    options.open = open::options(&args.read);
    Ok(options)
}
