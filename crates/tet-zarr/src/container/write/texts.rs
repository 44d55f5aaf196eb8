//! The objects of an array of text: chunks or shards, read chunk by chunk.

use crate::{NewArray, ZarrFormat, shard_index, text_chunk};
use tet_format::Grid;
use tet_query::{Dataset, Execution};

use super::chunk::ChunkEncoder;
use super::objects::span_of;
use super::options::ENCODING;
use super::store::ObjectSink;
use tet_container::write::texts::{TextCounts, filled, for_each_chunk, inside};
use tet_container::{Error, Note, Result};

/// An array of text that is written.
pub(super) struct TextArray<'w> {
    pub(super) array: &'w NewArray,
    pub(super) dataset: &'w Dataset,
    pub(super) encoder: &'w ChunkEncoder,
    pub(super) execution: &'w Execution,
}

impl TextArray<'_> {
    /// Writes all objects; gives the note of texts that may have had other bytes.
    ///
    /// # Errors
    /// Texts cannot be read, memory cannot hold an object, or the store refuses one.
    pub(super) fn write(&self, store: &mut dyn ObjectSink) -> Result<Option<Note>> {
        let mut counts = TextCounts::new(self.dataset);
        let (array, format) = (self.array, store.format());
        for_each_chunk(self.dataset, array.object_shape(), &mut |at, slab| {
            let first: Vec<u64> = slab.axes().iter().map(|slice| slice.start).collect();
            let object = match &array.shard_shape {
                None => self.chunk(&first, format, &mut counts)?,
                Some(shard) => self.shard(&first, shard, format, &mut counts)?,
            };
            if let Some(object) = object {
                store.put(&array.object_key(format, at), &object)?;
            }
            let count = slab.element_count().unwrap_or(0);
            Ok(self.execution.progress.advance(count)?)
        })?;
        Ok(counts.replaced())
    }

    /// The stored bytes of the chunk that begins at `first`; `None` where it has nothing but the fill value.
    fn chunk(
        &self,
        first: &[u64],
        format: ZarrFormat,
        counts: &mut TextCounts<'_>,
    ) -> Result<Option<Vec<u8>>> {
        let chunk_shape = &self.array.chunk_shape;
        let Some(slab) = inside(self.dataset, first, chunk_shape) else { return Ok(None) };
        // Texts are there as they are read, as one chunk, and as that is stored.
        let memory_budget = self.execution.memory_budget / 4;
        let how = Execution { memory_budget, ..self.execution.silent() };
        let texts = self.dataset.read_texts(&slab, &how)?.value;
        // Without a fill value, as in version 2, chunks that are absent may be read as anything.
        if format == ZarrFormat::V3 && texts.iter().all(String::is_empty) {
            return Ok(None);
        }
        counts.add(&texts);
        let texts = filled(self.dataset, texts, &slab.counts(), chunk_shape, String::new())?;
        let unfit = || {
            let why = "a text of 4 GiB or longer, or a chunk of as many texts, has no place in it";
            Error::Unfit { dataset: self.dataset.name.clone(), encoding: ENCODING, why }
        };
        let bytes = text_chunk(&texts).ok_or_else(unfit)?;
        let mut stored = Vec::new();
        self.encoder.encode(&bytes, &mut stored)?;
        Ok(Some(stored))
    }

    /// The stored bytes of the shard of this first element and shape.
    fn shard(
        &self,
        start: &[u64],
        shard: &tet_format::Shape,
        format: ZarrFormat,
        counts: &mut TextCounts<'_>,
    ) -> Result<Option<Vec<u8>>> {
        let memory = || Error::Memory { dataset: self.dataset.name.clone() };
        let grid = Grid::new(shard.clone(), self.array.chunk_shape.clone()).ok_or_else(memory)?;
        let (mut at, mut first) = (vec![0; grid.rank()], vec![0; grid.rank()]);
        let (mut spans, mut stored) = (Vec::new(), Vec::new());
        let limit = self.execution.memory_budget;
        for _ in 0..grid.chunk_count() {
            grid.origin(&at, &mut first);
            first.iter_mut().zip(start).for_each(|(at, start)| *at = at.saturating_add(*start));
            let chunk = self.chunk(&first, format, counts)?;
            spans.push(chunk.as_ref().and_then(|chunk| span_of(stored.len(), chunk.len())));
            stored.extend(chunk.unwrap_or_default());
            let wanted = u64::try_from(stored.len()).unwrap_or(u64::MAX).saturating_mul(4);
            if limit < wanted {
                let dataset = self.dataset.name.clone();
                return Err(Error::Budget { dataset, wanted, limit });
            }
            grid.advance(&mut at);
        }
        if spans.iter().all(Option::is_none) {
            return Ok(None);
        }
        stored.extend(shard_index(&spans));
        Ok(Some(stored))
    }
}
