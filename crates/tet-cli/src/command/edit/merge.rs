//! `tet edit merge`: the datasets of several files in one, as `tet convert --merge` writes them.

use tet_convert::{ConvertOptions, Origin};
use tet_file::write::CodecChoice;

use crate::args::EditMergeArgs;
use crate::command::convert::{Joining, TET_LEVEL, check_option, conflict, target, write};
use crate::context::Context;
use crate::exit::{Exit, Result};
use crate::open;

/// Runs the command.
///
/// # Errors
///
/// A file cannot be read, two have different things of one name, or the output cannot be written.
pub(super) fn run(args: &EditMergeArgs, context: &mut Context<'_>) -> Result<Exit> {
    let (_, can) = target(&args.output)?;
    if args.reserve.reserve_rows != 0 {
        check_option("--reserve-rows", &args.output, can)?;
    }
    let mut options = ConvertOptions::default();
    options.tet.keep_stored = true;
    options.tet.codec = CodecChoice::Zstd { level: TET_LEVEL };
    options.tet.history = (!args.no_history).then(|| Origin { at: context.env().now() });
    (options.tet.overwrite, options.tet.sync) = open::publish_options(args.write);
    options.tet.reserved_rows = args.reserve.reserve_rows;
    options.conflict = conflict(args.prefer);
    let budget = options.execution.memory_budget;
    options.execution.memory_budget = args.memory.unwrap_or(budget);
    write((&args.inputs, Joining::Merge), &args.output, options, args.json, context)
}
