//! Chunks that are copied to a new file as they are stored in `.tet` files.

use std::collections::BTreeMap;

use tet_file::StatisticsCheck;
use tet_file::parts::{FilePart, PartChunk};
use tet_format::write::DatasetSpec;
use tet_io::Source;
use tet_query::{ChunkPlace, LazyArray};

use crate::Result;

/// Chunks that are located together.
const LOCATED: u64 = 1 << 16;

/// The chunks of all datasets of a new file, by the files that they are stored in.
pub(super) struct StoredChunks(Vec<(Source, Vec<PartChunk>)>);

impl StoredChunks {
    /// Those of whole arrays, which the datasets of a new file are, if all are stored as they would be in it, with digests.
    pub(super) fn from_arrays(
        arrays: &[LazyArray],
        specs: &[DatasetSpec],
    ) -> Result<Option<StoredChunks>> {
        let mut files = StoredChunks(Vec::new());
        for (id, (lazy, spec)) in arrays.iter().zip(specs).enumerate() {
            if !files.add(id, lazy, spec)? {
                return Ok(None);
            }
        }
        Ok(Some(files))
    }

    /// Adds the chunks of a dataset; `false` if one is not stored so.
    fn add(&mut self, id: usize, lazy: &LazyArray, spec: &DatasetSpec) -> Result<bool> {
        let dataset = lazy.dataset();
        let grid = &dataset.grid;
        let is_same = dataset.dtype == Some(spec.dtype)
            && grid.shape() == &spec.shape
            && grid.chunk_shape() == &spec.chunk_shape;
        if !is_same {
            return Ok(false);
        }
        let mut of_objects = BTreeMap::new();
        let (mut first, count) = (0, grid.chunk_count());
        while first < count {
            let end = count.min(first.saturating_add(LOCATED));
            let (linear, mut places) = ((first..end).collect::<Vec<_>>(), Vec::new());
            dataset.locate(&linear, &mut places)?;
            for (linear, place) in linear.into_iter().zip(&places) {
                let Some(chunk) = chunk(lazy, id, linear, place)? else { return Ok(false) };
                let file = match of_objects.get(&place.object) {
                    Some(file) => *file,
                    None => {
                        let source = dataset.chunks.object(place.object)?;
                        let file = self.file(&source.unwrap_or_else(|| dataset.source.clone()));
                        of_objects.insert(place.object, file);
                        file
                    }
                };
                self.0[file].1.push(chunk);
            }
            first = end;
        }
        Ok(true)
    }

    /// The place of a file in the list.
    fn file(&mut self, source: &Source) -> usize {
        let known = self.0.iter().position(|(known, _)| known.is_same(source));
        known.unwrap_or_else(|| {
            self.0.push((source.clone(), Vec::new()));
            self.0.len() - 1
        })
    }

    /// The parts of the new file. Chunks are compared with their digests when it is published, but for those that a
    /// server copies.
    pub(super) fn into_parts(self) -> Vec<FilePart> {
        self.0.into_iter().map(|(source, chunks)| FilePart::of_chunks(source, chunks)).collect()
    }
}

/// A located chunk, if it is stored as in a `.tet` file, and has a digest.
fn chunk(
    lazy: &LazyArray,
    dataset: usize,
    linear: u64,
    place: &ChunkPlace,
) -> Result<Option<PartChunk>> {
    let chunks = &lazy.dataset().chunks;
    let known = chunks.tet_codec(place).zip(chunks.digest(place)?);
    let Some((codec, digest)) = known else { return Ok(None) };
    let statistics = chunks.statistics(place.object);
    let statistics =
        statistics.map(|(_, all)| all.of_row(place.row, StatisticsCheck::Compared)).transpose()?;
    let span = place.stored;
    Ok(Some(PartChunk { dataset, linear, span, codec, digest, statistics }))
}
