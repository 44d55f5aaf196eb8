//! An object that is cut into parts: each is a chunk with a stretch of the payload of its own.
//!
//! Packed numbers are cut anywhere, zstd between frames and szip between intervals where their
//! places are known; what is shuffled, or compressed in one piece, is one chunk. Masks are read
//! once, before the first part is.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use tet_codec::Decode;
use tet_format::{Grid, Shape, Span};
use tet_io::Source;
use tet_query::{ChunkPlace, ChunkTable, Sealed};
use tet_tensogram::{Cut, Error as Theirs, Part, Region};

use crate::chunking::{AUTO_LEN_MAX, of_len, within};
use crate::read::slabs::{grid_of_one, locate};

/// A part that is decoded as a whole should come to no more bytes.
const PIECES_LEN_MAX: u64 = 1 << 20;
/// No object has more parts: each has a codec, and every plan looks at all of these.
const PARTS_MAX: u64 = 1 << 10;
/// Where parts end inside pieces, one of so many pieces is decoded twice.
const PIECES_MIN: u64 = 16;

/// The chunks of an object.
pub(super) struct Parts {
    stored: Span,
    places: Vec<ChunkPlace>,
    codecs: Vec<Arc<dyn Decode>>,
    region: Arc<Region>,
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
    /// The parts of an object of this shape, and the grid of them. An object of few bytes is one, and
    /// so is one that cannot be cut: its stored bytes are the whole of `stored` then.
    pub(super) fn new(
        shape: &[u64],
        element_size: u64,
        stored: Span,
        region: Arc<Region>,
        masks: Masks,
        sealed: Option<Sealed>,
    ) -> (Grid, Parts) {
        let grid = grid(shape, element_size, &region);
        let parts = grid.as_ref().and_then(|grid| parts(grid, stored, &region));
        let (grid, (places, codecs)) = match grid.zip(parts) {
            Some(found) => found,
            None => {
                let decoded_len = region.decoded_len();
                let place = ChunkPlace { stored, decoded_len, codec: 0, row: 0 };
                let codec: Arc<dyn Decode> = Arc::clone(&region) as _;
                (grid_of_one(shape), (vec![place], vec![codec]))
            }
        };
        (grid, Parts { stored, places, codecs, region, masks, sealed })
    }

    /// Reads the masks, where parts are restored from them and they were not read before.
    fn hold_masks(&self) -> tet_query::Result<()> {
        if self.places.len() == 1 || self.region.is_at_hand() {
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
        let place = |linear| self.places.get(usize::try_from(linear).ok()?).copied();
        locate(linear, self.stored, out, place)
    }

    fn seals(&self) -> Vec<&Sealed> {
        self.sealed.iter().collect()
    }

    fn codecs(&self) -> &[Arc<dyn Decode>] {
        &self.codecs
    }
}

/// How an object is cut; `None` where it is not.
fn grid(shape: &[u64], element_size: u64, region: &Region) -> Option<Grid> {
    let (len_max, unit) = match region.cut() {
        Cut::Nowhere => return None,
        Cut::Anywhere => (AUTO_LEN_MAX, 1),
        Cut::Every(unit) => (PIECES_LEN_MAX, unit),
    };
    if region.decoded_len() <= len_max {
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

type Cuts = (Vec<ChunkPlace>, Vec<Arc<dyn Decode>>);

/// The parts that the chunks of a grid are, which are slabs of the array.
fn parts(grid: &Grid, stored: Span, region: &Arc<Region>) -> Option<Cuts> {
    let (mut places, mut codecs) = (Vec::new(), Vec::<Arc<dyn Decode>>::new());
    let mut first = 0_u64;
    for linear in 0..grid.chunk_count() {
        let end = first.checked_add(grid.chunk_elements(&grid.coord_of(linear))?)?;
        let part = Part::new(region, first..end).ok()??;
        let place = |at: u64| stored.start().checked_add(at);
        let span = Span::from_range(place(part.stored().start)?..place(part.stored().end)?);
        let span = span.filter(|&span| stored.contains(span))?;
        let (decoded_len, codec) = (part.decoded_len(), u16::try_from(linear).ok()?);
        places.push(ChunkPlace { stored: span, decoded_len, codec, row: 0 });
        codecs.push(Arc::new(part));
        first = end;
    }
    (first == region.element_count()).then_some((places, codecs))
}
