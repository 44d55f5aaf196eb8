//! The file map: every segment of a file, valid or not, with its name, its row, its annotations.
//!
//! ```text
//!   superblock, directory, index, footer   map().places(): computed from the file's ends
//!   payloads, spills, gaps                 body(): by the rows, in file order
//! ```
//!
//! A broken rule does not stop the map: it becomes an [`Annotation`] of its segment. Rules about
//! all rows together are checked by [`verify`](crate::verify). Memory: the directory, the footer
//! JSON and, for the body, 16 bytes for each row.

mod annotation;
mod body;
#[cfg(test)]
mod tests;

pub use annotation::Annotation;
pub use body::{Body, Segment};

use tet_file::footer as file_footer;
use tet_format::digest::{BLOCK_HEADER_LEN, DIGEST_LEN, WireDigestBlock, block_len, page_count};
use tet_format::directory::{self, DatasetRecord};
use tet_format::footer::{Spill, Tail, notes, read_tail};
use tet_format::index::{
    self, HEADER_LEN, IndexRow, ROW_LEN, RowContext, check_dataset_id, check_payload, check_row,
    read_header, row_notes,
};
use tet_format::map::Map;
use tet_format::superblock::{self, WireSuperblock};
use tet_format::{Faults, Grid, Limits, Region, Span, Superblock, layout};
use tet_io::Source;

use crate::check::footer::tail_bytes;
use crate::check::index::Index;
use crate::collect::Collector;
use crate::error::Result;
use annotation::annotations_of;

/// The most annotations of one code that are stored for the parts in memory.
const ANNOTATIONS_MAX: usize = 64;

/// A segment to which the footer refers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Referred {
    span: Span,
    field: &'static str,
    /// The key that refers to it.
    key: &'static str,
}

/// The fields of a block of digests for `row_count` rows.
fn digests(block: Spill, row_count: u64) -> Vec<Referred> {
    let key = "integrity";
    let header = WireDigestBlock::FIELDS.iter().map(|it| (it.name, it.offset, it.width));
    let pages = page_count(row_count).saturating_mul(DIGEST_LEN);
    let chunks = row_count.saturating_mul(DIGEST_LEN);
    let chunks_at = BLOCK_HEADER_LEN.saturating_add(pages);
    let lists = [("pages", BLOCK_HEADER_LEN, pages), ("chunks", chunks_at, chunks)];
    let placed = header.chain(lists).filter_map(|(field, at, len)| {
        Some(Referred { span: Span::new(block.offset.checked_add(at)?, len)?, field, key })
    });
    // A block with a wrong length is not split into fields.
    if block_len(row_count) == Some(block.len) {
        return placed.filter(|it| !it.span.is_empty()).collect();
    }
    let span = Span::new(block.offset, block.len);
    span.map(|span| Referred { span, field: "block", key }).into_iter().collect()
}

/// The map of a file.
#[derive(Debug)]
pub struct FileMap<'a> {
    source: &'a Source,
    head: Vec<u8>,
    tail: Vec<u8>,
    superblock: Option<Superblock>,
    /// The offset of each record.
    records: Vec<u64>,
    /// The spills and the digest fields that the footer refers to.
    spills: Vec<Referred>,
    payload_end: u64,
    annotations: Vec<Annotation>,
}

impl<'a> FileMap<'a> {
    /// Reads the parts of a file that stay in memory: superblock, directory and footer.
    ///
    /// # Errors
    ///
    /// The source cannot be read. Faults of the bytes are in [`annotations`](Self::annotations).
    pub fn read(source: &'a Source, limits: &Limits) -> Result<FileMap<'a>> {
        let mut out = Collector::new(ANNOTATIONS_MAX);
        let mut map = FileMap {
            source,
            head: read_up_to(source, 0, superblock::LEN)?,
            tail: tail_bytes(source)?,
            superblock: None,
            records: Vec::new(),
            spills: Vec::new(),
            payload_end: source.len(),
            annotations: Vec::new(),
        };
        map.read_superblock(&mut out)?;
        map.read_directory(limits, &mut out)?;
        map.check_index(&mut out)?;
        map.read_footer(limits, &mut out)?;
        map.annotations = annotations_of(out);
        Ok(map)
    }

    fn read_superblock(&mut self, out: &mut Collector) -> Result<()> {
        let Some(bytes) = self.head.first_chunk() else {
            if let Err(fault) = Superblock::read(&self.head, self.source.len()) {
                out.fault(fault).map_err(tet_file::Error::from)?;
            }
            return Ok(());
        };
        let wire = WireSuperblock::decode(bytes);
        superblock::check(&wire, self.source.len(), out).map_err(tet_file::Error::from)?;
        if self.map().is_foreign() {
            return Ok(());
        }
        let mut odd = Vec::new();
        superblock::notes(&wire, &mut odd);
        out.notes(&mut odd);
        let WireSuperblock { dataset_count, flags, index_offset, index_len, .. } = wire;
        self.superblock = Some(Superblock { dataset_count, flags, index_offset, index_len });
        Ok(())
    }

    fn read_directory(&mut self, limits: &Limits, out: &mut Collector) -> Result<()> {
        let Some(superblock) = self.superblock.filter(|it| it.dataset_count != 0) else {
            return Ok(());
        };
        let end = self.map().index_span().start();
        let len_max = superblock::LEN.saturating_add(limits.directory_len_max);
        self.head = read_up_to(self.source, 0, end.min(len_max))?;
        let starts = self.map().places().skip_while(|place| place.region < Region::Directory);
        let starts = starts.take_while(|place| place.region == Region::Directory);
        let first = starts.filter(|place| place.record.is_some() && place.field == "name_len");
        self.records = first.map(|place| place.offset).collect();
        // If the superblock is wrong about the directory, the annotation is there.
        if superblock.index_offset != end {
            return Ok(());
        }
        let (base, count) = (superblock::LEN, superblock.dataset_count);
        let start = usize::try_from(base).unwrap_or(usize::MAX);
        let region = self.head.get(start..).unwrap_or_default();
        if let Err(fault) = limits.check_directory_len(end.saturating_sub(base)) {
            out.fault(fault).map_err(tet_file::Error::from)?;
            return Ok(());
        }
        directory::check_all(region, base, count, limits, out).map_err(tet_file::Error::from)?;
        let mut odd = Vec::new();
        directory::notes(region, base, count, &mut odd);
        out.notes(&mut odd);
        Ok(())
    }

    fn check_index(&self, out: &mut Collector) -> Result<()> {
        let Some(superblock) = self.superblock.filter(|it| it.dataset_count != 0) else {
            return Ok(());
        };
        let span = self.map().index_span();
        if span.start() != superblock.index_offset {
            return Ok(());
        }
        let len = span.len().min(HEADER_LEN);
        // A header past the end of the file is a fault of the superblock.
        if len < HEADER_LEN.min(superblock.index_len) {
            return Ok(());
        }
        let bytes = read_up_to(self.source, span.start(), len)?;
        let header = read_header(&bytes, span.start(), superblock.index_len, out);
        if let Some(header) = header.map_err(tet_file::Error::from)? {
            let mut odd = Vec::new();
            index::notes(&header, span.start(), &mut odd);
            out.notes(&mut odd);
        }
        Ok(())
    }

    fn read_footer(&mut self, limits: &Limits, out: &mut Collector) -> Result<()> {
        let file_len = self.source.len();
        let Some(superblock) = self.superblock.filter(|it| it.index_end() <= file_len) else {
            return Ok(());
        };
        let index_end = superblock.index_end();
        if !superblock.has_footer() {
            let mut odd = Vec::new();
            notes(&self.tail, superblock.flags, index_end, file_len, &mut odd);
            out.notes(&mut odd);
            return Ok(());
        }
        self.payload_end = self.map().body_span().end();
        read_tail(&self.tail, index_end, file_len, out).map_err(tet_file::Error::from)?;
        let Ok(tail) = Tail::read(&self.tail, index_end, file_len) else { return Ok(()) };
        let footer = file_footer::check(self.source, &superblock, tail, limits, out)?;
        footer.check_metadata_twice(out).map_err(tet_file::Error::from)?;
        self.payload_end = tail.payload_end(file_len, &footer.json.spills);
        let body = self.map().body_span();
        let spills = footer.json.spills.present(tail.version);
        let placed = spills.filter_map(|(key, it)| {
            Some(Referred { span: Span::new(it.offset, it.len)?, field: "spill", key })
        });
        let digests = footer.integrity.key().map(|key| digests(key.block, self.index().row_count));
        let all = placed.chain(digests.into_iter().flatten());
        self.spills = all.filter(|it| body.contains(it.span)).collect();
        Ok(())
    }

    /// The place of each byte of superblock, directory, index and footer. All between index and
    /// footer is one place, which [`body`](Self::body) divides.
    #[must_use]
    pub fn map(&self) -> Map<'_> {
        Map::new(&self.head, &self.tail, self.source.len())
    }

    /// The annotations of superblock, directory, index header and footer, in file order.
    #[must_use]
    pub fn annotations(&self) -> &[Annotation] {
        &self.annotations
    }

    /// The number of records in the directory that can be separated.
    #[must_use]
    pub fn dataset_count(&self) -> u64 {
        u64::try_from(self.records.len()).unwrap_or(u64::MAX)
    }

    /// The record of a dataset; `None` if it is missing, truncated or its name is not text.
    #[must_use]
    pub fn dataset(&self, id: u64) -> Option<DatasetRecord<'_>> {
        let at = *self.records.get(usize::try_from(id).ok()?)?;
        DatasetRecord::split_first(self.head.get(usize::try_from(at).ok()?..)?, at)
    }

    /// The number of rows that fit in the index.
    #[must_use]
    pub fn row_count(&self) -> u64 {
        self.index().row_count
    }

    fn index(&self) -> Index {
        let span = self.map().index_span();
        let rows_len = span.len().saturating_sub(HEADER_LEN);
        Index { offset: span.start(), row_count: rows_len / ROW_LEN }
    }

    /// Row number `row`, if it is complete.
    ///
    /// # Errors
    ///
    /// The source cannot be read.
    pub fn row(&self, row: u64) -> Result<Option<IndexRow>> {
        let index = self.index();
        if index.row_count <= row {
            return Ok(None);
        }
        let bytes = read_up_to(self.source, layout::row_at(index.offset, row), ROW_LEN)?;
        Ok(bytes.first_chunk().map(IndexRow::decode))
    }

    /// The annotations of row `number` alone.
    ///
    /// # Errors
    ///
    /// None: faults are returned as annotations.
    pub fn row_annotations(&self, number: u64, row: &IndexRow) -> Result<Vec<Annotation>> {
        let Some(superblock) = self.superblock else { return Ok(Vec::new()) };
        let mut out = Collector::new(ANNOTATIONS_MAX);
        let at = layout::row_at(self.index().offset, number);
        let count = superblock.dataset_count;
        check_dataset_id(row, at, count, &mut out).map_err(tet_file::Error::from)?;
        if let Some(record) = self.dataset(row.dataset_id) {
            let mut odd = Vec::new();
            row_notes(row, at, record.rank(), &mut odd);
            out.notes(&mut odd);
            if let Some(grid) = grid(&record) {
                let element_size = record.dtype().and_then(tet_format::DType::size);
                let context = RowContext { record_at: record.at(), grid: &grid, element_size };
                check_row(row, at, &context, &mut out).map_err(tet_file::Error::from)?;
            }
        }
        let index_end = self.map().index_span().end();
        check_payload(row, at, index_end, self.payload_end, &mut out)
            .map_err(tet_file::Error::from)?;
        Ok(annotations_of(out))
    }

    /// Payloads, spills and gaps in file order.
    #[must_use]
    pub fn body(&self) -> Body<'_> {
        Body::new(self)
    }

    /// The segment of the byte at `offset`; `None` at or past the end of the file.
    ///
    /// # Errors
    ///
    /// The source cannot be read.
    pub fn at(&self, offset: u64) -> Result<Option<Segment>> {
        let map = self.map();
        let Some(place) = map.locate(offset) else { return Ok(None) };
        if map.body_span().contains_byte(offset) && !map.is_foreign() {
            return body::at(self, offset).map(Some);
        }
        let number = place.record.filter(|_| place.region == Region::Index);
        let row = match number {
            Some(number) => self.row(number)?.map(|row| (number, row)),
            None => None,
        };
        let mut annotations: Vec<Annotation> = match row {
            Some((number, row)) => self.row_annotations(number, &row)?,
            None => self.annotations.clone(),
        };
        annotations.retain(|annotation| place.holds(annotation.at));
        Ok(Some(Segment { place, row, spill: None, annotations }))
    }
}

/// The grid of a record, if it is valid.
fn grid(record: &DatasetRecord<'_>) -> Option<Grid> {
    let rank = u32::try_from(record.rank()).ok()?;
    if rank == 0 || layout::RANK_MAX < rank { None } else { record.grid() }
}

/// The bytes from `at` on: `len`, or fewer at the end of the file.
fn read_up_to(source: &Source, at: u64, len: u64) -> Result<Vec<u8>> {
    let len = len.min(source.len().saturating_sub(at));
    Ok(source.read_vec(at, len)?)
}
