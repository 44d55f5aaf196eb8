//! A message whose tensors arrive one after the other, with its index at the end.
//!
//! For sinks that cannot seek, such as pipes and sockets, and for tensors that are not known in
//! advance. The command does not write such messages: it writes files, which can seek.

use std::io::{Seek, SeekFrom, Write};

use tet_codec::{Digester, Strength};

use super::frames::{begin, end, frame, frame_len, place, postamble};
use super::metadata::{check_base, check_descriptor, metadata_bytes, preceder_bytes};
use super::options::{ListPlace, WriteOptions};
use super::out::{Out, fault};
use super::whole::PIECE_LEN;
use crate::error::{Error, Result};
use crate::frame::{FRAME_HEADER_LEN, FrameKind};
use crate::hashes::HashList;
use crate::index::{Index, IndexEntry};
use crate::metadata::{Metadata, Pairs};
use crate::postamble::{POSTAMBLE_LEN, Postamble};
use crate::preamble::{Flags, Preamble};

/// Writes a message to a sequential sink.
///
/// Memory: the positions of the tensors and their hashes, and less than a megabyte.
///
/// ```
/// use tet_tensogram::{Metadata, StreamWriter, WriteOptions};
///
/// let mut writer = StreamWriter::new(Vec::new(), &Metadata::default(), &WriteOptions::default())?;
/// let mut tensor = writer.tensor(b"\xa0", 4)?;
/// tensor.write(&[1, 2])?;
/// tensor.write(&[3, 4])?;
/// tensor.finish()?;
/// let (bytes, len) = writer.finish(&Metadata::default())?;
/// assert_eq!(bytes.len() as u64, len);
/// # Ok::<(), tet_tensogram::Error>(())
/// ```
#[derive(Debug)]
pub struct StreamWriter<W: Write> {
    out: Out<W>,
    options: WriteOptions,
    entries: Vec<IndexEntry>,
    hashes: Vec<u64>,
    state: ExpectedItem,
}

/// Items that may be written next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExpectedItem {
    Any,
    /// The tensor of a preceder.
    Tensor,
    /// Nothing: a tensor was started and not finished.
    Broken,
}

impl<W: Write> StreamWriter<W> {
    /// Starts a message at the current position of `out`, with the metadata known so far.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] and [`Error::Usage`] when a value cannot be stored in a
    /// message, and [`Error::Io`] when `out` fails.
    pub fn new(out: W, header: &Metadata, options: &WriteOptions) -> Result<Self> {
        options.check()?;
        if options.list.is_header() {
            let why = "a header cannot list the hashes of tensors that are not yet written";
            return Err(Error::Unwritable { why });
        }
        let header = metadata_bytes(header, options.version_key)?;
        // Preceders are announced in advance, since there may be some.
        let mut flags = Flags::HEADER_METADATA
            .with(Flags::FOOTER_METADATA)
            .with(Flags::FOOTER_INDEX)
            .with(Flags::PRECEDER);
        if options.is_hashed() {
            flags = flags.with(Flags::HASHED);
            if options.list != ListPlace::Nowhere {
                flags = flags.with(Flags::FOOTER_HASHES);
            }
        }
        let (entries, hashes, state) = (Vec::new(), Vec::new(), ExpectedItem::Any);
        let mut writer =
            StreamWriter { out: Out::new(out), options: *options, entries, hashes, state };
        let mut bytes = Vec::new();
        Preamble { flags, reserved: 0, total_len: 0 }.write(&mut bytes);
        writer.out.put(&bytes)?;
        frame(&mut writer.out, FrameKind::HeaderMetadata, &header, options)?;
        Ok(writer)
    }

    /// The number of tensors written.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no tensor was written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Writes the metadata of the next tensor.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] when a tensor must come next or a value cannot be stored in a
    /// message, and [`Error::Io`].
    pub fn preceder(&mut self, entry: &Pairs) -> Result<()> {
        match self.state {
            ExpectedItem::Any => {}
            ExpectedItem::Tensor => {
                return Err(Error::Unwritable {
                    why: "the tensor of the last preceder must be written first",
                });
            }
            ExpectedItem::Broken => return Err(BROKEN),
        }
        let body = preceder_bytes(entry, self.options.version_key)?;
        frame(&mut self.out, FrameKind::Preceder, &body, &self.options)?;
        self.state = ExpectedItem::Tensor;
        Ok(())
    }

    /// Starts a tensor whose payload and masks have `region_len` bytes.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] when the previous tensor was not finished, or the descriptor
    /// is not a map, and [`Error::Io`].
    pub fn tensor<'a>(
        &'a mut self,
        descriptor: &'a [u8],
        region_len: u64,
    ) -> Result<TensorWriter<'a, W>> {
        if self.state == ExpectedItem::Broken {
            return Err(BROKEN);
        }
        check_descriptor(descriptor)?;
        let body_len = region_len.saturating_add(descriptor.len() as u64);
        let len = frame_len(FrameKind::Tensor, body_len)?;
        self.state = ExpectedItem::Broken;
        let offset = begin(&mut self.out, FrameKind::Tensor, body_len, &self.options)?;
        let digester = self.options.is_hashed().then(|| Digester::new(Strength::Fast));
        let entry = IndexEntry { offset, len };
        Ok(TensorWriter { writer: self, descriptor, entry, region_len, left: region_len, digester })
    }

    /// Writes a tensor that is in memory.
    ///
    /// # Errors
    ///
    /// Returns what [`StreamWriter::tensor`] returns.
    pub fn whole(&mut self, descriptor: &[u8], region: &[u8]) -> Result<()> {
        let mut tensor = self.tensor(descriptor, region.len() as u64)?;
        tensor.write(region)?;
        tensor.finish()
    }

    /// Writes the footer. Returns the sink and the length of the message.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] when a tensor is missing or was not finished, or a value
    /// cannot be stored in a message, and [`Error::Io`].
    pub fn finish(mut self, footer: &Metadata) -> Result<(W, u64)> {
        let footer_at = self.footer(footer)?;
        postamble(&mut self.out, Postamble { first_footer_offset: footer_at, total_len: 0 })?;
        let len = self.out.at();
        Ok((self.out.finish()?, len))
    }

    /// Finishes, and seeks back to store the length of the message, so that readers need not walk.
    ///
    /// # Errors
    ///
    /// Returns what [`StreamWriter::finish`] returns.
    pub fn finish_backfilled(mut self, footer: &Metadata) -> Result<(W, u64)>
    where
        W: Seek,
    {
        let footer_at = self.footer(footer)?;
        let total_len = self.out.at().saturating_add(POSTAMBLE_LEN);
        postamble(&mut self.out, Postamble { first_footer_offset: footer_at, total_len })?;
        let inner = self.out.flushed()?;
        // The message need not start at the start of the sink.
        let end = inner.stream_position().map_err(fault)?;
        let start = end
            .checked_sub(total_len)
            .ok_or(Error::Unwritable { why: "the sink reports a wrong position" })?;
        inner.seek(SeekFrom::Start(start.saturating_add(TOTAL_LEN_OFFSET))).map_err(fault)?;
        inner.write_all(&total_len.swap_bytes().to_le_bytes()).map_err(fault)?;
        inner.seek(SeekFrom::Start(end)).map_err(fault)?;
        Ok((self.out.finish()?, total_len))
    }

    /// Writes the footer. Returns its offset.
    fn footer(&mut self, footer: &Metadata) -> Result<u64> {
        match self.state {
            ExpectedItem::Any => {}
            ExpectedItem::Tensor => {
                return Err(Error::Unwritable { why: "a preceder has no tensor" });
            }
            ExpectedItem::Broken => return Err(BROKEN),
        }
        check_base(footer, self.entries.len())?;
        let body = metadata_bytes(footer, self.options.version_key)?;
        let footer_at = place(self.out.at(), FrameKind::FooterMetadata, &self.options)?;
        frame(&mut self.out, FrameKind::FooterMetadata, &body, &self.options)?;
        let is_listed = self.options.is_hashed() && self.options.list != ListPlace::Nowhere;
        if is_listed && !self.hashes.is_empty() {
            let mut body = Vec::new();
            HashList::write(&self.hashes, &mut body);
            frame(&mut self.out, FrameKind::FooterHashes, &body, &self.options)?;
        }
        let mut body = Vec::new();
        Index::write(&self.entries, &mut body);
        frame(&mut self.out, FrameKind::FooterIndex, &body, &self.options)?;
        let end = place(self.out.at(), FrameKind::FooterIndex, &self.options)?;
        self.out.pad_to(end)?;
        Ok(footer_at)
    }
}

/// The offset of the length in the preamble.
const TOTAL_LEN_OFFSET: u64 = 16;

const BROKEN: Error = Error::Unwritable { why: "a tensor was started and not finished" };

/// A tensor that is written piece by piece.
#[derive(Debug)]
pub struct TensorWriter<'a, W: Write> {
    writer: &'a mut StreamWriter<W>,
    descriptor: &'a [u8],
    entry: IndexEntry,
    region_len: u64,
    left: u64,
    digester: Option<Digester>,
}

impl<W: Write> TensorWriter<'_, W> {
    /// Writes the next bytes of payload and masks.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] when they are more than announced, and [`Error::Io`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let (found, wanted) = (bytes.len() as u64, self.left);
        let left = wanted.checked_sub(found);
        let what = "bytes of a tensor that are still to come";
        self.left = left.ok_or(Error::Usage { what, found, wanted })?;
        for piece in bytes.chunks(PIECE_LEN) {
            self.digester.iter_mut().for_each(|digester| digester.update(piece));
            self.writer.out.put(piece)?;
        }
        Ok(())
    }

    /// Writes the descriptor and ends the tensor.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] when bytes are missing, and [`Error::Io`].
    pub fn finish(mut self) -> Result<()> {
        if self.left != 0 {
            let what = "bytes of a tensor";
            let found = self.region_len.saturating_sub(self.left);
            return Err(Error::Usage { what, found, wanted: self.region_len });
        }
        self.digester.iter_mut().for_each(|digester| digester.update(self.descriptor));
        let hash = self.digester.map(|digester| digester.finish().xxh3).unwrap_or_default();
        let writer = self.writer;
        writer.out.put(self.descriptor)?;
        end(&mut writer.out, self.region_len.checked_add(FRAME_HEADER_LEN), hash)?;
        writer.entries.push(self.entry);
        writer.hashes.push(hash);
        writer.state = ExpectedItem::Any;
        Ok(())
    }
}
