//! `tet edit repack`: datasets in other chunks or with other codecs.

use std::path::PathBuf;

use tet_convert::{CodecRule, Packing, Repack, Storage, StorageRule};
use tet_file::DigestChoice;

use super::{about_one, editable, options, report};
use crate::args::{EditRepackArgs, EncodingName, Named};
use crate::bar::Bar;
use crate::command::convert::{
    check_levels, checksum, chunk_rules, codec_rules, filter, payload_codec,
};
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::open;

/// Runs the command.
///
/// # Errors
///
/// The file cannot be read or repacked so, or the output cannot be written.
pub(super) fn run(args: &EditRepackArgs, context: &mut Context<'_>) -> Result<Exit> {
    check_levels(&args.level)?;
    let output: Option<PathBuf> = args.place.output.as_ref().map(|output| context.env().at(output));
    let named = args.place.output.as_deref().unwrap_or(&args.file);
    let opened = super::open_edited(&args.file, context)?;
    let bar = Bar::new(context, "repacking", 0);
    let mut how = Repack { chunks: chunk_rules(&args.chunks)?, ..Repack::default() };
    how.codecs = general(args).into_iter().collect();
    how.codecs.extend(codec_rules(&args.codec, &args.level));
    how.storage = storage_rules(args)?;
    how.digests = match (args.digests, args.no_digests) {
        (true, _) => Some(DigestChoice::Written),
        (_, true) => Some(DigestChoice::Left),
        _ => None,
    };
    how.execution = open::unflagged(context);
    how.execution.threads = args.threads;
    how.execution.memory_budget = args.memory.unwrap_or(how.execution.memory_budget);
    let mut options = options(&args.place, bar.progress(context), context);
    options.publish.inputs = opened.catalog.stamps();
    options.reserved_rows = args.reserve.reserve_rows;
    let written = tet_convert::repack(&opened, output.as_deref(), &how, &options);
    bar.finish();
    let report = written.map_err(|error| about_one(editable(error), &args.file, named))?;
    let changes = report::changes(&report);
    report::print(&args.file, &args.place, &report, changes, "repacked", context)
}

/// The rules of the options that only some containers have.
fn storage_rules(args: &EditRepackArgs) -> Result<Vec<StorageRule>> {
    let mut rules = Vec::new();
    for Named { dataset, value } in &args.checksum {
        let checksum = Some(checksum(*value));
        rules.push((dataset, Storage { checksum, ..Storage::default() }));
    }
    for Named { dataset, value } in &args.filter {
        let filter = Some(filter(*value));
        rules.push((dataset, Storage { filter, ..Storage::default() }));
    }
    for Named { dataset, value } in &args.encoding {
        let is_packed = |it: &Option<String>| it.is_none() || it == dataset;
        let has_precision = args.bits.iter().any(|it| is_packed(&it.dataset))
            || args.max_error.iter().any(|it| is_packed(&it.dataset));
        match value {
            EncodingName::None => {
                let packing = Some(Packing::None);
                rules.push((dataset, Storage { packing, ..Storage::default() }));
            }
            EncodingName::SimplePacking if has_precision => {}
            EncodingName::SimplePacking => {
                let text = "simple_packing needs a precision";
                return Err(Failure::usage("options", text).hint("add --bits N or --max-error E"));
            }
        }
    }
    let packed = |packing| Storage { packing: Some(packing), ..Storage::default() };
    for Named { dataset, value } in &args.bits {
        rules.push((dataset, packed(Packing::Bits(*value))));
    }
    for Named { dataset, value } in &args.max_error {
        rules.push((dataset, packed(Packing::MaxError(*value))));
    }
    // Those for all datasets come first.
    rules.sort_by_key(|(dataset, _)| dataset.is_some());
    let rule = |(dataset, storage): (&Option<String>, Storage)| {
        let dataset = dataset.clone().unwrap_or_else(|| "*".to_owned());
        StorageRule { dataset, storage }
    };
    Ok(rules.into_iter().map(rule).collect())
}

/// The rule for all datasets, before those for single ones.
fn general(args: &EditRepackArgs) -> Option<CodecRule> {
    let (codec, level) = (Named::general(&args.codec), Named::general(&args.level));
    let (dataset, codec) = ("*".to_owned(), codec.map(payload_codec));
    (codec.is_some() || level.is_some()).then_some(CodecRule { dataset, codec, level })
}
