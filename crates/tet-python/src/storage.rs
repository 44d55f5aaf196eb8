//! Where the stored bytes of a dataset are and what decodes them, for programs that read them without this engine.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tet_convert::StoredChunks;
use tet_query::Error;

use crate::run::{ProgressCallback, detached};
use crate::selected::Selected;

/// The places of the chunks of a dataset and their codecs, as a dict; `refusal` is why other programs cannot read them.
#[pyfunction]
pub(crate) fn storage<'py>(py: Python<'py>, selected: &Selected) -> PyResult<Bound<'py, PyDict>> {
    let held = selected.held()?;
    let dataset = &*held.readable()?;
    let (found, refusal) = detached(py, &ProgressCallback::long(None), |progress| {
        match tet_convert::stored_chunks(dataset, &progress) {
            Err(tet_convert::Error::NoReferences { why, .. }) => {
                Ok((StoredChunks::default(), Some(why)))
            }
            found => found.map(|chunks| (chunks, None)),
        }
    })?;
    let dict = PyDict::new(py);
    dict.set_item("chunk_shape", found.chunk_shape)?;
    dict.set_item("counts", found.counts)?;
    dict.set_item("files", found.files)?;
    dict.set_item("file", bytes(py, &found.file, |it| it.to_le_bytes()))?;
    dict.set_item("offset", bytes(py, &found.offset, |it| it.to_le_bytes()))?;
    dict.set_item("len", bytes(py, &found.len, |it| it.to_le_bytes()))?;
    dict.set_item("is_full", found.clipped.is_empty())?;
    dict.set_item("is_one_piece", found.is_one_piece)?;
    let codecs = found.pipeline.codecs.iter().map(|it| (it.id, it.setting));
    dict.set_item("codecs", codecs.collect::<Vec<_>>())?;
    dict.set_item("is_big_endian", found.pipeline.is_big_endian)?;
    dict.set_item("is_column_major", found.pipeline.is_column_major)?;
    dict.set_item("refusal", refusal)?;
    Ok(dict)
}

/// Whether the first chunk is stored as its elements are in memory, or with the bytes of each turned around: a part
/// of it can be read without the rest.
#[pyfunction]
pub(crate) fn is_raw(py: Python<'_>, selected: &Selected) -> PyResult<bool> {
    let held = selected.held()?;
    let dataset = &*held.readable()?;
    if dataset.grid.chunk_count() == 0 {
        return Ok(true);
    }
    detached(py, &ProgressCallback::new(0, None), |_| {
        let mut places = Vec::new();
        dataset.chunks.locate(&[0], &mut places)?;
        let pipeline =
            places.first().and_then(|place| dataset.chunks.decoder(0, place).numcodecs());
        Ok::<_, Error>(pipeline.is_some_and(|it| it.codecs.is_empty() && !it.is_column_major))
    })
}

/// The codecs of the first chunk, each with its setting; none where there is no chunk.
#[pyfunction]
pub(crate) fn codecs<'py>(
    py: Python<'py>,
    selected: &Selected,
) -> PyResult<Vec<(&'static str, Bound<'py, PyAny>)>> {
    let held = selected.held()?;
    let dataset = held.dataset()?;
    let count = dataset.grid.chunk_count();
    let pipeline = detached(py, &ProgressCallback::new(0, None), |_| {
        let mut places = Vec::new();
        if 0 < count {
            dataset.chunks.locate(&[0], &mut places)?;
        }
        let first = places.first();
        Ok::<_, Error>(first.and_then(|place| dataset.chunks.decoder(0, place).numcodecs()))
    })?;
    let codecs = pipeline.map(|it| it.codecs).unwrap_or_default();
    codecs.iter().map(|it| Ok((it.id, it.setting.into_bound_py_any(py)?))).collect()
}

fn bytes<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    numbers: &[T],
    of: impl Fn(T) -> [u8; N],
) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| of(*number)).collect();
    PyBytes::new(py, &bytes)
}
