//! Streams a file: payloads first, index and superblock last.

use super::cursor::Position;
use super::{ChunkAt, Layout, WriteError};
use crate::codec::Codec;
use crate::footer::{FOOTER_VERSION_MAX, Tail};
use crate::index::IndexRow;
use crate::span::Span;
use crate::superblock::{self, FLAG_FOOTER};
use crate::wire;
use alloc::vec::Vec;
use std::io::{Seek, SeekFrom, Write};

/// Writes a file whose chunks arrive one by one, in row order.
///
/// ```text
///   | room for superblock, directory, index | payloads ->   | block | spill | JSON | tail
///   ^ written by `finish`, superblock last     ^ `push`        ^ `finish`
/// ```
///
/// The payloads of each dataset start aligned and are contiguous, but for those that are [kept](FileWriter::keep)
/// where they are. Memory: 24 bytes per chunk. The same calls give the same bytes. After an error the file is unfinished:
/// discard it.
#[derive(Debug)]
pub struct FileWriter<W> {
    out: W,
    layout: Layout,
    next: Position,
    stored: Vec<Stored>,
    position: u64,
    /// The dataset of the last payload that got a place.
    placed: Option<usize>,
}

/// The part of a row that the layout does not determine.
#[derive(Clone, Copy, Debug)]
struct Stored {
    offset: u64,
    len: u64,
    codec: Codec,
}

/// The parts of the footer.
#[derive(Clone, Copy, Debug)]
pub struct FooterParts<'a> {
    /// A block of any bytes directly after the last payload; may be empty.
    pub block: &'a [u8],
    /// The metadata spill, directly after the block; may be empty.
    pub spill: &'a [u8],
    /// The JSON.
    pub json: &'a [u8],
    /// The version of the footer.
    pub version: u32,
}

impl<W: Write + Seek> FileWriter<W> {
    /// Starts a file at the beginning of `out`, which should be empty.
    ///
    /// # Errors
    ///
    /// `out` cannot seek past the space reserved for the head.
    pub fn new(mut out: W, layout: Layout) -> Result<FileWriter<W>, WriteError> {
        let position = layout.payloads_start();
        out.seek(SeekFrom::Start(position))?;
        let (next, stored) = (Position::default(), Vec::new());
        Ok(FileWriter { out, layout, next, stored, position, placed: None })
    }

    /// Continues at an offset: payloads that get a place come behind it. Returns `out` there, for the caller to write
    /// what is to be [kept](FileWriter::keep) before it, and to seek back.
    ///
    /// # Errors
    ///
    /// The offset is before the current position, or `out` fails.
    pub fn skip_to(&mut self, position: u64) -> Result<&mut W, WriteError> {
        if position < self.position {
            return Err(WriteError::Place { at: position, len: 0 });
        }
        self.out.seek(SeekFrom::Start(position))?;
        self.position = position;
        Ok(&mut self.out)
    }

    /// Gives the next chunk the place of bytes that are there already: before the current position.
    ///
    /// # Errors
    ///
    /// There is no next chunk, its length does not match its grid, or there are no such bytes.
    pub fn keep(&mut self, codec: Codec, raw_len: u64, place: Span) -> Result<(), WriteError> {
        self.check_next(codec, raw_len, place.len())?;
        if place.start() < self.layout.payloads_start() || self.position < place.end() {
            return Err(WriteError::Place { at: place.start(), len: place.len() });
        }
        self.record(Stored { offset: place.start(), len: place.len(), codec });
        Ok(())
    }

    /// Writes the next chunk. `raw_len` is its length before encoding.
    ///
    /// # Errors
    ///
    /// There is no next chunk, its length does not match its grid, or `out` fails.
    pub fn push(&mut self, codec: Codec, raw_len: u64, stored: &[u8]) -> Result<(), WriteError> {
        self.place(codec, raw_len, wire::len_of(stored))?.write_all(stored)?;
        Ok(())
    }

    /// Gives the next chunk its place, and returns `out` there, for the caller to write the `stored_len` bytes of
    /// the chunk. Chunks of one dataset lie back to back, so that the bytes of several may be written after the
    /// first of them has its place.
    ///
    /// # Errors
    ///
    /// There is no next chunk, its length does not match its grid, or `out` fails.
    pub fn place(
        &mut self,
        codec: Codec,
        raw_len: u64,
        stored_len: u64,
    ) -> Result<&mut W, WriteError> {
        let dataset = self.check_next(codec, raw_len, stored_len)?;
        if self.placed.replace(dataset) != Some(dataset) {
            self.align()?;
        }
        let offset = self.position;
        self.position = offset.checked_add(stored_len).ok_or(WriteError::TooLarge)?;
        self.record(Stored { offset, len: stored_len, codec });
        Ok(&mut self.out)
    }

    fn record(&mut self, stored: Stored) {
        self.stored.push(stored);
        self.next.advance(self.layout.planned());
    }

    /// Checks the lengths of the next chunk, and returns its dataset.
    fn check_next(
        &mut self,
        codec: Codec,
        raw_len: u64,
        stored_len: u64,
    ) -> Result<usize, WriteError> {
        let chunk = self.next.chunk(self.layout.planned()).ok_or(WriteError::Complete)?;
        let dataset = chunk.dataset;
        if raw_len != chunk.raw_len {
            let [found, wanted] = [raw_len, chunk.raw_len];
            return Err(WriteError::RawLen { dataset, found, wanted });
        }
        match codec {
            Codec::Raw if stored_len != raw_len => {
                let [found, wanted] = [stored_len, raw_len];
                Err(WriteError::StoredLen { dataset, found, wanted })
            }
            Codec::Raw | Codec::Zstd => Ok(dataset),
            Codec::Unknown(tag) => Err(WriteError::Codec { tag }),
        }
    }

    /// The chunk for the next [`push`](FileWriter::push); `None` if all are written.
    pub fn next_chunk(&self) -> Option<ChunkAt> {
        let mut next = self.next;
        next.chunk(self.layout.planned())
    }

    /// The end of the written bytes: after the last chunk, the offset of the footer's block.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The layout being written.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The rows of the chunks written so far.
    pub fn rows(&self) -> impl Iterator<Item = IndexRow> + Clone {
        self.layout.chunks().zip(&self.stored).map(|(chunk, stored)| row_of(&chunk, *stored))
    }

    /// Writes the footer, the index and, last, the superblock. Returns `out`, flushed.
    ///
    /// # Errors
    ///
    /// Chunks are missing, the footer's version is unknown, or `out` fails.
    pub fn finish(mut self, footer: Option<FooterParts<'_>>) -> Result<W, WriteError> {
        let [written, declared] = [self.rows_written(), self.layout.row_count()];
        if written != declared {
            return Err(WriteError::Incomplete { written, declared });
        }
        let flags = match footer {
            Some(parts) => {
                self.write_footer(parts)?;
                FLAG_FOOTER
            }
            None => 0,
        };
        self.write_head(flags)?;
        Ok(self.out)
    }

    fn rows_written(&self) -> u64 {
        u64::try_from(self.stored.len()).unwrap_or(u64::MAX)
    }

    fn align(&mut self) -> Result<(), WriteError> {
        let place = self.layout.align().place(self.position).ok_or(WriteError::TooLarge)?;
        let gap_len = usize::try_from(place.saturating_sub(self.position)).unwrap_or(0);
        self.out.write_all(ZEROS.get(..gap_len).unwrap_or(&ZEROS))?;
        self.position = place;
        Ok(())
    }

    fn write_footer(&mut self, parts: FooterParts<'_>) -> Result<(), WriteError> {
        let FooterParts { block, spill, json, version } = parts;
        if version == 0 || version > FOOTER_VERSION_MAX {
            return Err(WriteError::FooterVersion { version });
        }
        for part in [block, spill, json] {
            self.out.write_all(part)?;
        }
        let tail = Tail { json_len: wire::len_of(json), version };
        self.out.write_all(&tail.encode())?;
        Ok(())
    }

    /// Writes everything before the payloads, the superblock last, so that an unfinished file has
    /// no magic.
    fn write_head(&mut self, flags: u32) -> Result<(), WriteError> {
        self.out.seek(SeekFrom::Start(superblock::LEN))?;
        let head = self.layout.head_bytes(flags);
        let superblock = self.layout.superblock(flags).encode();
        let mut block = head.get(superblock.len()..).unwrap_or(&[]).to_vec();
        for (chunk, &stored) in self.layout.chunks().zip(&self.stored) {
            if block.len() >= BLOCK_LEN {
                self.out.write_all(&block)?;
                block.clear();
            }
            block.extend(row_of(&chunk, stored).encode());
        }
        self.out.write_all(&block)?;
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&superblock)?;
        self.out.seek(SeekFrom::End(0))?;
        self.out.flush()?;
        Ok(())
    }
}

/// The approximate length of the blocks in which rows are written.
const BLOCK_LEN: usize = 1 << 20;

/// Zeros for the largest alignment.
const ZEROS: [u8; 4096] = [0; 4096];

fn row_of(chunk: &ChunkAt, stored: Stored) -> IndexRow {
    IndexRow {
        dataset_id: u64::try_from(chunk.dataset).unwrap_or(u64::MAX),
        coord: chunk.coord,
        payload_offset: stored.offset,
        raw_len: chunk.raw_len,
        stored_len: stored.len,
        codec: stored.codec.tag(),
        reserved: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::File;
    use crate::dtype::DType;
    use crate::index::{RowContext, check_payloads, check_rows};
    use crate::layout::Align;
    use crate::write::{DatasetSpec, Declaration};
    use std::io::Cursor;
    use std::vec;

    fn declaration(align: Align) -> Declaration {
        let specs = vec![
            DatasetSpec::new("a", DType::Float32, [4, 6], [2, 4]),
            DatasetSpec::new("b", DType::UInt8, [3], [2]),
            DatasetSpec::new("c", DType::Int16, [2, 2, 2], [9, 9, 9]),
        ];
        Declaration { datasets: specs, align, ..Declaration::default() }
    }

    /// Chunk number `n` is bytes of value `n + 1`; odd ones are tagged zstd and one byte shorter.
    fn written(align: Align, footer: Option<FooterParts<'_>>) -> Vec<u8> {
        let layout = declaration(align).layout().unwrap();
        let mut writer = FileWriter::new(Cursor::new(vec![]), layout).unwrap();
        let mut fill = 1;
        while let Some(chunk) = writer.next_chunk() {
            let raw_len = usize::try_from(chunk.raw_len).unwrap();
            if fill % 2 == 1 {
                writer.push(Codec::Raw, chunk.raw_len, &vec![fill; raw_len]).unwrap();
            } else {
                writer.push(Codec::Zstd, chunk.raw_len, &vec![fill; raw_len - 1]).unwrap();
            }
            fill += 1;
        }
        assert!(matches!(writer.push(Codec::Raw, 0, &[]), Err(WriteError::Complete)));
        let index_end = writer.layout().index_end();
        assert!(writer.rows().all(|row| index_end <= row.payload_offset));
        writer.finish(footer).unwrap().into_inner()
    }

    #[test]
    fn rows_are_reserved_and_payloads_stay() {
        let specs = [DatasetSpec::new("a", DType::UInt8, [6], [2])];
        let declaration = Declaration { reserved_rows: 2, ..Declaration::new(specs) };
        let layout = declaration.layout().unwrap();
        let [start, room] = [layout.payloads_start(), layout.index_end() + 2 * 104];
        assert_eq!(start, room);
        let mut writer = FileWriter::new(Cursor::new(vec![]), layout).unwrap();
        let span = |at, len| Span::new(at, len).unwrap();
        let refused = |kept: Result<(), WriteError>| matches!(kept, Err(WriteError::Place { .. }));
        assert!(refused(writer.keep(Codec::Raw, 2, span(start, 2))), "nothing is there");
        writer.skip_to(start + 100).unwrap();
        assert!(matches!(writer.skip_to(start), Err(WriteError::Place { .. })));
        assert!(refused(writer.keep(Codec::Raw, 2, span(start - 1, 2))), "in the reserved rows");
        assert!(refused(writer.keep(Codec::Raw, 2, span(start + 99, 2))), "behind what is there");
        writer.keep(Codec::Raw, 2, span(start + 98, 2)).unwrap();
        writer.push(Codec::Raw, 2, &[7, 7]).unwrap();
        writer.keep(Codec::Raw, 2, span(start, 2)).unwrap();
        let offsets: Vec<u64> = writer.rows().map(|row| row.payload_offset).collect();
        let placed = Align::default().place(start + 100).unwrap();
        assert_eq!(offsets, [start + 98, placed, start]);
        let bytes = writer.finish(None).unwrap().into_inner();
        assert!(File::read(&bytes).is_ok());
        let room = usize::try_from(room).unwrap();
        assert!(bytes[room - 2 * 104..room].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn what_is_written_is_read() {
        for align in [Align::A8, Align::A64, Align::A4096] {
            let parts = FooterParts { block: b"bl", spill: b"spi", json: b"{}", version: 1 };
            let bytes = written(align, Some(parts));
            let file = File::read(&bytes).unwrap();
            let grids: Vec<_> =
                file.directory.iter().map(|record| record.grid().unwrap()).collect();
            let contexts: Vec<_> = file
                .directory
                .iter()
                .zip(&grids)
                .map(|(record, grid)| RowContext {
                    record_at: record.at(),
                    grid,
                    element_size: record.dtype().unwrap().size(),
                })
                .collect();
            let (mut faults, mut notes) = (vec![], vec![]);
            check_rows(file.index.placed_rows(), &contexts, &mut faults).unwrap();
            let file_len = bytes.len() as u64;
            let json = file.tail.unwrap().json_span(file_len);
            let index_end = file.superblock.index_end();
            let rows = file.index.placed_rows();
            check_payloads(rows, index_end, json.start() - 3, &mut faults, &mut notes).unwrap();
            assert_eq!((faults, notes), (vec![], vec![]));
            check_payload_bytes(&bytes, &file, align);
            let tail = bytes.len() - 16;
            assert_eq!(&bytes[tail - 7..tail], b"blspi{}");
        }
    }

    /// Each payload has its value, and all bytes between payloads are zero.
    fn check_payload_bytes(bytes: &[u8], file: &File<'_>, align: Align) {
        let mut reach = file.superblock.index_end();
        let mut dataset = None;
        for (fill, row) in (1..).zip(file.index.rows()) {
            let at = |offset: u64| usize::try_from(offset).unwrap();
            let span = row.payload().unwrap();
            assert!(bytes[at(span.start())..at(span.end())].iter().all(|&byte| byte == fill));
            assert!(bytes[at(reach)..at(span.start())].iter().all(|&byte| byte == 0));
            if dataset == Some(row.dataset_id) {
                assert_eq!(span.start(), reach, "chunks of a dataset lie back to back");
            } else {
                assert_eq!(span.start() % align.bytes(), 0, "a dataset starts aligned");
                assert!(span.start() - reach < align.bytes(), "and no later than it must");
            }
            dataset = Some(row.dataset_id);
            reach = span.end();
        }
    }

    #[test]
    fn the_same_calls_give_the_same_bytes() {
        assert_eq!(written(Align::A64, None), written(Align::A64, None));
        let bytes = written(Align::A64, None);
        assert_eq!(File::read(&bytes).unwrap().tail, None);
    }

    #[test]
    fn chunks_that_do_not_fit_the_grid_are_refused() {
        let layout = declaration(Align::A64).layout().unwrap();
        let mut writer = FileWriter::new(Cursor::new(vec![]), layout).unwrap();
        let error = writer.push(Codec::Raw, 31, &[0; 31]).unwrap_err();
        assert!(matches!(error, WriteError::RawLen { dataset: 0, found: 31, wanted: 32 }));
        let error = writer.push(Codec::Raw, 32, &[0; 31]).unwrap_err();
        assert!(matches!(error, WriteError::StoredLen { dataset: 0, found: 31, wanted: 32 }));
        let error = writer.push(Codec::Unknown(2), 32, &[0; 32]).unwrap_err();
        assert!(matches!(error, WriteError::Codec { tag: 2 }));
        writer.push(Codec::Raw, 32, &[0; 32]).unwrap();
        assert_eq!(writer.rows().count(), 1);
        let error = writer.finish(None).unwrap_err();
        assert!(matches!(error, WriteError::Incomplete { written: 1, declared: 7 }));
    }

    #[test]
    fn an_empty_file_may_have_a_footer() {
        for (footer, len) in [
            (None, 32),
            (Some(FooterParts { block: &[], spill: &[], json: b"{}", version: 2 }), 50),
        ] {
            let layout = Declaration::default().layout().unwrap();
            let writer = FileWriter::new(Cursor::new(vec![]), layout).unwrap();
            let bytes = writer.finish(footer).unwrap().into_inner();
            assert_eq!(bytes.len(), len);
            let file = File::read(&bytes).unwrap();
            assert_eq!(file.tail.map(|tail| tail.version), footer.map(|parts| parts.version));
        }
        let layout = Declaration::default().layout().unwrap();
        let writer = FileWriter::new(Cursor::new(vec![]), layout).unwrap();
        let parts = FooterParts { block: &[], spill: &[], json: b"{}", version: 3 };
        let error = writer.finish(Some(parts)).unwrap_err();
        assert!(matches!(error, WriteError::FooterVersion { version: 3 }));
    }

    /// A file that is not finished must not look like one.
    #[test]
    fn an_unfinished_file_has_no_magic() {
        let layout = declaration(Align::A64).layout().unwrap();
        let mut writer = FileWriter::new(Cursor::new(vec![]), layout).unwrap();
        writer.push(Codec::Raw, 32, &[7; 32]).unwrap();
        assert!(File::read(writer.out.get_ref()).is_err());
    }
}
