//! The checks, in the order in which a reader reads the parts of a file.
//!
//! A broken part ends the checks of the parts that depend on it. The footer depends only on the
//! superblock and is checked even if the index is broken.

mod deep;
mod directory;
pub(crate) mod footer;
mod gap;
pub(crate) mod index;
mod integrity;
mod payload;
mod statistics;
mod subject;
mod superblock;

use tet_file::integrity::KeyState;
use tet_format::Rule;
use tet_io::Source;
use tet_report::{Integrity, Level, Pool};

use self::deep::FileTables;
use self::footer::Bounds;
use self::gap::Gaps;
use self::payload::Payloads;
pub(crate) use self::subject::Seen;
use self::subject::{Holds, Subject};
use crate::VerifyOptions;
use crate::collect::Collector;
use crate::error::Result;

/// Checks a whole file.
pub(crate) fn file(source: &Source, options: &VerifyOptions, out: &mut Collector) -> Result<Seen> {
    let mut seen = Seen { tail: footer::tail_bytes(source)?, ..Seen::default() };
    let Some(superblock) = superblock::check(source, &mut seen, out)? else { return Ok(seen) };
    let subject = Subject { source, options, superblock };
    let listed = directory::check(&subject, &mut seen, out)?;
    let index = index::check(&subject, listed, &mut seen, out)?;
    let mut bounds = footer::check(&subject, listed, &seen, out)?;
    let payloads = match index {
        Some(index) => payload::check(&subject, index, &bounds, out)?,
        None => Payloads::default(),
    };
    (seen.stored_len, seen.decoded_len) = (payloads.stored_len, payloads.decoded_len);
    let spans = Some(payloads.spans.as_slice()).filter(|_| payloads.are_sound);
    let digests = integrity::check(&subject, index, &bounds, spans, out)?;
    let statistics = statistics::check(&subject, index, &bounds, out)?;
    bounds.stale = integrity::check_stale(&subject, index, &bounds, out)?;
    // A broken structure always leaves bytes unaccounted for, and so do digests at an unknown
    // position.
    let are_gaps_known = payloads.are_sound
        && out.fault_count() == 0
        && (bounds.record != KeyState::Unknown || digests.block.is_some());
    let mut gaps = Gaps::default();
    if are_gaps_known {
        gaps = gap::find(&subject, &payloads.spans, &bounds, &digests);
    }
    seen.gap_len_left = gaps.len_left;
    let is_deep = options.level != Level::Structure;
    let all = gaps.len.saturating_add(if is_deep { payloads.stored_len } else { 0 });
    let affordable = usize::try_from(options.memory_budget / HELD_LEN).unwrap_or(usize::MAX);
    let pool = Pool::new(options.threads, affordable, all);
    let progress = options.progress.begin(all);
    gap::check(&subject, &gaps, &digests, &pool, &progress, out)?;
    let (payload_len, are_compared) = match index.filter(|_| listed == Holds::Yes && is_deep) {
        Some(index) => {
            let payload_end = bounds.payload_end;
            let (payloads, digests, seen) = (&payloads, &digests, &seen);
            let tables = FileTables { index, payload_end, payloads, digests, statistics, seen };
            deep::check(&subject, &tables, &pool, &progress, out)?
        }
        None => (0, payloads.stored_len == 0),
    };
    seen.payload_len = payload_len;
    let is_all = are_gaps_known && gaps.len_left == 0 && are_compared;
    seen.integrity = state(&bounds, is_all, out);
    Ok(seen)
}

/// The memory of a thread that decodes a payload with a window of the usual size, doubled.
const HELD_LEN: u64 = 20 << 20;

/// The integrity state; `is_all` if all bytes were compared.
fn state(bounds: &Bounds, is_all: bool, out: &Collector) -> Integrity {
    let mismatches = Rule::ALL.iter().filter(|rule| rule.is_integrity());
    if mismatches.map(|&rule| out.count(rule)).any(|count| count != 0) {
        return Integrity::Mismatch;
    }
    match &bounds.record {
        KeyState::Key(_) if is_all => Integrity::Verified,
        KeyState::Absent if bounds.stale.is_some() => Integrity::Stale,
        KeyState::Absent if bounds.is_read => Integrity::Unprotected,
        _ => Integrity::Unchecked,
    }
}
