//! That an edited file has all that the old one has, but for what was to change.

use std::collections::{BTreeMap, HashMap};

use tet_query::{AttrText, Catalog, Dataset};

use crate::editor::FileEdit;
use crate::model::attribute_types::{AttrTypes, TYPES_KEY, typed};
use crate::model::logical::to_logical;
use crate::read::opened::Opened;
use crate::{Error, Result};

/// The error for a file that cannot be edited so.
pub fn unfit(what: impl Into<String>) -> Error {
    tet_file::Error::Edit { what: what.into() }.into()
}

/// Checks a new file before it takes the place of the old one.
///
/// # Errors
/// A dataset or an attribute that was to stay is another one or is gone, and which.
pub fn check(old: &Opened, edits: &[FileEdit], new: Catalog, types: AttrTypes) -> Result<()> {
    let new = typed(new.viewed(to_logical), types);
    let mut names = BTreeMap::new();
    let mut edited = EditedAttrs::new();
    for edit in edits {
        match edit {
            FileEdit::Rename { dataset, to } => drop(names.insert(*dataset, Some(to.as_str()))),
            FileEdit::Drop { dataset } => drop(names.insert(*dataset, None)),
            FileEdit::Attr { dataset, key, value } => {
                edited.entry(*dataset).or_default().insert(key, value.is_some());
            }
            _ => {}
        }
    }
    let by_name: BTreeMap<&str, &Dataset> =
        new.datasets().iter().map(|it| (it.name.as_str(), it)).collect();
    let mut count = 0;
    for dataset in old.catalog.datasets() {
        let name = names.get(&dataset.index).copied().unwrap_or(Some(&dataset.name));
        let Some(name) = name else { continue };
        count += 1;
        let is_same = by_name.get(name).is_some_and(|it| is_same(dataset, it, &edited));
        if !is_same {
            let name = &dataset.name;
            return Err(unfit(format!(
                "{name:?} would not be read from the new file as before: what it is linked to gets another name, or is removed"
            )));
        }
    }
    if count != new.datasets().len() {
        return Err(unfit("the new file would have other datasets"));
    }
    if !same_attrs(edited.get(&None), old.catalog.attrs(), new.attrs()) {
        return Err(unfit("attributes of the new file that were to stay would be others"));
    }
    Ok(())
}

/// The keys that are set or removed of each dataset, and of the file: whether they are there afterwards.
type EditedAttrs<'e> = HashMap<Option<usize>, BTreeMap<&'e str, bool>>;

fn is_same(old: &Dataset, new: &Dataset, edited: &EditedAttrs<'_>) -> bool {
    old.shape() == new.shape()
        && old.dtype == new.dtype
        && old.dims.len() == new.dims.len()
        && old.fault.is_some() == new.fault.is_some()
        && same_attrs(edited.get(&Some(old.index)), &old.attrs, &new.attrs)
}

type Attrs = BTreeMap<String, AttrText>;

/// Whether attributes are the same that are not edited, and those that are edited are there or not.
fn same_attrs(edited: Option<&BTreeMap<&str, bool>>, old: &Attrs, new: &Attrs) -> bool {
    let is_edited = |key: &str| edited.is_some_and(|edited| edited.contains_key(key));
    let stays = |(key, _): &(&String, _)| !is_edited(key) && *key != TYPES_KEY;
    let are_edited = edited
        .into_iter()
        .flatten()
        .all(|(key, is_set)| *key == TYPES_KEY || new.contains_key(*key) == *is_set);
    are_edited && old.iter().filter(stays).eq(new.iter().filter(stays))
}
