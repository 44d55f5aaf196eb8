//! A complete message: metadata, index and hashes first.

use std::io::{Read, Write};

use tet_codec::{Digester, Strength};

use super::frames::{begin, end, frame, frame_len, hash_of, place, postamble};
use super::header::Header;
use super::metadata::{check_base, check_descriptor, metadata_bytes};
use super::options::{ListPlace, WriteOptions};
use super::out::{Out, fault};
use super::plain::PlainElements;
use crate::error::{Error, Result};
use crate::frame::{FRAME_HEADER_LEN, FrameKind};
use crate::hashes::HashList;
use crate::index::IndexEntry;
use crate::metadata::Metadata;
use crate::postamble::{POSTAMBLE_LEN, Postamble};
use crate::preamble::Flags;

/// The bytes of payload and masks.
pub enum RegionSource<'a> {
    /// In memory, in consecutive pieces.
    Pieces(Vec<&'a [u8]>),
    /// In memory; fails if an element needs a mask.
    Plain(PlainElements<'a>),
    /// A reader with this number of bytes; a header cannot list their hash.
    Reader(&'a mut dyn Read, u64),
}

impl std::fmt::Debug for RegionSource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RegionSource").field(&self.len()).finish()
    }
}

impl<'a> From<&'a [u8]> for RegionSource<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        RegionSource::Pieces(vec![bytes])
    }
}

impl RegionSource<'_> {
    fn len(&self) -> u64 {
        match self {
            RegionSource::Pieces(pieces) => {
                pieces.iter().fold(0, |sum: u64, it| sum.saturating_add(it.len() as u64))
            }
            RegionSource::Plain(elements) => elements.bytes().len() as u64,
            RegionSource::Reader(_, len) => *len,
        }
    }
}

/// A tensor to write.
#[derive(Debug)]
pub struct Tensor<'a> {
    /// The CBOR map that describes it.
    pub descriptor: &'a [u8],
    /// Payload and masks.
    pub region: RegionSource<'a>,
}

impl Tensor<'_> {
    fn body_len(&self) -> u64 {
        self.region.len().saturating_add(self.descriptor.len() as u64)
    }

    /// The hash of its body, if the body is in memory.
    fn hash(&self, options: &WriteOptions) -> Option<u64> {
        let mut pieces = match &self.region {
            RegionSource::Pieces(pieces) => pieces.clone(),
            RegionSource::Plain(elements) => vec![elements.bytes()],
            RegionSource::Reader(..) => return None,
        };
        pieces.push(self.descriptor);
        Some(hash_of(&pieces, options))
    }
}

/// Writes a message. Returns the sink and the length of the message.
///
/// # Errors
///
/// Returns [`Error::Unwritable`] and [`Error::Usage`] when a value cannot be stored in a message,
/// [`Error::NotFinite`] when one of [`PlainElements`] needs a mask, and [`Error::Io`] when `out` or
/// a reader fails.
pub fn write_message<W: Write>(
    out: W,
    metadata: &Metadata,
    tensors: Vec<Tensor<'_>>,
    options: &WriteOptions,
) -> Result<(W, u64)> {
    options.check()?;
    check_base(metadata, tensors.len())?;
    tensors.iter().try_for_each(|tensor| check_descriptor(tensor.descriptor))?;
    let list = list_place(&tensors, options)?;
    let known = |tensor: &Tensor<'_>| list.is_header().then(|| tensor.hash(options)).flatten();
    let hashes: Vec<Option<u64>> = tensors.iter().map(known).collect();
    let metadata = metadata_bytes(metadata, options.version_key)?;
    let listed = hashes.iter().map(|hash| hash.unwrap_or_default());
    let listed: Option<Vec<u64>> = list.is_header().then(|| listed.collect());
    let header = Header::new(options.hash_rule(), &metadata, listed.as_deref());
    let (entries, end) = header.place(|at| places(at, &tensors, options))?;
    let total_len = total_len(end, tensors.len(), list, options)?;
    let mut flags = options.hashed_flag();
    if list.is_footer() {
        flags = flags.with(Flags::FOOTER_HASHES);
    }
    let mut out = Out::new(out);
    out.put(&header.bytes(&entries, flags, total_len))?;
    let mut written = Vec::new();
    for (tensor, hash) in tensors.into_iter().zip(hashes) {
        written.push(write_tensor(&mut out, tensor, hash, options)?);
    }
    let mut footer_at = place(out.at(), FrameKind::FooterHashes, options)?;
    out.pad_to(footer_at)?;
    if list.is_footer() {
        let mut body = Vec::new();
        HashList::write(&written, &mut body);
        frame(&mut out, FrameKind::FooterHashes, &body, options)?;
        out.pad_to(place(out.at(), FrameKind::FooterHashes, options)?)?;
    } else {
        footer_at = out.at();
    }
    postamble(&mut out, Postamble { first_footer_offset: footer_at, total_len })?;
    debug_assert_eq!(out.at(), total_len);
    Ok((out.finish()?, total_len))
}

/// Encodes a message in memory.
///
/// # Errors
///
/// Returns what [`write_message`] returns.
pub fn encode_message(
    metadata: &Metadata,
    tensors: Vec<Tensor<'_>>,
    options: &WriteOptions,
) -> Result<Vec<u8>> {
    Ok(write_message(Vec::new(), metadata, tensors, options)?.0)
}

/// Where the hash list goes.
fn list_place(tensors: &[Tensor<'_>], options: &WriteOptions) -> Result<ListPlace> {
    let is_read = tensors.iter().any(|it| matches!(it.region, RegionSource::Reader(..)));
    let is_looked_at = tensors.iter().any(|it| matches!(it.region, RegionSource::Plain(_)));
    match options.list {
        _ if !options.is_hashed() || tensors.is_empty() => Ok(ListPlace::Nowhere),
        ListPlace::Usual if is_read || is_looked_at => Ok(ListPlace::Footer),
        ListPlace::Usual => Ok(ListPlace::Header),
        ListPlace::Header | ListPlace::Both if is_read => Err(Error::Unwritable {
            why: "a header cannot list the hashes of data that is not yet read",
        }),
        list => Ok(list),
    }
}

/// The positions of the tensors from `at` on, and the end of the last one.
fn places(
    mut at: u64,
    tensors: &[Tensor<'_>],
    options: &WriteOptions,
) -> Result<(Vec<IndexEntry>, u64)> {
    let mut entries = Vec::new();
    for tensor in tensors {
        let offset = place(at, FrameKind::Tensor, options)?;
        let len = frame_len(FrameKind::Tensor, tensor.body_len())?;
        entries.push(IndexEntry { offset, len });
        at = offset.saturating_add(len);
    }
    Ok((entries, at))
}

/// The length of a message whose tensors end at `at`.
fn total_len(at: u64, count: usize, list: ListPlace, options: &WriteOptions) -> Result<u64> {
    let mut end = place(at, FrameKind::FooterHashes, options)?;
    if list.is_footer() {
        let mut body = Vec::new();
        HashList::write(&vec![0; count], &mut body);
        let len = frame_len(FrameKind::FooterHashes, body.len() as u64)?;
        end = place(end.saturating_add(len), FrameKind::FooterHashes, options)?;
    }
    Ok(end.saturating_add(POSTAMBLE_LEN))
}

/// Writes the frame of a tensor. Returns its hash.
fn write_tensor<W: Write>(
    out: &mut Out<W>,
    tensor: Tensor<'_>,
    hash: Option<u64>,
    options: &WriteOptions,
) -> Result<u64> {
    let (body_len, region_len) = (tensor.body_len(), tensor.region.len());
    begin(out, FrameKind::Tensor, body_len, options)?;
    let is_wanted = options.is_hashed() && hash.is_none();
    let mut digester = is_wanted.then(|| Digester::new(Strength::Fast));
    let mut put = |bytes: &[u8]| -> Result<()> {
        let Some(digester) = &mut digester else { return out.put(bytes) };
        // In pieces, so that bytes are hashed while they are in the cache.
        for piece in bytes.chunks(PIECE_LEN) {
            digester.update(piece);
            out.put(piece)?;
        }
        Ok(())
    };
    match tensor.region {
        RegionSource::Pieces(pieces) => pieces.into_iter().try_for_each(&mut put)?,
        RegionSource::Plain(elements) => elements.pieces(&mut put)?,
        RegionSource::Reader(reader, len) => copy(reader, len, &mut put)?,
    }
    put(tensor.descriptor)?;
    let hash = hash.or(digester.map(|digester| digester.finish().xxh3)).unwrap_or_default();
    end(out, region_len.checked_add(FRAME_HEADER_LEN), hash)?;
    Ok(hash)
}

/// The number of bytes that are hashed and written at once.
pub(super) const PIECE_LEN: usize = 256 << 10;

fn copy(reader: &mut dyn Read, len: u64, put: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let (mut left, mut piece) = (len, Vec::new());
    while left != 0 {
        let take = usize::try_from(left).unwrap_or(PIECE_LEN).min(PIECE_LEN);
        piece.resize(take, 0);
        reader.read_exact(&mut piece).map_err(fault)?;
        put(&piece)?;
        left = left.saturating_sub(take as u64);
    }
    Ok(())
}
