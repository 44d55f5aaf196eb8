//! The elements of all datasets, written as they come; where they went becomes a part of the draft.

use std::io::{BufWriter, Seek, SeekFrom, Write};

use crate::write::{
    DraftChunk, DraftDataset, DraftLayout, EncodedHdf5, SUPERBLOCK_LEN, encode_texts,
};
use tet_format::{Shape, Span};
use tet_io::vfs::VfsFile;
use tet_query::{Dataset, Execution, LazyArray};

use super::draft::{Elements, Plan};
use super::layout;
use tet_container::write::conversion::ConvertOptions;
use tet_container::write::stream;
use tet_container::write::texts::{TextCounts, filled, for_each_chunk};
use tet_container::write::whole_chunks::{self, WholeChunks};
use tet_container::{Error, Note, Result};

/// Arrays in one piece begin at a multiple of this, so that they can be used in place.
const ALIGN: u64 = 64;
/// Small writes are put together to about this many bytes.
const BUFFER_LEN: usize = 1 << 20;

/// The elements to write.
pub(super) struct Input<'i> {
    /// The datasets, of which those of text are read themselves.
    pub(super) datasets: &'i [&'i Dataset],
    /// The others as arrays.
    pub(super) arrays: &'i [LazyArray],
    /// How they are stored.
    pub(super) options: &'i ConvertOptions,
}

/// A file of which all elements are written.
pub(super) struct Out<'o> {
    file: BufWriter<&'o mut dyn VfsFile>,
    len: u64,
}

/// Writes all elements, behind room for a superblock.
///
/// # Errors
/// The input cannot be read, or the file cannot be written.
pub(super) fn write<'o>(
    plan: &mut Plan,
    input: &Input<'_>,
    execution: &Execution,
    file: &'o mut dyn VfsFile,
    notes: &mut Vec<Note>,
) -> Result<Out<'o>> {
    file.mark_final(SUPERBLOCK_LEN..u64::MAX);
    let mut out = Out { file: BufWriter::with_capacity(BUFFER_LEN, file), len: 0 };
    out.align(SUPERBLOCK_LEN)?;
    for (dataset, elements) in plan.draft.datasets.iter_mut().zip(&plan.elements) {
        match elements {
            Elements::Absent => {}
            Elements::Bytes(bytes) => out.whole(dataset, bytes)?,
            Elements::Labels(texts) => {
                out.align(8)?;
                let encoded = encode_texts(texts, out.len);
                out.write(&encoded.heap)?;
                out.whole(dataset, &encoded.elements)?;
            }
            Elements::Texts(number) => {
                let texts = *input.datasets.get(*number).expect("texts are those of a dataset");
                let counts = out.texts(dataset, texts, execution)?;
                notes.extend(counts.replaced().into_iter().chain(counts.cut()));
            }
            Elements::Array(number) => {
                let lazy = input.arrays.get(*number).expect("datasets are made of arrays");
                out.array(dataset, lazy, input.options, execution)?;
            }
        }
    }
    Ok(out)
}

/// The extents of chunks; those of all for a dataset in one piece.
pub(super) fn chunk_shape(dataset: &DraftDataset) -> Vec<u64> {
    match &dataset.layout {
        DraftLayout::Chunked { chunk_shape, .. } => chunk_shape.clone(),
        DraftLayout::Contiguous(_) => dataset.shape.clone(),
    }
}

impl Out<'_> {
    /// Bytes that were written.
    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    /// Writes what follows the elements, and the superblock.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn finish(mut self, rest: &EncodedHdf5) -> Result<()> {
        self.write(&rest.metadata)?;
        self.file.seek(SeekFrom::Start(0)).map_err(Error::Write)?;
        self.file.write_all(&rest.superblock).map_err(Error::Write)?;
        self.file.flush().map_err(Error::Write)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(Error::Write)?;
        self.len = self.len.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Ok(())
    }

    /// Writes zeros up to a multiple of `to`; the first one where there is nothing yet.
    fn align(&mut self, to: u64) -> Result<()> {
        let end = self.len.max(1).next_multiple_of(to);
        let len = usize::try_from(end - self.len).unwrap_or(0);
        self.write(&vec![0; len])
    }

    /// The bytes that were written since `start`; `None` where there are none.
    fn since(&self, start: u64) -> Option<Span> {
        Span::new(start, self.len.saturating_sub(start)).filter(|span| !span.is_empty())
    }

    /// Writes the elements of a dataset that are there as a whole.
    fn whole(&mut self, dataset: &mut DraftDataset, bytes: &[u8]) -> Result<()> {
        self.align(8)?;
        let start = self.len;
        self.write(bytes)?;
        let span = self.since(start);
        match &mut dataset.layout {
            DraftLayout::Contiguous(place) => *place = span,
            DraftLayout::Chunked { chunks, .. } => {
                chunks.extend(span.map(|span| DraftChunk { number: 0, span }));
            }
        }
        Ok(())
    }

    /// Writes the texts of a dataset: heaps, and behind those of each chunk the references to them.
    fn texts<'d>(
        &mut self,
        dataset: &mut DraftDataset,
        texts: &'d Dataset,
        execution: &Execution,
    ) -> Result<TextCounts<'d>> {
        let mut counts = TextCounts::new(texts);
        let chunk_shape: Vec<u64> = chunk_shape(dataset).iter().map(|it| *it.max(&1)).collect();
        let how = execution.silent();
        let mut number = 0;
        for_each_chunk(texts, &chunk_shape, &mut |_, slab| {
            let mut references: Vec<[u8; 16]> = Vec::new();
            texts.for_texts::<Error>(slab, &how, &mut |block| {
                counts.add(&block.value);
                if block.value.iter().any(|text| u32::try_from(text.len()).is_err()) {
                    let (dataset, encoding) = (texts.name.clone(), super::HDF5);
                    let why = "texts of HDF5 are shorter than 4 GiB";
                    return Err(Error::Unfit { dataset, encoding, why });
                }
                self.align(8)?;
                let encoded = encode_texts(&block.value, self.len);
                self.write(&encoded.heap)?;
                references.extend(encoded.elements.as_chunks().0);
                let count = u64::try_from(block.value.len()).unwrap_or(0);
                Ok(execution.progress.advance(count)?)
            })?;
            let references = filled(texts, references, &slab.counts(), &chunk_shape, [0; 16])?;
            let start = self.len;
            self.write(references.as_flattened())?;
            match &mut dataset.layout {
                DraftLayout::Contiguous(place) => *place = self.since(start),
                DraftLayout::Chunked { chunks, .. } => {
                    chunks.extend(self.since(start).map(|span| DraftChunk { number, span }));
                }
            }
            number += 1;
            Ok(())
        })?;
        Ok(counts)
    }

    /// Writes the elements of an array.
    fn array(
        &mut self,
        dataset: &mut DraftDataset,
        lazy: &LazyArray,
        options: &ConvertOptions,
        execution: &Execution,
    ) -> Result<()> {
        let size = lazy.dtype().size().unwrap_or(1);
        match &mut dataset.layout {
            DraftLayout::Contiguous(place) => {
                self.align(ALIGN)?;
                let start = self.len;
                stream::for_each(lazy, execution, &mut |elements| self.write(elements))?;
                *place = self.since(start);
            }
            DraftLayout::Chunked { chunk_shape, chunks, .. } => {
                let zero = || vec![0; usize::try_from(size).unwrap_or(1)];
                let encode = layout::encoder(&layout::how(lazy.dataset(), options)?, size)?;
                let how = WholeChunks {
                    chunk_shape: Shape::from(&chunk_shape[..]),
                    fill: dataset.fill.clone().unwrap_or_else(zero),
                    threads: options.tet.threads,
                    scratch: options.open.scratch.as_deref(),
                    encode: encode.as_deref(),
                };
                self.align(8)?;
                whole_chunks::for_each(lazy, &how, execution, &mut |number, stored| {
                    let start = self.len;
                    self.write(stored)?;
                    chunks.extend(self.since(start).map(|span| DraftChunk { number, span }));
                    Ok(())
                })?;
            }
        }
        Ok(())
    }
}
