//! A new head and index over payloads that are copied.
//!
//! ```text
//!   old   head | index | payloads
//!                         | moved together, by whole blocks of the disk: shared where the file system can
//!   new   head | index |..| payloads             or, to save space, one by one
//! ```

use std::collections::BTreeMap;

use tet_format::index::IndexRow;
use tet_format::layout::Align;
use tet_format::write::{DatasetSpec, Declaration, Layout, ZeroExtents};
use tet_format::{Span, Superblock};
use tet_io::Image;

use crate::error::{Error, Result};
use crate::open::TetFile;
use crate::parts::{BaseFile, unsound};

/// Payloads move by multiples of this, a block of most file systems: blocks can be shared then.
const BLOCK_LEN: u64 = 4096;

/// A dataset of the new file.
#[derive(Clone, Debug)]
pub(super) struct KeptDataset {
    /// Its position in the old file.
    pub(super) id: usize,
    /// Its name in the new one.
    pub(super) name: String,
}

/// A new file without a footer.
pub(super) struct Arranged {
    pub(super) image: Image,
    /// For each row the number of the old one; `None` if they are the old ones.
    pub(super) rows: Option<Vec<u64>>,
}

/// The new file of these datasets, whose payloads are packed or moved together.
pub(super) fn arrange(
    file: &TetFile,
    datasets: &[KeptDataset],
    is_compact: bool,
) -> Result<Arranged> {
    let specs = datasets.iter().map(|it| spec(file, it)).collect::<Result<Vec<_>>>()?;
    let layout = Declaration::new(specs).layout_with(ZeroExtents::Allow).map_err(Error::Layout)?;
    let base = BaseFile::new(file)?;
    let (mut rows, mut numbers) = (Vec::new(), Vec::new());
    for (id, dataset) in (0_u64..).zip(datasets) {
        for (row, number) in base.rows(dataset.id)? {
            rows.push(IndexRow { dataset_id: id, reserved: 0, ..row });
            numbers.push(number);
        }
    }
    let within = file.index_end()..file.payload_end();
    let is_inside = |row: &IndexRow| {
        let span = row.payload();
        span.is_some_and(|span| within.start <= span.start() && span.end() <= within.end)
    };
    if !rows.iter().all(is_inside) {
        return Err(unsound(file));
    }
    let mut image = Image::default();
    let placed =
        if is_compact { pack(file, &layout, &mut rows)? } else { shift(file, &layout, &mut rows)? };
    image.append(head(file, &layout));
    image.append(rows.iter().flat_map(IndexRow::encode).collect::<Vec<u8>>());
    for (offset, span) in placed {
        image.resize(offset);
        image.append_span(file.source(), span);
    }
    Ok(Arranged { image, rows: Some(numbers) })
}

fn spec(file: &TetFile, dataset: &KeptDataset) -> Result<DatasetSpec> {
    let entry = file.datasets().get(dataset.id).ok_or_else(|| unsound(file))?;
    let Some(dtype) = entry.dtype else {
        let what = format!("dataset {:?} is of a type that this build does not know", entry.name);
        return Err(Error::Edit { what });
    };
    let (shape, chunk_shape) = (entry.grid.shape().clone(), entry.grid.chunk_shape().clone());
    Ok(DatasetSpec { name: dataset.name.clone(), dtype, shape, chunk_shape })
}

/// Superblock, directory and index header; what they keep of the old ones are flags and hints.
fn head(file: &TetFile, layout: &Layout) -> Vec<u8> {
    let flags = file.superblock().flags;
    let superblock: Superblock = layout.superblock(flags);
    let mut head = layout.head_bytes(flags);
    if superblock.dataset_count != 0 {
        let old = *file.index().header();
        let header = tet_format::index::IndexHeader { row_count: layout.row_count(), ..old };
        let encoded = header.encode();
        let at = head.len().saturating_sub(encoded.len());
        head.truncate(at);
        head.extend(encoded);
    }
    head
}

/// Moves all payloads by the same distance, and what is between them too.
fn shift(file: &TetFile, layout: &Layout, rows: &mut [IndexRow]) -> Result<Vec<(u64, Span)>> {
    let too_far = || unsound(file);
    let Some(first) = rows.iter().map(|row| row.payload_offset).min() else {
        return Ok(Vec::new());
    };
    let end = rows.iter().filter_map(IndexRow::payload).map(Span::end).max().unwrap_or(first);
    let excess = layout.index_end().saturating_sub(first);
    let distance = excess.checked_next_multiple_of(BLOCK_LEN).ok_or_else(too_far)?;
    for row in rows {
        row.payload_offset = row.payload_offset.checked_add(distance).ok_or_else(too_far)?;
    }
    let start = first.checked_add(distance).ok_or_else(too_far)?;
    Ok(Span::from_range(first..end).map(|span| (start, span)).into_iter().collect())
}

/// Places payloads one after the other, each dataset aligned; rows that share a payload go on to share it.
fn pack(file: &TetFile, layout: &Layout, rows: &mut [IndexRow]) -> Result<Vec<(u64, Span)>> {
    let mut placed: BTreeMap<Span, u64> = BTreeMap::new();
    let (mut all, mut at, mut dataset) = (Vec::new(), layout.index_end(), None);
    let mut copied = 0_u64;
    for row in rows {
        let span = row.payload().ok_or_else(|| unsound(file))?;
        if dataset != Some(row.dataset_id) {
            at = Align::default().place(at).ok_or_else(|| unsound(file))?;
            dataset = Some(row.dataset_id);
        }
        if let Some(known) = placed.get(&span) {
            row.payload_offset = *known;
            continue;
        }
        copied = copied.saturating_add(span.len());
        // Payloads that overlap may take more than the file has.
        if file.file_len() < copied {
            return Err(unsound(file));
        }
        placed.insert(span, at);
        row.payload_offset = at;
        all.push((at, span));
        at = at.checked_add(span.len()).ok_or_else(|| unsound(file))?;
    }
    Ok(all)
}
