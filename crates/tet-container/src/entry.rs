//! An array of a container without checksums: its elements are one span of the file, in one order of bytes.
//!
//! Containers of such arrays list them as entries; what becomes of an entry, and how it is checked, is the
//! same for all of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use tet_codec::{NumberBlock, Swapped};
use tet_format::{DType, ForeignFault, ForeignRule, Grid, Span};
use tet_io::Source;
use tet_query::{AttrText, ChunkTable, Dataset, rescaled};
use tet_verify::{ForeignFound, ForeignSeen, Level, VerifyOptions};

use crate::model::blocks::BlockChunks;
use crate::model::dtype::unit_of;
use crate::read::slabs::{Slabs, grid, grid_of_units, no_bytes, too_deep, unread};
use crate::{Error, Result};

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The first byte is the least.
    Little,
    /// The first byte is the most.
    Big,
}

/// An array, as the file describes it.
#[derive(Debug)]
pub struct Entry {
    /// The name of the array.
    pub name: String,
    /// The type of the elements, where they can be read.
    pub dtype: Option<DType>,
    /// The type as the file names it.
    pub dtype_name: String,
    /// The extents, the outer one first.
    pub shape: Vec<u64>,
    /// The bytes of the elements; none if there is a fault.
    pub stored: Span,
    /// The order of the bytes of an element.
    pub order: ByteOrder,
    /// The attributes.
    pub attrs: BTreeMap<String, AttrText>,
    /// The rule that it breaks.
    pub fault: Option<ForeignFault>,
}

impl Entry {
    /// The dataset of the entry.
    pub fn dataset(self, source: &Source) -> Dataset {
        let broken = |fault| tet_query::Error::Foreign { dataset: self.name.clone(), fault };
        let fault = too_deep(&self.shape).or_else(|| self.fault.map(broken));
        let sound = if fault.is_none() { self.chunks() } else { None };
        let is_opaque = fault.is_none() && sound.as_ref().is_some_and(|it| it.dtype.is_none());
        let opaque = || {
            let (dataset, dtype) = (self.name.clone(), self.dtype_name.clone());
            tet_query::Error::Opaque { dataset, dtype }
        };
        let fault = fault.or_else(|| is_opaque.then(opaque));
        let Chunks { grid, chunks, dtype } = sound.unwrap_or_else(|| {
            let (grid, chunks) = unread(&self.shape, None);
            Chunks { grid, chunks, dtype: self.dtype }
        });
        Dataset {
            dtype,
            attrs: self.attrs,
            fault: fault.map(Arc::new),
            ..Dataset::unknown(source.clone(), self.name, self.dtype_name, grid, chunks)
        }
    }

    /// How the elements of a sound array are cut.
    fn chunks(&self) -> Option<Chunks> {
        let Some(dtype) = self.dtype else { return self.block_chunks() };
        let bits = u64::from(dtype.bit_width());
        let grid = grid(&self.shape, bits)?;
        let swapped = match (self.order, dtype) {
            // Both parts of a complex number are swapped.
            (ByteOrder::Big, DType::Complex64) => Swapped::new(4),
            (ByteOrder::Big, DType::Complex128) => Swapped::new(8),
            (ByteOrder::Big, dtype) => dtype.size().and_then(Swapped::new),
            _ => None,
        };
        let slabs = Slabs::new(grid.clone(), bits, self.stored).swapped(swapped);
        Some(Chunks { grid, chunks: Arc::new(slabs), dtype: Some(dtype) })
    }

    /// The chunks of elements in blocks, which are float32 where they are decoded.
    fn block_chunks(&self) -> Option<Chunks> {
        let unit = unit_of(&self.dtype_name)?;
        let grid = grid_of_units(&self.shape, unit)?;
        let bytes = rescaled(&grid, unit.count, unit.len)?;
        let bytes = Arc::new(Slabs::new(bytes, 8, self.stored));
        let (chunks, dtype) = match (NumberBlock::from_name(&self.dtype_name), self.order) {
            (None, _) => (BlockChunks::opaque(bytes, unit.count, unit.len), None),
            (Some(number), ByteOrder::Little) => {
                (BlockChunks::decoded(bytes, number, &grid), Some(DType::Float32))
            }
            (Some(number), ByteOrder::Big) => {
                (BlockChunks::decoded(bytes, number.swapped(), &grid), Some(DType::Float32))
            }
        };
        Some(Chunks { grid, chunks: Arc::new(chunks), dtype })
    }
}

/// How an array is cut, and the type of its elements where there is one.
struct Chunks {
    grid: Grid,
    chunks: Arc<dyn ChunkTable>,
    dtype: Option<DType>,
}

/// Bytes of so many elements in blocks, as a file may have: `None` for 2^63 and more.
pub fn byte_len(shape: &[u64], block_count: u64, block_len: u64) -> Option<u64> {
    let count = shape.iter().try_fold(1_u64, |count, extent| {
        if *extent == 0 { Some(0) } else { count.checked_mul(*extent) }
    });
    let count = if shape.contains(&0) { 0 } else { count? };
    count.checked_div(block_count)?.checked_mul(block_len).filter(|len| *len < 1 << 63)
}

/// The span of `len` bytes at `begin`, or the fault that it is not inside the file.
///
/// # Errors
/// The span ends behind the file, or overflows.
pub fn placed(
    begin: Option<u64>,
    len: u64,
    file_len: u64,
    rule: &'static ForeignRule,
) -> Result<Span, ForeignFault> {
    let end = begin.and_then(|begin| begin.checked_add(len));
    match (begin, end) {
        _ if len == 0 => Ok(no_bytes()),
        (Some(begin), Some(end)) if end <= file_len => {
            Ok(Span::new(begin, len).unwrap_or(no_bytes()))
        }
        _ => {
            let (at, wanted) = (begin.unwrap_or(u64::MAX), end.unwrap_or(u64::MAX));
            Err(ForeignFault { rule, at, found: file_len, wanted })
        }
    }
}

/// Reports the faults of entries and those that overlap, reads all bytes where that is asked for, and adds the numbers of
/// the file to `seen`.
///
/// # Errors
/// The file cannot be read, or the caller canceled.
pub fn check(
    source: &Source,
    options: &VerifyOptions,
    entries: &[Entry],
    overlap: Option<&'static ForeignRule>,
    seen: &mut ForeignSeen,
    found: &mut dyn FnMut(ForeignFound),
) -> Result<()> {
    let count = u64::try_from(entries.len()).unwrap_or(u64::MAX);
    let len = entries.iter().fold(0_u64, |len, it| len.saturating_add(it.stored.len()));
    let add = |sum: &mut u64, number: u64| *sum = sum.saturating_add(number);
    add(&mut seen.file_len, source.len());
    add(&mut seen.dataset_count, count);
    add(&mut seen.chunk_count, count);
    add(&mut seen.stored_len, len);
    add(&mut seen.decoded_len, len);
    faults(entries, overlap, found);
    if let (Level::Deep, Some(all)) = (options.level, Span::new(0, source.len())) {
        let progress = options.progress.begin(all.len());
        progress.pieces::<Error>(source, all, &mut Vec::new(), |_, _| true)?;
        add(&mut seen.payload_len, len);
    }
    Ok(source.check_unchanged()?)
}

fn faults(
    entries: &[Entry],
    overlap: Option<&'static ForeignRule>,
    found: &mut dyn FnMut(ForeignFound),
) {
    let mut report = |fault: ForeignFault, number: u64, entry: &Entry| {
        let dataset = Some((number, entry.name.clone()));
        found(ForeignFound { fault, field: fault.rule.region, len: 0, dataset });
    };
    let mut spans = Vec::new();
    for (entry, number) in entries.iter().zip(0..) {
        if let Some(fault) = entry.fault {
            report(fault, number, entry);
        } else if !entry.stored.is_empty() {
            spans.push((entry.stored.start(), entry.stored.end(), number, entry));
        }
    }
    let Some(rule) = overlap else { return };
    spans.sort_unstable_by_key(|&(begin, end, number, _)| (begin, end, number));
    let mut reached = 0;
    for (begin, end, number, entry) in spans {
        if begin < reached {
            let fault = ForeignFault { rule, at: begin, found: begin, wanted: reached };
            report(fault, number, entry);
        }
        reached = reached.max(end);
    }
}
