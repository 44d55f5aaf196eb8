//! Plan of each dataset: chunks of files, or bytes in the document; or why it has no references.

use tet_format::DType;
use tet_io::Progress;
use tet_query::{Dataset, Execution, Hyperslab};
use tet_zarr::text_chunk;

use super::document::Content;
use super::edges::Edges;
use super::joined::JoinedParts;
use crate::merge::FileDataset;
use crate::{Error, Result};
use tet_container::model::logical::{Physical, to_physical};
use tet_zarr::container::ENCODING;

/// Bytes of a dataset of one axis that grows, at most, which is copied where its chunks are in no one grid: labels of the
/// axis, for example.
const GROWN_INLINE_MAX: u64 = 1 << 20;
/// Bytes that a text counts for.
const TEXT_LEN: u64 = 8;

/// How datasets are planned.
pub(super) struct Planner<'p> {
    pub(super) inline_len: u64,
    pub(super) edges: Edges,
    pub(super) execution: &'p Execution,
}

/// A dataset before its array is drafted.
pub(super) struct Planned {
    /// The dataset, with the extents of all files.
    pub(super) dataset: Dataset,
    pub(super) content: Content,
}

impl Planner<'_> {
    /// Plan of the dataset of several files, or of one.
    ///
    /// # Errors
    /// [`Error::NoReferences`]; elements cannot be read; files do not fit each other.
    pub(super) fn plan(&mut self, of: &JoinedParts<'_>, is_grown: bool) -> Result<Planned> {
        let Some(&FileDataset { dataset: first, .. }) = of.parts.first() else {
            return Err(Error::NoDatasets { encoding: ENCODING });
        };
        let refused = |why: &str| {
            let (dataset, why) = (first.name.clone(), why.to_owned());
            Error::NoReferences { dataset, why }
        };
        let dataset = if is_grown { grown(first, of)? } else { first.clone() };
        let count = dataset.grid.shape().element_count().unwrap_or(u64::MAX);
        if first.is_text() {
            if self.inline_len < count.saturating_mul(TEXT_LEN) {
                return Err(refused("its elements are texts"));
            }
            let content = self.texts(of)?;
            return Ok(Planned { dataset, content });
        }
        let views =
            of.parts.iter().map(|part| numbers(part.dataset)).collect::<Result<Vec<_>>>()?;
        let size = views.first().and_then(|view| view.dtype).and_then(DType::size).unwrap_or(1);
        let len = count.saturating_mul(size);
        let is_short = len <= self.inline_len;
        let is_coordinate = is_grown && dataset.shape().len() == 1 && len <= GROWN_INLINE_MAX;
        if is_short || is_coordinate {
            let parts = views.iter().map(|view| self.elements(view)).collect::<Result<Vec<_>>>()?;
            let size = usize::try_from(size).unwrap_or(1);
            let content = Content::Inline(of.interleaved(&parts, size));
            return Ok(Planned { dataset, content });
        }
        let chunks = of.join(of.chunks(&views, &mut self.edges, self.execution)?);
        Ok(Planned { dataset, content: Content::Chunks(Box::new(chunks)) })
    }

    /// All elements, little-endian and in row-major order; that files are unchanged is checked once all are read.
    fn elements(&self, view: &Dataset) -> Result<Vec<u8>> {
        let slab = Hyperslab::whole(view.shape());
        Ok(view.session().read(&slab, &self.execution.silent())?.value.into_bytes())
    }

    fn texts(&self, of: &JoinedParts<'_>) -> Result<Content> {
        let read = |&FileDataset { dataset: part, .. }: &_| -> Result<Vec<String>> {
            let slab = Hyperslab::whole(part.shape());
            Ok(part.read_texts(&slab, &self.execution.silent())?.value)
        };
        let parts = of.parts.iter().map(read).collect::<Result<Vec<_>>>()?;
        let texts = of.interleaved(&parts, 1);
        let memory = || Error::Memory {
            dataset: of.parts.first().map(|part| part.dataset.name.clone()).unwrap_or_default(),
        };
        Ok(Content::Inline(text_chunk(&texts).ok_or_else(memory)?))
    }

    /// The progress of what is read.
    pub(super) const fn progress(&self) -> &Progress {
        &self.execution.progress
    }
}

/// A dataset of numbers that Zarr has too.
fn numbers(dataset: &Dataset) -> Result<Dataset> {
    let refused = |why: String| Error::NoReferences { dataset: dataset.name.clone(), why };
    if let Some(why) = dataset.why() {
        return Err(refused(why.to_string()));
    }
    let has = |dtype| !matches!(dtype, DType::BFloat16 | DType::Bitmask);
    let physical = to_physical(dataset, ENCODING, has).ok();
    let physical = physical.filter(|it| Physical::note(it).is_none());
    let none = || refused(format!("{ENCODING} has no elements of {}", dataset.dtype_name));
    Ok(physical.ok_or_else(none)?.view)
}

/// A dataset with the extents and the labels of all files.
fn grown(first: &Dataset, of: &JoinedParts<'_>) -> Result<Dataset> {
    let memory = || Error::Memory { dataset: first.name.clone() };
    let shape = of.shape().ok_or_else(memory)?;
    let chunk_shape = first.grid.chunk_shape().clone();
    let grid = first.grid.reshaped(shape.into(), chunk_shape).ok_or_else(memory)?;
    let mut dataset = Dataset { grid, ..first.clone() };
    if let Some(labels) = of.labels()? {
        dataset.coords.insert(of.axis, labels);
    }
    Ok(dataset)
}
