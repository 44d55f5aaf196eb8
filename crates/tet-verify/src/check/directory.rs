//! Checks the directory: all rules about all records.

use tet_file::{DatasetEntry, RowOrder};
use tet_format::directory::{self, DatasetRecord, Directory};
use tet_format::{Faults, Strict};

use super::subject::{Holds, Seen, Subject};
use crate::collect::Collector;
use crate::error::Result;

/// Reads the directory and lists its datasets.
pub(super) fn check(subject: &Subject<'_>, seen: &mut Seen, out: &mut Collector) -> Result<Holds> {
    let Subject { source, options, superblock } = subject;
    if superblock.dataset_count == 0 {
        return Ok(Holds::Yes);
    }
    let span = superblock.directory_span();
    if let Err(fault) = options.limits.check_directory_len(span.len()) {
        out.fault(fault).map_err(tet_file::Error::from)?;
        return Ok(Holds::No);
    }
    let head_len = usize::try_from(span.end()).unwrap_or(0);
    let region_at = usize::try_from(span.start()).unwrap_or(0);
    seen.head.resize(head_len, 0);
    let region = &mut seen.head[region_at..];
    source.read_exact_at(span.start(), region)?;

    let (base, count, limits) = (span.start(), superblock.dataset_count, &options.limits);
    directory::check_all(region, base, count, limits, out).map_err(tet_file::Error::from)?;
    let mut notes = Vec::new();
    directory::notes(region, base, count, &mut notes);
    out.notes(&mut notes);
    let Ok(directory) = Directory::read(region, base, count, limits) else { return Ok(Holds::No) };
    seen.datasets = directory.iter().filter_map(|record| entry(&record)).collect();
    Ok(Holds::Yes)
}

/// The dataset of a record; its rows are not searched.
fn entry(record: &DatasetRecord<'_>) -> Option<DatasetEntry> {
    Some(DatasetEntry {
        name: record.name().to_owned(),
        dtype_tag: record.dtype_tag(),
        dtype: record.dtype(),
        grid: record.grid()?,
        rows: 0..0,
        order: RowOrder::Unknown,
        fault: directory::check_dataset(record, &mut Strict).err(),
        at: record.at(),
    })
}
