//! Checks the superblock: its first broken rule ends all checks, since all parts depend on it.

use tet_format::Faults;
use tet_format::Superblock;
use tet_format::superblock::{self, WireSuperblock};
use tet_io::Source;

use super::subject::Seen;
use crate::collect::Collector;
use crate::error::Result;

/// Reads the superblock; `None` when it is broken.
pub(super) fn check(
    source: &Source,
    seen: &mut Seen,
    out: &mut Collector,
) -> Result<Option<Superblock>> {
    let len = source.len().min(superblock::LEN);
    seen.head = vec![0; usize::try_from(len).unwrap_or(0)];
    source.read_exact_at(0, &mut seen.head)?;
    let read = Superblock::read(&seen.head, source.len());
    if let Some(bytes) = seen.head.first_chunk().filter(|_| read.is_ok()) {
        let mut notes = Vec::new();
        superblock::notes(&WireSuperblock::decode(bytes), &mut notes);
        out.notes(&mut notes);
    }
    Ok(match read {
        Ok(superblock) => Some(superblock),
        Err(fault) => {
            out.fault(fault).map_err(tet_file::Error::from)?;
            None
        }
    })
}
