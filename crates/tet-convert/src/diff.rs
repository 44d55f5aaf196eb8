//! Differences between two files.

mod names;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tet_format::Shape;
use tet_query::{Catalog, CatalogDiff, Dataset};

pub use self::names::NameMap;
use tet_container::model::attributes::{SCALAR_KEY, is_metadata, is_scalar};
use tet_container::model::notes::listed;
use tet_container::model::origin::is_of_origin;

/// Compares the datasets and the attributes of two files of any containers, but for elements; `names` has those that are
/// others in the second file. What only holds attributes of a file is no dataset; members of structures are.
/// [`contents`] leaves out what restores bytes.
#[must_use]
pub fn catalog_diff(left: &Catalog, right: &Catalog, names: &NameMap) -> CatalogDiff {
    let listed = |catalog: &Catalog| {
        let datasets = catalog.datasets().iter().filter(|dataset| !is_metadata(dataset));
        with_members(catalog, datasets)
    };
    names.pairs([listed(left), listed(right)], [left.attrs(), right.attrs()])
}

/// The only datasets of two files to compare, where their names differ: of each file the one that it has, or the only
/// one of these names and patterns.
#[must_use]
pub fn only_pair<'c>(
    left: &'c Catalog,
    right: &'c Catalog,
    asked: &[&str],
) -> Option<[&'c Dataset; 2]> {
    let only = |catalog: &'c Catalog| {
        let mut listed = catalog.datasets().iter().filter(|dataset| !is_metadata(dataset));
        if let (Some(dataset), None) = (listed.next(), listed.next()) {
            return Some(dataset);
        }
        let [asked] = asked else { return None };
        match catalog.matching(asked).ok()?[..] {
            [dataset] => Some(dataset),
            _ => None,
        }
    };
    let pair = [only(left)?, only(right)?];
    let is_apart = !right.has(&pair[0].name) && !left.has(&pair[1].name);
    is_apart.then_some(pair)
}

/// Datasets of a catalog, each before the members of its structures, if it has any.
pub fn with_members<'d>(
    catalog: &'d Catalog,
    datasets: impl IntoIterator<Item = &'d Dataset>,
) -> Vec<Dataset> {
    let mut parts = HashMap::new();
    for part in catalog.parts() {
        parts.entry(part.name.as_str()).or_insert(part);
    }
    let mut all = Vec::new();
    for dataset in datasets {
        all.push(dataset.clone());
        if let Some(tet_query::Error::Compound { members, .. }) = dataset.why() {
            let members = members.iter().filter_map(|name| parts.get(name.as_str()));
            all.extend(members.map(|part| Dataset::clone(part)));
        }
    }
    all
}

/// The warning about pairs of datasets that are compared decoded, where the attributes by which they are decoded
/// differ; `None` where those of all are the same.
#[must_use]
pub fn differing_decoding(pairs: &[[Dataset; 2]]) -> Option<String> {
    let (mut names, mut keys) = (Vec::new(), BTreeSet::new());
    for pair in pairs {
        let attrs = pair.each_ref().map(|dataset| {
            let Some(meaning) = &dataset.meaning else { return BTreeMap::new() };
            let attr = |key: &&'static str| Some((*key, meaning.stored.attrs.get(*key)?));
            meaning.attrs.iter().filter_map(attr).collect::<BTreeMap<_, _>>()
        });
        let [left, right] = &attrs;
        let is_same = |key: &str| match (left.get(key), right.get(key)) {
            (Some(one), Some(two)) => one.is_same(two),
            _ => false,
        };
        let differing: Vec<&str> =
            left.keys().chain(right.keys()).copied().filter(|key| !is_same(key)).collect();
        if !differing.is_empty() {
            names.push(pair[0].name.clone());
            keys.extend(differing);
        }
    }
    let keys = keys.into_iter().collect::<Vec<_>>().join(", ");
    let all = listed(&names);
    (!names.is_empty()).then(|| {
        format!("{all}: {keys} differ, and decoded values are compared; --raw-values compares stored ones")
    })
}

/// The contents of a file, without what this crate adds to restore types, shapes and bytes of another container: a
/// scalar that is stored as one element is a scalar.
#[must_use]
pub fn contents(catalog: Catalog) -> Catalog {
    let mut attrs = catalog.attrs().clone();
    attrs.retain(|key, _| !is_of_origin(key));
    catalog.viewed(as_scalar).with_attrs(attrs)
}

fn as_scalar(dataset: Dataset) -> Dataset {
    let grid = dataset.grid.reshaped(Shape::default(), Shape::default());
    let Some(grid) = grid.filter(|_| is_scalar(&dataset)) else { return dataset };
    let mut scalar = Dataset { grid, dims: Vec::new(), unlimited: Vec::new(), ..dataset };
    scalar.coords.clear();
    scalar.attrs.remove(SCALAR_KEY);
    scalar
}
