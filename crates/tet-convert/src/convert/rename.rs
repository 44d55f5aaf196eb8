//! Datasets that are written with other names. Options name them as the input does.

use std::collections::BTreeMap;

use tet_query::Dataset;

use crate::Result;
use tet_container::model::renaming::{new_names, renamed};
use tet_container::read::opened::Opened;
use tet_container::write::conversion::ConvertOptions;

/// A file whose datasets have the names that they are written with, and the options that name them so.
///
/// # Errors
/// No dataset has an old name, or two would have one name.
pub(super) fn with_new_names(
    mut opened: Opened,
    options: &ConvertOptions,
) -> Result<(Opened, ConvertOptions)> {
    let (catalog, mut options) = (opened.catalog, options.clone());
    let mut names: BTreeMap<usize, String> = BTreeMap::new();
    for (from, to) in &options.renames {
        names.extend(new_names(&catalog, from, to)?);
    }
    // The new names of the datasets that an old name or pattern matches, where one of them has a new name.
    let new = |text: &String| -> Vec<String> {
        let found = catalog.matching(text).unwrap_or_default();
        if !found.iter().any(|it| names.contains_key(&it.index)) {
            return vec![text.clone()];
        }
        let name = |it: &Dataset| names.get(&it.index).unwrap_or(&it.name).clone();
        found.into_iter().map(name).collect()
    };
    let tet = &mut options.tet;
    tet.include = tet.include.iter().flat_map(new).collect();
    tet.exclude = tet.exclude.iter().flat_map(new).collect();
    let one = |dataset: &mut Option<String>| {
        if let [new] = &dataset.as_ref().map(new).unwrap_or_default()[..] {
            *dataset = Some(new.clone());
        }
    };
    tet.attrs.iter_mut().for_each(|it| one(&mut it.dataset));
    tet.dims.iter_mut().for_each(|it| one(&mut it.dataset));
    tet.labels.iter_mut().for_each(|it| one(&mut it.dataset));
    tet.chunks.iter_mut().for_each(|it| one(&mut it.dataset));
    for rule in &mut options.codecs {
        if let [new] = &new(&rule.dataset)[..] {
            rule.dataset.clone_from(new);
        }
    }
    opened.catalog = renamed(catalog.clone(), &names)?;
    Ok((opened, options))
}
