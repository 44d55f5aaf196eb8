//! Changes of the metadata of one dataset: names of its axes, and labels.

use crate::error::{Error, Result};
use crate::metadata::DatasetMetadata;

/// Names the axes; no names remove the old ones. Labels stay with their axes.
pub(super) fn set_dims(about: &mut DatasetMetadata, rank: usize, names: &[String]) -> Result<()> {
    if !names.is_empty() && names.len() != rank {
        let what = format!("{} names are given for {rank} axes", names.len());
        return Err(Error::Edit { what });
    }
    let twice = |(at, name): (usize, &String)| names.iter().take(at).any(|it| it == name);
    if let Some((_, name)) = names.iter().enumerate().find(|it| twice(*it)) {
        return Err(Error::Edit { what: format!("two axes are named {name:?}") });
    }
    let keys = about.coords.keys().chain(about.unknown_coords.keys());
    let axes: Vec<_> = keys.map(|key| (key.clone(), about.axis(key, rank))).collect();
    let (mut coords, mut unknown) = (about.coords.clone(), about.unknown_coords.clone());
    about.dim_names = names.to_vec();
    about.coords.clear();
    about.unknown_coords.clear();
    for (old, axis) in axes {
        let key = match axis {
            Some(axis) => key_of(about, rank, axis)?,
            None => old.clone(),
        };
        about.coords.extend(coords.remove(&old).map(|labels| (key.clone(), labels)));
        about.unknown_coords.extend(unknown.remove(&old).map(|members| (key, members)));
    }
    Ok(())
}

/// Labels an axis of this extent; `None` removes its labels.
pub(super) fn set_labels(
    about: &mut DatasetMetadata,
    rank: usize,
    axis: usize,
    extent: u64,
    labels: Option<Vec<String>>,
) -> Result<()> {
    let count = labels.as_ref().map_or(extent, |labels| labels.len() as u64);
    if count != extent {
        let what = format!("{count} labels are given for axis {axis} of extent {extent}");
        return Err(Error::Edit { what });
    }
    let mut coords = std::mem::take(&mut about.coords);
    coords.retain(|key, _| about.axis(key, rank) != Some(axis));
    about.coords = coords;
    if let Some(labels) = labels {
        let key = key_of(about, rank, axis)?;
        about.coords.insert(key, labels);
    }
    Ok(())
}

/// The key of an axis in `coords`: its name, or its number.
fn key_of(about: &DatasetMetadata, rank: usize, axis: usize) -> Result<String> {
    let keys = about.dim_names.get(axis).cloned().into_iter().chain([axis.to_string()]);
    // A name of several axes means the first of them.
    let mut keys = keys.filter(|key| about.axis(key, rank) == Some(axis));
    keys.next().ok_or_else(|| Error::Edit {
        what: format!("axis {axis} cannot be labeled: another axis has its name"),
    })
}
