//! Where the stored bytes of a dataset are and what decodes them, for programs that read them without this engine.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tet_io::Progress;
use tet_query::{ChunkPlace, Dataset, Error, NumcodecsPipeline};

use crate::run::{Job, detached};
use crate::selected::Selected;

/// Chunks that are located at a time.
const BATCH: u64 = 1 << 14;
/// Chunks of a dataset at most: their places take 24 bytes each.
const CHUNKS_MAX: u64 = 1 << 24;
/// The number of the file of a chunk that is not stored.
const ABSENT: u32 = u32::MAX;

/// The chunks of a dataset, in row-major order of their grid.
#[derive(Default)]
struct Storage {
    /// The files, by their paths.
    files: Vec<String>,
    /// The number of the file of each chunk.
    file: Vec<u32>,
    /// Where each chunk is in its file.
    offset: Vec<u64>,
    /// Its stored bytes.
    len: Vec<u64>,
    /// Whether all chunks have as many elements as the chunk shape, those at the edges too.
    is_full: bool,
    /// How all of them are decoded.
    pipeline: Option<NumcodecsPipeline>,
    /// Why other programs cannot decode them.
    refusal: Option<String>,
}

/// The places of the chunks of a dataset and their codecs, as a dict.
#[pyfunction]
pub(crate) fn storage<'py>(py: Python<'py>, selected: &Selected) -> PyResult<Bound<'py, PyDict>> {
    let held = selected.held()?;
    let dataset = held.dataset()?;
    let found = detached(py, &Job::long(None), |progress| located(dataset, &progress))?;
    let dict = PyDict::new(py);
    dict.set_item("files", found.files)?;
    dict.set_item("file", bytes(py, &found.file, |it| it.to_le_bytes()))?;
    dict.set_item("offset", bytes(py, &found.offset, |it| it.to_le_bytes()))?;
    dict.set_item("len", bytes(py, &found.len, |it| it.to_le_bytes()))?;
    dict.set_item("is_full", found.is_full)?;
    let pipeline = found.pipeline.unwrap_or_default();
    let codecs: Vec<_> = pipeline.codecs.iter().map(|it| (it.id, it.setting)).collect();
    dict.set_item("codecs", codecs)?;
    dict.set_item("is_big_endian", pipeline.is_big_endian)?;
    dict.set_item("refusal", found.refusal)?;
    Ok(dict)
}

/// Whether the first chunk is stored as its elements are in memory, or with the bytes of each turned around: a part
/// of it can be read without the rest.
#[pyfunction]
pub(crate) fn is_raw(py: Python<'_>, selected: &Selected) -> PyResult<bool> {
    let held = selected.held()?;
    let dataset = held.dataset()?;
    if dataset.grid.chunk_count() == 0 {
        return Ok(true);
    }
    detached(py, &Job::new(0, None), |_| {
        let mut places = Vec::new();
        dataset.chunks.locate(&[0], &mut places)?;
        let pipeline =
            places.first().and_then(|place| dataset.chunks.decoder(0, place).numcodecs());
        Ok::<_, Error>(pipeline.is_some_and(|pipeline| pipeline.codecs.is_empty()))
    })
}

fn bytes<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    numbers: &[T],
    of: impl Fn(T) -> [u8; N],
) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| of(*number)).collect();
    PyBytes::new(py, &bytes)
}

fn located(dataset: &Dataset, progress: &Progress) -> Result<Storage, Error> {
    let mut storage = Storage { is_full: true, ..Storage::default() };
    let mut numbers = BTreeMap::new();
    let count = dataset.grid.chunk_count();
    if CHUNKS_MAX < count {
        return Err(Error::Limit { what: "chunks", wanted: count, limit: CHUNKS_MAX });
    }
    let full_len = full_len(dataset);
    let mut places = Vec::new();
    let mut start = 0;
    while start < count && storage.refusal.is_none() {
        progress.check()?;
        let linear: Vec<u64> = (start..count.min(start.saturating_add(BATCH))).collect();
        places.clear();
        dataset.chunks.locate(&linear, &mut places)?;
        for (&linear, place) in linear.iter().zip(&places) {
            storage.is_full &= Some(place.decoded_len) == full_len;
            let number = if place.is_absent() {
                ABSENT
            } else {
                storage.decode(dataset, linear, place);
                storage.file_of(dataset, place.object, &mut numbers)?
            };
            storage.file.push(number);
            storage.offset.push(place.stored.start());
            storage.len.push(place.stored.len());
        }
        start = start.saturating_add(BATCH);
    }
    Ok(storage)
}

/// Bytes of a chunk that is not clipped.
fn full_len(dataset: &Dataset) -> Option<u64> {
    let size = dataset.dtype.and_then(tet_format::DType::size);
    let extents = dataset.grid.chunk_shape().iter();
    extents.copied().try_fold(size?, u64::checked_mul)
}

impl Storage {
    /// Takes the codecs of a chunk, which must be those of the chunks before.
    fn decode(&mut self, dataset: &Dataset, linear: u64, place: &ChunkPlace) {
        let decoder = dataset.chunks.decoder(linear, place);
        let pipeline = decoder.numcodecs();
        let chunk = || dataset.grid.coord_of(linear);
        match (&self.pipeline, pipeline) {
            (None, Some(pipeline)) => self.pipeline = Some(pipeline),
            (Some(known), Some(pipeline)) if *known == pipeline => {}
            (_, None) => {
                let codec = decoder.full_name();
                let text = format!("no codecs of numcodecs give its elements: chunks are {codec}");
                self.refusal = Some(text);
            }
            (Some(_), Some(_)) => {
                let text = format!("chunk {:?} has other codecs than those before", chunk());
                self.refusal = Some(text);
            }
        }
    }

    /// The number of the file of an object.
    fn file_of(
        &mut self,
        dataset: &Dataset,
        object: u32,
        numbers: &mut BTreeMap<u32, u32>,
    ) -> Result<u32, Error> {
        if let Some(number) = numbers.get(&object) {
            return Ok(*number);
        }
        let source = dataset.chunks.object(object)?;
        let source = source.as_ref().unwrap_or(&dataset.source);
        // What was unpacked, or made of other bytes, is in no file.
        let path = source.stamp().and_then(|_| source.path()?.to_str());
        if path.is_none() {
            self.refusal = Some("its elements are not in a file as they are".to_owned());
        }
        let number = u32::try_from(self.files.len()).unwrap_or(ABSENT);
        self.files.push(path.unwrap_or_default().to_owned());
        numbers.insert(object, number);
        Ok(number)
    }
}
