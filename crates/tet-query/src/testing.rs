//! Small worlds for unit tests: a dataset laid out in memory, and what is selected of it by a loop.

use std::io;
use std::sync::{Arc, Mutex};

use half::{bf16, f16};
use tet_codec::{ChunkLayout, Decode, Raw, StoredSpans};
use tet_format::{DType, Digest, Grid, Span};
use tet_io::{ReadAt, Source};

use crate::budget::Execution;
use crate::catalog::{Catalog, ChunkPlace, ChunkTable, Dataset, Decoder, ReadRange};
use crate::error::Result;
use crate::selection::{AxisSlice, Hyperslab};
use crate::tuning::Tuning;

/// The default with which small arrays are cut into many tasks.
pub(crate) fn small_tuning() -> Execution {
    Execution { tuning: Tuning::SMALL, ..Execution::default() }
}

/// A number as an element; any byte but 0 is true.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
pub(crate) fn bytes(dtype: DType, number: f64) -> Vec<u8> {
    match dtype {
        DType::Float16 => f16::from_f64(number).to_le_bytes().to_vec(),
        DType::BFloat16 => bf16::from_f64(number).to_le_bytes().to_vec(),
        DType::Float32 => (number as f32).to_le_bytes().to_vec(),
        DType::Float64 => number.to_le_bytes().to_vec(),
        DType::Complex64 => [(number as f32).to_le_bytes(), 1_f32.to_le_bytes()].concat(),
        DType::Complex128 => [number.to_le_bytes(), 1_f64.to_le_bytes()].concat(),
        DType::Bool => vec![if number == 0.0 { 0 } else { 0xff }],
        _ => (number as i64).to_le_bytes()[..usize::try_from(dtype.size().unwrap()).unwrap()]
            .to_vec(),
    }
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

/// Decodes chunks that are not stored.
#[derive(Debug)]
struct Fill(Vec<u8>);

impl Decode for Fill {
    fn name(&self) -> &'static str {
        "fill"
    }

    fn decode(&self, _stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        out.chunks_exact_mut(self.0.len()).for_each(|out| out.copy_from_slice(&self.0));
        Ok(())
    }

    fn stored_spans(&self, _layout: ChunkLayout, _elements: std::ops::Range<u64>) -> StoredSpans {
        StoredSpans::Range(0..0)
    }

    fn decode_range(
        &self,
        _layout: ChunkLayout,
        stored: &[u8],
        _elements: std::ops::Range<u64>,
        out: &mut [u8],
    ) -> tet_codec::Result<()> {
        self.decode(stored, out)
    }

    fn check_len(&self, _stored_len: u64, _decoded_len: u64) -> tet_codec::Result<()> {
        Ok(())
    }
}

#[derive(Clone)]
struct Places {
    places: Arc<Vec<ChunkPlace>>,
    digests: Arc<Vec<Digest>>,
    codec: Arc<dyn Decode>,
    fill: Arc<Fill>,
    objects: Vec<Source>,
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

    fn object(&self, number: u32) -> Result<Option<Source>> {
        Ok(self.objects.get(usize::try_from(number).unwrap()).cloned())
    }

    fn decoder(&self, _linear: u64, place: &ChunkPlace) -> Decoder<'_> {
        if place.is_absent() {
            return Decoder::Shared(self.fill.as_ref());
        }
        Decoder::Shared(self.codec.as_ref())
    }
}

/// A file that is read in positions and lists what is read.
pub(crate) struct Counting {
    object: u32,
    bytes: Vec<u8>,
    reads: Arc<Mutex<Vec<ReadRange>>>,
}

impl Counting {
    /// Runs that were read since the last call, in file order.
    pub(crate) fn take_reads(&self) -> Vec<ReadRange> {
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
        let span = Span::new(offset, out.len() as u64).unwrap();
        self.reads.lock().unwrap().push(ReadRange { object: self.object, span });
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
    grid: Grid,
    places: Places,
    files: Vec<Vec<u8>>,
}

/// How chunks are spread, and which of them are not stored.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    pub(crate) grid: Grid,
    /// Every chunk of which the number is a multiple of this is not stored.
    pub(crate) hole_every: Option<u64>,
    /// How many files the chunks are dealt out to.
    pub(crate) object_count: u32,
}

impl Spread {
    fn is_hole(&self, linear: u64) -> bool {
        self.hole_every.is_some_and(|every| linear.is_multiple_of(every))
    }
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
    world_of(dtype, &Spread { grid, hole_every: None, object_count: 1 }, stored, order, element)
}

/// A world with chunks that are spread in this way; the fill value is `element(0)`.
pub(crate) fn world_of(
    dtype: DType,
    spread: &Spread,
    stored: Stored,
    order: Order,
    element: impl Fn(u64) -> Vec<u8>,
) -> World {
    let grid = &spread.grid;
    let count = grid.chunk_count();
    let mut files = vec![vec![0xee; 8]; usize::try_from(spread.object_count).unwrap()];
    let mut places = vec![ChunkPlace::absent(0); usize::try_from(count).unwrap()];
    for at in 0..count {
        let linear = if order == Order::Backwards { count - 1 - at } else { at };
        let decoded = chunk(grid, linear, &element);
        let place = &mut places[usize::try_from(linear).unwrap()];
        *place = ChunkPlace::absent(decoded.len() as u64);
        if spread.is_hole(linear) {
            continue;
        }
        let object = u32::try_from(linear % u64::from(spread.object_count)).unwrap();
        let bytes = &mut files[usize::try_from(object).unwrap()];
        if let Order::Gaps(gap) = order {
            bytes.resize(bytes.len() + gap, 0xee);
        }
        let start = bytes.len() as u64;
        match stored {
            Stored::Raw => bytes.extend(&decoded),
            Stored::Whole => bytes.extend(decoded.iter().map(|byte| !byte)),
            Stored::Ranged => {
                bytes.extend([0xdd; 4]);
                bytes.extend(decoded.iter().map(|byte| !byte));
            }
        }
        place.stored = Span::from_range(start..bytes.len() as u64).unwrap();
        (place.object, place.row) = (object, linear);
    }
    files.iter_mut().for_each(|bytes| bytes.extend([0xee; 8]));
    let digest = |place: &ChunkPlace| {
        let (range, bytes) = (place.stored.range(), &files[usize::try_from(place.object).unwrap()]);
        let range = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
        tet_codec::digest(&bytes[range])
    };
    let codec: Arc<dyn Decode> =
        if stored == Stored::Raw { Arc::new(Raw) } else { Arc::new(Flip(stored)) };
    let places = Places {
        digests: Arc::new(places.iter().map(digest).collect()),
        places: Arc::new(places),
        codec,
        fill: Arc::new(Fill(element(0))),
        objects: Vec::new(),
    };
    World::new(dtype, grid, places, files)
}

impl World {
    fn new(dtype: DType, grid: &Grid, places: Places, files: Vec<Vec<u8>>) -> World {
        let catalog = |objects: Vec<Source>| {
            let source = objects[0].clone();
            let chunks = Arc::new(Places { objects, ..places.clone() });
            let dataset = Dataset::new(source.clone(), "world", dtype, grid.clone(), chunks);
            Catalog::new(source, "test", vec![dataset])
        };
        let mapped = catalog(files.iter().cloned().map(Source::from_bytes).collect());
        let reads = Arc::<Mutex<Vec<ReadRange>>>::default();
        let counting = files.iter().zip(0..).map(|(bytes, object)| {
            Arc::new(Counting { object, bytes: bytes.clone(), reads: Arc::clone(&reads) })
        });
        let counting: Vec<Arc<Counting>> = counting.collect();
        let reader = |counting: &Arc<Counting>| Source::from_reader(counting.clone());
        let positioned = catalog(counting.iter().map(reader).collect());
        let (shape, counting) = (grid.shape().to_vec(), Arc::clone(&counting[0]));
        World { shape, mapped, positioned, counting, grid: grid.clone(), places, files }
    }

    /// Flips one bit of the first file.
    pub(crate) fn damaged(&self, at: usize) -> World {
        let mut files = self.files.clone();
        files[0][at] ^= 4;
        let dtype = self.mapped.datasets()[0].dtype.unwrap();
        World::new(dtype, &self.grid, self.places.clone(), files)
    }

    /// The linear index of the element whose bytes are seen at `linear`: 0 where no chunk is stored.
    pub(crate) fn seen(&self, linear: u64) -> u64 {
        let mut rest = linear;
        let axes = self.shape.iter().zip(self.grid.chunk_shape().iter()).rev();
        let mut coord: Vec<u64> = axes
            .map(|(extent, chunk)| {
                let at = rest % extent;
                rest /= extent;
                at / chunk
            })
            .collect();
        coord.reverse();
        let number = usize::try_from(self.grid.linear(&coord).unwrap()).unwrap();
        if self.places.places[number].is_absent() { 0 } else { linear }
    }
}

fn chunk(grid: &Grid, linear: u64, element: &impl Fn(u64) -> Vec<u8>) -> Vec<u8> {
    let coord = grid.coord_of(linear);
    let (mut extents, origin) = (grid.extents_of(&coord), grid.origin_of(&coord));
    if grid.is_padded() {
        extents.copy_from_slice(grid.chunk_shape());
    }
    let ranges: Vec<Vec<u64>> =
        origin.iter().zip(&extents).map(|(&at, &extent)| (at..at + extent).collect()).collect();
    let is_inside = |at: &[u64]| at.iter().zip(grid.shape().iter()).all(|(at, extent)| at < extent);
    let padding = vec![0xbb; element(0).len()];
    let bytes = |at: &Vec<u64>| match is_inside(at) {
        true => element(linear_of(grid.shape(), at)),
        false => padding.clone(),
    };
    product(&ranges).iter().flat_map(bytes).collect()
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
