//! Checks metadata against the datasets that it describes (TET-M8 to TET-M10).

use std::collections::HashSet;

use tet_format::{Error as Fault, Faults, Note, NoteCode, Result, Rule};

use super::model::{DatasetMetadata, Metadata};
use crate::dataset::DatasetEntry;

/// Checks the rules that need the datasets. `at` is the file offset of the metadata.
///
/// A reader continues: metadata that does not match a dataset is not used for it.
///
/// # Errors
///
/// A fault, only when `faults` asks to stop.
pub fn check(
    metadata: &Metadata,
    datasets: &[DatasetEntry],
    at: u64,
    faults: &mut impl Faults,
) -> Result<()> {
    if metadata.datasets.is_empty() {
        return Ok(());
    }
    for entry in datasets {
        if let Some(dataset) = metadata.dataset(&entry.name) {
            check_dataset(dataset, entry, at, faults)?;
        }
    }
    Ok(())
}

/// Notes repeated names that readers look up. `at` is the file offset of the metadata.
#[must_use]
pub fn notes(metadata: &Metadata, datasets: &[DatasetEntry], at: u64) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut note = |code, found: Option<usize>| {
        notes.extend(found.map(|found| Note { code, at, found: found as u64 }));
    };
    for dataset in datasets.iter().filter_map(|entry| metadata.dataset(&entry.name)) {
        note(NoteCode::DimNameTwice, twin(&dataset.dim_names));
        for labels in dataset.coords.values() {
            note(NoteCode::LabelTwice, twin(labels));
        }
    }
    notes
}

/// The position of the first repeated name.
fn twin(names: &[String]) -> Option<usize> {
    let mut seen = HashSet::with_capacity(names.len());
    names.iter().position(|name| !seen.insert(name.as_str()))
}

fn check_dataset(
    dataset: &DatasetMetadata,
    entry: &DatasetEntry,
    at: u64,
    faults: &mut impl Faults,
) -> Result<()> {
    let rank = entry.grid.rank();
    let found = dataset.dim_names.len();
    if found != 0 && found != rank {
        let (found, wanted) = (found as u64, rank as u64);
        faults.fault(Fault { rule: Rule::DimNames, at, found, wanted })?;
    }
    for (key, labels) in &dataset.coords {
        let found = labels.len() as u64;
        let Some(axis) = dataset.axis(key, rank) else {
            faults.fault(Fault { rule: Rule::CoordAxis, at, found, wanted: rank as u64 })?;
            continue;
        };
        let wanted = entry.grid.shape().get(axis).copied().unwrap_or(0);
        if found != wanted {
            faults.fault(Fault { rule: Rule::LabelCount, at, found, wanted })?;
        }
    }
    Ok(())
}
