//! Consolidated metadata against the documents that they were made of.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Nodes, discovery};
use crate::array::ArrayMeta;
use crate::error::{Broken, Result, ZarrFault, broken};
use crate::rule;
use crate::store::Store;

/// Reads the documents of all nodes of a store, and compares them with the consolidated ones.
pub(super) fn check(
    consolidated: &Nodes,
    store: &Store,
    report: &mut dyn FnMut(ZarrFault),
) -> Result<()> {
    let mut listed = Nodes::default();
    // Some writers leave nothing but the consolidated metadata.
    if !discovery::read(store, &mut listed)? || listed.arrays.is_empty() && listed.lost.is_empty() {
        return Ok(());
    }
    let mut stale = |path: &str, fault: Broken| {
        let path = path.to_owned();
        report(ZarrFault { fault, key: path.clone(), path: Some(path) });
    };
    let other = || broken(&rule::STALE, 0, 0);
    let mut arrays: HashMap<&str, &Arc<ArrayMeta>> =
        listed.arrays.iter().map(|array| (array.path.as_str(), array)).collect();
    for array in &consolidated.arrays {
        let path = array.path.as_str();
        match arrays.remove(path) {
            None if listed.lost.contains(path) => {}
            None => stale(path, other()),
            Some(now) if now.shape != array.shape => {
                let pairs = array.shape.iter().zip(now.shape.iter());
                let differs = pairs.clone().find(|(one, other)| one != other);
                let (&found, &wanted) = differs.unwrap_or((&0, &0));
                stale(path, broken(&rule::STALE_SHAPE, found, wanted));
            }
            Some(now) if !is_same(array, now) => stale(path, other()),
            Some(_) => {}
        }
    }
    let known: HashSet<_> =
        consolidated.findings.iter().filter_map(|it| it.path.as_deref()).collect();
    let mut new: Vec<&str> = arrays.into_keys().collect();
    new.retain(|path| !consolidated.lost.contains(*path) && !known.contains(path));
    new.sort_unstable();
    new.into_iter().for_each(|path| stale(path, other()));
    let is_known = |path: &Option<String>| path.as_deref().is_some_and(|it| known.contains(it));
    let lost = listed.findings.into_iter().filter(|it| !is_known(&it.path));
    lost.for_each(report);
    Ok(())
}

/// Whether two descriptions of an array are the same.
fn is_same(one: &ArrayMeta, other: &ArrayMeta) -> bool {
    one.object_shape == other.object_shape
        && one.element == other.element
        && one.byte_order == other.byte_order
        && one.fill == other.fill
        && one.codecs == other.codecs
        && one.shards == other.shards
        && one.dimension_names == other.dimension_names
        && one.attributes == other.attributes
        && one.keys == other.keys
}
