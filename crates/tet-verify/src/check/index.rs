//! Checks the index: its header, then every row against the grid of its dataset.

use tet_file::DatasetEntry;
use tet_format::index::{
    HEADER_LEN, IndexHeader, IndexRow, Order, ROW_LEN, RowContext, check_rows, notes, read_header,
    row_notes,
};
use tet_format::{Note, NoteCode, layout};
use tet_io::Source;

use super::subject::{Holds, Seen, Subject};
use crate::collect::Collector;
use crate::error::{Error, Result};

/// Rows are read in blocks of this many, about 1 MiB.
const BLOCK_ROW_COUNT: u64 = (1 << 20) / ROW_LEN;

/// The rows of an index: those that its header declares, or those that are in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Index {
    pub(crate) offset: u64,
    pub(crate) row_count: u64,
}

/// Checks header and rows; `None` if the rows cannot be located.
pub(super) fn check(
    subject: &Subject<'_>,
    listed: Holds,
    seen: &mut Seen,
    out: &mut Collector,
) -> Result<Option<Index>> {
    let Subject { source, options, superblock } = subject;
    let offset = superblock.index_offset;
    if superblock.dataset_count == 0 {
        return Ok(Some(Index { offset, row_count: 0 }));
    }
    let mut bytes = [0; IndexHeader::LEN];
    let len = usize::try_from(superblock.index_len.min(HEADER_LEN)).unwrap_or(0);
    source.read_exact_at(offset, &mut bytes[..len])?;
    let before = out.fault_count();
    let header = read_header(&bytes[..len], offset, superblock.index_len, out)
        .map_err(tet_file::Error::from)?;
    let (Some(header), true) = (header, before == out.fault_count()) else { return Ok(None) };
    let mut odd = Vec::new();
    notes(&header, offset, &mut odd);
    out.notes(&mut odd);
    let row_count = header.row_count;
    if options.row_count_max < row_count {
        return Err(Error::Rows { found: row_count, limit: options.row_count_max });
    }
    let index = Index { offset, row_count };
    if listed == Holds::Yes {
        check_all_rows(source, index, seen, out)?;
        seen.row_count = row_count;
    }
    Ok(Some(index))
}

fn check_all_rows(source: &Source, index: Index, seen: &Seen, out: &mut Collector) -> Result<()> {
    let contexts = contexts(&seen.datasets);
    let before = out.fault_count();
    let mut odd_rows = out.sibling();
    let mut odd: Vec<Note> = Vec::new();
    let mut rows = index.rows(source);
    let noted = rows.by_ref().inspect(|(at, row)| {
        let id = usize::try_from(row.dataset_id).unwrap_or(usize::MAX);
        if let Some(dataset) = seen.datasets.get(id) {
            row_notes(row, *at, dataset.grid.rank(), &mut odd);
            odd_rows.notes(&mut odd);
        }
    });
    let order = check_rows(noted, &contexts, out).map_err(tet_file::Error::from)?;
    rows.finish()?;
    out.merge(odd_rows);
    // Wrong rows would also look unordered.
    if order == Order::Mixed && before == out.fault_count() {
        let at = index.offset.saturating_add(HEADER_LEN);
        out.push(Note { code: NoteCode::RowOrder, at, found: index.row_count }.into());
    }
    Ok(())
}

/// The grids and names that the rows of each dataset are checked against.
pub(super) fn contexts(datasets: &[DatasetEntry]) -> Vec<RowContext<'_>> {
    datasets
        .iter()
        .map(|dataset| RowContext {
            record_at: dataset.at,
            grid: &dataset.grid,
            element_size: dataset.dtype.and_then(tet_format::DType::size),
        })
        .collect()
}

impl Index {
    /// All rows with their offsets, read in blocks.
    pub(crate) fn rows<'a>(&self, source: &'a Source) -> Rows<'a> {
        Rows { source, index: *self, next: 0, block: Vec::new(), block_start: 0, fault: None }
    }
}

/// The rows of an index, block by block. Ends early if the source cannot be read.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    source: &'a Source,
    index: Index,
    next: u64,
    block: Vec<u8>,
    block_start: u64,
    fault: Option<tet_io::Error>,
}

impl Rows<'_> {
    /// Returns the read error, if there was one.
    pub(crate) fn finish(self) -> Result<()> {
        self.fault.map_or(Ok(()), |fault| Err(fault.into()))
    }

    fn fill(&mut self) -> Option<()> {
        let count = BLOCK_ROW_COUNT.min(self.index.row_count.checked_sub(self.next)?);
        let len = usize::try_from(count.checked_mul(ROW_LEN)?).ok()?;
        self.block.resize(len, 0);
        self.block_start = self.next;
        let at = layout::row_at(self.index.offset, self.next);
        match self.source.read_exact_at(at, &mut self.block) {
            Ok(()) => Some(()),
            Err(fault) => {
                self.fault = Some(fault);
                None
            }
        }
    }
}

impl Iterator for Rows<'_> {
    type Item = (u64, IndexRow);

    fn next(&mut self) -> Option<Self::Item> {
        if self.fault.is_some() || self.index.row_count <= self.next {
            return None;
        }
        let within = usize::try_from(self.next.checked_sub(self.block_start)?).ok()?;
        if self.block.as_chunks::<{ IndexRow::LEN }>().0.len() <= within {
            self.fill()?;
        }
        let within = usize::try_from(self.next.checked_sub(self.block_start)?).ok()?;
        let row = IndexRow::decode(self.block.as_chunks().0.get(within)?);
        let at = layout::row_at(self.index.offset, self.next);
        self.next = self.next.saturating_add(1);
        Some((at, row))
    }
}
