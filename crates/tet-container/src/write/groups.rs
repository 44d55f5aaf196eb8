//! The attributes of groups. A catalog has them as attributes of the file, `group/name`.

use std::collections::{BTreeMap, BTreeSet};

use tet_query::{AttrText, Catalog};

use crate::model::origin::is_of_origin;

/// Attributes by the paths of their groups, and by name; the path of the root is empty.
pub type GroupAttrs<'a> = BTreeMap<&'a str, BTreeMap<String, AttrText>>;

/// The attributes of a file whose datasets are written at `paths`. Groups that have nothing but attributes are groups
/// too, unless a dataset has their path or one above: then the attributes are those of the file.
pub fn of_groups<'a>(
    catalog: &'a Catalog,
    paths: &[String],
    is_legal: impl Fn(&str) -> bool,
) -> GroupAttrs<'a> {
    let datasets: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
    let is_group = |path: &str| {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let is_dataset = |end: usize| path.get(..end).is_some_and(|it| datasets.contains(it));
        path.split('/').all(|name| !name.is_empty()) && !ends.into_iter().any(is_dataset)
    };
    let mut groups = GroupAttrs::new();
    for (key, attr) in catalog.attrs().iter().filter(|(key, _)| !is_of_origin(key)) {
        let of_group = key.rsplit_once('/').filter(|(path, _)| is_legal(path) && is_group(path));
        let (path, name) = of_group.unwrap_or(("", key));
        groups.entry(path).or_default().insert(name.to_owned(), attr.clone());
    }
    groups
}
