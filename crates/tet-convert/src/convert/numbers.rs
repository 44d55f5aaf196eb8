//! Objects that share a name, for containers in which each has its own: `t`, `t.1`, `t.2`, and so on.

use std::collections::{BTreeMap, HashSet};

use tet_query::Catalog;

use crate::Note;

/// The catalog in which no two datasets share a name; the first of them keeps it.
pub(super) fn numbered(catalog: Catalog, mut notes: Vec<Note>) -> (Catalog, Vec<Note>) {
    let mut taken: HashSet<String> =
        catalog.datasets().iter().map(|dataset| dataset.name.clone()).collect();
    if taken.len() == catalog.datasets().len() {
        return (catalog, notes);
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let catalog = catalog.viewed(|mut dataset| {
        let Some(count) = seen.get_mut(&dataset.name) else {
            seen.insert(dataset.name.clone(), 0);
            return dataset;
        };
        // Each round takes a number more: there are no more names than datasets.
        dataset.name = loop {
            *count += 1;
            let name = format!("{}.{count}", dataset.name);
            if taken.insert(name.clone()) {
                break name;
            }
        };
        dataset
    });
    let several = seen.into_iter().filter(|(_, count)| *count != 0);
    notes.extend(several.map(|(dataset, last)| Note::Numbered { dataset, last }));
    (catalog, notes)
}
