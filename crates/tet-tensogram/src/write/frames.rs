//! Writes frames: at multiples of 8; those of tensors where their payloads are aligned.

use std::io::Write;

use tet_codec::{Digester, Strength, digest};

use super::options::WriteOptions;
use super::out::Out;
use crate::error::{Error, Result};
use crate::frame::{
    FRAME_HEADER_LEN, FRAME_VERSION, FrameFlags, FrameHeader, FrameKind, FrameTail,
};
use crate::message::HashRule;
use crate::postamble::Postamble;

/// The first offset at or after `at` where a frame of a kind may start, both in the message.
pub(super) fn place(at: u64, kind: FrameKind, options: &WriteOptions) -> Result<u64> {
    let aligned = at.checked_next_multiple_of(8);
    if kind != FrameKind::Tensor {
        return aligned.ok_or(TOO_LONG);
    }
    // The payload is aligned, relative to the file.
    let payload = at.checked_add(FRAME_HEADER_LEN).and_then(|at| at.checked_add(options.start));
    let payload = payload.and_then(|at| at.checked_next_multiple_of(options.align));
    let at = payload.and_then(|at| at.checked_sub(options.start + FRAME_HEADER_LEN));
    at.ok_or(TOO_LONG)
}

/// The length of a frame with a body of `body_len` bytes.
pub(super) fn frame_len(kind: FrameKind, body_len: u64) -> Result<u64> {
    body_len.checked_add(kind.len_min()).ok_or(TOO_LONG)
}

const TOO_LONG: Error = Error::Unwritable { why: "a message is longer than a length can say" };

/// The hash of a body that is in memory, if hashes are written.
pub(super) fn hash_of(pieces: &[&[u8]], options: &WriteOptions) -> u64 {
    let mut digester = Digester::new(Strength::Fast);
    if !options.is_hashed() {
        return 0;
    }
    pieces.iter().for_each(|piece| digester.update(piece));
    digester.finish().xxh3
}

/// Writes padding and the header of a frame. Returns the start of the frame.
pub(super) fn begin<W: Write>(
    out: &mut Out<W>,
    kind: FrameKind,
    body_len: u64,
    options: &WriteOptions,
) -> Result<u64> {
    let (at, len) = (place(out.at(), kind, options)?, frame_len(kind, body_len)?);
    out.pad_to(at)?;
    let mut flags = FrameFlags::default();
    if kind == FrameKind::Tensor {
        flags = flags.with(FrameFlags::DESCRIPTOR_LAST);
    }
    if options.is_hashed() {
        flags = flags.with(FrameFlags::HASHED);
    }
    let mut bytes = Vec::new();
    FrameHeader { kind, version: FRAME_VERSION, flags, len }.write(&mut bytes);
    out.put(&bytes)?;
    Ok(at)
}

pub(super) fn end<W: Write>(
    out: &mut Out<W>,
    descriptor_offset: Option<u64>,
    hash: u64,
) -> Result<()> {
    let mut bytes = Vec::new();
    FrameTail { descriptor_offset, hash }.write(&mut bytes);
    out.put(&bytes)
}

/// Writes a frame of CBOR.
pub(super) fn frame<W: Write>(
    out: &mut Out<W>,
    kind: FrameKind,
    body: &[u8],
    options: &WriteOptions,
) -> Result<()> {
    begin(out, kind, body.len() as u64, options)?;
    out.put(body)?;
    end(out, None, hash_of(&[body], options))
}

/// Appends a frame of CBOR to a message whose slots hold hashes by this rule.
pub(super) fn cbor_frame(kind: FrameKind, body: &[u8], rule: HashRule, out: &mut Vec<u8>) {
    let flags = if rule == HashRule::Frames { FrameFlags::HASHED } else { FrameFlags::default() };
    let len = kind.len_min().saturating_add(body.len() as u64);
    FrameHeader { kind, version: FRAME_VERSION, flags, len }.write(out);
    out.extend_from_slice(body);
    let hash = if rule == HashRule::Unhashed { 0 } else { digest(body).xxh3 };
    FrameTail { descriptor_offset: None, hash }.write(out);
}

pub(super) fn postamble<W: Write>(out: &mut Out<W>, postamble: Postamble) -> Result<()> {
    let mut bytes = Vec::new();
    postamble.write(&mut bytes);
    out.put(&bytes)
}
