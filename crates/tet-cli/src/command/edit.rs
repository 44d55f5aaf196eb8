//! `tet edit`: changes names and metadata of a file, and leaves payloads as they are stored.

mod repack;
mod report;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tet_convert::{
    AxisAppend, EditMode, EditOptions, FileEdit, OpenOptions, Opened, Origin, UnsupportedChoice,
    check_edits, datasets_named, kept_by, redims, relabels, renames, with_followers,
};
use tet_file::AttrValue;
use tet_io::{Output, Progress, Publish};
use tet_query::{AttrText, Catalog};

use super::{convert, info};
use crate::args::{EditAppendArgs, EditPlaceArgs, EditRenameArgs, EditSetArgs, EditVerb};
use crate::bar::Bar;
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::size::counted;

/// Runs the command.
///
/// # Errors
///
/// The file cannot be read or edited so, a name is unknown or taken, or the output cannot be written.
pub(crate) fn run(verb: &EditVerb, context: &mut Context<'_>) -> Result<Exit> {
    match verb {
        EditVerb::Rename(args) => {
            edit(&args.file, &args.place, context, |opened, _| rename(opened, args))
        }
        EditVerb::Drop(args) => edit(&args.file, &args.place, context, |opened, _| {
            let mut positions = BTreeSet::new();
            for name in &args.names {
                positions.extend(datasets_named(&opened.catalog, name)?);
            }
            let drops = positions.into_iter().map(|dataset| FileEdit::Drop { dataset }).collect();
            Ok(with_followers(opened, drops))
        }),
        EditVerb::Set(args) => {
            edit(&args.file, &args.place, context, |opened, context| set(opened, args, context))
        }
        EditVerb::Append(args) => append(args, context),
        EditVerb::Repack(args) => repack::run(args, context),
        EditVerb::Compact(args) => {
            edit(&args.file, &args.place, context, |_, _| Ok(vec![FileEdit::Compact]))
        }
    }
}

/// Opens a file, and writes it with the edits that `plan` makes of its catalog.
fn edit(
    file: &Path,
    place: &EditPlaceArgs,
    context: &mut Context<'_>,
    plan: impl FnOnce(&Opened, &Context<'_>) -> Result<Vec<FileEdit>>,
) -> Result<Exit> {
    let path = context.env().at(file);
    let about = |failure: Failure| failure.about(file);
    let opened = open_edited(file, context)?;
    let edits = plan(&opened, context).map_err(about)?;
    check_edits(&opened, &edits).map_err(|error| about(editable(error)))?;
    let mut report = kept_by(&opened, &edits).map_err(|error| about(error.into()))?;
    let count = counted(u64::try_from(edits.len()).unwrap_or(u64::MAX), "edit");
    let named = place.output.as_deref().unwrap_or(file);
    if !place.dry_run {
        let output: Option<PathBuf> = place.output.as_ref().map(|output| context.env().at(output));
        let target = output.as_deref().map_or(Output::InPlace(&path), Output::NewFile);
        let bar = Bar::new(context, "writing", 0);
        let mut options = options(place, bar.progress(context), context);
        options.publish.inputs = opened.catalog.stamps();
        let written = tet_convert::edit(&opened, &edits, target, &options);
        bar.finish();
        let written = written.map_err(|error| about_one(error.into(), file, named));
        report.file_len = Some(written?);
    }
    let lines = report::lines(&edits, &opened.catalog);
    report::print(file, place, &report, lines, &format!("made {count}"), context)
}

/// Opens the file that is edited, with a warning if it is one part of a model.
fn open_edited(file: &Path, context: &mut Context<'_>) -> Result<Opened> {
    let opened = tet_convert::open(context.env().at(file), &OpenOptions::default());
    let opened = opened.map_err(|error| Failure::from(error).about(file))?;
    opened.part_of().into_iter().for_each(|part| context.warn(part));
    Ok(opened)
}

fn append(args: &EditAppendArgs, context: &mut Context<'_>) -> Result<Exit> {
    let place = &args.place;
    let path = context.env().at(&args.file);
    let inputs: Vec<PathBuf> = args.inputs.iter().map(|input| context.env().at(input)).collect();
    let output: Option<PathBuf> = place.output.as_ref().map(|output| context.env().at(output));
    let asked = AxisAppend {
        axis: &args.axis,
        datasets: &args.dataset,
        exclude: &args.exclude,
        unsupported: match args.skip_unsupported {
            true => UnsupportedChoice::Skipped,
            false => UnsupportedChoice::Refused,
        },
        inputs: &inputs,
        output: output.as_deref(),
    };
    let bar = Bar::new(context, "appending", 0);
    let mut how = open::unflagged(context);
    how.memory_budget = args.memory.unwrap_or(how.memory_budget);
    how.progress = bar.progress(context);
    let mut options = options(place, how.progress.clone(), context);
    options.reserved_rows = args.reserve.reserve_rows;
    let report = tet_convert::append(&path, &asked, &options, &how);
    bar.finish();
    let named = place.output.as_deref().unwrap_or(&args.file);
    let report = report.map_err(|error| about_one(editable(error), &args.file, named))?;
    let count = counted(u64::try_from(inputs.len()).unwrap_or(u64::MAX), "file");
    let changes = report::changes(&report);
    report::print(&args.file, place, &report, changes, &format!("appended {count}"), context)
}

/// How an edit writes its file.
fn options(place: &EditPlaceArgs, progress: Progress, context: &Context<'_>) -> EditOptions {
    let (force, sync) = open::publish_options(place.write);
    EditOptions {
        publish: Publish { force, sync, ..Publish::default() },
        progress,
        history: (!place.no_history).then(|| Origin { at: context.env().now() }),
        reserved_rows: 0,
        mode: if place.dry_run { EditMode::Plan } else { EditMode::Write },
    }
}

/// A failure about the file that is read or the one that is written, unless it names one: what the caller asked for
/// cannot be written, all else is of what was read.
fn about_one(failure: Failure, read: &Path, written: &Path) -> Failure {
    let is_of_output = matches!(failure.exit, Exit::Usage | Exit::Environment);
    failure.about(if is_of_output { written } else { read })
}

/// Adds what to do with a file that cannot be edited so.
fn editable(error: tet_convert::Error) -> Failure {
    let instead = match &error {
        tet_convert::Error::NotEditable { kind, .. } => Some(kind.instead()),
        _ => None,
    };
    let failure = Failure::from(error);
    if let Some(instead) = instead { failure.hint(instead) } else { failure }
}

fn rename(opened: &Opened, args: &EditRenameArgs) -> Result<Vec<FileEdit>> {
    let mut edits = Vec::new();
    for text in &args.names {
        let (old, new) = split_names(text, &opened.catalog)?;
        edits.extend(renames(&opened.catalog, old, new)?);
    }
    Ok(with_followers(opened, edits))
}

/// Splits OLD=NEW, of which OLD names datasets of a catalog: a name may contain the sign.
///
/// # Errors
///
/// The text has no `=`.
pub(super) fn split_names<'t>(text: &'t str, catalog: &Catalog) -> Result<(&'t str, &'t str)> {
    let splits = text.match_indices('=').map(|(at, _)| text.split_at(at));
    let splits: Vec<_> = splits.map(|(old, new)| (old, &new[1..])).collect();
    let is_known = |(old, _): &&(&str, &str)| datasets_named(catalog, old).is_ok();
    splits.iter().find(is_known).or(splits.first()).copied().ok_or_else(|| {
        let text = format!("{text:?} does not rename a dataset");
        Failure::usage("rename", text).hint("write OLD=NEW")
    })
}

fn set(opened: &Opened, args: &EditSetArgs, context: &Context<'_>) -> Result<Vec<FileEdit>> {
    let mut edits = Vec::new();
    for text in args.attrs.iter().chain(&args.attr) {
        let attr = convert::attr(text)?;
        let value = match attr.value {
            AttrValue::Text(text) => AttrText::Text(text),
            AttrValue::Json(json) => AttrText::Json(json),
        };
        edits.extend(attrs(opened, attr.dataset.as_deref(), &attr.key, Some(&value))?);
    }
    for text in &args.unset {
        let (dataset, key) = convert::attr_key(text);
        edits.extend(attrs(opened, dataset, key, None)?);
    }
    let mut dims = args.dims.iter().map(|text| convert::dims(text)).collect::<Result<Vec<_>>>()?;
    // `temp=` removes the names.
    dims.iter_mut().filter(|it| it.names == [""]).for_each(|it| it.names.clear());
    let (named, catalog) = redims(&opened.catalog, &dims)?;
    edits.extend(named);
    for text in &args.labels {
        edits.extend(relabels(&catalog, &convert::labels(text)?, &open::unflagged(context))?);
    }
    Ok(edits)
}

/// The edits that set an attribute of a file, or of all datasets that a name means.
fn attrs(
    opened: &Opened,
    dataset: Option<&str>,
    key: &str,
    value: Option<&AttrText>,
) -> Result<Vec<FileEdit>> {
    let catalog = &opened.catalog;
    let targets = match dataset {
        Some(name) => datasets_named(catalog, name)?.into_iter().map(Some).collect(),
        None => vec![None],
    };
    let editor = tet_convert::container(opened.format).and_then(|it| it.editor());
    let is_nested = editor.is_some_and(|it| it.has_nested_keys());
    let has_key = |attrs: &BTreeMap<String, AttrText>| match is_nested {
        true => info::has_key(attrs, key),
        false => attrs.contains_key(key),
    };
    let has = |target: &Option<usize>| match target {
        Some(at) => catalog.datasets().get(*at).is_some_and(|it| has_key(&it.attrs)),
        None => has_key(catalog.attrs()),
    };
    if value.is_none() && !targets.iter().any(has) {
        let text = format!("{} has no attribute {key:?}", dataset.unwrap_or("the file"));
        let hint = "`tet info FILE --metadata` lists them";
        return Err(Failure::usage("attribute", text).hint(hint));
    }
    let edit = |dataset| FileEdit::Attr { dataset, key: key.to_owned(), value: value.cloned() };
    Ok(targets.into_iter().map(edit).collect())
}
