//! The datasets of an opened file, and where their index rows are (format section 3).

use std::ops::Range;

use tet_format::directory::{DatasetRecord, Directory, check_dataset};
use tet_format::index::IndexRow;
use tet_format::{DType, Grid, Rule, Strict, planted};

use crate::error::Result;
use crate::rows::Index;

/// In which order the index rows of a dataset are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowOrder {
    /// The row of chunk `n` is row `rows.start + n`. Only the first and last row were looked at:
    /// whoever uses another one compares its coordinate.
    RowMajor,
    /// Anywhere in `rows`, among rows of other datasets.
    Unknown,
}

/// A dataset as the directory lists it.
#[derive(Clone, Debug)]
pub struct DatasetEntry {
    /// The name, as it stands in the file: it may be empty, not unique, or hold any character.
    pub name: String,
    /// The tag of the type of the elements.
    pub dtype_tag: u32,
    /// The type of the elements, if the tag is known.
    pub dtype: Option<DType>,
    /// How chunks cover the shape.
    pub grid: Grid,
    /// Where the index rows of the dataset are.
    pub rows: Range<u64>,
    /// In which order they are.
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

    /// How many chunks the grid has, and rows there must be.
    #[must_use]
    pub fn chunk_count(&self) -> u64 {
        self.grid.chunk_count()
    }
}

/// The datasets of a directory, their rows not yet placed.
pub(crate) fn entries(directory: &Directory<'_>) -> Vec<DatasetEntry> {
    // A directory that was read has a grid for every record.
    let with_grid = |record: DatasetRecord<'_>| Some(DatasetEntry::new(&record, record.grid()?));
    directory.iter().filter_map(with_grid).collect()
}

/// Finds where the rows of each dataset are.
///
/// In files of the usual writers the rows stand dataset by dataset, row-major: then a look at the
/// first and last row of each dataset is enough. Else all rows are read once and counted.
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
    let mut ends = Ends::default();
    for (id, entry) in (0_u64..).zip(entries.iter()) {
        if !ends.are_in_order(id, entry, index)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reads the rows where datasets meet, the last of one together with the first of the next.
#[derive(Default)]
struct Ends {
    rows: Vec<IndexRow>,
    /// The number of the first row in `rows`.
    start: u64,
}

impl Ends {
    fn are_in_order(&mut self, id: u64, entry: &DatasetEntry, index: &Index) -> Result<bool> {
        let Some(last) = entry.chunk_count().checked_sub(1) else { return Ok(true) };
        for linear in [0, last] {
            let row = self.row(entry.rows.start + linear, index)?;
            if !row.is_some_and(|row| is_chunk(&row, id, linear, &entry.grid)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn row(&mut self, number: u64, index: &Index) -> Result<Option<IndexRow>> {
        let kept = |ends: &Self| {
            let at = usize::try_from(number.checked_sub(ends.start)?).ok()?;
            ends.rows.get(at).copied()
        };
        if let Some(row) = kept(self) {
            return Ok(Some(row));
        }
        self.rows.clear();
        self.start = number;
        index.rows(number..number.saturating_add(2), &mut self.rows)?;
        Ok(kept(self))
    }
}

fn is_chunk(row: &IndexRow, id: u64, linear: u64, grid: &Grid) -> bool {
    let coord = row.coord.get(..grid.rank());
    row.dataset_id == id && coord.and_then(|coord| grid.linear(coord)) == Some(linear)
}

/// What one pass over the index finds of a dataset.
#[derive(Clone, Copy, Default)]
struct Tally {
    count: u64,
    first: u64,
    last: u64,
}

fn place_by_counting(entries: &mut [DatasetEntry], index: &Index) -> Result<()> {
    let mut tallies = vec![Tally::default(); entries.len()];
    index.for_blocks(0..index.row_count(), |first, rows| {
        for (number, row) in (first..).zip(rows.iter().map(IndexRow::decode)) {
            let tally = usize::try_from(row.dataset_id).ok().and_then(|id| tallies.get_mut(id));
            // A row of no dataset is a fault of the file that hurts no dataset.
            let Some(tally) = tally else { continue };
            if tally.count == 0 {
                tally.first = number;
            }
            tally.count += 1;
            tally.last = number;
        }
    })?;
    for ((id, entry), tally) in (0_u64..).zip(entries).zip(tallies) {
        place_by_tally(id, entry, tally, index)?;
    }
    Ok(())
}

fn place_by_tally(id: u64, entry: &mut DatasetEntry, tally: Tally, index: &Index) -> Result<()> {
    let wanted = entry.chunk_count();
    entry.rows = if tally.count == 0 { 0..0 } else { tally.first..tally.last.saturating_add(1) };
    entry.order = RowOrder::Unknown;
    if tally.count != wanted && !planted::is("row_count") {
        let (rule, at, found) = (Rule::RowCount, entry.at, tally.count);
        entry.fault = entry.fault.or(Some(tet_format::Error { rule, at, found, wanted }));
        return Ok(());
    }
    let is_dense = entry.rows.end - entry.rows.start == wanted;
    if is_dense && Ends::default().are_in_order(id, entry, index)? {
        entry.order = RowOrder::RowMajor;
    }
    Ok(())
}
