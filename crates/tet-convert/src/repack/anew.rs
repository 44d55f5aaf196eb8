//! Repacking of files whose datasets are written anew: other codecs, checksums, filters and encodings.

use std::path::Path;

use tet_format::DType;
use tet_io::{Output, shown};
use tet_query::Dataset;

use super::{Repack, StorageRule};
use crate::container::tets::is_series;
use crate::container::{EditKind, EditOptions, Editor, Rewrite, RewriteOptions, container};
use crate::convert::resolved;
use crate::edit::report::{DatasetChange, EditReport};
use crate::edit::{datasets_named, editor_of};
use crate::{Error, Result};
use tet_container::model::attributes::is_metadata;
use tet_container::model::logical::byte_len;
use tet_container::read::opened::{Opened, path_of};
use tet_container::write::conversion::ConvertOptions;
use tet_container::write::storage::{Storage, codec_rules};
use tet_container::write::write_option::WriteOption;

/// Writes a file whose datasets are stored in another way, unless it is only planned.
pub(super) fn repacked(
    opened: &Opened,
    output: Option<&Path>,
    how: &Repack,
    options: &EditOptions,
) -> Result<EditReport> {
    let can = container(opened.format).and_then(|it| it.editor()).map(|it| it.can());
    let is_file = !is_series(opened.format);
    if is_file
        && can.is_some_and(|it| it.contains(&EditKind::Append) && !it.contains(&EditKind::Repack))
    {
        let path = shown(&path_of(opened.catalog.source())).to_string();
        let what = "its elements are stored as they are, and there is nothing to repack: \
                    `tet convert FILE OUT.tet --codec zstd` writes a compressed copy";
        return Err(unfit(&format!("{path} is {}: {what}", opened.format)));
    }
    let editor = editor_of(opened, EditKind::Repack)?;
    check(opened, editor, how)?;
    let rewrites = rewrites(opened, editor, how)?;
    let changed = rewrites.iter().filter_map(|it| opened.catalog.datasets().get(it.dataset));
    let changed: Vec<&Dataset> = changed.collect();
    let change = |it: &&Dataset| (it.index, DatasetChange::Repacked { dataset: it.name.clone() });
    let mut report = EditReport::new(opened, editor, changed.iter().map(change).collect())?;
    opened.catalog.check_decoded(changed.iter().copied(), &how.execution)?;
    let file = path_of(opened.catalog.source());
    let output = output.map_or(Output::InPlace(&file), Output::NewFile);
    let all = changed.iter().map(|it| byte_len(it)).fold(0, u64::saturating_add);
    let execution = &how.execution.with_progress(options.progress.begin(all));
    let options = RewriteOptions { edit: options, execution };
    let rewritten = editor.rewrite(opened, &rewrites, output, options)?;
    report.finish(rewritten.map(|it| it.with_unchecked(opened, &rewrites)));
    Ok(report)
}

/// The datasets that are stored in another way than is asked for, once each.
fn rewrites<'a>(opened: &Opened, editor: &dyn Editor, how: &Repack) -> Result<Vec<Rewrite<'a>>> {
    let datasets: Vec<&Dataset> =
        opened.catalog.datasets().iter().filter(|it| !is_metadata(it)).collect();
    let rules = ConvertOptions { codecs: how.codecs.clone(), ..ConvertOptions::default() };
    let rules = resolved(&opened.catalog, &datasets, &rules)?;
    let mut changes = vec![Storage::default(); opened.catalog.datasets().len()];
    for dataset in &datasets {
        let Some(change) = changes.get_mut(dataset.index) else { continue };
        for rule in codec_rules(&rules.codecs, &dataset.name) {
            // The level of another codec means nothing.
            let is_other = rule.codec.is_some() && rule.codec != change.codec;
            change.level = rule.level.or(change.level.filter(|_| !is_other));
            change.codec = rule.codec.or(change.codec);
        }
    }
    for rule in &how.storage {
        for at in datasets_named(&opened.catalog, &rule.dataset)? {
            let dtype = opened.catalog.datasets().get(at).and_then(|it| it.dtype);
            let Some(change) = changes.get_mut(at) else { continue };
            change.checksum = rule.storage.checksum.or(change.checksum);
            change.filter = rule.storage.filter.or(change.filter);
            // What is asked for all datasets is asked for those that can be packed.
            if rule.dataset != "*" || dtype == Some(DType::Float64) {
                change.packing = rule.storage.packing.or(change.packing);
            }
        }
    }
    let rewrite = |dataset: &Dataset| {
        let storage = changes.get(dataset.index).cloned().unwrap_or_default();
        let is_asked = storage != Storage::default();
        is_asked.then_some(Rewrite { dataset: dataset.index, view: None, storage })
    };
    editor.changed(opened, datasets.into_iter().filter_map(rewrite).collect())
}

/// Checks that files of the container have what is to change.
pub(super) fn check(opened: &Opened, editor: &dyn Editor, how: &Repack) -> Result<()> {
    let mut chosen = Vec::new();
    chosen.extend((!how.chunks.is_empty()).then_some(WriteOption::Chunks));
    chosen.extend(how.digests.map(|_| WriteOption::Digests));
    for StorageRule { storage, .. } in &how.storage {
        chosen.extend(storage.checksum.map(WriteOption::Checksum));
        chosen.extend(storage.filter.map(|_| WriteOption::Filter));
        chosen.extend(storage.packing.map(|_| WriteOption::Packing));
    }
    let options = editor.repack_options();
    match chosen.iter().find(|option| !options.contains(option)) {
        Some(option) => {
            let path = shown(&path_of(opened.catalog.source())).to_string();
            let all: Vec<String> = options.iter().map(ToString::to_string).collect();
            let (format, all) = (opened.format, all.join(", "));
            Err(unfit(&format!("{path} is {format}, which has no {option}: it has {all}")))
        }
        None => Ok(()),
    }
}

/// The error for a file that cannot be stored so.
fn unfit(what: &str) -> Error {
    tet_file::Error::Edit { what: what.to_owned() }.into()
}
