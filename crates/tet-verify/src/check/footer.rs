//! The footer: tail, JSON, spills, and whether the metadata fits the datasets.

use tet_file::footer::{self, Footer};
use tet_file::metadata;
use tet_format::Faults;
use tet_format::footer::{TAIL_LEN, Tail, notes};
use tet_io::Source;

use super::{Holds, Seen, Subject};
use crate::collect::Collector;
use crate::error::Result;

/// Where payloads end and what lies behind them.
#[derive(Debug)]
pub(super) struct Bounds {
    /// One past the last byte that a payload may take.
    pub(super) payload_end: u64,
    /// One past the last byte that should be zero unless a structure holds it.
    pub(super) gap_end: u64,
    /// The tail and the footer, when all of it could be read.
    pub(super) footer: Option<(Tail, Footer)>,
}

/// The file's last bytes, as many as a tail takes or as there are.
pub(crate) fn tail_bytes(source: &Source) -> Result<Vec<u8>> {
    let len = source.len().min(TAIL_LEN);
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
    source.read_exact_at(source.len().saturating_sub(len), &mut bytes)?;
    Ok(bytes)
}

/// Checks the footer that the superblock declares, or notes one that it does not declare.
pub(super) fn check(
    subject: &Subject<'_>,
    listed: Holds,
    seen: &Seen,
    out: &mut Collector,
) -> Result<Bounds> {
    let Subject { source, options, superblock } = subject;
    let (file_len, index_end) = (source.len(), superblock.index_end());
    let mut bounds = Bounds { payload_end: file_len, gap_end: file_len, footer: None };
    if !superblock.has_footer() {
        let mut odd = Vec::new();
        notes(&seen.tail, superblock.flags, index_end, file_len, &mut odd);
        if let (Some(_), Ok(tail)) = (odd.first(), Tail::read(&seen.tail, index_end, file_len)) {
            bounds.gap_end = tail.json_span(file_len).start();
        }
        out.notes(&mut odd);
        return Ok(bounds);
    }
    let before = out.fault_count();
    // A tail is 16 bytes that are right or somewhere else: its first broken rule says enough.
    let tail = match Tail::read(&seen.tail, index_end, file_len) {
        Ok(tail) => tail,
        Err(fault) => {
            out.fault(fault).map_err(tet_file::Error::from)?;
            return Ok(bounds);
        }
    };
    bounds.gap_end = tail.json_span(file_len).start();
    bounds.payload_end = bounds.gap_end;
    let footer = footer::check(source, superblock, tail, &options.limits, out)?;
    if before != out.fault_count() {
        return Ok(bounds);
    }
    bounds.payload_end = tail.payload_end(file_len, &footer.json.spills);
    footer.check_metadata_twice(out).map_err(tet_file::Error::from)?;
    if listed == Holds::Yes {
        let metadata = footer.metadata();
        metadata::check(metadata, &seen.datasets, footer.metadata_at, out)
            .map_err(tet_file::Error::from)?;
    }
    bounds.footer = Some((tail, footer));
    Ok(bounds)
}
