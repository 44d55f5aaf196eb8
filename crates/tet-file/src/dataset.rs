//! The datasets of an opened file, and the positions of their index rows (format section 3).

use std::ops::Range;

use tet_format::directory::{DatasetRecord, Directory, check_dataset};
use tet_format::index::IndexRow;
use tet_format::{DType, Grid, Rule, Strict};

use crate::error::Result;
use crate::rows::{BLOCK_ROW_COUNT, Index};

/// The order of the index rows of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowOrder {
    /// The row of chunk `n` is row `rows.start + n`. This was derived from the number of rows and
    /// checked for a few rows at most: compare the coordinate of every row before using it.
    RowMajor,
    /// Anywhere in `rows`, among rows of other datasets.
    Unknown,
}

/// A dataset in the directory.
#[derive(Clone, Debug)]
pub struct DatasetEntry {
    /// The name as stored: it may be empty, repeated, or contain any character.
    pub name: String,
    /// The tag of the type of the elements.
    pub dtype_tag: u32,
    /// The type of the elements, if the tag is known.
    pub dtype: Option<DType>,
    /// The chunks of the shape.
    pub grid: Grid,
    /// The positions of the index rows of the dataset.
    pub rows: Range<u64>,
    /// Their order.
    pub order: RowOrder,
    /// Why the dataset cannot be read, if it cannot.
    pub fault: Option<tet_format::Error>,
    /// Where the record starts in the file.
    pub at: u64,
}

impl DatasetEntry {
    fn new(record: &DatasetRecord<'_>, grid: Grid) -> Self {
        Self {
            name: record.name().to_owned(),
            dtype_tag: record.dtype_tag(),
            dtype: record.dtype(),
            grid,
            rows: 0..0,
            order: RowOrder::RowMajor,
            fault: check_dataset(record, &mut Strict).err(),
            at: record.at(),
        }
    }

    /// The number of chunks in the grid, and of rows that there must be.
    #[must_use]
    pub fn chunk_count(&self) -> u64 {
        self.grid.chunk_count()
    }
}

/// The datasets of a directory, without the positions of their rows.
pub(crate) fn entries(directory: &Directory<'_>) -> Vec<DatasetEntry> {
    // The check of the directory made sure that every record has a valid grid.
    let with_grid = |record: DatasetRecord<'_>| Some(DatasetEntry::new(&record, record.grid()?));
    directory.iter().filter_map(with_grid).collect()
}

/// Finds the rows of each dataset.
///
/// Usual writers store rows dataset by dataset in row-major order: this is checked for the first
/// and last row of each dataset, within [`BLOCK_COUNT_MAX`] reads. Otherwise all rows are read once
/// and counted.
pub(crate) fn place_rows(entries: &mut [DatasetEntry], index: &Index) -> Result<()> {
    if !place_in_order(entries, index)? {
        place_by_counting(entries, index)?;
    }
    Ok(())
}

fn place_in_order(entries: &mut [DatasetEntry], index: &Index) -> Result<bool> {
    let mut start = 0_u64;
    for entry in entries.iter_mut() {
        let Some(end) = start.checked_add(entry.chunk_count()) else { return Ok(false) };
        entry.rows = start..end;
        start = end;
    }
    if start != index.row_count() {
        return Ok(false);
    }
    let ends = entries.iter().flat_map(|entry| {
        let last = entry.rows.end.saturating_sub(1);
        [entry.rows.start, last].into_iter().filter(|_| !entry.rows.is_empty())
    });
    let mut blocks = Blocks::new(ends.collect());
    for (id, entry) in (0_u64..).zip(entries.iter()) {
        let Some(last) = entry.chunk_count().checked_sub(1) else { continue };
        for linear in [0, last] {
            match blocks.row(entry.rows.start + linear, index)? {
                RowRead::Read(row) if is_chunk(&row, id, linear, &entry.grid) => {}
                RowRead::Unread => return Ok(true),
                RowRead::Read(_) | RowRead::Missing => return Ok(false),
            }
        }
    }
    Ok(true)
}

/// The most blocks of rows that opening a file reads, if the index is not in memory, whatever the
/// number of datasets is.
const BLOCK_COUNT_MAX: u32 = 2;

/// The first and last rows of datasets, read in ascending order, several from each block.
struct Blocks {
    /// The numbers of all needed rows, ascending.
    wanted: Vec<u64>,
    rows: Vec<IndexRow>,
    /// The number of the first row in `rows`.
    start: u64,
    count: u32,
}

enum RowRead {
    Read(IndexRow),
    /// The limit of reads was reached.
    Unread,
    /// The index ends before it.
    Missing,
}

impl Blocks {
    fn new(wanted: Vec<u64>) -> Self {
        Self { wanted, rows: Vec::new(), start: 0, count: 0 }
    }

    fn row(&mut self, number: u64, index: &Index) -> Result<RowRead> {
        if let Some(row) = self.held(number) {
            return Ok(RowRead::Read(row));
        }
        if self.count == BLOCK_COUNT_MAX {
            return Ok(RowRead::Unread);
        }
        self.count += 1;
        self.rows.clear();
        self.start = number;
        let reach = number.saturating_add(BLOCK_ROW_COUNT);
        let past = self.wanted.partition_point(|&row| row < reach);
        let last = past.checked_sub(1).and_then(|last| self.wanted.get(last)).copied();
        index.rows(number..last.unwrap_or(number).saturating_add(1), &mut self.rows)?;
        Ok(self.held(number).map_or(RowRead::Missing, RowRead::Read))
    }

    fn held(&self, number: u64) -> Option<IndexRow> {
        let at = usize::try_from(number.checked_sub(self.start)?).ok()?;
        self.rows.get(at).copied()
    }
}

fn is_chunk(row: &IndexRow, id: u64, linear: u64, grid: &Grid) -> bool {
    let coord = row.coord.get(..grid.rank());
    row.dataset_id == id && coord.and_then(|coord| grid.linear(coord)) == Some(linear)
}

/// The rows of a dataset, counted in one pass over the index.
#[derive(Clone, Copy, Default)]
struct Tally {
    count: u64,
    first: u64,
    last: u64,
    /// Rows that are not at their row-major position.
    misplaced_count: u64,
}

fn place_by_counting(entries: &mut [DatasetEntry], index: &Index) -> Result<()> {
    let mut tallies = vec![Tally::default(); entries.len()];
    index.for_blocks(0..index.row_count(), |first, rows| {
        for (number, row) in (first..).zip(rows.iter().map(IndexRow::decode)) {
            let id = usize::try_from(row.dataset_id).ok();
            let entry = id.and_then(|id| entries.get(id).zip(tallies.get_mut(id)));
            // A row of no dataset is a fault of the file but affects no dataset.
            let Some((entry, tally)) = entry else { continue };
            if tally.count == 0 {
                tally.first = number;
            }
            let is_placed = is_chunk(&row, row.dataset_id, number - tally.first, &entry.grid);
            tally.misplaced_count += u64::from(!is_placed);
            tally.count += 1;
            tally.last = number;
        }
    })?;
    for (entry, tally) in entries.iter_mut().zip(tallies) {
        place_by_tally(entry, tally);
    }
    Ok(())
}

fn place_by_tally(entry: &mut DatasetEntry, tally: Tally) {
    let wanted = entry.chunk_count();
    entry.rows = if tally.count == 0 { 0..0 } else { tally.first..tally.last.saturating_add(1) };
    entry.order = RowOrder::Unknown;
    if tally.count != wanted {
        let (rule, at, found) = (Rule::RowCount, entry.at, tally.count);
        entry.fault = entry.fault.or(Some(tet_format::Error { rule, at, found, wanted }));
        return;
    }
    let is_dense = entry.rows.end - entry.rows.start == wanted;
    if is_dense && tally.misplaced_count == 0 {
        entry.order = RowOrder::RowMajor;
    }
}
