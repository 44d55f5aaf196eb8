//! What follows when datasets get other names: attributes and axes that name them.

use std::collections::{BTreeMap, BTreeSet};

use tet_query::{AttrText, Dataset};

use crate::container::{EditKind, FileEdit};
use crate::edit::editor_of;
use crate::model::renaming::{NewNames, renamed_attrs, renamed_dims};
use crate::read::opened::Opened;

/// These edits, and those that let what names a dataset follow its new name: the attributes of CF and UGRID
/// (`coordinates`, `bounds`, `grid_mapping` and others), and the axis that a coordinate has the name of. What is edited
/// by name stays as it is asked for.
///
/// # Examples
///
/// ```no_run
/// use tet_convert::{open, renames, with_followers};
///
/// let opened = open("climate.nc", &Default::default())?;
/// let edits = with_followers(&opened, renames(&opened.catalog, "lat", "latitude")?);
/// println!("{} edits", edits.len());
/// # Ok::<(), tet_convert::Error>(())
/// ```
#[must_use]
pub fn with_followers(opened: &Opened, mut edits: Vec<FileEdit>) -> Vec<FileEdit> {
    let mut new_names = BTreeMap::new();
    for edit in &edits {
        if let FileEdit::Rename { dataset, to } = edit {
            new_names.insert(*dataset, to.as_str());
        }
    }
    if new_names.is_empty() {
        return edits;
    }
    let datasets = opened.catalog.datasets().iter();
    let followers = datasets.flat_map(|dataset| of_dataset(opened, dataset, &new_names));
    let mut followers: Vec<FileEdit> = followers.collect();
    let dropped: BTreeSet<usize> = edits
        .iter()
        .filter_map(|edit| match edit {
            FileEdit::Drop { dataset } => Some(*dataset),
            _ => None,
        })
        .collect();
    let asked: BTreeSet<_> = edits.iter().filter_map(target).collect();
    let stays =
        |(at, key): (usize, Option<String>)| !asked.contains(&(at, key)) && !dropped.contains(&at);
    followers.retain(|it| target(it).is_none_or(stays));
    edits.extend(followers);
    edits
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
fn of_dataset(opened: &Opened, dataset: &Dataset, new_names: &NewNames<'_>) -> Vec<FileEdit> {
    let can = |kind| editor_of(opened, kind).is_ok();
    let (catalog, at) = (&opened.catalog, dataset.index);
    let mut edits = Vec::new();
    if can(EditKind::Attr) {
        let edit = |(key, text): (&str, String)| {
            let (dataset, key, value) = (Some(at), key.to_owned(), Some(AttrText::Text(text)));
            FileEdit::Attr { dataset, key, value }
        };
        edits.extend(renamed_attrs(catalog, dataset, new_names).into_iter().map(edit));
    }
    if can(EditKind::Dims) {
        let names = renamed_dims(catalog, dataset, new_names);
        edits.extend(names.map(|names| FileEdit::Dims { dataset: at, names }));
    }
    edits
}
