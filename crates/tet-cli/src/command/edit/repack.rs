//! `tet edit repack`: datasets in other chunks or with other codecs, and digests of files without.

use std::path::PathBuf;

use tet_convert::{CodecRule, Opened, Packing, Repack, Storage, StorageRule};
use tet_file::{DigestChoice, Protection};

use super::{about_one, editable, options, report};
use crate::args::{EditRepackArgs, EncodingName, Named};
use crate::bar::Bar;
use crate::command::convert::{
    check_levels, checksum, chunk_rules, codec_rules, filter, payload_codec,
};
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::render::json::EditLine;

/// Runs the command.
///
/// # Errors
///
/// The file cannot be read or repacked so, or the output cannot be written.
pub(super) fn run(args: &EditRepackArgs, context: &mut Context<'_>) -> Result<Exit> {
    check_levels(&args.level)?;
    let output: Option<PathBuf> = args.place.output.as_ref().map(|output| context.env().at(output));
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
    let report = written.map_err(|error| refused(error, args, &opened))?;
    let mut changes = report::changes(&report);
    changes.extend(added_digests(args, &opened));
    if report.file_len.is_none() && !args.place.dry_run {
        context.note(format!("{} has digests that match", tet_io::shown(&args.file)));
    }
    report::print(&args.file, &args.place, &report, changes, "repacked", context)
}

/// The failure of a repack, with a hint where digests cannot be added.
fn refused(error: tet_convert::Error, args: &EditRepackArgs, opened: &Opened) -> Failure {
    use tet_verify::Error as E;
    let hint = match &error {
        tet_convert::Error::Verify(E::NotSound { .. }) => {
            Some("run `tet repair` to see what can be repaired")
        }
        tet_convert::Error::Verify(E::Unused { .. }) => Some("`tet repair` removes them"),
        _ if args.digests && !opened.format.may_be_tet() => {
            Some("`tet digest create` writes the checksums of any file into a second file")
        }
        _ => None,
    };
    let failure = match hint {
        Some(hint) => Failure::from(error).hint(hint),
        None => editable(error),
    };
    about_one(failure, &args.file, args.place.output.as_deref().unwrap_or(&args.file))
}

/// The change of a file that gets digests and has none.
fn added_digests(args: &EditRepackArgs, opened: &Opened) -> Option<EditLine> {
    let tet = opened.tet.as_ref().filter(|_| args.digests)?;
    let is_new = !matches!(tet.protection(), Protection::Digests(_));
    let text = "chunks get digests".to_owned();
    is_new.then(|| EditLine { kind: "digests", text, ..EditLine::default() })
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
