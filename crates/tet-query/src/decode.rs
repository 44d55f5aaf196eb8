//! Stored bytes into elements, never beyond the stated length.

use std::ops::Range;

use tet_codec::ChunkLayout;

use crate::buffer::Buffer;
use crate::catalog::Dataset;
use crate::error::{Error, Result};
use crate::plan::{ChunkRead, ReadPlan};

/// Decodes a whole chunk into `out`.
///
/// # Errors
///
/// Returns an error that names the chunk when its payload is damaged.
pub(crate) fn whole(
    plan: &ReadPlan,
    dataset: &Dataset,
    read: &ChunkRead,
    stored: &[u8],
    out: &mut Buffer,
) -> Result<()> {
    let room = out.room(len(read.place.decoded_len)?)?;
    plan.decoder(read).decode(stored, room).map_err(|fault| Error::codec(dataset, read, fault))
}

/// Decodes some elements of a chunk from exactly the bytes that hold them.
///
/// # Errors
///
/// Returns an error that names the chunk when its payload is damaged.
pub(crate) fn range(
    plan: &ReadPlan,
    dataset: &Dataset,
    read: &ChunkRead,
    stored: &[u8],
    elements: Range<u64>,
    out: &mut [u8],
) -> Result<()> {
    let layout = ChunkLayout {
        stored_len: read.place.stored.len(),
        decoded_len: read.place.decoded_len,
        element_size: plan.element_size,
    };
    let decoded = plan.decoder(read).decode_range(layout, stored, elements, out);
    decoded.map_err(|fault| Error::codec(dataset, read, fault))
}

/// A length that has been bounded, as a length in memory.
///
/// # Errors
///
/// Returns [`Error::Limit`] when this machine's memory has no such lengths.
pub(crate) fn len(len: u64) -> Result<usize> {
    let too_long =
        |_| Error::Limit { what: "bytes in memory", wanted: len, limit: usize::MAX as u64 };
    usize::try_from(len).map_err(too_long)
}
