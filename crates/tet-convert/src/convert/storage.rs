//! The rules for chunks and codecs of single datasets, with the names of datasets for `#N` and patterns.

use std::collections::{BTreeMap, BTreeSet};

use tet_query::{Catalog, Dataset};

use super::choice::no_such_dataset;
use crate::edit::datasets_named;
use crate::{Error, Result};
use tet_container::write::chunk_shape::{holds, misfit};
use tet_container::write::conversion::ConvertOptions;
use tet_container::write::storage::{ChunkChoice, ChunkRule, CodecRule};

/// The options with rules that name each dataset as it is called.
///
/// # Errors
/// A rule names no dataset that is written, or holds for none of them.
pub(crate) fn resolved(
    catalog: &Catalog,
    datasets: &[&Dataset],
    options: &ConvertOptions,
) -> Result<ConvertOptions> {
    let written = WrittenNames::new(datasets);
    let mut resolved = options.clone();
    (resolved.tet.chunks, resolved.codecs) = (Vec::new(), Vec::new());
    for rule in &options.tet.chunks {
        let Some(text) = &rule.dataset else {
            check(rule, datasets)?;
            resolved.tet.chunks.push(rule.clone());
            continue;
        };
        for name in names(catalog, &written, text)? {
            let rule = ChunkRule { dataset: Some(name.to_owned()), chunks: rule.chunks.clone() };
            check(&rule, written.datasets(name))?;
            resolved.tet.chunks.push(rule);
        }
    }
    for rule in &options.codecs {
        let names = names(catalog, &written, &rule.dataset)?.into_iter().map(str::to_owned);
        resolved.codecs.extend(names.map(|dataset| CodecRule { dataset, ..rule.clone() }));
    }
    // As those look them up who write: later rules for a dataset stay behind earlier ones.
    resolved.tet.chunks.sort_by(|a, b| a.dataset.cmp(&b.dataset));
    resolved.codecs.sort_by(|a, b| a.dataset.cmp(&b.dataset));
    Ok(resolved)
}

/// The datasets that are written, by their names.
pub(super) struct WrittenNames<'d, 'c> {
    datasets: &'d [&'c Dataset],
    by_name: BTreeMap<&'c str, Vec<&'c Dataset>>,
}

impl<'d, 'c> WrittenNames<'d, 'c> {
    pub(super) fn new(datasets: &'d [&'c Dataset]) -> Self {
        let mut by_name: BTreeMap<&str, Vec<&Dataset>> = BTreeMap::new();
        for dataset in datasets {
            by_name.entry(&dataset.name).or_default().push(dataset);
        }
        WrittenNames { datasets, by_name }
    }

    /// The name, if a dataset that is written has it.
    fn name(&self, name: &str) -> Option<&'c str> {
        self.by_name.get_key_value(name).map(|(name, _)| *name)
    }

    /// The datasets of a name.
    pub(super) fn datasets(&self, name: &str) -> &[&'c Dataset] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }
}

/// The names of the datasets, among those that are written, that a text means.
pub(super) fn names<'c>(
    catalog: &Catalog,
    written: &WrittenNames<'_, 'c>,
    text: &str,
) -> Result<BTreeSet<&'c str>> {
    if let Some(name) = written.name(text) {
        return Ok(BTreeSet::from([name]));
    }
    let positions = datasets_named(catalog, text).unwrap_or_default().into_iter();
    let named = positions.filter_map(|at| catalog.datasets().get(at));
    let named: BTreeSet<&str> = named.filter_map(|it| written.name(&it.name)).collect();
    if named.is_empty() {
        return Err(no_such_dataset(text, written.datasets));
    }
    Ok(named)
}

/// Checks that a rule for chunks holds for one of these datasets, and that they have its axes.
fn check(rule: &ChunkRule, datasets: &[&Dataset]) -> Result<()> {
    if let ChunkChoice::Axes(axes) = &rule.chunks {
        for axis in axes {
            let alone = ChunkChoice::Axes(vec![axis.clone()]);
            let alone = ChunkRule { chunks: alone, dataset: rule.dataset.clone() };
            if !datasets.iter().any(|it| holds(&alone, it, it.shape())) {
                let known: BTreeSet<&String> = datasets.iter().flat_map(|it| &it.dims).collect();
                let known = known.into_iter().cloned().collect();
                return Err(Error::NoChunkAxis { axis: axis.0.clone(), known });
            }
        }
    }
    match (&rule.chunks, datasets.first()) {
        (ChunkChoice::Shape(chunk), Some(first))
            if !datasets.iter().any(|it| holds(rule, it, it.shape())) =>
        {
            // The first of those with the most axes: coordinates are seldom what is meant.
            let rank = |it: &&&Dataset| it.shape().len();
            let longest = datasets.iter().rev().max_by_key(rank).unwrap_or(first);
            Err(misfit(longest, longest.shape(), chunk))
        }
        _ => Ok(()),
    }
}
