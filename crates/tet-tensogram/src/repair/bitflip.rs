//! Corrects single flipped bits in frames, proven by their hashes.
//!
//! ```text
//!   header   128 bits: those that lead to `ENDF`, and to bytes that match the hash slot
//!   tail     `ENDF` by itself, the slot if the bytes differ from it by one bit, the offset of a
//!            descriptor if that is one there
//!   body     of a short frame, every bit
//! ```

use tet_cbor::Reader;
use tet_codec::digest;
use tet_format::Span;

use super::content::broken;
use super::context::{READ_COST, RepairContext};
use super::fragment::IntactFrame;
use crate::error::Result;
use crate::frame::{
    FRAME_END, FRAME_HEADER_LEN, Frame, FrameFlags, FrameHeader, FrameKind, FrameTail, Phase,
    TENSOR_TAIL_LEN,
};

/// The longest body of which every bit is tried.
const FLIP_BODY_MAX: u64 = 16 << 10;

/// What precedes a frame in its message.
#[derive(Debug, Default)]
pub(super) struct Preceding {
    pub(super) last: Option<Phase>,
    /// The kinds already found, of those that a message has once.
    pub(super) once: Vec<FrameKind>,
}

/// The frame at `at`, if flipping one bit of its header or rewriting its tail makes its bytes match
/// its hash.
///
/// If several frames are possible, prefers a kind that was not found yet, of the next part of a
/// message.
pub(super) fn ends(
    context: &mut RepairContext<'_>,
    (at, bound): (u64, u64),
    before: &Preceding,
) -> Result<Option<IntactFrame>> {
    let bytes = context.window.near(at, FRAME_HEADER_LEN)?;
    let Some(stored) = bytes.first_chunk::<16>().copied() else { return Ok(None) };
    let stored = u128::from_le_bytes(stored);
    let flips = (0..128).map(|bit| 1_u128 << bit);
    let mut hashed: Vec<(Span, u64)> = Vec::new();
    let mut best: Option<IntactFrame> = None;
    let order = |intact: &IntactFrame| {
        let (kind, phase) = (intact.frame.kind(), intact.frame.kind().phase());
        (before.once.contains(&kind), phase < before.last, phase)
    };
    for flip in std::iter::once(0).chain(flips) {
        let Some((header, span)) = header(stored ^ flip, at, bound) else { continue };
        if !context.spend(READ_COST / 8) {
            return Ok(None);
        }
        let Some(tail) = tail(context, header, span, flip == 0)? else { continue };
        let frame = Frame { span, header, tail };
        let body = frame.body();
        let known = hashed.iter().find(|(span, _)| *span == body).map(|(_, hash)| *hash);
        let hash = match known {
            Some(hash) => hash,
            None => match context.hash(body)? {
                Some(hash) => hash,
                None => return Ok(None),
            },
        };
        if known.is_none() {
            hashed.push((body, hash));
        }
        // Without a hash the content decides.
        let is_bare = tail.hash == 0
            && !header.flags.contains(FrameFlags::HASHED)
            && is_near_end(context, span)?
            && is_filled(context, &frame)?;
        if (hash == tail.hash || is_bare) && broken(context, &frame)?.is_none() {
            let found = IntactFrame { frame, hash, patch: None, is_repaired: true };
            if best.as_ref().is_none_or(|best| order(&found) < order(best)) {
                best = Some(found);
            }
        }
    }
    Ok(best)
}

fn header(bytes: u128, at: u64, bound: u64) -> Option<(FrameHeader, Span)> {
    let header = FrameHeader::read(&bytes.to_le_bytes(), at).ok()?;
    let span = Span::new(at, header.len).filter(|span| span.end() <= bound)?;
    (!header.kind.is_passed_over()).then_some((header, span))
}

/// The tail of a frame; its end magic is assumed if that may be the damaged part.
fn tail(
    context: &mut RepairContext<'_>,
    header: FrameHeader,
    span: Span,
    is_end_free: bool,
) -> Result<Option<FrameTail>> {
    let len = header.kind.tail_len();
    let tail_at = span.end().saturating_sub(len);
    let mut bytes = context.window.near(tail_at, len)?.to_vec();
    let end = bytes.len().checked_sub(FRAME_END.len());
    if let Some(end) = end.and_then(|at| bytes.get_mut(at..)).filter(|_| is_end_free) {
        end.copy_from_slice(&FRAME_END);
    }
    Ok(FrameTail::read(header.kind, &bytes, tail_at).ok())
}

/// Whether a frame ends with `ENDF` except for one letter.
fn is_near_end(context: &mut RepairContext<'_>, span: Span) -> Result<bool> {
    let len = FRAME_END.len() as u64;
    let bytes = context.window.near(span.end().saturating_sub(len), len)?;
    let same = bytes.iter().zip(FRAME_END).filter(|(found, wanted)| **found == *wanted);
    Ok(FRAME_END.len() <= same.count().saturating_add(1))
}

/// Whether nothing follows the CBOR of a frame; otherwise any later `ENDF` could be its end.
fn is_filled(context: &mut RepairContext<'_>, frame: &Frame) -> Result<bool> {
    let (body, limits) = (frame.body(), context.limits);
    if frame.kind() == FrameKind::Tensor {
        return Ok(true);
    }
    if limits.cbor_len_max < body.len() || !context.spend(body.len()) {
        return Ok(false);
    }
    let bytes = context.source.read_vec(body.start(), body.len())?;
    let mut reader = Reader::new(&bytes, 0, body.start(), limits.depth_max);
    Ok(reader.skip(0).is_ok() && reader.is_at_end())
}

/// A frame whose bytes do not match its hash, with the flipped bit corrected.
pub(super) fn body(
    context: &mut RepairContext<'_>,
    intact: &IntactFrame,
) -> Result<Option<IntactFrame>> {
    let (slot, body) = (intact.frame.tail.hash, intact.frame.body());
    if (slot ^ intact.hash).is_power_of_two() {
        let mut repaired = *intact;
        (repaired.frame.tail.hash, repaired.is_repaired) = (intact.hash, true);
        return Ok(Some(repaired));
    }
    if FLIP_BODY_MAX < body.len() || !context.spend_flips(body.len()) {
        return Ok(None);
    }
    let mut bytes = context.source.read_vec(body.start(), body.len())?;
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let Some(byte) = bytes.get_mut(at) else { break };
            *byte ^= 1 << bit;
            let patched = *byte;
            if digest(&bytes).xxh3 == slot {
                let patch = Some((body.start().saturating_add(at as u64), patched));
                let repaired = IntactFrame { hash: slot, patch, is_repaired: true, ..*intact };
                return Ok(Some(repaired));
            }
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << bit;
            }
        }
    }
    Ok(None)
}

/// A tensor frame whose bytes match its hash but that has no descriptor at the stated offset, with
/// the offset corrected.
pub(super) fn descriptor(
    context: &mut RepairContext<'_>,
    intact: &IntactFrame,
) -> Result<Option<IntactFrame>> {
    let Some(offset) = intact.frame.tail.descriptor_offset else { return Ok(None) };
    let len = intact.frame.header.len.saturating_sub(TENSOR_TAIL_LEN);
    let flags = intact.frame.header.flags;
    let turned = FrameFlags::from_bits(flags.bits() ^ FrameFlags::DESCRIPTOR_LAST.bits());
    let flips = (0..64).map(|bit| (flags, offset ^ 1 << bit));
    for (flags, offset) in std::iter::once((turned, offset)).chain(flips) {
        if !(FRAME_HEADER_LEN..=len).contains(&offset) || !context.spend(READ_COST) {
            continue;
        }
        let mut repaired = IntactFrame { is_repaired: true, ..*intact };
        repaired.frame.header.flags = flags;
        repaired.frame.tail.descriptor_offset = Some(offset);
        if broken(context, &repaired.frame)?.is_none() {
            return Ok(Some(repaired));
        }
    }
    Ok(None)
}
