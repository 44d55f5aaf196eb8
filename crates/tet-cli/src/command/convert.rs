//! `tet convert`: the arrays of a file become another file.

mod outputs;
mod tensogram;
mod tet;
mod told;
mod ztensor;

use std::path::Path;

use tet_convert::{ConvertOptions, Target, export};

use crate::args::{CodecName, ConvertArgs, ExportArgs, ReadArgs};
use crate::context::Context;
use crate::exit::{Exit, Result};
use crate::progress::Progress;

pub(super) use self::outputs::check_level;
pub(super) use self::tet::LEVEL as TET_LEVEL;
pub(super) use self::told::{failed, failure, shape, tell};
pub(super) use self::ztensor::{options as ztensor_options, sparse_carry};

/// Runs the command.
///
/// # Errors
///
/// The input, an option, or the output.
pub(crate) fn run(args: &ConvertArgs, context: &mut Context<'_>) -> Result<Exit> {
    let target = Target::from_path(&args.output).ok();
    outputs::check(args, target)?;
    if target.is_none() && export::is_export(&args.output) {
        return super::export::run(&exported(args), context);
    }
    let options = options(args, context)?;
    write(&args.input, &args.output, &options, args.json, context)
}

/// The same for `tet export`, whose outputs of one array have no place for some of it.
fn exported(args: &ConvertArgs) -> ExportArgs {
    let ConvertArgs { input, output, dataset, exclude, write, json, .. } = args;
    ExportArgs {
        input: input.clone(),
        output: output.clone(),
        dataset: dataset.clone(),
        exclude: exclude.clone(),
        write: *write,
        read: ReadArgs { threads: args.threads, ..ReadArgs::default() },
        json: *json,
    }
}

/// Converts, and tells what was written.
///
/// # Errors
///
/// The input, an option, or the output.
pub(super) fn write(
    input: &Path,
    output: &Path,
    options: &ConvertOptions,
    is_json: bool,
    context: &mut Context<'_>,
) -> Result<Exit> {
    let (from, to) = (context.world().at(input), context.world().at(output));
    let report = Progress::of(context, "converting", |progress| {
        tet_convert::convert(&from, &to, options, progress)
    });
    let report = report.map_err(|error| failed(error, input, output))?;
    tell(input, output, &report, is_json, context)
}

fn options(args: &ConvertArgs, context: &Context<'_>) -> Result<ConvertOptions> {
    let mut options = ConvertOptions::default();
    options.tet = tet::options(args, context)?;
    if !matches!(args.store.codec, Some(CodecName::Lz4 | CodecName::Szip)) {
        options.ztensor = ztensor_options(&args.store, &args.zt)?;
    }
    options.sparse = sparse_carry(&args.zt);
    if Target::from_path(&args.output).is_ok_and(|target| target == Target::Tensogram) {
        options.tensogram = tensogram::options(args)?;
    }
    options.stack.clone_from(&args.stack);
    options.shard_len = args.shard_size;
    options.execution.threads = args.threads;
    options.scratch = context.world().temp_dir.clone();
    Ok(options)
}
