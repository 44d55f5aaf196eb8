//! Chunks at the edges, filled up to the shape of the others and encoded as these are; and chunks that are stored with other
//! codecs, encoded as the others.

use std::path::PathBuf;

use tet_codec::{Decode, Encode, NumcodecsPipeline, Swapped, ZstdEncoder, encode};
use tet_format::DType;
use tet_io::Publisher;
use tet_query::{AxisSlice, Dataset, Execution, Hyperslab};

use super::chunks::StoredChunks;
use crate::{Error, Result};
use tet_zarr::container::Cut;

/// Stored bytes of the edge chunks that one document has, at most.
const INLINE_LEN_MAX: u64 = 32 << 20;
const ZSTD_LEVEL: i32 = 3;
const DEFLATE_LEVEL: u32 = 5;

/// Treatment of chunks at the edges that have fewer elements than the others, which readers of Zarr do not know.
///
/// ```
/// assert_eq!(tet_convert::EdgeChoice::default(), tet_convert::EdgeChoice::Refused);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EdgeChoice {
    /// They are an error.
    #[default]
    Refused,
    /// Each is filled up, and written into the document.
    Inline,
    /// Each is filled up, and written to a file beside the document.
    Sidecar,
}

/// Where filled edge chunks go.
#[derive(Debug)]
pub(super) enum Edges {
    Refused,
    /// Into the document, with how many bytes there are so far.
    Inline(u64),
    /// To a file.
    Sidecar(Box<Sidecar>),
}

/// The file of edge chunks.
#[derive(Debug)]
pub(super) struct Sidecar {
    pub(super) file: Publisher,
    /// The path that it will have, absolute.
    pub(super) path: PathBuf,
    /// Its bytes so far.
    pub(super) len: u64,
}

impl Edges {
    /// Fills the edge chunks of a dataset, and encodes those anew that have other codecs.
    ///
    /// # Errors
    /// Such chunks are refused, or there are too many bytes of them; they cannot be read, or encoded as the others are.
    pub(super) fn fill(
        &mut self,
        dataset: &Dataset,
        chunks: &mut StoredChunks,
        how: &Execution,
    ) -> Result<()> {
        let mut chosen = std::mem::take(&mut chunks.clipped);
        if matches!(self, Edges::Refused) {
            chunks.check_codecs(dataset)?;
        }
        chosen.append(&mut chunks.recoded);
        chosen.sort_unstable();
        chosen.dedup();
        if chosen.is_empty() {
            return Ok(());
        }
        let refused = |why: String| Error::NoReferences { dataset: dataset.name.clone(), why };
        if matches!(self, Edges::Refused) {
            return Err(Error::Clipped { dataset: dataset.name.clone() });
        }
        let (pipeline, chunk_shape) = (chunks.pipeline.clone(), chunks.chunk_shape.clone());
        let encoder = Encoder::new(dataset, &pipeline).map_err(refused)?;
        let mut file = None;
        for linear in chosen {
            how.progress.check()?;
            let stored = encoder.encode(padded(dataset, linear, &chunk_shape, how)?)?;
            let len = u64::try_from(stored.len()).unwrap_or(u64::MAX);
            match self {
                Edges::Refused => {}
                Edges::Inline(all) => {
                    *all = all.saturating_add(len);
                    if INLINE_LEN_MAX < *all {
                        return Err(Error::LongEdges { limit: INLINE_LEN_MAX });
                    }
                    chunks.inlined.insert(linear, stored);
                }
                Edges::Sidecar(sidecar) => {
                    let number = *file.get_or_insert_with(|| chunks.file_number(&sidecar.path));
                    chunks.set_place(linear, number, sidecar.len, len);
                    sidecar.append(&stored)?;
                }
            }
        }
        Ok(())
    }
}

impl Sidecar {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file.file().write_all(bytes);
        written.map_err(|error| Error::Io(self.file.write_fault(error)))?;
        self.len = self.len.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Ok(())
    }
}

/// The elements of a chunk, filled up with the fill value.
fn padded(dataset: &Dataset, linear: u64, chunk_shape: &[u64], how: &Execution) -> Result<Vec<u8>> {
    let grid = &dataset.grid;
    let coordinate = grid.coord_of(linear);
    let (mut origin, mut extents) = (vec![0; grid.rank()], vec![0; grid.rank()]);
    grid.origin(&coordinate, &mut origin);
    grid.extents(&coordinate, &mut extents);
    let axes = origin.iter().zip(&extents).zip(dataset.shape());
    let axes = axes.map(|((&start, &count), &extent)| AxisSlice {
        start,
        stop: start.saturating_add(count).min(extent),
        ..AxisSlice::whole(extent)
    });
    let memory = || Error::Memory { dataset: dataset.name.clone() };
    let slab = Hyperslab::new(axes.collect(), dataset.shape()).ok_or_else(memory)?;
    let array = dataset.read(&slab, &how.silent())?.value;
    let inside: Vec<u64> = slab.kept_shape().to_vec();
    let size = dataset.dtype.and_then(DType::size).and_then(|size| usize::try_from(size).ok());
    let size = size.ok_or_else(memory)?;
    let first = vec![0; grid.rank()];
    let cut = Cut { object: &inside, first: &first, extents: &inside, chunk: chunk_shape, size };
    let zeros = vec![0; size];
    let mut whole = Vec::new();
    cut.copy(array.bytes(), dataset.fill.as_deref().unwrap_or(&zeros), &mut whole)?;
    Ok(whole)
}

/// Encodes chunks as those of a dataset are.
struct Encoder<'p> {
    pipeline: &'p NumcodecsPipeline,
    swapped: Option<Swapped>,
    zstd: ZstdEncoder,
}

impl<'p> Encoder<'p> {
    /// # Errors
    /// The reason why this is not possible.
    fn new(
        dataset: &Dataset,
        pipeline: &'p NumcodecsPipeline,
    ) -> std::result::Result<Self, String> {
        let unknown = pipeline
            .codecs
            .iter()
            .find(|codec| !["shuffle", "zlib", "gzip", "zstd"].contains(&codec.id));
        let unknown = unknown.map(|codec| codec.id);
        if let Some(codec) = unknown.or(pipeline.is_column_major.then_some("column-major order")) {
            return Err(format!("the chunks at its edges cannot be written with {codec}"));
        }
        let size = dataset.dtype.map_or(1, |dtype| match dtype {
            DType::Complex64 => 4,
            DType::Complex128 => 8,
            dtype => dtype.size().unwrap_or(1),
        });
        let swapped = Swapped::new(size).filter(|_| pipeline.is_big_endian);
        let zstd = ZstdEncoder::new(ZSTD_LEVEL).map_err(|error| error.to_string())?;
        Ok(Encoder { pipeline, swapped, zstd })
    }

    fn encode(&self, decoded: Vec<u8>) -> Result<Vec<u8>> {
        let failed = |error: tet_codec::Error| Error::File(error.into());
        let mut bytes = decoded;
        let mut next = Vec::new();
        if let Some(swapped) = &self.swapped {
            next.resize(bytes.len(), 0);
            swapped.decode(&bytes, &mut next).map_err(failed)?;
            std::mem::swap(&mut bytes, &mut next);
        }
        for codec in &self.pipeline.codecs {
            let element_size = codec.setting.map_or(1, |(_, size)| size);
            let encoded = match codec.id {
                "shuffle" => encode::shuffle(&bytes, element_size, &mut next),
                "zlib" => encode::deflate(&bytes, DEFLATE_LEVEL, &mut next),
                "gzip" => encode::gzip(&bytes, DEFLATE_LEVEL, &mut next),
                _ => self.zstd.encode(&bytes, &mut next),
            };
            encoded.map_err(failed)?;
            std::mem::swap(&mut bytes, &mut next);
        }
        Ok(bytes)
    }
}
