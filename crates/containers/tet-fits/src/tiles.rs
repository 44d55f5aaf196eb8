//! Compressed images: tables whose rows are the tiles of an image (section 10 of the standard).
//!
//! ```text
//!   rows: where the bytes of each tile are, its scale, its zero | heap: the bytes of the tiles
//! ```
//!
//! Each tile is a chunk. The row of a tile is read when the tile is asked for.

mod bits;
mod codec;
mod columns;
mod dither;
mod hcompress;
mod layout;
mod plio;
mod rice;
mod table;
mod tile;

pub(super) use codec::CODECS;
pub(super) use layout::{Layout, Refused, is_card_of_table};
pub(super) use table::Tiles;

/// A number of bytes or elements that is in memory.
fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
