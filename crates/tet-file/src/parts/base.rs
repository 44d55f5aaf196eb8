//! An existing file whose chunks stay in an edited copy.

use tet_codec::{Strength, compare};
use tet_format::index::IndexRow;
use tet_format::{ChunkStatistics, Codec, Rule, Span};

use super::plan::FilePlan;
use crate::error::{Error, Result};
use crate::integrity::Protection;
use crate::open::TetFile;
use crate::statistics::StatisticsCheck;
use crate::write::CopiedChunk;

/// A file of which a new one is an edited copy: its datasets are those of the plan, some of them shorter.
///
/// # Examples
///
/// ```no_run
/// use tet_file::TetFile;
/// use tet_file::parts::BaseFile;
/// use tet_io::Source;
///
/// let file = TetFile::open(Source::open("climate.tet")?, &Default::default())?;
/// let base = BaseFile::new(&file)?;
/// assert_eq!(base.file().datasets().len(), file.datasets().len());
/// # Ok::<(), tet_file::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BaseFile {
    file: TetFile,
    /// The row of each chunk, and its number, by dataset.
    chunks: Vec<Vec<Option<(IndexRow, u64)>>>,
}

/// A chunk as it is stored.
#[derive(Debug)]
pub(super) struct StoredChunk {
    pub(super) stored: Vec<u8>,
    pub(super) about: CopiedChunk,
}

impl BaseFile {
    /// The chunks of a file.
    ///
    /// # Errors
    ///
    /// Returns an error when the index cannot be read, or is not that of the datasets.
    pub fn new(file: &TetFile) -> Result<BaseFile> {
        let mut chunks: Vec<Vec<_>> = Vec::new();
        let mut left = file.index().row_count();
        for entry in file.datasets() {
            // As many rows as chunks: no more than the index has.
            left = left.checked_sub(entry.chunk_count()).ok_or_else(|| unsound(file))?;
            chunks.push(vec![None; usize::try_from(entry.chunk_count()).unwrap_or(0)]);
        }
        let mut rows = Vec::new();
        file.index().rows(0..file.index().row_count(), &mut rows)?;
        for (number, row) in (0..).zip(rows) {
            let place = usize::try_from(row.dataset_id).ok().and_then(|id| {
                let entry = file.datasets().get(id)?;
                let linear = entry.grid.linear(row.coord.get(..entry.grid.rank())?)?;
                chunks.get_mut(id)?.get_mut(usize::try_from(linear).ok()?)
            });
            *place.ok_or_else(|| unsound(file))? = Some((row, number));
        }
        Ok(BaseFile { file: file.clone(), chunks })
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &TetFile {
        &self.file
    }

    /// The rows of a dataset in row-major order, each with its number in the index.
    ///
    /// # Errors
    ///
    /// Returns an error when a chunk has no row.
    pub(crate) fn rows(&self, dataset: usize) -> Result<Vec<(IndexRow, u64)>> {
        let rows = self.chunks.get(dataset).map(Vec::as_slice).unwrap_or_default();
        rows.iter().copied().collect::<Option<_>>().ok_or_else(|| unsound(&self.file))
    }

    /// Where the first payload starts.
    pub(super) fn payloads_start(&self) -> u64 {
        let rows = self.chunks.iter().flatten().flatten();
        rows.map(|(row, _)| row.payload_offset).min().unwrap_or(0)
    }

    /// The extents of a chunk in the base; `None` where the base does not have it.
    pub(super) fn extents(&self, dataset: usize, coord: &[u64]) -> Option<Vec<u64>> {
        let grid = &self.file.datasets().get(dataset)?.grid;
        grid.linear(coord)?;
        Some(grid.extents_of(coord))
    }

    /// Whether a chunk of the new file is one of the base, element for element.
    pub(super) fn has(&self, plan: &FilePlan, dataset: usize, coord: &[u64]) -> bool {
        let Ok(planned) = plan.dataset(dataset) else { return false };
        self.extents(dataset, coord) == Some(planned.grid().extents_of(coord))
    }

    /// The codecs of the chunks of a dataset, each once.
    ///
    /// # Errors
    ///
    /// Returns an error when a chunk has no row.
    pub fn codecs(&self, dataset: usize) -> Result<Vec<Codec>> {
        let mut codecs = Vec::new();
        for (row, _) in self.rows(dataset)? {
            let codec = Codec::from_tag(row.codec);
            if !codecs.contains(&codec) {
                codecs.push(codec);
            }
        }
        Ok(codecs)
    }

    /// Where a chunk is stored, and how.
    pub(super) fn place(&self, dataset: usize, coord: &[u64]) -> Result<(Span, CopiedChunk)> {
        let entry = self.file.datasets().get(dataset).ok_or_else(|| unsound(&self.file))?;
        let linear = entry.grid.linear(coord).and_then(|linear| usize::try_from(linear).ok());
        let row = linear.and_then(|linear| *self.chunks.get(dataset)?.get(linear)?);
        let (row, number) = row.ok_or_else(|| unsound(&self.file))?;
        let elements = entry.grid.chunk_elements(coord).unwrap_or(u64::MAX);
        let decoded_len =
            elements.saturating_mul(entry.dtype.and_then(|it| it.size()).unwrap_or(1));
        let codec = Codec::from_tag(row.codec);
        let Some(decoder) = tet_codec::decoder(codec) else {
            return Err(Error::NoCodec { codec: "codec of that number" });
        };
        if row.raw_len != decoded_len {
            return Err(unsound(&self.file));
        }
        decoder.check_len(row.stored_len, decoded_len)?;
        let span = Span::new(row.payload_offset, row.stored_len);
        let span = span.ok_or_else(|| unsound(&self.file))?;
        let digest = match self.file.protection() {
            Protection::Digests(digests) => Some(digests.of_row(number)?),
            _ => None,
        };
        let (stored_len, statistics) = (row.stored_len, self.statistics_of(number)?);
        Ok((span, CopiedChunk { codec, decoded_len, stored_len, digest, statistics }))
    }

    /// The statistics of a row, where the file has any.
    fn statistics_of(&self, row: u64) -> Result<Option<ChunkStatistics>> {
        let statistics = self.file.statistics();
        statistics.map(|all| all.of_row(row, StatisticsCheck::Compared)).transpose()
    }

    /// A chunk as it is stored, which matches its digest.
    pub(super) fn stored(&self, dataset: usize, coord: &[u64]) -> Result<StoredChunk> {
        let (span, about) = self.place(dataset, coord)?;
        let stored = self.file.source().read_vec(span.start(), span.len())?;
        if let Some((found, wanted)) =
            about.digest.and_then(|it| compare(&stored, it, Strength::Full))
        {
            let (rule, at) = (Rule::ChunkDigest, span.start());
            return Err(tet_format::Error { rule, at, found, wanted }.into());
        }
        Ok(StoredChunk { stored, about })
    }

    /// The elements of a chunk, as many as the base has.
    pub(super) fn elements(&self, dataset: usize, coord: &[u64]) -> Result<Vec<u8>> {
        let chunk = self.stored(dataset, coord)?;
        decoded(chunk.about.codec, &chunk.stored, chunk.about.decoded_len)
    }
}

/// Decodes a chunk whose lengths were checked.
pub(super) fn decoded(codec: Codec, stored: &[u8], decoded_len: u64) -> Result<Vec<u8>> {
    let Some(decoder) = tet_codec::decoder(codec) else {
        return Err(Error::NoCodec { codec: "codec of that number" });
    };
    decoder.check_len(stored.len() as u64, decoded_len)?;
    let memory = || Error::ChunkMemory { dataset: String::new(), len: decoded_len };
    let len = usize::try_from(decoded_len).map_err(|_| memory())?;
    let mut out = Vec::new();
    out.try_reserve_exact(len).map_err(|_| memory())?;
    out.resize(len, 0);
    decoder.decode(stored, &mut out)?;
    Ok(out)
}

/// The error for an index that is not that of the datasets.
pub(crate) fn unsound(file: &TetFile) -> Error {
    let at = file.index().row_at(0);
    Error::Edit {
        what: format!("its index, at byte {at}, is not that of its datasets: see what verify says"),
    }
}
