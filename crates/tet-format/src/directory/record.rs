//! One record of the directory.

use super::WireRecord;
use crate::dtype::DType;
use crate::grid::Grid;
use crate::layout;
use crate::shape::Shape;
use crate::wire;

/// A record with all its bytes, valid or not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawRecord<'a> {
    /// The file offset of the record.
    pub(crate) at: u64,
    pub(crate) header: WireRecord,
    pub(crate) name: &'a [u8],
    pub(crate) padding: &'a [u8],
    /// The shape, then the chunk shape.
    pub(crate) shape: &'a [[u8; 8]],
    pub(crate) chunk_shape: &'a [[u8; 8]],
}

/// Splits off the first record; the error is the file offset where the record would end.
pub(crate) fn split_record(bytes: &[u8], at: u64) -> Result<(RawRecord<'_>, &[u8]), u64> {
    let Some((fixed, after)) = bytes.split_first_chunk() else {
        return Err(at.saturating_add(layout::RECORD_LEN_MIN));
    };
    let header = WireRecord::decode(fixed);
    let end = at.saturating_add(layout::record_len(header.name_len, header.rank));
    split_variable(after, at, header).ok_or(end)
}

fn split_variable(bytes: &[u8], at: u64, header: WireRecord) -> Option<(RawRecord<'_>, &[u8])> {
    let padding_len = layout::name_padding(header.name_len.into());
    let (name, rest) = bytes.split_at_checked(usize::try_from(header.name_len).ok()?)?;
    let (padding, rest) = rest.split_at_checked(usize::try_from(padding_len).ok()?)?;
    let axes_len = usize::try_from(header.rank).ok()?.checked_mul(8)?;
    let (shape, rest) = rest.split_at_checked(axes_len)?;
    let (chunk_shape, rest) = rest.split_at_checked(axes_len)?;
    let (shape, _) = shape.as_chunks();
    let (chunk_shape, _) = chunk_shape.as_chunks();
    Some((RawRecord { at, header, name, padding, shape, chunk_shape }, rest))
}

impl<'a> RawRecord<'a> {
    /// The end of the record.
    pub(crate) fn end(&self) -> u64 {
        let WireRecord { name_len, rank, .. } = self.header;
        self.at.saturating_add(layout::record_len(name_len, rank))
    }

    /// The offset of the name.
    pub(crate) fn name_at(&self) -> u64 {
        self.at.saturating_add(super::RECORD_HEADER_LEN)
    }

    /// The offset of the padding after the name.
    pub(crate) fn padding_at(&self) -> u64 {
        self.name_at().saturating_add(wire::len_of(self.name))
    }

    /// The offset of the shape.
    pub(crate) fn shape_at(&self) -> u64 {
        self.padding_at().saturating_add(wire::len_of(self.padding))
    }

    /// The offset of the chunk shape.
    pub(crate) fn chunk_shape_at(&self) -> u64 {
        self.shape_at().saturating_add(wire::len_of(self.shape.as_flattened()))
    }

    pub(crate) fn shape(&self) -> Extents<'a> {
        Extents { bytes: self.shape.iter() }
    }

    pub(crate) fn chunk_shape(&self) -> Extents<'a> {
        Extents { bytes: self.chunk_shape.iter() }
    }
}

/// Extents read one by one from the file's bytes.
#[derive(Clone, Debug)]
pub struct Extents<'a> {
    bytes: core::slice::Iter<'a, [u8; 8]>,
}

impl Iterator for Extents<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.bytes.next().map(|&bytes| u64::from_le_bytes(bytes))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.bytes.size_hint()
    }
}

impl ExactSizeIterator for Extents<'_> {}

/// A dataset as the directory lists it.
#[derive(Clone, Copy, Debug)]
pub struct DatasetRecord<'a> {
    raw: RawRecord<'a>,
    name: &'a str,
}

impl<'a> DatasetRecord<'a> {
    /// `None` when the name is not UTF-8.
    pub(super) fn new(raw: RawRecord<'a>) -> Option<DatasetRecord<'a>> {
        Some(DatasetRecord { name: core::str::from_utf8(raw.name).ok()?, raw })
    }

    /// Splits off the record that `bytes` start with; `at` is where they start in the file.
    ///
    /// `None` when the record does not end in them or its name is not UTF-8. No other rule is
    /// applied: extents and type may be anything.
    #[must_use]
    pub fn split_first(bytes: &'a [u8], at: u64) -> Option<DatasetRecord<'a>> {
        DatasetRecord::new(split_record(bytes, at).ok()?.0)
    }

    pub(super) fn raw(&self) -> &RawRecord<'a> {
        &self.raw
    }

    /// The name as stored: it may be empty, repeated, or contain any character.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// The tag of the type of the elements, known or not.
    #[must_use]
    pub fn dtype_tag(&self) -> u32 {
        self.raw.header.dtype
    }

    /// The type of the elements; `None` when the tag is unknown.
    #[must_use]
    pub fn dtype(&self) -> Option<DType> {
        DType::from_tet_tag(self.raw.header.dtype)
    }

    /// The number of axes, 1 to 8.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.raw.shape.len()
    }

    /// The extents of the dataset.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.extents().collect()
    }

    /// The extents of a chunk.
    #[must_use]
    pub fn chunk_shape(&self) -> Shape {
        self.chunk_extents().collect()
    }

    /// The extents of the dataset, without an allocation.
    #[must_use]
    pub fn extents(&self) -> Extents<'a> {
        self.raw.shape()
    }

    /// The extents of a chunk, without an allocation.
    #[must_use]
    pub fn chunk_extents(&self) -> Extents<'a> {
        self.raw.chunk_shape()
    }

    /// The file offset of the record.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.raw.at
    }

    /// The grid of chunks; always there for a record of a [`Directory`](super::Directory).
    #[must_use]
    pub fn grid(&self) -> Option<Grid> {
        Grid::new(self.shape(), self.chunk_shape())
    }
}
