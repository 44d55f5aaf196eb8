//! New hierarchies: their metadata documents, the keys of their objects, the indexes of their shards.
//!
//! ```text
//!   NewHierarchy: groups, arrays -> documents: key and bytes
//!   NewArray + coordinate of an object -> key
//!   places of chunks in a shard -> shard_index
//! ```
//!
//! Elements are not encoded here. Documents are those that zarr-python writes: version 3 with
//! inline consolidated metadata, version 2 with `.zmetadata`, and names of axes as xarray reads them.

mod array;
mod fill;
mod hierarchy;
mod stored;
mod text;

use tet_codec::Crc32c;
use tet_format::Span;

pub use array::{NewArray, NewElement, ZarrCompression};
pub use fill::fill_json;
pub use hierarchy::NewHierarchy;
pub use text::text_chunk;

/// The index of a shard for its chunks in their order, `None` for those that are not stored; with a
/// CRC-32C, as it is written behind the chunks.
///
/// ```
/// use tet_format::Span;
///
/// let index = tet_zarr::shard_index(&[Span::new(0, 7), None]);
/// assert_eq!(index.len(), 2 * 16 + 4);
/// assert_eq!(index[..16], [0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
/// assert_eq!(index[16..32], [255; 16]);
/// ```
#[must_use]
pub fn shard_index(chunks: &[Option<Span>]) -> Vec<u8> {
    let mut index = Vec::with_capacity(chunks.len() * 16 + 4);
    for chunk in chunks {
        let (start, len) = chunk.map_or((u64::MAX, u64::MAX), |span| (span.start(), span.len()));
        index.extend(start.to_le_bytes());
        index.extend(len.to_le_bytes());
    }
    let sum = Crc32c::checksum(&index);
    index.extend(sum.to_le_bytes());
    index
}
