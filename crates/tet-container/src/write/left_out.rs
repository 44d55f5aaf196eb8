//! Notes of the metadata that an output has no place for.

use tet_query::{Catalog, Dataset};

use crate::Note;
use crate::model::attributes::SCALAR_KEY;
use crate::model::origin::is_of_origin;

/// Notes on metadata that outputs of arrays alone cannot store.
pub fn left_out(catalog: &Catalog, datasets: &[&Dataset]) -> Vec<Note> {
    let mut notes = of_datasets(datasets, |key| key == SCALAR_KEY);
    // The header of a safetensors file is about the bytes of that file alone.
    let count = catalog.attrs().keys().filter(|key| !is_of_origin(key)).count();
    notes.extend(Note::left_behind("", "attributes of the file", count));
    notes
}

/// The metadata of datasets that has no place, but for the attributes that `is_ours` names.
pub fn of_datasets(datasets: &[&Dataset], is_ours: impl Fn(&str) -> bool) -> Vec<Note> {
    let mut notes = Vec::new();
    for dataset in datasets {
        let counts = [
            ("dimension names", dataset.dims.len()),
            ("axes with labels", dataset.coords.len()),
            ("attributes", dataset.attrs.keys().filter(|key| !is_ours(key)).count()),
        ];
        let left = counts.map(|(what, count)| Note::left_behind(&dataset.name, what, count));
        notes.extend(left.into_iter().flatten());
    }
    notes
}
