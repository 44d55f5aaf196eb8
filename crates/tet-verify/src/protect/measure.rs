//! Computes the statistics of all chunks of a sound file: payload by payload, in windows.

use tet_codec::{StatisticsCounter, ZstdScan};
use tet_file::{TetFile, statistics_block, statistics_fit};
use tet_format::index::IndexRow;
use tet_format::{ChunkStatistics, Codec};
use tet_io::Progress;

use crate::error::{Error, Result};

/// Rows that are read together.
const ROWS: u64 = 1024;

/// The block of statistics of a file, where it is short beside the payloads; `None` too where an element has a dtype or
/// a payload a codec that is not known here.
pub(super) fn measured(file: &TetFile, progress: &Progress) -> Result<Option<Vec<u8>>> {
    let (index, mut rows) = (file.index(), Vec::new());
    let stored_len = index.stored_len()?;
    if !statistics_fit(index.row_count(), stored_len) {
        return Ok(None);
    }
    let progress = progress.begin(stored_len);
    let (mut all, mut next) = (Vec::new(), 0);
    while next < index.row_count() {
        rows.clear();
        index.rows(next..next.saturating_add(ROWS), &mut rows)?;
        next = next.saturating_add(ROWS);
        for row in &rows {
            let Some(statistics) = of_row(file, row)? else { return Ok(None) };
            all.push(statistics);
            progress.advance(row.stored_len)?;
        }
    }
    Ok(Some(statistics_block(&all)))
}

/// The statistics of a chunk.
fn of_row(file: &TetFile, row: &IndexRow) -> Result<Option<ChunkStatistics>> {
    let id = usize::try_from(row.dataset_id).ok();
    let dtype = id.and_then(|id| file.datasets().get(id)).and_then(|entry| entry.dtype);
    let (Some(mut counter), Some(span)) = (dtype.and_then(StatisticsCounter::new), row.payload())
    else {
        return Ok(None);
    };
    let mut zstd = match Codec::from_tag(row.codec) {
        Codec::Raw => None,
        Codec::Zstd => Some(ZstdScan::new().map_err(|_| Error::Memory)?),
        Codec::Unknown(_) => return Ok(None),
    };
    if let Some(zstd) = &mut zstd {
        let begun = zstd.begin(row.raw_len, tet_codec::WINDOW_LOG_MAX);
        begun.map_err(|_| Error::Memory)?;
    }
    let mut decoded = Ok(());
    file.source().for_windows(span.range(), &mut Vec::new(), |_, bytes| {
        match &mut zstd {
            None => counter.update(bytes),
            Some(zstd) => decoded = zstd.update_with(bytes, |elements| counter.update(elements)),
        }
        Ok::<_, Error>(decoded.is_ok())
    })?;
    if let (Some(zstd), true) = (&mut zstd, decoded.is_ok()) {
        decoded = zstd.finish_with(|elements| counter.update(elements)).map(drop);
    }
    // The file was found sound, so whatever does not decode changed since.
    Ok(decoded.is_ok().then(|| counter.finish()))
}
