//! Checks the footer: tail, JSON, spills, and whether the metadata matches the datasets.

use tet_file::footer::{self, Footer};
use tet_file::integrity::KeyState;
use tet_file::metadata;
use tet_format::footer::{Spill, TAIL_LEN, Tail, notes};
use tet_format::{Faults, Span};
use tet_io::Source;

use super::subject::{Holds, Seen, Subject};
use crate::collect::Collector;
use crate::error::Result;

/// The end of the payloads, and what follows them.
#[derive(Debug)]
pub(super) struct Bounds {
    /// The largest end of a payload.
    pub(super) payload_end: u64,
    /// The end of the area that must be zero outside of structures.
    pub(super) gap_end: u64,
    /// The tail and the footer, if both could be read.
    pub(super) footer: Option<(Tail, Footer)>,
    /// The integrity key of the footer, if it could be read.
    pub(super) record: KeyState,
    /// Whether the integrity key could be read or is really absent.
    pub(super) is_read: bool,
    /// The spills that the footer refers to.
    pub(super) spills: Vec<Spill>,
    /// The spill that was compared with its digest when it was read.
    pub(super) metadata_spill: Option<Spill>,
    /// The offset of the first spill, or of the JSON.
    pub(super) spill_start: u64,
    /// Digests that the footer does not refer to.
    pub(super) stale: Option<Span>,
}

/// The last bytes of the file: as many as a tail has, or fewer.
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
    let mut bounds = Bounds {
        payload_end: file_len,
        gap_end: file_len,
        footer: None,
        record: KeyState::Absent,
        is_read: true,
        spills: Vec::new(),
        metadata_spill: None,
        spill_start: file_len,
        stale: None,
    };
    if !superblock.has_footer() {
        undeclared(subject, seen, &mut bounds, out)?;
        return Ok(bounds);
    }
    let before = out.fault_count();
    // A tail is 16 bytes: more than its first broken rule would not help.
    let tail = match Tail::read(&seen.tail, index_end, file_len) {
        Ok(tail) => tail,
        Err(fault) => {
            out.fault(fault).map_err(tet_file::Error::from)?;
            bounds.is_read = false;
            return Ok(bounds);
        }
    };
    bounds.gap_end = tail.json_span(file_len).start();
    (bounds.payload_end, bounds.spill_start) = (bounds.gap_end, bounds.gap_end);
    let footer = footer::check(source, superblock, tail, &options.limits, out)?;
    bounds.is_read = before == out.fault_count();
    bounds.record = footer.integrity.clone();
    bounds.metadata_spill = footer.json.spills.metadata;
    bounds.spills = footer.json.spills.present(tail.version).map(|(_, spill)| spill).collect();
    let starts = bounds.spills.iter().map(|spill| spill.offset).filter(|&at| index_end <= at);
    bounds.spill_start = starts.fold(bounds.gap_end, u64::min);
    if !bounds.is_read {
        return Ok(bounds);
    }
    bounds.payload_end = tail.payload_end(file_len, &footer.json.spills);
    footer.check_metadata_twice(out).map_err(tet_file::Error::from)?;
    if listed == Holds::Yes {
        let metadata = footer.metadata();
        metadata::check(metadata, &seen.datasets, footer.metadata_at, out)
            .map_err(tet_file::Error::from)?;
        out.notes(&mut metadata::notes(metadata, &seen.datasets, footer.metadata_at));
    }
    bounds.footer = Some((tail, footer));
    Ok(bounds)
}

/// Notes a tail that the superblock does not declare. If it matches its own digest, the flag of the
/// superblock is wrong.
fn undeclared(
    subject: &Subject<'_>,
    seen: &Seen,
    bounds: &mut Bounds,
    out: &mut Collector,
) -> Result<()> {
    let Subject { source, options, superblock } = subject;
    let (file_len, index_end) = (source.len(), superblock.index_end());
    let mut odd = Vec::new();
    notes(&seen.tail, superblock.flags, index_end, file_len, &mut odd);
    if let (Some(_), Ok(tail)) = (odd.first(), Tail::read(&seen.tail, index_end, file_len)) {
        bounds.gap_end = tail.json_span(file_len).start();
        bounds.spill_start = bounds.gap_end;
    }
    let cleared = match seen.tail.last_chunk() {
        Some(tail) if !odd.is_empty() => {
            footer::cleared_flag(source, tail, index_end, file_len, &options.limits)?
        }
        _ => None,
    };
    match cleared {
        Some(fault) => {
            bounds.is_read = false;
            out.fault(fault).map_err(tet_file::Error::from)?;
        }
        None => out.notes(&mut odd),
    }
    Ok(())
}
