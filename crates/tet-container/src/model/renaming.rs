//! New names of datasets, and what follows them: attributes that name a dataset, and the axis of a coordinate.

use std::collections::{BTreeMap, HashMap};

use tet_query::{AttrText, Catalog, Dataset, Pattern};

use super::associated::naming;
use crate::{Error, Result};

/// New names by the positions of datasets.
pub type NewNames<'n> = BTreeMap<usize, &'n str>;

/// The positions of the datasets that a text names: a name, `#N`, or a [`Pattern`].
///
/// # Errors
/// No dataset has the name or matches, or several have the name.
pub fn datasets_named(catalog: &Catalog, text: &str) -> Result<Vec<usize>> {
    let is_whole = |found: &Dataset| {
        catalog.datasets().get(found.index).is_some_and(|it| it.name == found.name)
    };
    let position = |found: &Dataset| {
        if is_whole(found) {
            return Ok(found.index);
        }
        let what = format!("{:?} is a part of another dataset", found.name);
        Err(tet_file::Error::Edit { what }.into())
    };
    catalog.find_all(text)?.into_iter().map(position).collect()
}

/// The new names of the datasets that `from` names, as `tet_convert::renames` has them.
///
/// # Errors
/// As [`datasets_named`]; `from` names several datasets and `to` has another number of `*`.
pub fn new_names(catalog: &Catalog, from: &str, to: &str) -> Result<Vec<(usize, String)>> {
    let positions = datasets_named(catalog, from)?;
    let pattern = Pattern::parse(from).filter(|_| !catalog.has(from));
    let Some(pattern) = pattern else {
        return Ok(positions.into_iter().map(|dataset| (dataset, to.to_owned())).collect());
    };
    let rename = |dataset: usize| {
        let name = catalog.datasets().get(dataset).map_or("", |it| it.name.as_str());
        Some((dataset, pattern.renamed(name, to)?))
    };
    let names: Option<Vec<(usize, String)>> = positions.into_iter().map(rename).collect();
    names.ok_or_else(|| {
        let what = format!("{to:?} needs as many * as {from:?}, for what they stand for");
        tet_file::Error::Edit { what }.into()
    })
}

/// The catalog with new names, and what follows them.
///
/// # Errors
/// Two datasets would have one name.
pub fn renamed(catalog: Catalog, names: &BTreeMap<usize, String>) -> Result<Catalog> {
    let new: NewNames<'_> = names.iter().map(|(at, name)| (*at, name.as_str())).collect();
    if new.is_empty() {
        return Ok(catalog);
    }
    let mut taken: HashMap<&str, &str> = HashMap::new();
    for dataset in catalog.datasets() {
        let name = new.get(&dataset.index).copied().unwrap_or(&dataset.name);
        if let Some(first) = taken.insert(name, &dataset.name)
            && (name != first || name != dataset.name)
        {
            let (first, second) = (first.to_owned(), dataset.name.clone());
            return Err(Error::Collision { first, second, member: name.to_owned() });
        }
    }
    let old = catalog.clone();
    Ok(catalog.viewed(|mut dataset| {
        for (key, text) in renamed_attrs(&old, &dataset, &new) {
            dataset.attrs.insert(key.to_owned(), AttrText::Text(text));
        }
        if let Some(dims) = renamed_dims(&old, &dataset, &new) {
            dataset.dims = dims;
        }
        if let Some(name) = new.get(&dataset.index) {
            dataset.name = (*name).to_owned();
        }
        dataset
    }))
}

/// The attributes of a dataset that name others which get other names, with their new texts.
pub fn renamed_attrs(
    catalog: &Catalog,
    dataset: &Dataset,
    new_names: &NewNames<'_>,
) -> Vec<(&'static str, String)> {
    let new_word = |word: &str| {
        let found = catalog.in_scope(&dataset.name, word).filter(|_| !word.ends_with(':'))?;
        let new = *new_names.get(&found.index)?;
        // A dataset that is named without its group is found without it.
        let new = if word.contains('/') { new } else { leaf(new) };
        Some(if word.starts_with('/') { format!("/{new}") } else { new.to_owned() })
    };
    let mut changed = Vec::new();
    for (key, _, text) in naming(&dataset.attrs) {
        let words = text.split_whitespace();
        if words.clone().any(|word| new_word(word).is_some()) {
            let words = words.map(|word| new_word(word).unwrap_or_else(|| word.to_owned()));
            changed.push((key, words.collect::<Vec<_>>().join(" ")));
        }
    }
    changed
}

/// The names of the axes of a dataset, where a coordinate with the name of one has another name.
pub fn renamed_dims(
    catalog: &Catalog,
    dataset: &Dataset,
    new_names: &NewNames<'_>,
) -> Option<Vec<String>> {
    let new_name = |dim: &str| {
        let found = catalog.in_scope(&dataset.name, dim)?;
        let is_coordinate = found.dims == [dim];
        Some(leaf(new_names.get(&found.index).filter(|_| is_coordinate)?).to_owned())
    };
    let names = dataset.dims.iter().map(|dim| new_name(dim).unwrap_or_else(|| dim.clone()));
    let names: Vec<String> = names.collect();
    (names != dataset.dims).then_some(names)
}

fn leaf(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or_default()
}
