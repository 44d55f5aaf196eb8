//! A dataset of a sheet: its record and its chunks.

use super::{every_coord, push_u32, push_u64};
use crate::frame;

/// How the chunks of a dataset are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Codec 0: the elements as they are.
    Raw,
    /// Codec 1: one zstd frame of uncompressed blocks, without a content size.
    Frame,
    /// Codec 1: two frames with a skippable one between them.
    Frames,
    /// Any other codec tag over the raw bytes.
    Other(u32),
}

/// One dataset of a sheet.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The name's bytes, which need not be UTF-8.
    pub name: Vec<u8>,
    /// The element type's tag in the directory.
    pub tag: u32,
    /// Bytes of one element.
    pub element_len: u64,
    /// All extents.
    pub shape: Vec<u64>,
    /// Extents of a chunk.
    pub chunk_shape: Vec<u64>,
    /// All elements, little-endian, row-major.
    pub elements: Vec<u8>,
    /// How the chunks are stored.
    pub stored: Stored,
}

impl Dataset {
    /// A raw dataset stored as one chunk.
    #[must_use]
    pub fn new(name: &str, tag: u32, element_len: u64, shape: &[u64]) -> Self {
        let count: u64 = shape.iter().product();
        Self {
            name: name.as_bytes().to_vec(),
            tag,
            element_len,
            shape: shape.to_vec(),
            chunk_shape: shape.iter().map(|&extent| extent.max(1)).collect(),
            elements: crate::values::plain(tag, count),
            stored: Stored::Raw,
        }
    }

    /// This dataset in chunks of `chunk_shape`.
    #[must_use]
    pub fn chunked(mut self, chunk_shape: &[u64]) -> Self {
        self.chunk_shape = chunk_shape.to_vec();
        self
    }

    /// This dataset stored another way.
    #[must_use]
    pub fn stored(mut self, stored: Stored) -> Self {
        self.stored = stored;
        self
    }

    /// This dataset with other elements.
    #[must_use]
    pub fn elements(mut self, elements: Vec<u8>) -> Self {
        self.elements = elements;
        self
    }

    pub(super) fn record(&self) -> Vec<u8> {
        let mut out = Vec::new();
        push_u32(&mut out, u32::try_from(self.name.len()).unwrap());
        push_u32(&mut out, self.tag);
        push_u32(&mut out, u32::try_from(self.shape.len()).unwrap());
        push_u32(&mut out, 0);
        out.extend(&self.name);
        while !out.len().is_multiple_of(8) {
            out.push(0);
        }
        for &extent in self.shape.iter().chain(&self.chunk_shape) {
            push_u64(&mut out, extent);
        }
        out
    }

    /// The chunks in row-major order: coordinate and elements.
    pub(super) fn chunks(&self) -> Vec<(Vec<u64>, Vec<u8>)> {
        let counts: Vec<u64> =
            self.shape.iter().zip(&self.chunk_shape).map(|(&n, &c)| n.div_ceil(c)).collect();
        every_coord(&counts)
            .into_iter()
            .map(|coord| {
                let elements = self.chunk_elements(&coord);
                (coord, elements)
            })
            .collect()
    }

    fn chunk_elements(&self, coord: &[u64]) -> Vec<u8> {
        let start: Vec<u64> = coord.iter().zip(&self.chunk_shape).map(|(&k, &c)| k * c).collect();
        let extents: Vec<u64> = start
            .iter()
            .zip(self.shape.iter().zip(&self.chunk_shape))
            .map(|(&at, (&extent, &chunk))| chunk.min(extent - at))
            .collect();
        let mut out = Vec::new();
        for inner in every_coord(&extents) {
            let mut linear = 0;
            for axis in 0..self.shape.len() {
                linear = linear * self.shape[axis] + start[axis] + inner[axis];
            }
            let at = usize::try_from(linear * self.element_len).unwrap();
            out.extend(&self.elements[at..at + usize::try_from(self.element_len).unwrap()]);
        }
        out
    }
}

impl Stored {
    pub(super) fn tag(self) -> u32 {
        match self {
            Stored::Raw => 0,
            Stored::Frame | Stored::Frames => 1,
            Stored::Other(tag) => tag,
        }
    }

    pub(super) fn encode(self, elements: &[u8]) -> Vec<u8> {
        match self {
            Stored::Raw | Stored::Other(_) => elements.to_vec(),
            Stored::Frame => frame::plain(elements),
            Stored::Frames => {
                let (front, back) = elements.split_at(elements.len() / 2);
                [frame::plain(front), frame::skippable(b"skip me"), frame::plain(back)].concat()
            }
        }
    }
}
