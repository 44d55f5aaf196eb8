//! Stored bytes into elements, never beyond the stated length.

use std::ops::Range;

use tet_codec::ChunkLayout;

use crate::buffer::{self, Buffer};
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
    let room = out.room(buffer::len(read.place.decoded_len)?)?;
    plan.decoder(read).decode(stored, room).map_err(|fault| reason(dataset, read, fault))
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
    decoded.map_err(|fault| reason(dataset, read, fault))
}

/// Why a chunk was not decoded.
fn reason(dataset: &Dataset, read: &ChunkRead, fault: tet_codec::Error) -> Error {
    dataset.chunks.take_fault().unwrap_or_else(|| Error::codec(dataset, read, fault))
}
