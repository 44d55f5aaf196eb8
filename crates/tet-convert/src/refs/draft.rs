//! The documents of the hierarchy, as the writer of Zarr has them, over chunks that are stored.

use serde_json::Value;
use tet_format::{DType, Shape};
use tet_query::{Dataset, LazyArray};
use tet_zarr::{NewArray, ZarrCompression, ZarrFormat, fill_json};

use super::address::AddressBook;
use super::document::{Content, ReferenceSet};
use super::plan::Planned;
use crate::{Error, Result};
use tet_container::model::attribute_types::{AttrTypes, with_note};
use tet_container::model::axes::name_axes;
use tet_container::write::axes::{names_of, used};
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::write::stream;
use tet_container::write::texts::outline;
use tet_zarr::container::{self as zarr, Elements};

/// The hierarchy of the datasets, as the writer of Zarr has it, over the chunks that are stored.
pub(super) fn drafted(
    of: Conversion<'_>,
    planned: Vec<Planned>,
    book: &mut AddressBook<'_>,
    convert: &ConvertOptions,
) -> Result<ReferenceSet> {
    let (datasets, contents): (Vec<Dataset>, Vec<Content>) =
        planned.into_iter().map(|it| (it.dataset, it.content)).unzip();
    let datasets = named(datasets.into_iter().map(|it| with_note(it, AttrTypes::Json)).collect())?;
    let lazy = outlines(&datasets)?;
    let mut of = Conversion { datasets: datasets.iter().collect(), ..of };
    let draft = zarr::draft(&mut of, &lazy, convert)?;
    let mut hierarchy = draft.hierarchy;
    let mut contents: Vec<Option<Content>> = contents.into_iter().map(Some).collect();
    let mut ordered = Vec::new();
    for (array, part) in hierarchy.arrays.iter_mut().zip(draft.parts) {
        let content = match part.elements {
            Elements::Bytes(bytes) => Content::Inline(bytes),
            Elements::Array(number) | Elements::Texts(number) => {
                let dataset = datasets.get(number).expect("arrays are made of datasets");
                let content = contents.get_mut(number).and_then(Option::take);
                let content = content.expect("each dataset is one array");
                fit(array, dataset, content, zarr::format(convert), &mut *book)?
            }
        };
        ordered.push(content);
    }
    Ok(ReferenceSet { hierarchy, contents: ordered, notes: of.notes })
}

/// The datasets with a name for each axis: xarray reads no others.
fn named(mut datasets: Vec<Dataset>) -> Result<Vec<Dataset>> {
    let lazy = outlines(&datasets)?;
    let used = used(&lazy);
    for (dataset, lazy) in datasets.iter_mut().zip(&lazy) {
        dataset.dims = names_of(lazy, &used);
    }
    name_axes(&mut datasets);
    Ok(datasets)
}

/// Datasets as arrays, which are not read.
fn outlines(datasets: &[Dataset]) -> Result<Vec<LazyArray>> {
    let outlined = |dataset: &Dataset| {
        if dataset.is_text() { stream::whole(&outline(dataset)) } else { stream::whole(dataset) }
    };
    datasets.iter().map(outlined).collect()
}

/// Gives an array the chunks that are stored, and their files the addresses that readers open.
///
/// # Errors
/// The fill value of chunks that are not stored cannot be stated; a file has no address.
fn fit(
    array: &mut NewArray,
    dataset: &Dataset,
    content: Content,
    format: ZarrFormat,
    book: &mut AddressBook<'_>,
) -> Result<Content> {
    array.shard_shape = None;
    array.compression = ZarrCompression::None;
    let Content::Chunks(mut chunks) = content else {
        array.chunk_shape = array.shape.iter().map(|&extent| extent.max(1)).collect();
        return Ok(content);
    };
    if array.shape.rank() == 0 {
        // A scalar may be stored along an axis of one position.
        (chunks.chunk_shape, chunks.counts) = (Vec::new(), Vec::new());
    }
    array.chunk_shape = Shape::from(chunks.chunk_shape.clone());
    array.stored = Some(chunks.pipeline.clone());
    if !chunks.is_whole() {
        array.fill = fill(array.fill.take(), dataset, format)?;
    }
    for file in &mut chunks.files {
        *file = book.of(file)?;
    }
    Ok(Content::Chunks(chunks))
}

/// The fill value of an array some of whose chunks are not stored, of which `given` is the missing value.
fn fill(given: Option<Value>, dataset: &Dataset, format: ZarrFormat) -> Result<Option<Value>> {
    let refused = |why: &str| {
        let (dataset, why) = (dataset.name.clone(), why.to_owned());
        Err(Error::NoReferences { dataset, why })
    };
    let size = dataset.dtype.and_then(DType::size).and_then(|size| usize::try_from(size).ok());
    let zeros = vec![0; size.unwrap_or(1)];
    let own = dataset.fill.as_deref().unwrap_or(&zeros);
    let json = dataset.dtype.and_then(|dtype| fill_json(dtype, own, format));
    if json.is_none() {
        return refused("some chunks are not stored, and Zarr has no word for their fill value");
    }
    match given {
        _ if format == ZarrFormat::V3 => Ok(json),
        // xarray would take a zero for the missing value, and an undefined fill value is read as zero.
        None if own == zeros => Ok(None),
        Some(given) if Some(&given) != json.as_ref() => refused(
            "some chunks are not stored, and their fill value is not the missing value of the attributes",
        ),
        _ => Ok(json),
    }
}
