//! Where chunks are stored: six forms of index, asked for one chunk or walked (section VII and appendix C).

mod extensible;
mod fixed;
mod tree1;
mod tree2;
mod walk;

use std::sync::Arc;

use tet_format::Span;

use crate::error::{Result, fault};
use crate::message::layout::{Chunked, IndexKind};
use crate::message::space::Space;
use crate::reader::{Fields, Reader, width_of};
use crate::rule;

/// Where a chunk is stored.
///
/// # Examples
///
/// ```
/// use tet_format::Span;
/// use tet_hdf5::StoredChunk;
///
/// let chunk = StoredChunk { span: Span::new(2048, 100).expect("small"), mask: 0b10 };
/// assert!(chunk.mask & 0b10 != 0, "the second filter was left out");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredChunk {
    /// Its bytes in the file.
    pub span: Span,
    /// The filters that were left out, as bits: bit 0 is the first.
    pub mask: u32,
}

/// The chunks of a dataset.
#[derive(Clone, Debug)]
pub struct StoredIndex {
    reader: Arc<Reader>,
    layout: Arc<Chunked>,
    /// How many chunks the largest shape has along each axis; 0 where it is unlimited.
    max_counts: Vec<u64>,
    counts: Vec<u64>,
    chunk_len: u64,
    has_filters: bool,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    Absent,
    Single(Option<(u64, u32)>),
    Implicit,
    Fixed(Arc<fixed::FixedArray>),
    Extensible(Arc<extensible::ExtensibleArray>),
    Tree1(Arc<tree1::ChunkTree>),
    Tree2(Arc<tree2::ChunkTree>),
}

impl StoredIndex {
    pub(crate) fn new(
        reader: &Arc<Reader>,
        layout: Chunked,
        space: &Space,
        has_filters: bool,
    ) -> Result<StoredIndex> {
        let base = reader.base;
        let misfit = |found: u64, wanted: u64| fault(&rule::LAYOUT, base, found, wanted);
        if layout.shape.len() != space.shape.len() {
            return Err(misfit(layout.shape.len() as u64, space.shape.len() as u64));
        }
        let elements =
            layout.shape.iter().try_fold(layout.element_size, |n, &it| n.checked_mul(it));
        let chunk_len =
            elements.filter(|&len| len < 1 << 63).ok_or_else(|| misfit(u64::MAX, 1 << 63))?;
        let counts = space.shape.iter().zip(&layout.shape).map(|(&it, &chunk)| it.div_ceil(chunk));
        let counts: Vec<u64> = counts.collect();
        let largest = space.max_shape.iter().zip(&layout.shape);
        let max_counts = largest.map(|(max, &chunk)| max.map_or(0, |max| max.div_ceil(chunk)));
        let max_counts: Vec<u64> = max_counts.collect();
        let mut index = StoredIndex {
            reader: Arc::clone(reader),
            layout: Arc::new(layout),
            max_counts,
            counts,
            chunk_len,
            has_filters,
            form: Form::Absent,
        };
        if !index.fits() {
            return Err(misfit(index.counts.len() as u64, index.max_counts.len() as u64));
        }
        index.form = index.opened()?;
        Ok(index)
    }

    /// Whether chunks have numbers of their own: forms that number them need a largest shape that contains the
    /// shape, and one axis without a bound at most.
    fn fits(&self) -> bool {
        let unlimited = self.max_counts.iter().filter(|count| **count == 0).count();
        let axes = || self.counts.iter().zip(&self.max_counts);
        let are_bounded = axes().all(|(count, max)| *max == 0 || count <= max);
        match self.layout.index {
            IndexKind::Tree1 | IndexKind::Tree2 => true,
            IndexKind::Single(_) => self.counts.iter().all(|count| *count <= 1),
            IndexKind::Implicit | IndexKind::Fixed => {
                self.counts.contains(&0) || are_bounded && unlimited == 0
            }
            IndexKind::Extensible => are_bounded && unlimited == 1,
        }
    }

    fn opened(&self) -> Result<Form> {
        let Some(address) = self.layout.address else { return Ok(Form::Absent) };
        let reader = &self.reader;
        let rank = self.layout.shape.len();
        Ok(match self.layout.index {
            IndexKind::Single(filtered) => Form::Single(filtered),
            IndexKind::Implicit => Form::Implicit,
            IndexKind::Tree1 => Form::Tree1(Arc::new(tree1::ChunkTree::new(address, rank))),
            IndexKind::Tree2 => {
                let tree = tree2::ChunkTree::read(reader, address, rank, self.has_filters)?;
                Form::Tree2(Arc::new(tree))
            }
            IndexKind::Fixed => {
                let array = fixed::FixedArray::read(reader, address, self.element())?;
                Form::Fixed(Arc::new(array))
            }
            IndexKind::Extensible => {
                let array = extensible::ExtensibleArray::read(reader, address, self.element())?;
                Form::Extensible(Arc::new(array))
            }
        })
    }

    /// The extents of a chunk.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.layout.shape
    }

    /// Bytes of a chunk before filters.
    #[must_use]
    pub const fn chunk_len(&self) -> u64 {
        self.chunk_len
    }

    /// Whether the chunk at this coordinate went through no filter because the edge of the shape cuts it.
    #[must_use]
    pub fn is_plain_edge(&self, coord: &[u64], shape: &[u64]) -> bool {
        let axes = coord.iter().zip(&self.layout.shape).zip(shape);
        let is_cut = |((&at, &chunk), &extent): ((&u64, &u64), &u64)| {
            at.saturating_add(1).saturating_mul(chunk) > extent
        };
        self.layout.are_edges_plain && axes.into_iter().any(is_cut)
    }

    /// The form of the index, such as `fixed array`.
    #[must_use]
    pub fn form(&self) -> &'static str {
        match self.layout.index {
            IndexKind::Tree1 => "B-tree 1",
            IndexKind::Single(_) => "single chunk",
            IndexKind::Implicit => "implicit",
            IndexKind::Fixed => "fixed array",
            IndexKind::Extensible => "extensible array",
            IndexKind::Tree2 => "B-tree 2",
        }
    }

    /// Where the chunk at this coordinate, counted in chunks, is stored; `None` where it is not.
    ///
    /// # Errors
    ///
    /// Returns an error when the index is damaged, or names bytes outside the file.
    pub fn find(&self, coord: &[u64]) -> Result<Option<StoredChunk>> {
        let reader = &self.reader;
        let found = match &self.form {
            Form::Absent => None,
            Form::Single(filtered) => self.layout.address.map(|address| match filtered {
                Some((len, mask)) => (address, *len, *mask),
                None => (address, self.chunk_len, 0),
            }),
            Form::Implicit => {
                let number = self.number(coord, None)?;
                let start = number.checked_mul(self.chunk_len);
                let address =
                    self.layout.address.zip(start).and_then(|(at, it)| at.checked_add(it));
                address.map(|address| (address, self.chunk_len, 0))
            }
            Form::Fixed(array) => array.find(reader, self.number(coord, None)?)?,
            Form::Extensible(array) => {
                let first = self.max_counts.iter().position(|&count| count == 0);
                array.find(reader, self.number(coord, first)?)?
            }
            Form::Tree1(tree) => tree.find(reader, coord, &self.layout.shape)?,
            Form::Tree2(tree) => tree.find(reader, coord)?,
        };
        found.map(|place| self.stored(place)).transpose()
    }

    /// The place in the file, which must be inside it.
    pub(crate) fn stored(&self, place: ChunkAddress) -> Result<StoredChunk> {
        let (address, len, mask) = place;
        let len = if self.has_filters { len } else { self.chunk_len };
        let span = self.reader.span(address, len, &rule::PAYLOAD_BOUNDS)?;
        Ok(StoredChunk { span, mask })
    }

    /// Calls `take` with the coordinate and the place of every chunk of the shape that is stored, in the
    /// order of the index, until it returns false. Blocks that were never written are skipped.
    ///
    /// # Errors
    ///
    /// As [`StoredIndex::find`].
    pub fn each(&self, take: &mut dyn FnMut(&[u64], StoredChunk) -> bool) -> Result<()> {
        self.visit(&mut |coord, place| Ok(take(coord, self.stored(place)?)))
    }

    /// Calls `take` with the coordinate of every chunk of the shape that is stored, also where its place is wrong,
    /// until it returns false.
    ///
    /// # Errors
    ///
    /// Returns an error when the index is damaged.
    pub fn each_coord(&self, take: &mut dyn FnMut(&[u64]) -> bool) -> Result<()> {
        self.visit(&mut |coord, _| Ok(take(coord)))
    }

    /// The number of a chunk among those of the largest shape, row-major, the axis `first` the slowest.
    fn number(&self, coord: &[u64], first: Option<usize>) -> Result<u64> {
        let misfit = || fault(&rule::INDEX_HEAD, self.reader.base, 0, 0);
        let axes = || 0..coord.len();
        let order = first.into_iter().chain(axes().filter(|&axis| Some(axis) != first));
        let mut number = 0_u64;
        for axis in order {
            let count = self.max_counts.get(axis).copied().unwrap_or(0);
            number = number
                .checked_mul(if Some(axis) == first { 1 } else { count })
                .ok_or_else(misfit)?;
            number = coord.get(axis).and_then(|&at| number.checked_add(at)).ok_or_else(misfit)?;
        }
        Ok(number)
    }

    /// The fields of an element of an array of chunks.
    fn element(&self) -> Element {
        if !self.has_filters {
            return Element { chunk_len: self.chunk_len, len_width: None };
        }
        // One byte more than the length of a chunk takes before filters.
        let width = (1 + width_of(self.chunk_len)).min(8);
        let width = if self.layout.has_lengths { self.reader.sizes.length } else { width };
        Element { chunk_len: self.chunk_len, len_width: Some(width) }
    }
}

/// An address, a stored length and a filter mask.
pub(crate) type ChunkAddress = (u64, u64, u32);

/// Layout of an element of an array of chunks.
#[derive(Clone, Copy, Debug)]
struct Element {
    chunk_len: u64,
    /// Bytes of the stored length, where chunks have filters.
    len_width: Option<usize>,
}

impl Element {
    fn len(self, reader: &Reader) -> usize {
        reader.sizes.offset + self.len_width.map_or(0, |width| width + 4)
    }

    /// Bit 0 of the class of an array.
    fn class(self) -> u8 {
        u8::from(self.len_width.is_some())
    }

    fn read(self, fields: &mut Fields<'_>) -> Result<Option<ChunkAddress>> {
        let address = fields.address()?;
        let (len, mask) = match self.len_width {
            Some(width) => (fields.uint(width)?, fields.u32()?),
            None => (self.chunk_len, 0),
        };
        Ok(address.map(|address| (address, len, mask)))
    }
}
