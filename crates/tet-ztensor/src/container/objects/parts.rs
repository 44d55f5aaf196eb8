//! The parts of objects as datasets, found by the names `OBJECT.PART`; they are not listed.
//!
//! The parts of a sparse object have the form that those of version 0.1.0 have: places are numbers of 64 bits,
//! and a row of coordinates is that of one value. Those of another layout are lists of their numbers.

use std::sync::Arc;

use crate::objects::{ManifestObject, ObjectLayout, ObjectPart, PartEncoding, Version};
use tet_format::DType;
use tet_query::Dataset;
use tet_sparse::parts::{VALUES, of_places};

use super::object::Reading;
use crate::container::{SparsePart, part_attrs};
use tet_container::read::bands::Stored;
use tet_container::read::slabs::{grid_of_one, unread};

/// Bytes of a number of a place.
const WORD_LEN: u64 = 8;

/// The parts of a sound object.
pub(super) fn datasets(
    reading: &Reading,
    object: &ManifestObject,
    dataset: &Dataset,
    stored: Option<&Arc<Stored>>,
) -> Vec<Dataset> {
    match (object.layout, stored) {
        (ObjectLayout::Unknown, _) => {
            object.parts.iter().filter_map(|part| list(reading, object, part)).collect()
        }
        (_, Some(stored)) => sparse(object, dataset, stored).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// The parts of a sparse object; `None` where it is not known yet how many values it has.
fn sparse(
    object: &ManifestObject,
    dataset: &Dataset,
    stored: &Arc<Stored>,
) -> Option<Vec<Dataset>> {
    let values = object.values()?;
    let (count, value_dtype) = (values.element_count()?, DType::from_name(values.element?.name)?);
    let format = if object.layout == ObjectLayout::Csr { "csr" } else { "coo" };
    let mut parts = of_places(format, &object.shape, count)?;
    parts.push((VALUES, vec![count]));
    let mut datasets = Vec::with_capacity(parts.len());
    for (part, extents) in parts {
        let is_values = part == VALUES;
        let dtype = if is_values { value_dtype } else { DType::UInt64 };
        let size = if is_values { value_dtype.size().unwrap_or(1) } else { WORD_LEN };
        let len = extents.iter().copied().fold(size, u64::saturating_mul);
        let blob = object.part(part)?.stored;
        let stored = Arc::clone(stored);
        let chunks = Arc::new(SparsePart { stored, part, blob, len, sealed: None });
        let grid = grid_of_one(&extents);
        let name = format!("{}.{part}", dataset.name);
        let attrs = part_attrs(part, format, dataset);
        let source = dataset.source.clone();
        datasets.push(Dataset { attrs, ..Dataset::new(source, name, dtype, grid, chunks) });
    }
    Some(datasets)
}

/// The numbers of a part of a layout that is not known.
fn list(reading: &Reading, object: &ManifestObject, part: &ObjectPart) -> Option<Dataset> {
    let element = part.element?;
    let dtype = DType::from_name(element.name)?;
    let shape = [part.element_count()?];
    let is_readable = part.encoding != PartEncoding::Unknown
        && (reading.file.version() == Version::Two || part.decoded_len.is_some());
    if !is_readable {
        return None;
    }
    let chunks = reading.part_chunks(part, &shape, element.bits).ok().flatten();
    let (grid, chunks) = chunks.unwrap_or_else(|| unread(&shape, None));
    let source = reading.file.source_of(part)?.clone();
    let name = format!("{}.{}", object.name, part.name);
    Some(Dataset::new(source, name, dtype, grid, chunks))
}
