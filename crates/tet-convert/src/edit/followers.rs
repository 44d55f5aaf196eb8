//! What follows when datasets get other names: attributes and axes that name them.

use std::collections::{BTreeMap, BTreeSet};

use tet_query::{AttrText, Dataset};

use crate::container::{EditKind, FileEdit};
use crate::edit::editor_of;
use crate::model::associated;
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
    let can = |kind| editor_of(opened, kind).is_ok();
    let mut followers = Vec::new();
    for dataset in opened.catalog.datasets() {
        if can(EditKind::Attr) {
            followers.extend(attrs(opened, dataset, &new_names));
        }
        if can(EditKind::Dims) {
            followers.extend(dims(opened, dataset, &new_names));
        }
    }
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

fn attrs(opened: &Opened, dataset: &Dataset, new_names: &BTreeMap<usize, &str>) -> Vec<FileEdit> {
    let edit = |(key, text): (&str, String)| FileEdit::Attr {
        dataset: Some(dataset.index),
        key: key.to_owned(),
        value: Some(AttrText::Text(text)),
    };
    associated::renamed(&opened.catalog, dataset, new_names).into_iter().map(edit).collect()
}

/// The axes of a dataset, where a coordinate with the name of one has another name.
fn dims(opened: &Opened, dataset: &Dataset, new_names: &BTreeMap<usize, &str>) -> Option<FileEdit> {
    let new_name = |dim: &str| {
        let found = opened.catalog.in_scope(&dataset.name, dim)?;
        let is_coordinate = found.dims == [dim];
        let new = new_names.get(&found.index).filter(|_| is_coordinate)?;
        Some(new.rsplit('/').next().unwrap_or_default().to_owned())
    };
    let names: Vec<String> =
        dataset.dims.iter().map(|dim| new_name(dim).unwrap_or_else(|| dim.clone())).collect();
    (names != dataset.dims).then_some(FileEdit::Dims { dataset: dataset.index, names })
}
