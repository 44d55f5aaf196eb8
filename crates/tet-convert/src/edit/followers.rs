//! Edits that follow from names of datasets that change or are gone: those of attributes and axes that name them.

use std::collections::{BTreeMap, BTreeSet};

use tet_query::{AttrText, Dataset};

use crate::Note;
use crate::container::{EditKind, FileEdit};
use crate::edit::editor_of;
use tet_container::model::associated::prune;
use tet_container::model::renaming::{NewNames, renamed_attrs, renamed_dims};
use tet_container::read::opened::Opened;

/// These edits, and those that let what names a dataset follow its new name: the attributes of CF and UGRID
/// (`coordinates`, `bounds`, `grid_mapping` and others), and the axis that a coordinate has the name of. Names of datasets
/// that are removed are taken out of these attributes. What is edited by name stays as it is asked for.
#[must_use]
pub fn with_followers(opened: &Opened, mut edits: Vec<FileEdit>) -> Vec<FileEdit> {
    let (mut new_names, mut dropped) = (BTreeMap::new(), BTreeSet::new());
    for edit in &edits {
        match edit {
            FileEdit::Rename { dataset, to } => drop(new_names.insert(*dataset, to.as_str())),
            FileEdit::Drop { dataset } => drop(dropped.insert(*dataset)),
            _ => {}
        }
    }
    if new_names.is_empty() && dropped.is_empty() {
        return edits;
    }
    let datasets = opened.catalog.datasets().iter().filter(|it| !dropped.contains(&it.index));
    let followers = datasets.flat_map(|it| of_dataset(opened, it, &new_names, &dropped));
    let mut followers: Vec<FileEdit> = followers.collect();
    let asked: BTreeSet<_> = edits.iter().filter_map(target).collect();
    followers.retain(|it| target(it).is_none_or(|target| !asked.contains(&target)));
    edits.extend(followers);
    edits
}

/// Notes on the names of datasets that go out of attributes because these are removed.
pub(super) fn names_left_out(opened: &Opened, dropped: &BTreeSet<usize>) -> Vec<Note> {
    if dropped.is_empty() || editor_of(opened, EditKind::Attr).is_err() {
        return Vec::new();
    }
    let datasets = opened.catalog.datasets().iter().filter(|it| !dropped.contains(&it.index));
    let note = |dataset: &Dataset| {
        let goes = |it: &Dataset| !dropped.contains(&it.index);
        prune(&opened.catalog, &mut dataset.clone(), goes)
    };
    datasets.filter_map(note).collect()
}

/// The dataset and the attribute that an edit is of, or its axes.
fn target(edit: &FileEdit) -> Option<(usize, Option<String>)> {
    match edit {
        FileEdit::Attr { dataset: Some(at), key, .. } => Some((*at, Some(key.clone()))),
        FileEdit::Dims { dataset, .. } => Some((*dataset, None)),
        _ => None,
    }
}

/// The edits that let the attributes and the axes of a dataset follow.
fn of_dataset(
    opened: &Opened,
    dataset: &Dataset,
    new_names: &NewNames<'_>,
    dropped: &BTreeSet<usize>,
) -> Vec<FileEdit> {
    let can = |kind| editor_of(opened, kind).is_ok();
    let (catalog, at) = (&opened.catalog, dataset.index);
    let mut edits = Vec::new();
    if can(EditKind::Attr) {
        let mut new = dataset.clone();
        for (key, text) in renamed_attrs(catalog, dataset, new_names) {
            new.attrs.insert(key.to_owned(), AttrText::Text(text));
        }
        prune(catalog, &mut new, |it| !dropped.contains(&it.index));
        let changed = dataset.attrs.iter().filter(|(key, old)| new.attrs.get(*key) != Some(old));
        edits.extend(changed.map(|(key, _)| FileEdit::Attr {
            dataset: Some(at),
            key: key.clone(),
            value: new.attrs.get(key).cloned(),
        }));
    }
    if can(EditKind::Dims) {
        let names = renamed_dims(catalog, dataset, new_names);
        edits.extend(names.map(|names| FileEdit::Dims { dataset: at, names }));
    }
    edits
}
