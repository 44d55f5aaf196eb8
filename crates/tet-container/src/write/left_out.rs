//! Notes of the metadata that an output has no place for.

use tet_query::{Catalog, Dataset};

use crate::Note;
use crate::model::attributes::SCALAR_KEY;
use crate::model::origin::is_of_origin;

/// What outputs that hold arrays alone have no place for.
pub fn left_out(catalog: &Catalog, datasets: &[&Dataset]) -> Vec<Note> {
    let mut notes = of_datasets(datasets, |key| key == SCALAR_KEY);
    // What a safetensors file stores about its own bytes is about that file.
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
