//! The rules about rows.

use super::IndexRow;
use crate::codec::Codec;
use crate::error::{Error, Faults, Result};
use crate::grid::Grid;
use crate::rule::Rule;
use alloc::vec;
use alloc::vec::Vec;

/// The dataset that a row is checked against.
#[derive(Clone, Copy, Debug)]
pub struct RowContext<'a> {
    /// The file offset of the dataset's record.
    pub record_at: u64,
    /// The dataset's grid.
    pub grid: &'a Grid,
    /// The element size in bytes; `None` if the dtype is unknown: then `raw_len` is not checked.
    pub element_size: Option<u64>,
}

/// Checks that a row refers to a dataset of the file. `at` is the offset of the row.
///
/// # Errors
///
/// A fault, only when `faults` asks to stop.
pub fn check_dataset_id(
    row: &IndexRow,
    at: u64,
    dataset_count: u32,
    faults: &mut impl Faults,
) -> Result<()> {
    let wanted = u64::from(dataset_count);
    if row.dataset_id < wanted {
        return Ok(());
    }
    faults.fault(Error { rule: Rule::RowDataset, at, found: row.dataset_id, wanted })
}

/// Checks the rules about one row of the dataset in `context`. `at` is the offset of the row.
///
/// # Errors
///
/// A fault, only when `faults` asks to stop.
pub fn check_row(
    row: &IndexRow,
    at: u64,
    context: &RowContext<'_>,
    faults: &mut impl Faults,
) -> Result<()> {
    match row.coord.get(..context.grid.rank()) {
        Some(coord) if context.grid.linear(coord).is_some() => {
            check_raw_len(row, coord, at, context, faults)?;
        }
        coord => check_coord(coord.unwrap_or(&row.coord), at, context.grid, faults)?,
    }
    match Codec::from_tag(row.codec) {
        Codec::Raw if row.stored_len != row.raw_len => {
            let at = at.saturating_add(const { IndexRow::offset_of("stored_len") });
            let [found, wanted] = [row.stored_len, row.raw_len];
            faults.fault(Error { rule: Rule::RowStoredLen, at, found, wanted })
        }
        Codec::Raw | Codec::Zstd => Ok(()),
        Codec::Unknown(tag) => {
            let at = at.saturating_add(const { IndexRow::offset_of("codec") });
            let wanted = Codec::Zstd.tag().into();
            faults.fault(Error { rule: Rule::RowCodec, at, found: tag.into(), wanted })
        }
    }
}

fn check_raw_len(
    row: &IndexRow,
    coord: &[u64],
    at: u64,
    context: &RowContext<'_>,
    faults: &mut impl Faults,
) -> Result<()> {
    let Some(size) = context.element_size else { return Ok(()) };
    let wanted = context.grid.chunk_elements(coord).and_then(|count| count.checked_mul(size));
    if wanted == Some(row.raw_len) {
        return Ok(());
    }
    let at = at.saturating_add(const { IndexRow::offset_of("raw_len") });
    let [found, wanted] = [row.raw_len, wanted.unwrap_or(u64::MAX)];
    faults.fault(Error { rule: Rule::RowRawLen, at, found, wanted })
}

/// Reports the first slot of `coord` outside the grid; `wanted` is its largest valid value.
fn check_coord(coord: &[u64], at: u64, grid: &Grid, faults: &mut impl Faults) -> Result<()> {
    let at = at.saturating_add(const { IndexRow::offset_of("coord") });
    for (axis, (&found, &count)) in (0_u64..).zip(coord.iter().zip(grid.counts())) {
        if found >= count {
            let at = at.saturating_add(axis.saturating_mul(8));
            let wanted = count.saturating_sub(1);
            return faults.fault(Error { rule: Rule::RowCoord, at, found, wanted });
        }
    }
    // Only reached for a grid with more axes than a row has slots.
    faults.fault(Error { rule: Rule::RowCoord, at, found: 0, wanted: 0 })
}

/// Checks every rule about rows for all rows of an index, each given with its offset.
///
/// `datasets` are those of the directory, in order. Memory: 24 bytes per row. Returns the order of
/// the rows.
///
/// # Errors
///
/// A fault, only when `faults` asks to stop.
pub fn check_rows(
    rows: impl IntoIterator<Item = (u64, IndexRow)>,
    datasets: &[RowContext<'_>],
    faults: &mut impl Faults,
) -> Result<Order> {
    let dataset_count = u32::try_from(datasets.len()).unwrap_or(u32::MAX);
    let mut counts = vec![0_u64; datasets.len()];
    let mut chunks: Vec<[u64; 3]> = Vec::new();
    for (at, row) in rows {
        check_dataset_id(&row, at, dataset_count, faults)?;
        let Some(id) = usize::try_from(row.dataset_id).ok() else { continue };
        let (Some(context), Some(count)) = (datasets.get(id), counts.get_mut(id)) else { continue };
        *count = count.saturating_add(1);
        check_row(&row, at, context, faults)?;
        let coord = row.coord.get(..context.grid.rank()).unwrap_or(&[]);
        if let Some(linear) = context.grid.linear(coord) {
            chunks.push([row.dataset_id, linear, at]);
        }
    }
    for (context, found) in datasets.iter().zip(counts) {
        let wanted = context.grid.chunk_count();
        if found != wanted {
            let at = context.record_at;
            faults.fault(Error { rule: Rule::RowCount, at, found, wanted })?;
        }
    }
    let order = if chunks.is_sorted() { Order::RowMajor } else { Order::Mixed };
    check_unique(chunks, faults)?;
    Ok(order)
}

/// Reports each row whose chunk an earlier row has; `found` is the chunk's number and `wanted` the
/// offset of the earlier row.
fn check_unique(mut chunks: Vec<[u64; 3]>, faults: &mut impl Faults) -> Result<()> {
    chunks.sort_unstable();
    for same in chunks.chunk_by(|a, b| a.first_chunk::<2>() == b.first_chunk::<2>()) {
        if let [[_, found, first], later @ ..] = same {
            for &[_, _, at] in later {
                let [found, wanted] = [*found, *first];
                faults.fault(Error { rule: Rule::RowUnique, at, found, wanted })?;
            }
        }
    }
    Ok(())
}

/// The order of the rows of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Dataset by dataset, the chunks of each in row-major order.
    RowMajor,
    /// Any other order.
    Mixed,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of two datasets: 4 x 6 float32 in chunks of 2 x 4, and 3 uint8 in chunks of 2.
    fn grids() -> [Grid; 2] {
        let grid = |shape: &[u64], chunk: &[u64]| Grid::new(shape.into(), chunk.into()).unwrap();
        [grid(&[4, 6], &[2, 4]), grid(&[3], &[2])]
    }

    fn row(dataset_id: u64, coord: &[u64], raw_len: u64) -> IndexRow {
        let mut row = IndexRow { dataset_id, raw_len, ..IndexRow::decode(&[0; 104]) };
        row.coord[..coord.len()].copy_from_slice(coord);
        IndexRow { stored_len: raw_len, ..row }
    }

    fn good() -> Vec<IndexRow> {
        vec![
            row(0, &[0, 0], 32),
            row(0, &[0, 1], 16),
            row(0, &[1, 0], 32),
            row(0, &[1, 1], 16),
            row(1, &[0], 2),
            row(1, &[1], 1),
        ]
    }

    fn check(rows: &[IndexRow]) -> (Vec<Error>, Order) {
        let grids = grids();
        let contexts = [
            RowContext { record_at: 40, grid: &grids[0], element_size: Some(4) },
            RowContext { record_at: 90, grid: &grids[1], element_size: Some(1) },
        ];
        let mut faults = Vec::new();
        let placed = (0..).zip(rows).map(|(number, &row)| (1000 + 104 * number, row));
        let order = check_rows(placed, &contexts, &mut faults).unwrap();
        (faults, order)
    }

    #[test]
    fn sound_rows_hold_in_any_order() {
        assert_eq!(check(&good()), (vec![], Order::RowMajor));
        let mut mixed = good();
        mixed.reverse();
        assert_eq!(check(&mixed), (vec![], Order::Mixed));
        let mut zstd = good();
        zstd[2] = IndexRow { codec: 1, stored_len: 9, ..zstd[2] };
        zstd[3].coord[7] = 5;
        zstd[3].reserved = 6;
        assert_eq!(check(&zstd), (vec![], Order::RowMajor));
    }

    #[test]
    fn each_rule_breaks_alone() {
        let at = |number: u64, field: u64| 1000 + 104 * number + field;
        type Case = (&'static str, fn(&mut Vec<IndexRow>), Error);
        let fault = |rule, at, found, wanted| Error { rule, at, found, wanted };
        let cases: [Case; 10] = [
            ("a row is missing", |rows| rows.truncate(5), fault(Rule::RowCount, 90, 1, 2)),
            (
                "a dataset that is not there",
                |rows| rows.push(row(2, &[0], 1)),
                fault(Rule::RowDataset, at(6, 0), 2, 2),
            ),
            (
                "a dataset far away",
                |rows| rows.push(row(u64::MAX, &[0], 1)),
                fault(Rule::RowDataset, at(6, 0), u64::MAX, 2),
            ),
            (
                "a place outside",
                |rows| rows[1].coord[1] = 2,
                fault(Rule::RowCoord, at(1, 16), 2, 1),
            ),
            (
                "a chunk twice",
                |rows| rows[2].coord[0] = 0,
                fault(Rule::RowUnique, at(2, 0), 0, 1000),
            ),
            (
                "one byte too short",
                |rows| rows[4] = row(1, &[0], 1),
                fault(Rule::RowRawLen, at(4, 80), 1, 2),
            ),
            (
                "one byte too long",
                |rows| rows[4] = row(1, &[0], 3),
                fault(Rule::RowRawLen, at(4, 80), 3, 2),
            ),
            (
                "an edge chunk padded",
                |rows| rows[1] = row(0, &[0, 1], 32),
                fault(Rule::RowRawLen, at(1, 80), 32, 16),
            ),
            (
                "a codec from the future",
                |rows| rows[0].codec = 2,
                fault(Rule::RowCodec, at(0, 96), 2, 1),
            ),
            (
                "raw, but shorter",
                |rows| rows[0].stored_len = 31,
                fault(Rule::RowStoredLen, at(0, 88), 31, 32),
            ),
        ];
        for (claim, damage, wanted) in cases {
            let mut rows = good();
            damage(&mut rows);
            assert_eq!(check(&rows).0, [wanted], "{claim}");
        }
    }

    #[test]
    fn raw_len_of_an_unknown_dtype_is_not_judged() {
        let grids = grids();
        let mut faults = Vec::new();
        let context = RowContext { record_at: 40, grid: &grids[1], element_size: None };
        check_row(&row(0, &[0], 77), 1000, &context, &mut faults).unwrap();
        assert_eq!(faults, []);
    }

    #[test]
    fn h2_chunks_too_big_to_count_are_faults() {
        let big = 1 << 32;
        let grid = Grid::new([big, big].into(), [big, big].into()).unwrap();
        let context = RowContext { record_at: 40, grid: &grid, element_size: Some(1) };
        for raw_len in [0, 1, u64::MAX] {
            let mut faults = Vec::new();
            check_row(&row(0, &[0, 0], raw_len), 0, &context, &mut faults).unwrap();
            assert_eq!(faults.len(), 1);
            assert_eq!(faults[0].rule, Rule::RowRawLen);
        }
    }
}
