//! Writes the elements of one tensor.

use std::io::Write;

use tet_cbor::Value;
use tet_codec::ZstdStream;
use tet_format::Span;

use super::declaration::Declaration;
use super::entry::{Declared, Placed};
use super::frames::{Frames, codec_fault};
use super::options::{Dialect, EncodingChoice, WriteOptions};
use super::out::Out;
use super::passing::Passing;
use super::writer::{DENSE, Writer};
use crate::error::{Error, Result};
use crate::words::Encoding;

/// The number of bytes that are encoded at once.
const PIECE_LEN: usize = 1 << 20;

/// Receives the elements of one tensor: little-endian, in row-major order, in pieces of any size.
///
/// If it is dropped before [`finish`](TensorWriter::finish), the file cannot be finished.
#[derive(Debug)]
pub struct TensorWriter<'a, W: Write + Send> {
    writer: &'a mut Writer<W>,
    declared: Declared,
    offset: u64,
    left_len: u64,
    /// Whether bytes were refused or lost.
    has_failed: bool,
    checksum: Passing,
    storing: Storing,
}

#[derive(Debug)]
enum Storing {
    Raw,
    Stream(Box<ZstdStream>, Vec<u8>),
    Frames(Box<Frames>),
}

impl Storing {
    fn new(declared: &Declared, options: &WriteOptions) -> Result<Self> {
        let name = &declared.declaration.name;
        Ok(match (options.encoding, options.dialect) {
            (EncodingChoice::Raw, _) => Storing::Raw,
            (EncodingChoice::Zstd { level }, Dialect::V01x) => {
                let stream = ZstdStream::new(level);
                let stream = stream.map_err(|fault| codec_fault(name, 0, fault))?;
                Storing::Stream(Box::new(stream), Vec::new())
            }
            (EncodingChoice::Zstd { level }, Dialect::Common) => {
                let frames = Frames::new(&declared.declaration, level, declared.decoded_len)?;
                Storing::Frames(Box::new(frames))
            }
        })
    }

    const fn encoding(&self) -> Encoding {
        match self {
            Storing::Raw => Encoding::Raw,
            Storing::Stream(..) | Storing::Frames(_) => Encoding::Zstd,
        }
    }
}

impl<W: Write + Send> Writer<W> {
    /// Starts a tensor, written according to the options.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] when the name is taken, the format does not support the
    /// tensor, or the previous tensor was not finished; and [`Error::Io`].
    pub fn tensor(&mut self, declaration: Declaration) -> Result<TensorWriter<'_, W>> {
        self.tensor_as(declaration, &self.options.clone())
    }

    /// Starts a tensor with its own options.
    ///
    /// # Errors
    ///
    /// Returns what [`Writer::tensor`] returns, and what [`Writer::new`] returns for options.
    pub fn tensor_as(
        &mut self,
        declaration: Declaration,
        options: &WriteOptions,
    ) -> Result<TensorWriter<'_, W>> {
        let decoded_len = declaration.decoded_len()?;
        let declared = self.declare(declaration, DENSE, decoded_len, options)?;
        TensorWriter::new(self, declared, options)
    }

    /// Writes a tensor whose elements are in memory.
    ///
    /// # Errors
    ///
    /// Returns what [`Writer::tensor`] and [`TensorWriter::finish`] return.
    pub fn whole(&mut self, declaration: Declaration, elements: &[u8]) -> Result<()> {
        let mut tensor = self.tensor(declaration)?;
        tensor.write(elements)?;
        tensor.finish().map(|_| ())
    }

    /// Writes metadata of the whole file, as the custom fields of a tensor without elements.
    ///
    /// # Errors
    ///
    /// Returns what [`Writer::tensor`] returns.
    pub fn metadata(&mut self, custom: Vec<(String, Value)>) -> Result<()> {
        let options = WriteOptions { encoding: EncodingChoice::Raw, ..self.options };
        self.tensor_as(Declaration::metadata(custom), &options)?.finish().map(|_| ())
    }
}

impl<'a, W: Write + Send> TensorWriter<'a, W> {
    pub(super) fn new(
        writer: &'a mut Writer<W>,
        declared: Declared,
        options: &WriteOptions,
    ) -> Result<Self> {
        let storing = Storing::new(&declared, options)?;
        writer.open(&declared.declaration.name);
        writer.out.pad(options.align_of(declared.decoded_len))?;
        let (offset, left_len) = (writer.out.at(), declared.decoded_len);
        let checksum = Passing::new(options.checksum);
        Ok(Self { writer, declared, offset, left_len, has_failed: false, checksum, storing })
    }

    /// The number of bytes that are still missing.
    #[must_use]
    pub fn left_len(&self) -> u64 {
        self.left_len
    }

    /// Writes the next elements; a piece may end inside an element.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] when they are more than were declared, [`Error::Io`] and
    /// [`Error::Codec`] when they cannot be written. The file cannot be finished then.
    pub fn write(&mut self, elements: &[u8]) -> Result<()> {
        let written = self.take(elements);
        self.has_failed |= written.is_err();
        written
    }

    fn take(&mut self, elements: &[u8]) -> Result<()> {
        let found = elements.len() as u64;
        let left_len = self.left_len.checked_sub(found);
        let too_many = Error::Usage { what: "bytes of a tensor", found, wanted: self.left_len };
        self.left_len = left_len.ok_or(too_many)?;
        let Self { writer, checksum, .. } = self;
        match &mut self.storing {
            Storing::Raw => writer.out.write(elements, checksum),
            Storing::Stream(stream, stored) => {
                let name = &self.declared.declaration.name;
                elements.chunks(PIECE_LEN).try_for_each(|piece| {
                    let encoded = stream.update(piece, stored);
                    encoded.map_err(|fault| codec_fault(name, self.offset, fault))?;
                    drain(stored, &mut writer.out, checksum)
                })
            }
            Storing::Frames(frames) => frames.update(elements, &mut writer.out, checksum),
        }
    }

    /// Ends the tensor. Returns the span of its blob.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] when elements are missing, [`Error::Io`] and [`Error::Codec`] when
    /// they cannot be written. The file cannot be finished then.
    pub fn finish(self) -> Result<Span> {
        let Self { writer, declared, offset, left_len, has_failed, mut checksum, storing } = self;
        if has_failed {
            let why = "some of its elements could not be";
            return Err(declared.declaration.unwritable(why));
        }
        if left_len != 0 {
            let (found, wanted) = (declared.decoded_len - left_len, declared.decoded_len);
            return Err(Error::Usage { what: "bytes of a tensor", found, wanted });
        }
        let encoding = storing.encoding();
        let name = &declared.declaration.name;
        match storing {
            Storing::Raw => {}
            Storing::Stream(stream, mut stored) => {
                let encoded = stream.finish(&mut stored);
                encoded.map_err(|fault| codec_fault(name, offset, fault))?;
                drain(&mut stored, &mut writer.out, &mut checksum)?;
            }
            Storing::Frames(frames) => frames.finish(&mut writer.out, &mut checksum)?,
        }
        let end = writer.out.at();
        let size = end.saturating_sub(offset);
        let checksum = checksum.finish();
        let placed = Placed { offset, size, decoded_len: declared.decoded_len, encoding, checksum };
        writer.close(&declared, placed);
        let (what, wanted, limit) = ("bytes of a file", end, u64::MAX);
        Span::from_range(offset..end).ok_or(Error::Limit { what, wanted, limit })
    }
}

fn drain<W: Write + Send>(
    stored: &mut Vec<u8>,
    out: &mut Out<W>,
    checksum: &mut Passing,
) -> Result<()> {
    let written = out.write(stored, checksum);
    stored.clear();
    written
}
