//! `tet export`: writes whole datasets in another format.

use tet_convert::{ConvertOptions, Origin};
use tet_file::write::CodecChoice;

use super::convert;
use crate::args::ExportArgs;
use crate::context::Context;
use crate::exit::{Exit, Result};
use crate::open;

/// Runs the command.
///
/// # Errors
///
/// The input cannot be read, a name is unknown, or the output cannot be written.
pub(crate) fn run(args: &ExportArgs, context: &mut Context<'_>) -> Result<Exit> {
    convert::target(&args.output)?;
    let options = whole(args, context);
    let inputs = (std::slice::from_ref(&args.input), convert::Joining::One);
    convert::write(inputs, &args.output, options, args.json, context)
        .map_err(|failure| open::footer_hint(failure, args.read.no_footer))
}

/// The options of `tet convert` that write the selected datasets unchanged.
fn whole(args: &ExportArgs, context: &Context<'_>) -> ConvertOptions {
    let mut options = ConvertOptions::default();
    options.tet.include.clone_from(&args.dataset);
    options.tet.exclude.clone_from(&args.exclude);
    (options.tet.overwrite, options.tet.sync) = open::publish_options(args.write);
    options.tet.codec = CodecChoice::Zstd { level: convert::TET_LEVEL };
    options.tet.history = Some(Origin { at: context.env().now() });
    options.tet.threads = args.read.threads;
    options.execution = open::with_flags(open::unflagged(context), &args.read);
    options.open = open::options(&args.read);
    options
}
