//! Where the chunks of a dataset are stored, and what decodes them.
//!
//! ```text
//!   dataset --> chunks, each at (file, offset, length), in row-major order of their grid
//!   raw chunks, one after the other --> slabs of one length, none of which is clipped
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use tet_codec::NumcodecsPipeline;
use tet_io::{Progress, is_url};
use tet_query::{ChunkPlace, Dataset};

use crate::{Error, Result};

/// Chunks that are located at a time.
const BATCH: u64 = 1 << 14;
/// Chunks of a dataset at most: their places take 24 bytes each.
const CHUNKS_MAX: u64 = 1 << 24;

/// The chunks of a dataset, in row-major order of their grid.
///
/// # Examples
///
/// ```
/// use tet_convert::{OpenOptions, open, stored_chunks};
/// use tet_io::Progress;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.npy");
/// tet_convert::convert_source(
///     &tet_io::Source::from_named_bytes("a.csv", b"1\n2\n3\n".as_slice()),
///     &path,
///     &Default::default(),
/// )?;
/// let opened = open(&path, &OpenOptions::default())?;
/// let chunks = stored_chunks(&opened.catalog.datasets()[0], &Progress::default())?;
/// assert_eq!((chunks.offset.as_slice(), chunks.len.as_slice()), ([128].as_slice(), [24].as_slice()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct StoredChunks {
    /// The extents of a chunk, also of those at the edges.
    pub chunk_shape: Vec<u64>,
    /// How many chunks there are along each axis.
    pub counts: Vec<u64>,
    /// The files, by their absolute paths or their URLs.
    pub files: Vec<String>,
    /// The number of the file of each chunk; [`StoredChunks::ABSENT`] where it is not stored.
    pub file: Vec<u32>,
    /// Where each chunk is in its file, in bytes.
    pub offset: Vec<u64>,
    /// The stored bytes of each chunk.
    pub len: Vec<u64>,
    /// The chunks that have fewer elements than the chunk shape, by their positions in these lists.
    pub clipped: Vec<u64>,
    /// How they are decoded.
    pub pipeline: NumcodecsPipeline,
    /// Whether the elements are one after the other in one file, in row-major order.
    pub is_one_piece: bool,
    /// The chunks that are stored with other codecs, as chunks of HDF5 are whose filters were skipped.
    pub(super) recoded: Vec<u64>,
    /// The stored bytes of chunks that are in no file.
    pub(super) inlined: BTreeMap<u64, Vec<u8>>,
}

impl StoredChunks {
    /// The number of the file of a chunk that is not stored.
    pub const ABSENT: u32 = u32::MAX;

    /// Whether all chunks are stored.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.file.contains(&Self::ABSENT)
    }

    /// The number of another file.
    pub(super) fn file_number(&mut self, path: &Path) -> u32 {
        let number = u32::try_from(self.files.len()).unwrap_or(Self::ABSENT - 1);
        self.files.push(path.to_string_lossy().into_owned());
        number
    }

    /// # Errors
    /// A chunk is stored with other codecs than the others.
    pub(super) fn check_codecs(&self, dataset: &Dataset) -> Result<()> {
        let Some(linear) = self.recoded.first() else { return Ok(()) };
        let chunk = dataset.grid.coord_of(*linear);
        let why = format!(
            "chunk {chunk:?} is stored with other codecs than the others, as where filters were skipped; edges inline \
             or sidecar encodes such chunks as the others are"
        );
        Err(Error::NoReferences { dataset: dataset.name.clone(), why })
    }

    /// Sets the place of a chunk: its file, offset and length.
    pub(super) fn set_place(&mut self, linear: u64, file: u32, offset: u64, len: u64) {
        let at = usize::try_from(linear).unwrap_or(usize::MAX);
        let place = (self.file.get_mut(at), self.offset.get_mut(at), self.len.get_mut(at));
        if let (Some(old_file), Some(old_offset), Some(old_len)) = place {
            (*old_file, *old_offset, *old_len) = (file, offset, len);
        }
    }
}

/// The chunks as the reader of the container has them.
///
/// # Errors
/// As [`stored_chunks`](super::stored_chunks).
pub(super) fn located(dataset: &Dataset, progress: &Progress) -> Result<StoredChunks> {
    let grid = &dataset.grid;
    let count = grid.chunk_count();
    if CHUNKS_MAX < count {
        let error = tet_query::Error::Limit { what: "chunks", wanted: count, limit: CHUNKS_MAX };
        return Err(error.into());
    }
    let axes = grid.shape().iter().zip(grid.chunk_shape().iter());
    let counts = axes.map(|(extent, chunk)| extent.div_ceil((*chunk).max(1))).collect();
    let chunk_shape = grid.chunk_shape().to_vec();
    let chunks = StoredChunks { chunk_shape, counts, ..StoredChunks::default() };
    let mut found = Found { dataset, chunks, pipeline: None, numbers: BTreeMap::new() };
    let full_len = full_len(dataset);
    let mut places = Vec::new();
    let mut start = 0;
    while start < count {
        progress.check()?;
        let linear: Vec<u64> = (start..count.min(start.saturating_add(BATCH))).collect();
        places.clear();
        dataset.locate(&linear, &mut places)?;
        for (&linear, place) in linear.iter().zip(&places) {
            if Some(place.decoded_len) != full_len {
                found.chunks.clipped.push(linear);
            }
            found.add(linear, place)?;
        }
        start = start.saturating_add(BATCH);
    }
    found.chunks.pipeline = found.pipeline.unwrap_or_default();
    Ok(found.chunks)
}

/// Bytes of a chunk that is not clipped.
fn full_len(dataset: &Dataset) -> Option<u64> {
    let size = dataset.dtype.and_then(tet_format::DType::size);
    let extents = dataset.grid.chunk_shape().iter();
    extents.copied().try_fold(size?, u64::checked_mul)
}

/// The chunks of a dataset so far.
struct Found<'d> {
    dataset: &'d Dataset,
    chunks: StoredChunks,
    pipeline: Option<NumcodecsPipeline>,
    /// The numbers of files, by those of objects.
    numbers: BTreeMap<u32, u32>,
}

impl Found<'_> {
    fn add(&mut self, linear: u64, place: &ChunkPlace) -> Result<()> {
        let file = if place.is_absent() {
            StoredChunks::ABSENT
        } else {
            self.decode(linear, place)?;
            self.file_of(place)?
        };
        self.chunks.file.push(file);
        self.chunks.offset.push(place.stored.start());
        self.chunks.len.push(place.stored.len());
        Ok(())
    }

    fn refused(&self, why: impl Into<String>) -> Error {
        Error::NoReferences { dataset: self.dataset.name.clone(), why: why.into() }
    }

    /// Takes the codecs of a chunk. Those of the array are the longest of all: shorter ones are left of them where codecs
    /// were skipped.
    fn decode(&mut self, linear: u64, place: &ChunkPlace) -> Result<()> {
        let decoder = self.dataset.chunks.decoder(linear, place);
        let Some(pipeline) = decoder.numcodecs() else {
            let codec = decoder.full_name();
            return Err(self
                .refused(format!("no codecs of numcodecs give its elements: chunks are {codec}")));
        };
        match &self.pipeline {
            Some(known) if *known == pipeline => {}
            Some(known) if pipeline.codecs.len() <= known.codecs.len() => {
                self.chunks.recoded.push(linear);
            }
            _ => {
                let before = (0..linear).zip(&self.chunks.file);
                let stored = before.filter(|(_, file)| **file != StoredChunks::ABSENT);
                self.chunks.recoded = stored.map(|(linear, _)| linear).collect();
                self.pipeline = Some(pipeline);
            }
        }
        Ok(())
    }

    /// The number of the file of a chunk, which must have all of its bytes.
    fn file_of(&mut self, place: &ChunkPlace) -> Result<u32> {
        if let Some(number) = self.numbers.get(&place.object) {
            return Ok(*number);
        }
        let source = self.dataset.chunks.object(place.object)?;
        let source = source.as_ref().unwrap_or(&self.dataset.source);
        // Bytes that were unpacked, or made of other bytes, are in no file.
        let path = source.path().filter(|path| source.stamp().is_some() || is_url(path));
        let Some(path) = path.filter(|_| place.stored.end() <= source.len()) else {
            return Err(self.refused("its elements are not in a file as they are"));
        };
        let path =
            if is_url(path) { Some(path.to_path_buf()) } else { std::path::absolute(path).ok() };
        let Some(path) = path.as_deref().and_then(|path| path.to_str()) else {
            return Err(self.refused("the path of its file is not UTF-8"));
        };
        let number = self.chunks.file_number(Path::new(path));
        self.numbers.insert(place.object, number);
        Ok(number)
    }
}
