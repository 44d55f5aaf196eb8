//! A lazy array as the dataset of a new `.tet` file, with the coordinate datasets of its axes.

use std::path::Path;

use tet_file::metadata::Metadata;
use tet_file::write::{CodecChoice, WriteOptions, Writer, ZeroExtents};
use tet_format::write::DatasetSpec;
use tet_format::{DType, Shape};
use tet_query::{AxisSlice, Catalog, Dataset, Hyperslab, LazyArray, plan};

use super::{ResultOptions, coordinates, history};
use crate::container::tet::{chunks, metadata};
use crate::model::notes;
use crate::write::array::Written;
use crate::write::stream::{self, shape_of};
use crate::{Error, Note, Result, chunking};

/// Chunks of the source from this length on are chunks of the result too.
const CHUNK_LEN_MIN: u64 = 64 << 10;
/// And those up to this length.
const CHUNK_LEN_MAX: u64 = 64 << 20;
/// The level of zstd where the source does not say it.
const LEVEL: i32 = 3;

/// Writes and publishes the file: the dataset, and those that label its axes.
pub(super) fn write(
    catalog: &Catalog,
    lazy: &LazyArray,
    path: &Path,
    options: &ResultOptions,
) -> Result<Written> {
    let mut notes = Vec::new();
    let coordinates = coordinates::of(catalog, lazy, &options.execution)?;
    let parts = std::iter::once(lazy).chain(&coordinates);
    let parts = parts.map(|lazy| Part::new(lazy, &mut notes)).collect::<Result<Vec<_>>>()?;
    let how = WriteOptions {
        encoder: options.codec.unwrap_or_else(|| codec_of(lazy.dataset())),
        threads: options.execution.threads,
        zero_extents: ZeroExtents::Allow,
        sync: options.sync,
        overwrite: options.overwrite,
        inputs: catalog.stamps(),
        ..WriteOptions::default()
    };
    let specs = parts.iter().map(|part| part.spec.clone()).collect();
    let mut writer = Writer::create(path, specs, &how)?;
    let total = stream::total_len(parts.iter().map(|part| part.lazy));
    let how = options.execution.begin(total);
    for (id, part) in parts.iter().enumerate() {
        chunks::write(part.lazy, (id, &part.spec), &mut writer, (&how, None))?;
    }
    notes.extend(notes::unchecked(parts.iter().map(|part| part.lazy)));
    catalog.check_unchanged()?;
    options.execution.progress.check()?;
    let history = options.history.map(|origin| history::of(lazy, origin));
    let mut metadata = Metadata::new();
    for part in &parts {
        metadata::dataset(part.lazy, part.is_scalar, &mut metadata);
    }
    let written = writer.finish(&metadata, history.as_slice())?;
    Ok(Written { bytes: written.file_len, notes })
}

/// A lazy array and the dataset it becomes.
struct Part<'l> {
    lazy: &'l LazyArray,
    spec: DatasetSpec,
    is_scalar: bool,
}

impl<'l> Part<'l> {
    fn new(lazy: &'l LazyArray, notes: &mut Vec<Note>) -> Result<Self> {
        let is_scalar = shape_of(lazy).is_empty();
        let dtype = stored_dtype(lazy, notes)?;
        let shape = if is_scalar { Shape::from([1]) } else { lazy.shape().clone() };
        if is_scalar {
            notes.push(Note::Scalar { dataset: metadata::name(lazy) });
        }
        let (name, chunk_shape) = (metadata::name(lazy), chunk_shape(lazy, &shape));
        Ok(Part { lazy, spec: DatasetSpec { name, dtype, shape, chunk_shape }, is_scalar })
    }
}

/// The dtype in the file: that of the lazy array, or one that holds its every value.
fn stored_dtype(lazy: &LazyArray, notes: &mut Vec<Note>) -> Result<DType> {
    let dtype = lazy.dtype();
    if dtype.tet_tag().is_some() {
        return Ok(dtype);
    }
    let dataset = metadata::name(lazy);
    let to = match dtype {
        DType::Bool => DType::UInt8,
        DType::Int8 => DType::Int16,
        DType::BFloat16 => DType::Float32,
        _ => return Err(Error::NoDType { dataset, dtype, encoding: "tet" }),
    };
    notes.push(Note::Widened { dataset, from: dtype.name().to_owned(), to });
    Ok(to)
}

/// The source's chunks where they are of a good length, else what an import would choose.
fn chunk_shape(lazy: &LazyArray, shape: &Shape) -> Shape {
    let size = lazy.dtype().size().unwrap_or(1);
    let source = lazy.chunk_shape();
    let len = source.iter().copied().fold(size, u64::saturating_mul);
    let is_whole = *source == **shape && len <= CHUNK_LEN_MAX;
    if source.rank() == shape.rank() && ((CHUNK_LEN_MIN..=CHUNK_LEN_MAX).contains(&len) || is_whole)
    {
        source
    } else {
        chunking::auto(shape, size).into()
    }
}

/// As the first chunk of the dataset is stored.
fn codec_of(dataset: &Dataset) -> CodecChoice {
    let first = dataset.shape().iter().map(|&extent| {
        let stop = extent.min(1);
        AxisSlice { start: 0, stop, step: 1, axis: Default::default() }
    });
    let slab = Hyperslab::new(first.collect(), dataset.shape());
    let plan = slab.and_then(|slab| plan(dataset, &slab, tet_query::Coalesce::DEFAULT).ok());
    let chunk = plan.as_ref().and_then(|plan| plan.chunks().first());
    match chunk.map(|chunk| dataset.chunks.decoder(chunk.linear, &chunk.place).name()) {
        Some("zstd") => CodecChoice::Zstd { level: LEVEL },
        _ => CodecChoice::Raw,
    }
}
