//! A message whose tensors arrive one after the other, and whose header is written last, into space
//! that was reserved for it.
//!
//! ```text
//!   reserved: preamble | metadata, index, hashes | zeros | tensor ... | postamble
//! ```
//!
//! Tensors need not be known in advance, and readers find the complete index at the start.

use std::io::{Seek, SeekFrom, Write};

use tet_codec::{Digester, Strength};

use super::frames::{begin, end, frame_len, place, postamble};
use super::header::Header;
use super::metadata::{check_base, check_descriptor, metadata_bytes};
use super::options::{ListPlace, WriteOptions};
use super::out::{Out, fault};
use super::whole::PIECE_LEN;
use crate::error::{Error, Result};
use crate::frame::{FRAME_HEADER_LEN, FrameKind};
use crate::hashes::HashList;
use crate::index::IndexEntry;
use crate::maker::Maker;
use crate::metadata::Metadata;
use crate::postamble::{POSTAMBLE_LEN, Postamble};
use crate::preamble::PREAMBLE_LEN;

/// Writes a message to a sink that can seek, tensors first.
///
/// Memory: the positions of the tensors and their hashes, and less than a megabyte.
///
/// ```
/// use std::io::Cursor;
/// use tet_tensogram::{HeadedWriter, Metadata, WriteOptions};
///
/// let (metadata, options) = (Metadata::default(), WriteOptions::default());
/// let mut writer = HeadedWriter::new(Cursor::new(Vec::new()), metadata, None, 1, &options)?;
/// let mut tensor = writer.tensor(0)?;
/// tensor.write(&[1, 2, 3, 4])?;
/// tensor.finish(b"\xa0")?;
/// let (bytes, len) = writer.finish()?;
/// assert_eq!(bytes.into_inner().len() as u64, len);
/// # Ok::<(), tet_tensogram::Error>(())
/// ```
#[derive(Debug)]
pub struct HeadedWriter<W: Write + Seek> {
    out: Out<W>,
    options: WriteOptions,
    metadata: Metadata,
    maker: Option<Maker>,
    tensor_count: usize,
    /// The start of the message in the sink.
    start: u64,
    /// The end of the reserved space, from there.
    room_end: u64,
    entries: Vec<IndexEntry>,
    hashes: Vec<u64>,
    is_broken: bool,
}

impl<W: Write + Seek> HeadedWriter<W> {
    /// Starts a message of `tensor_count` tensors at the position of `out`, with its metadata and
    /// its maker.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] and [`Error::Usage`] when a value cannot be stored in a
    /// message, and [`Error::Io`] when `out` fails.
    pub fn new(
        mut out: W,
        metadata: Metadata,
        maker: Option<Maker>,
        tensor_count: usize,
        options: &WriteOptions,
    ) -> Result<Self> {
        options.check()?;
        check_base(&metadata, tensor_count)?;
        if options.list.is_footer() {
            let why = "a message whose header is written last has its hash list in the header";
            return Err(Error::Unwritable { why });
        }
        let start = out.stream_position().map_err(fault)?;
        let (entries, hashes) = (Vec::new(), Vec::new());
        let mut writer = HeadedWriter {
            out: Out::new(out),
            options: *options,
            metadata,
            maker,
            tensor_count,
            start,
            room_end: 0,
            entries,
            hashes,
            is_broken: false,
        };
        writer.room_end = writer.room()?;
        writer.out.pad_to(writer.room_end)?;
        Ok(writer)
    }

    fn is_listed(&self) -> bool {
        self.options.is_hashed()
            && self.options.list != ListPlace::Nowhere
            && self.tensor_count != 0
    }

    /// The metadata with `_reserved_` for the tensors so far: its length does not change.
    fn metadata_bytes(&self) -> Result<Vec<u8>> {
        let key = self.options.version_key;
        let Some(maker) = self.maker else { return metadata_bytes(&self.metadata, key) };
        let mut metadata = self.metadata.clone();
        metadata.reserved.clear();
        metadata.reserved = maker.says(metadata_bytes(&metadata, key)?, &self.hashes);
        metadata_bytes(&metadata, key)
    }

    /// The end of the longest possible header.
    fn room(&self) -> Result<u64> {
        // Two arrays of numbers of up to 9 bytes, with their keys.
        let index_len = (self.tensor_count as u64).saturating_mul(18).saturating_add(40);
        let mut lens = vec![self.metadata_bytes()?.len() as u64];
        if self.tensor_count != 0 {
            lens.push(index_len);
        }
        if self.is_listed() {
            let mut body = Vec::new();
            HashList::write(&vec![0; self.tensor_count], &mut body);
            lens.push(body.len() as u64);
        }
        lens.into_iter().try_fold(PREAMBLE_LEN, |at, len| {
            let end = at.checked_add(frame_len(FrameKind::HeaderIndex, len)?);
            place(end.unwrap_or(u64::MAX), FrameKind::HeaderIndex, &self.options)
        })
    }

    /// Starts a tensor whose payload, masks and descriptor are expected to have `body_len` bytes:
    /// if they do, the sink need not seek for it.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] when the previous tensor was not finished, [`Error::Usage`]
    /// when there are more tensors than announced, and [`Error::Io`].
    pub fn tensor(&mut self, body_len: u64) -> Result<HeadedTensor<'_, W>> {
        if self.is_broken {
            return Err(BROKEN);
        }
        if self.tensor_count <= self.entries.len() {
            let (found, wanted) = (self.entries.len() as u64 + 1, self.tensor_count as u64);
            return Err(Error::Usage { what: "tensors of the message", found, wanted });
        }
        self.is_broken = true;
        let offset = begin(&mut self.out, FrameKind::Tensor, body_len, &self.options)?;
        let len = frame_len(FrameKind::Tensor, body_len)?;
        let is_digested = self.options.is_hashed() || self.maker.is_some();
        let digester = is_digested.then(|| Digester::new(Strength::Fast));
        let entry = IndexEntry { offset, len };
        Ok(HeadedTensor { writer: self, entry, region_len: 0, digester })
    }

    /// Writes the header. Returns the sink, positioned at the end of the message, and the length of
    /// the message.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] when a tensor was not finished, [`Error::Usage`] when some are
    /// missing, and [`Error::Io`].
    pub fn finish(mut self) -> Result<(W, u64)> {
        if self.is_broken {
            return Err(BROKEN);
        }
        if self.entries.len() != self.tensor_count {
            let (found, wanted) = (self.entries.len() as u64, self.tensor_count as u64);
            return Err(Error::Usage { what: "tensors of the message", found, wanted });
        }
        let end = place(self.out.at(), FrameKind::FooterHashes, &self.options)?;
        self.out.pad_to(end)?;
        let total_len = end.saturating_add(POSTAMBLE_LEN);
        postamble(&mut self.out, Postamble { first_footer_offset: end, total_len })?;
        let header = self.header(total_len)?;
        self.put_back(0, &header)?;
        Ok((self.out.finish()?, total_len))
    }

    /// Writes bytes at an offset of the message where there are others, and goes on at its end.
    fn put_back(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        let place = |at: u64| SeekFrom::Start(self.start.saturating_add(at));
        let (at, end) = (place(at), place(self.out.at()));
        let inner = self.out.flushed()?;
        inner.seek(at).map_err(fault)?;
        inner.write_all(bytes).map_err(fault)?;
        inner.seek(end).map_err(fault)?;
        Ok(())
    }

    /// The sink, and the bytes of the message that it gets before those that follow. Of these, only what is before the
    /// first tensor is written again.
    pub fn sink(&mut self) -> (&mut W, u64) {
        let at = self.out.at();
        (self.out.get_mut(), at)
    }

    /// Everything before the first tensor.
    fn header(&self, total_len: u64) -> Result<Vec<u8>> {
        let (metadata, options) = (self.metadata_bytes()?, &self.options);
        let hashes = self.is_listed().then_some(self.hashes.as_slice());
        let header = Header::new(options.hash_rule(), &metadata, hashes);
        let bytes = header.bytes(&self.entries, options.hashed_flag(), total_len);
        debug_assert!(bytes.len() as u64 <= self.room_end);
        Ok(bytes)
    }
}

/// The offset of the length in a frame header.
const FRAME_LEN_OFFSET: u64 = 8;

const BROKEN: Error = Error::Unwritable { why: "a tensor was started and not finished" };

/// A tensor of any length that is written piece by piece.
#[derive(Debug)]
pub struct HeadedTensor<'a, W: Write + Seek> {
    writer: &'a mut HeadedWriter<W>,
    entry: IndexEntry,
    region_len: u64,
    digester: Option<Digester>,
}

impl<W: Write + Seek> HeadedTensor<'_, W> {
    /// Writes the next bytes of payload and masks.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when the sink fails.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        for piece in bytes.chunks(PIECE_LEN) {
            self.digester.iter_mut().for_each(|digester| digester.update(piece));
            self.writer.out.put(piece)?;
        }
        self.region_len = self.region_len.saturating_add(bytes.len() as u64);
        Ok(())
    }

    /// Writes the descriptor and ends the tensor.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] when the descriptor is not a map, and [`Error::Io`].
    pub fn finish(mut self, descriptor: &[u8]) -> Result<()> {
        check_descriptor(descriptor)?;
        self.digester.iter_mut().for_each(|digester| digester.update(descriptor));
        let hash = self.digester.map(|digester| digester.finish().xxh3).unwrap_or_default();
        let writer = self.writer;
        writer.out.put(descriptor)?;
        let slot = if writer.options.is_hashed() { hash } else { 0 };
        end(&mut writer.out, self.region_len.checked_add(FRAME_HEADER_LEN), slot)?;
        let body_len = self.region_len.saturating_add(descriptor.len() as u64);
        let len = frame_len(FrameKind::Tensor, body_len)?;
        let entry = IndexEntry { len, ..self.entry };
        if entry != self.entry {
            let at = entry.offset.saturating_add(FRAME_LEN_OFFSET);
            writer.put_back(at, &len.swap_bytes().to_le_bytes())?;
        }
        writer.entries.push(entry);
        writer.hashes.push(hash);
        writer.is_broken = false;
        Ok(())
    }
}
