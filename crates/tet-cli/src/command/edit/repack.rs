//! `tet edit repack`: datasets in other chunks or with other codecs.

use std::path::PathBuf;

use tet_convert::{CodecRule, EditOptions, OpenOptions, Origin, Repack};
use tet_file::DigestChoice;
use tet_io::Publish;

use super::editable;
use crate::args::{EditRepackArgs, Named};
use crate::bar::Bar;
use crate::command::convert::{check_levels, chunk_rules, codec_rules, payload_codec};
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::size::Size;

/// Runs the command.
///
/// # Errors
///
/// The file cannot be read or repacked so, or the output cannot be written.
pub(super) fn run(args: &EditRepackArgs, context: &mut Context<'_>) -> Result<Exit> {
    check_levels(&args.level)?;
    let path = context.env().at(&args.file);
    let output: Option<PathBuf> = args.output.as_ref().map(|output| context.env().at(output));
    let named = args.output.as_deref().unwrap_or(&args.file);
    let opened = tet_convert::open(&path, &OpenOptions::default());
    let opened = opened.map_err(|error| Failure::from(error).about(&args.file))?;
    let bar = Bar::new(context, "repacking", 0);
    let mut how = Repack { chunks: chunk_rules(&args.chunks)?, ..Repack::default() };
    how.codecs = general(args).into_iter().collect();
    how.codecs.extend(codec_rules(&args.codec, &args.level));
    how.digests = match (args.digests, args.no_digests) {
        (true, _) => Some(DigestChoice::Written),
        (_, true) => Some(DigestChoice::Left),
        _ => None,
    };
    how.execution = open::unflagged(context);
    how.execution.threads = args.threads;
    how.execution.memory_budget = args.memory.unwrap_or(how.execution.memory_budget);
    let (force, sync) = open::publish_options(args.write);
    let options = EditOptions {
        publish: Publish { force, sync, inputs: opened.catalog.stamps() },
        progress: bar.progress(context),
        history: (!args.no_history).then(|| Origin { at: context.env().now() }),
    };
    let written = tet_convert::repack(&opened, output.as_deref(), &how, &options);
    bar.finish();
    let len = written.map_err(|error| editable(error).about(named))?;
    context.note(format!("repacked {}: {}", tet_io::shown(named), Size(len)));
    Ok(Exit::Done)
}

/// The rule for all datasets, before those for single ones.
fn general(args: &EditRepackArgs) -> Option<CodecRule> {
    let (codec, level) = (Named::general(&args.codec), Named::general(&args.level));
    let (dataset, codec) = ("*".to_owned(), codec.map(payload_codec));
    (codec.is_some() || level.is_some()).then_some(CodecRule { dataset, codec, level })
}
