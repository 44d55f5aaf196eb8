//! Tied weights: tensors of a zTensor file over the same bytes.

use std::collections::HashMap;

use crate::{ByteOrder, Limits, ZTensorFile};
use tet_format::DType;
use tet_query::{Catalog, Dataset};

use tet_container::model::logical;
use tet_container::{Format, Note, Result};

/// For each dataset the first one before it that has its bytes, by its place in the list. Only a
/// zTensor file has such datasets: the other containers forbid them.
///
/// # Errors
/// The file cannot be read again.
pub(super) fn ties(catalog: &Catalog, datasets: &[&Dataset]) -> Result<Vec<Option<usize>>> {
    if catalog.format() != Format::ZTENSOR.name() {
        return Ok(vec![None; datasets.len()]);
    }
    let file = ZTensorFile::open(catalog.source().clone(), &Limits::default())?;
    let mut seen = HashMap::new();
    let firsts = datasets.iter().enumerate().map(|(at, dataset)| {
        let tensor =
            file.tensor(dataset.index).filter(|it| !it.is_sparse() && it.fault().is_none())?;
        let (stored, len) = (tensor.stored()?, logical::byte_len(dataset));
        let place = (stored.start(), stored.len());
        // Bytes that are turned around come to the same where elements are as long.
        let is_big = tensor.byte_order() == ByteOrder::Big;
        let width = tensor.dtype().and_then(DType::size).filter(|_| is_big);
        let how = (tensor.encoding(), width);
        let first = *seen.entry((place, how, len)).or_insert(at);
        // Where there are no elements there is nothing to share.
        (first != at && len != 0).then_some(first)
    });
    Ok(firsts.collect())
}

/// That tensors are written each for itself which had the same bytes.
///
/// # Errors
/// As [`ties`].
pub(super) fn untied(catalog: &Catalog, datasets: &[&Dataset]) -> Result<Vec<Note>> {
    let firsts = ties(catalog, datasets)?;
    let notes = datasets.iter().zip(firsts).filter_map(|(dataset, first)| {
        let (dataset, of) = (dataset.name.clone(), datasets.get(first?)?.name.clone());
        Some(Note::Untied { dataset, of })
    });
    Ok(notes.collect())
}
