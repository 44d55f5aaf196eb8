//! The rules for chunks and codecs of single datasets, with the names of datasets for `#N` and patterns.

use std::collections::BTreeSet;

use tet_query::{Catalog, Dataset};

use super::choice::no_such_dataset;
use crate::edit::datasets_named;
use crate::write::chunk_shape::{holds, misfit};
use crate::write::conversion::ConvertOptions;
use crate::write::storage::{ChunkChoice, ChunkRule, CodecRule};
use crate::{Error, Result};

/// The options with rules that name each dataset as it is called.
///
/// # Errors
/// A rule names no dataset that is written, or holds for none of them.
pub(crate) fn resolved(
    catalog: &Catalog,
    datasets: &[&Dataset],
    options: &ConvertOptions,
) -> Result<ConvertOptions> {
    let mut resolved = options.clone();
    (resolved.tet.chunks, resolved.codecs) = (Vec::new(), Vec::new());
    for rule in &options.tet.chunks {
        let Some(text) = &rule.dataset else {
            check(rule, datasets)?;
            resolved.tet.chunks.push(rule.clone());
            continue;
        };
        for name in names(catalog, datasets, text)? {
            let rule = ChunkRule { dataset: Some(name.clone()), chunks: rule.chunks.clone() };
            let of_name: Vec<&Dataset> =
                datasets.iter().copied().filter(|it| it.name == name).collect();
            check(&rule, &of_name)?;
            resolved.tet.chunks.push(rule);
        }
    }
    for rule in &options.codecs {
        let names = names(catalog, datasets, &rule.dataset)?.into_iter();
        resolved.codecs.extend(names.map(|dataset| CodecRule { dataset, ..rule.clone() }));
    }
    Ok(resolved)
}

/// The names of the datasets, among those that are written, that a text means.
pub(super) fn names(catalog: &Catalog, datasets: &[&Dataset], text: &str) -> Result<Vec<String>> {
    let is_written = |name: &str| datasets.iter().any(|it| it.name == name);
    if is_written(text) {
        return Ok(vec![text.to_owned()]);
    }
    let positions = datasets_named(catalog, text).unwrap_or_default().into_iter();
    let found = positions.filter_map(|at| Some(catalog.datasets().get(at)?.name.clone()));
    let found: BTreeSet<String> = found.filter(|name| is_written(name)).collect();
    if found.is_empty() {
        return Err(no_such_dataset(text, datasets));
    }
    Ok(found.into_iter().collect())
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
