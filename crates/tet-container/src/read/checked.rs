//! The chunks of a catalog whose stored bytes begin or end with a checksum.

use tet_codec::ChecksumPlace;
use tet_format::{ForeignRule, Span};
use tet_query::{Catalog, Dataset, Error as QueryError};

use super::damage::numbers_of_chunks;
use crate::Result;
use crate::{CheckedRegion, ChecksumField, ChecksumOrder, StoredChecksum, TakeRegion};

/// Bytes of a checksum.
const CHECKSUM_LEN: u64 = 4;

/// Lists the chunks of all datasets whose last filter is a checksum; of structures those of their first member, which
/// all members share.
///
/// # Errors
/// An object of chunks cannot be read, and what `take` returns.
pub fn checked_chunks(
    catalog: &Catalog,
    rule: &'static ForeignRule,
    take: &mut TakeRegion<'_>,
) -> Result<()> {
    for dataset in catalog.datasets() {
        let stored = match dataset.why() {
            None => dataset.stored(),
            Some(QueryError::Compound { members, .. }) => {
                let first = members.first().and_then(|name| catalog.part(name));
                let Some(first) = first.filter(|part| part.why().is_none()) else { continue };
                first.stored()
            }
            Some(_) => continue,
        };
        let named = Dataset { name: dataset.name.clone(), ..stored.clone() };
        for linear in numbers_of_chunks(&named)? {
            region(&named, linear, rule)?.map_or(Ok(()), &mut *take)?;
        }
    }
    Ok(())
}

/// A chunk with a checksum; `None` where it has none, is not stored, or cannot be located.
fn region(
    dataset: &Dataset,
    linear: u64,
    rule: &'static ForeignRule,
) -> Result<Option<CheckedRegion>> {
    let mut places = Vec::new();
    match dataset.chunks.locate(&[linear], &mut places) {
        Err(error) if error.kind() == tet_io::Kind::Io && !is_of_chunk(&error) => {
            return Err(error.into());
        }
        Err(_) => return Ok(None),
        Ok(()) => {}
    }
    let Some(place) = places.pop().filter(|place| !place.is_absent()) else { return Ok(None) };
    let Some(checksum) = dataset.chunks.decoder(linear, &place).checksum() else {
        return Ok(None);
    };
    let (start, end) = (place.stored.start(), place.stored.end());
    let (payload, at) = match checksum.place() {
        ChecksumPlace::Start => (start.saturating_add(CHECKSUM_LEN)..end, start),
        ChecksumPlace::End => {
            let at = end.saturating_sub(CHECKSUM_LEN);
            (start..at, at)
        }
    };
    let is_cut = place.stored.len() <= CHECKSUM_LEN;
    let Some(payload) = Span::from_range(payload).filter(|_| !is_cut) else { return Ok(None) };
    let object = dataset.object(&place)?;
    let file = object.as_ref().unwrap_or(&dataset.source);
    let stored = file.read_vec(at, CHECKSUM_LEN)?;
    let Some(wanted) = stored.first_chunk().copied().map(u32::from_le_bytes) else {
        return Ok(None);
    };
    let checksum = StoredChecksum::Sum(checksum.kind(), wanted);
    Ok(Some(CheckedRegion {
        field: Some(ChecksumField { at, order: ChecksumOrder::Little }),
        chunk: dataset.grid.coord_of(linear),
        ..CheckedRegion::new(file, payload, checksum, rule, dataset.name.clone())
    }))
}

/// Whether a chunk has a file that is none.
fn is_of_chunk(error: &QueryError) -> bool {
    matches!(error, QueryError::Io(error) if super::chunk_check::is_no_file(error))
}
