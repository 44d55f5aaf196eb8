//! Small worlds for unit tests: a dataset laid out in memory, and what is selected of it by a loop.

use std::io;
use std::sync::{Arc, Mutex};

use tet_codec::{ChunkLayout, Decode, Raw, StoredSpans};
use tet_format::{DType, Digest, Grid, Span};
use tet_io::{ReadAt, Source};

use crate::budget::Execution;
use crate::catalog::{Catalog, ChunkPlace, ChunkTable, Dataset, Decoder};
use crate::error::Result;
use crate::selection::{AxisSlice, Hyperslab};
use crate::tuning::Tuning;

/// The default with which small arrays are cut into many tasks.
pub(crate) fn small_tuning() -> Execution {
    Execution { tuning: Tuning::SMALL, ..Execution::default() }
}

/// How chunks are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    /// As they are.
    Raw,
    /// Every byte flipped, decoded whole only.
    Whole,
    /// Every byte flipped behind four bytes of header, decoded in ranges.
    Ranged,
}

/// Where chunks are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Row-major, back to back.
    Packed,
    /// Row-major, with gaps of this many bytes, the first off every boundary.
    Gaps(usize),
    /// The last chunk first.
    Backwards,
}

#[derive(Debug)]
struct Flip(Stored);

impl Decode for Flip {
    fn name(&self) -> &'static str {
        "flip"
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        out.iter_mut().zip(stored).for_each(|(out, byte)| *out = !byte);
        Ok(())
    }

    fn stored_spans(&self, layout: ChunkLayout, elements: std::ops::Range<u64>) -> StoredSpans {
        if self.0 == Stored::Whole {
            return StoredSpans::Whole;
        }
        let size = layout.element_size;
        StoredSpans::Range(4 + elements.start * size..4 + elements.end * size)
    }

    fn decode_range(
        &self,
        layout: ChunkLayout,
        stored: &[u8],
        elements: std::ops::Range<u64>,
        out: &mut [u8],
    ) -> tet_codec::Result<()> {
        let wanted = (elements.end - elements.start) * layout.element_size;
        assert_eq!((stored.len() as u64, out.len() as u64), (wanted, wanted));
        self.decode(stored, out)
    }

    fn check_len(&self, _stored_len: u64, _decoded_len: u64) -> tet_codec::Result<()> {
        Ok(())
    }
}

struct Places {
    places: Vec<ChunkPlace>,
    digests: Vec<Digest>,
    codec: Box<dyn Decode>,
}

impl ChunkTable for Places {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> Result<()> {
        out.extend(linear.iter().map(|&linear| self.places[usize::try_from(linear).unwrap()]));
        Ok(())
    }

    fn has_digests(&self) -> bool {
        true
    }

    fn digest(&self, place: &ChunkPlace) -> Result<Option<Digest>> {
        Ok(Some(self.digests[usize::try_from(place.row).unwrap()]))
    }

    fn decoder(&self, _linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
        Decoder::Shared(self.codec.as_ref())
    }
}

/// A file that is read in positions and lists what is read.
pub(crate) struct Counting {
    bytes: Vec<u8>,
    reads: Mutex<Vec<Span>>,
}

impl Counting {
    /// What was read since this was asked last, in file order.
    pub(crate) fn take_reads(&self) -> Vec<Span> {
        let mut reads = std::mem::take(&mut *self.reads.lock().unwrap());
        reads.sort_unstable();
        reads
    }
}

impl ReadAt for Counting {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.reads.lock().unwrap().push(Span::new(offset, out.len() as u64).unwrap());
        let start = usize::try_from(offset).unwrap();
        out.copy_from_slice(&self.bytes[start..][..out.len()]);
        Ok(())
    }
}

/// One dataset in memory, open in both ways.
pub(crate) struct World {
    pub(crate) shape: Vec<u64>,
    pub(crate) mapped: Catalog,
    pub(crate) positioned: Catalog,
    pub(crate) counting: Arc<Counting>,
}

/// A dataset whose element at linear index `n` has the bytes `element(n)`.
pub(crate) fn world(
    dtype: DType,
    shape: &[u64],
    chunk_shape: &[u64],
    stored: Stored,
    order: Order,
    element: impl Fn(u64) -> Vec<u8>,
) -> World {
    let grid = Grid::new(shape.into(), chunk_shape.into()).unwrap();
    let count = grid.chunk_count();
    let mut bytes = vec![0xee; 8];
    let empty = ChunkPlace { stored: Span::new(0, 0).unwrap(), decoded_len: 0, codec: 0, row: 0 };
    let mut places = vec![empty; usize::try_from(count).unwrap()];
    for at in 0..count {
        let linear = if order == Order::Backwards { count - 1 - at } else { at };
        if let Order::Gaps(gap) = order {
            bytes.resize(bytes.len() + gap, 0xee);
        }
        let decoded = chunk(&grid, linear, &element);
        let start = bytes.len() as u64;
        match stored {
            Stored::Raw => bytes.extend(&decoded),
            Stored::Whole => bytes.extend(decoded.iter().map(|byte| !byte)),
            Stored::Ranged => {
                bytes.extend([0xdd; 4]);
                bytes.extend(decoded.iter().map(|byte| !byte));
            }
        }
        let span = Span::from_range(start..bytes.len() as u64).unwrap();
        let decoded_len = decoded.len() as u64;
        places[usize::try_from(linear).unwrap()] =
            ChunkPlace { stored: span, decoded_len, codec: 0, row: linear };
    }
    bytes.extend([0xee; 8]);
    let stored_bytes = |place: &ChunkPlace| {
        let range = place.stored.range();
        &bytes[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()]
    };
    let digests = places.iter().map(|place| tet_codec::digest(stored_bytes(place))).collect();
    let codec: Box<dyn Decode> =
        if stored == Stored::Raw { Box::new(Raw) } else { Box::new(Flip(stored)) };
    let chunks = Arc::new(Places { places, digests, codec });
    let nothing = Source::from_bytes(Vec::new());
    World::of(&Dataset::new(nothing, "world", dtype, grid, chunks), bytes)
}

impl World {
    fn of(dataset: &Dataset, bytes: Vec<u8>) -> World {
        let shape = dataset.shape().to_vec();
        let catalog = |source: Source| {
            let dataset = Dataset { source: source.clone(), ..dataset.clone() };
            Catalog::new(source, "test", vec![dataset])
        };
        let mapped = catalog(Source::from_bytes(bytes.clone()));
        let counting = Arc::new(Counting { bytes, reads: Mutex::default() });
        let positioned = catalog(Source::from_reader(counting.clone()));
        World { shape, mapped, positioned, counting }
    }

    /// The same world with one bit of its file changed.
    pub(crate) fn damaged(&self, at: usize) -> World {
        let mut bytes = self.counting.bytes.clone();
        bytes[at] ^= 4;
        World::of(&self.mapped.datasets()[0], bytes)
    }
}

fn chunk(grid: &Grid, linear: u64, element: &impl Fn(u64) -> Vec<u8>) -> Vec<u8> {
    let coord = grid.coord_of(linear);
    let mut extents = vec![0; coord.len()];
    let mut origin = vec![0; coord.len()];
    grid.extents(&coord, &mut extents);
    grid.origin(&coord, &mut origin);
    let ranges: Vec<Vec<u64>> =
        origin.iter().zip(&extents).map(|(&at, &extent)| (at..at + extent).collect()).collect();
    product(&ranges).iter().flat_map(|at| element(linear_of(grid.shape(), at))).collect()
}

/// All choices of one from each list, row-major.
pub(crate) fn product(lists: &[Vec<u64>]) -> Vec<Vec<u64>> {
    lists.iter().fold(vec![vec![]], |all, list| {
        all.iter()
            .flat_map(|head| list.iter().map(move |&at| [&head[..], &[at]].concat()))
            .collect()
    })
}

/// The row-major number of the element at `at`.
pub(crate) fn linear_of(shape: &[u64], at: &[u64]) -> u64 {
    shape.iter().zip(at).fold(0, |linear, (extent, at)| linear * extent + at)
}

/// The positions a slice selects.
pub(crate) fn positions(slice: &AxisSlice) -> Vec<u64> {
    (slice.start..slice.stop).step_by(usize::try_from(slice.step).unwrap()).collect()
}

/// The linear indices of the selected elements, row-major.
pub(crate) fn selected(shape: &[u64], slab: &Hyperslab) -> Vec<u64> {
    let lists: Vec<Vec<u64>> = slab.axes().iter().map(positions).collect();
    product(&lists).iter().map(|at| linear_of(shape, at)).collect()
}

/// Every slice of an axis with steps up to 3.
pub(crate) fn slices(extent: u64) -> Vec<AxisSlice> {
    let mut slices = Vec::new();
    for start in 0..=extent {
        for stop in start..=extent {
            for step in 1..=3 {
                slices.push(AxisSlice { start, stop, step, axis: Default::default() });
            }
        }
    }
    slices
}

/// Every slab of a shape that `keep` keeps, by its number.
pub(crate) fn slabs(shape: &[u64], keep: impl Fn(usize) -> bool) -> Vec<Hyperslab> {
    let slices: Vec<Vec<AxisSlice>> = shape.iter().map(|&extent| slices(extent)).collect();
    let numbers: Vec<Vec<u64>> =
        slices.iter().map(|slices| (0..slices.len() as u64).collect()).collect();
    let slab = |choice: &Vec<u64>| {
        let axes =
            choice.iter().zip(&slices).map(|(&at, slices)| slices[usize::try_from(at).unwrap()]);
        Hyperslab::new(axes.collect(), shape).unwrap()
    };
    let choices = product(&numbers);
    choices.iter().enumerate().filter(|(number, _)| keep(*number)).map(|(_, c)| slab(c)).collect()
}
