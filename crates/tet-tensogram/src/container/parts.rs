//! An object that is cut into parts: each is a chunk with a stretch of the payload of its own.
//!
//! Packed numbers are cut anywhere, zstd between frames and szip between intervals where their
//! places are known; what is shuffled, or compressed in one piece, is one chunk. Masks are read
//! once, before the first part is.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::{Cut, Error as Theirs, ObjectSlice, Region};
use tet_format::{Grid, Shape, Span};
use tet_io::Source;
use tet_query::{ChunkPlace, ChunkTable, Decoder, Sealed};

use tet_container::chunking::{AUTO_LEN_MAX, of_len, within};
use tet_container::read::slabs::{elements_of, grid_of_one, locate};

/// A part that is decoded as a whole should come to no more bytes.
const PIECES_LEN_MAX: u64 = 1 << 20;
/// No object has more parts: a plan of all of it lists them, though it may have few stored bytes.
const PARTS_MAX: u64 = 1 << 16;
/// The fewest pieces of a part that ends inside a piece, which is decoded twice.
const PIECES_MIN: u64 = 16;

/// The chunks of an object.
pub(super) struct Parts {
    grid: Grid,
    stored: Span,
    region: Region,
    masks: Masks,
    sealed: Option<Sealed>,
}

/// Where masks are read from.
pub(super) struct Masks {
    pub(super) dataset: String,
    pub(super) source: Source,
    /// Held while they are read.
    pub(super) reading: Mutex<()>,
}

impl Parts {
    /// The parts of an object of this shape. An object of few bytes is one, and
    /// so is one that cannot be cut: its stored bytes are the whole of `stored` then.
    pub(super) fn new(
        shape: &[u64],
        element_size: u64,
        stored: Span,
        region: Region,
        masks: Masks,
        sealed: Option<Sealed>,
    ) -> Parts {
        let grid = grid(shape, element_size, &region).unwrap_or_else(|| grid_of_one(shape));
        Parts { grid, stored, region, masks, sealed }
    }

    pub(super) const fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The part that a chunk is; `None` where the only chunk is the whole region.
    fn part(&self, linear: u64) -> Option<ObjectSlice<'_>> {
        if self.grid.chunk_count() <= 1 {
            return None;
        }
        ObjectSlice::new(&self.region, elements_of(&self.grid, linear)).ok()?
    }

    fn place(&self, linear: u64) -> Option<ChunkPlace> {
        let (stored, decoded_len) = match self.part(linear) {
            None if self.grid.chunk_count() <= 1 => (self.stored, self.region.decoded_len()),
            None => return None,
            Some(part) => {
                let place = |at: u64| self.stored.start().checked_add(at);
                let span = Span::from_range(place(part.stored().start)?..place(part.stored().end)?);
                (span.filter(|&span| self.stored.contains(span))?, part.decoded_len())
            }
        };
        Some(ChunkPlace::new(stored, decoded_len))
    }

    /// Reads the masks, where parts are restored from them and they were not read before.
    fn hold_masks(&self) -> tet_query::Result<()> {
        if self.grid.chunk_count() <= 1 || self.region.is_at_hand() {
            return Ok(());
        }
        let _guard = self.masks.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if self.region.is_at_hand() {
            return Ok(());
        }
        let Range { start, end } = self.region.masks();
        let at = self.stored.start().saturating_add(start);
        let blobs = self.masks.source.read_vec(at, end.saturating_sub(start))?;
        let masks = self.region.read_masks(&blobs).map_err(|error| self.masks.error_of(error))?;
        self.region.hold_masks(masks);
        Ok(())
    }
}

impl Masks {
    fn error_of(&self, error: Theirs) -> tet_query::Error {
        let dataset = self.dataset.clone();
        match error {
            Theirs::Io(error) => tet_query::Error::Io(error),
            Theirs::Format(fault) | Theirs::NotBuilt { fault, .. } => {
                tet_query::Error::Foreign { dataset, fault }
            }
            Theirs::Memory { len } => tet_query::Error::NoMemory { wanted: len },
            _ => tet_query::Error::NoMemory { wanted: 0 },
        }
    }
}

impl ChunkTable for Parts {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        self.hold_masks()?;
        locate(linear, self.stored, out, |linear| self.place(linear))
    }

    fn seals(&self) -> Vec<&Sealed> {
        self.sealed.iter().collect()
    }

    fn decoder(&self, linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
        let part = self.part(linear);
        part.map_or(Decoder::Shared(&self.region), |part| Decoder::Own(Box::new(part)))
    }
}

/// How an object is cut; `None` where it is not.
fn grid(shape: &[u64], element_size: u64, region: &Region) -> Option<Grid> {
    let (len_max, unit) = match region.cut() {
        Cut::Nowhere => return None,
        Cut::Anywhere => (AUTO_LEN_MAX, 1),
        Cut::Every(unit) => (PIECES_LEN_MAX, unit),
    };
    // Bits are read as the bytes that hold them, which are not the elements that are cut.
    let is_of_elements = Shape::from(shape).element_count() == Some(region.element_count());
    if !is_of_elements || region.decoded_len() <= len_max {
        return None;
    }
    let piece_len = unit.checked_mul(element_size)?;
    let mut len_max = len_max.max(region.decoded_len().div_ceil(PARTS_MAX)).max(piece_len);
    loop {
        let is_fine = piece_len <= len_max / PIECES_MIN || region.cut() == Cut::Anywhere;
        let even = if is_fine { None } else { even(shape, element_size, piece_len, len_max) };
        let chunk_shape = even.unwrap_or_else(|| {
            // The pieces at both ends are decoded twice, so that there should be many between.
            let room = if is_fine { len_max } else { len_max.max(AUTO_LEN_MAX) };
            Shape::from(within(shape, element_size, room))
        });
        let grid = Grid::new(Shape::from(shape), chunk_shape)?;
        if grid.chunk_count() <= PARTS_MAX {
            return Some(grid).filter(|grid| grid.chunk_count() > 1);
        }
        len_max = len_max.checked_mul(2)?;
    }
}

/// The shape of the longest slabs that end where pieces end.
fn even(shape: &[u64], element_size: u64, piece_len: u64, len_max: u64) -> Option<Shape> {
    let count = len_max.checked_div(piece_len)?;
    (1..=count).rev().find_map(|times| of_len(shape, element_size, piece_len.checked_mul(times)?))
}
