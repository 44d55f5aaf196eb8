//! `tet convert`: writes the arrays of a file in another format.

mod hdf5;
mod outputs;
mod report;
mod tensogram;
mod tet;
mod zarr;
mod ztensor;

use std::path::Path;

use tet_convert::{Capabilities, ConvertOptions, Format, UnsupportedChoice};

use crate::args::ConvertArgs;
use crate::bar::Bar;
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};

pub(super) use self::outputs::check_level;
use self::report::failed;
pub(super) use self::report::{failure, print_report};
pub(super) use self::tet::{LEVEL as TET_LEVEL, attr, dims, labels};
pub(super) use self::ztensor::{dense_output, options as ztensor_options, sparse_output};

/// Runs the command.
///
/// # Errors
///
/// The input cannot be read, an option is invalid, or the output cannot be written.
pub(crate) fn run(args: &ConvertArgs, context: &mut Context<'_>) -> Result<Exit> {
    let (target, can) = target(&args.output)?;
    outputs::check(args, can)?;
    let options = options(args, target, context)?;
    write(&args.input, &args.output, options, args.json, context)
}

/// The output format, from the suffix.
///
/// # Errors
///
/// The suffix is unknown, or the output is standard output.
pub(super) fn target(output: &Path) -> Result<(Format, Capabilities)> {
    if output.as_os_str() == "-" {
        let text = "cannot write this format to standard output";
        let hint = "`tet cat FILE DATASET -o -` writes the values of a dataset to a pipe; use ./- \
                    for a file named -";
        return Err(Failure::usage("output-name", text).hint(hint));
    }
    match tet_convert::writable(output) {
        Ok((format, writer)) => Ok((format, writer.can())),
        Err(error) => Err(Failure::from(error).about(output)),
    }
}

/// Converts, and reports what was written.
///
/// # Errors
///
/// The input cannot be read, an option is invalid, or the output cannot be written.
pub(super) fn write(
    input: &Path,
    output: &Path,
    mut options: ConvertOptions,
    is_json: bool,
    context: &mut Context<'_>,
) -> Result<Exit> {
    let (from, to) = (context.env().at(input), context.env().at(output));
    let bar = Bar::new(context, "converting", 0);
    options.execution.progress = bar.progress(context);
    let report = tet_convert::convert(&from, &to, &options);
    bar.finish();
    let report = report.map_err(|error| failed(error, input, output))?;
    print_report(input, output, &report, is_json, context)
}

fn options(args: &ConvertArgs, target: Format, context: &Context<'_>) -> Result<ConvertOptions> {
    let mut options = ConvertOptions::default();
    options.tet = tet::options(args, context)?;
    if target == Format::ZTENSOR {
        options.ztensor = ztensor_options(&args.store, &args.zt)?;
    }
    options.sparse = sparse_output(&args.zt);
    options.dense = dense_output(&args.zt);
    if target == Format::TENSOGRAM {
        options.tensogram = tensogram::options(args)?;
    }
    if target == Format::HDF5 {
        options.hdf5 = hdf5::options(args)?;
    }
    if target == Format::ZARR {
        options.zarr = zarr::options(args)?;
    }
    options.stack.clone_from(&args.stack);
    options.shard_len = args.shard_size;
    if args.skip_unsupported {
        options.unsupported = UnsupportedChoice::Skipped;
    }
    options.execution.threads = args.threads;
    options.execution.decoded_max = args.max_decoded;
    Ok(options)
}
