//! A message made of old frames and new ones: where each goes, and the bytes of it.

use tet_format::Span;
use tet_io::{Image, Source};

use super::frames::Whole;
use crate::frame::{FRAME_HEADER_LEN, FrameKind, Phase};
use crate::hashes::HashList;
use crate::index::{Index, IndexEntry};
use crate::message::HashRule;
use crate::postamble::{POSTAMBLE_LEN, Postamble};
use crate::preamble::{Flags, PREAMBLE_LEN, Preamble};
use crate::write::cbor_frame;

/// Payloads that stood at a multiple of this do so again.
const ALIGN: u64 = 64;

/// A frame of the new message.
#[derive(Debug)]
pub(super) enum Part {
    Old(Whole),
    /// A frame of this body.
    New(FrameKind, Vec<u8>),
    /// The index, which says where the tensors go.
    Index(FrameKind),
    /// The list of the hashes of the tensors.
    Hashes(FrameKind),
}

impl Part {
    pub(super) const fn kind(&self) -> FrameKind {
        match self {
            Part::Old(whole) => whole.frame.kind(),
            Part::New(kind, _) | Part::Index(kind) | Part::Hashes(kind) => *kind,
        }
    }

    fn tensor(&self) -> Option<&Whole> {
        match self {
            Part::Old(whole) if whole.frame.kind() == FrameKind::Tensor => Some(whole),
            _ => None,
        }
    }
}

/// A message of these parts of `source`, in their order, that starts at `start` of the new file.
pub(super) fn message(source: &Source, parts: &[Part], rule: HashRule, start: u64) -> Image {
    let hashes: Vec<u64> =
        parts.iter().filter_map(Part::tensor).map(|whole| whole.frame.tail.hash).collect();
    let mut entries = vec![IndexEntry { offset: 0, len: 0 }; hashes.len()];
    // Offsets only grow with the index, and that with them: it comes to an end.
    let (bodies, places, end) = loop {
        let bodies: Vec<Vec<u8>> = parts.iter().map(|it| body(it, &entries, &hashes)).collect();
        let (places, end) = places(parts, &bodies, start);
        let tensors = parts.iter().zip(&places);
        let tensors = tensors.filter_map(|(part, at)| Some((part.tensor()?, at)));
        let found: Vec<IndexEntry> = tensors
            .map(|(whole, at)| IndexEntry { offset: *at, len: whole.frame.header.len })
            .collect();
        if found == entries {
            break (bodies, places, end);
        }
        entries = found;
    };
    let hashed = if rule == HashRule::Unhashed { Flags::default() } else { Flags::HASHED };
    let flags = parts.iter().fold(hashed, |flags, part| flags.with(part.kind().flag()));
    let total_len = end.saturating_add(POSTAMBLE_LEN);
    let (mut out, mut bytes) = (Image::default(), Vec::new());
    Preamble { flags, reserved: 0, total_len }.write(&mut bytes);
    out.append(bytes);
    for ((part, body), at) in parts.iter().zip(&bodies).zip(&places) {
        out.resize(*at);
        match part {
            Part::Old(whole) => old(source, whole, &mut out),
            other => {
                let mut frame = Vec::new();
                cbor_frame(other.kind(), body, rule, &mut frame);
                out.append(frame);
            }
        }
    }
    out.resize(end);
    let is_footer = |it: &&(&Part, &u64)| it.0.kind().phase() == Some(Phase::Footer);
    let footer = parts.iter().zip(&places).find(|it| is_footer(&it)).map(|(_, at)| *at);
    let (first_footer_offset, mut bytes) = (footer.unwrap_or(end), Vec::new());
    Postamble { first_footer_offset, total_len }.write(&mut bytes);
    out.append(bytes);
    out
}

fn body(part: &Part, entries: &[IndexEntry], hashes: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    match part {
        Part::Old(_) => {}
        Part::New(_, body) => bytes.clone_from(body),
        Part::Index(_) => Index::write(entries, &mut bytes),
        Part::Hashes(_) => HashList::write(hashes, &mut bytes),
    }
    bytes
}

/// Where frames go, and where the postamble does, from the start of the message.
fn places(parts: &[Part], bodies: &[Vec<u8>], start: u64) -> (Vec<u64>, u64) {
    let (mut at, mut places) = (PREAMBLE_LEN, Vec::new());
    for (part, body) in parts.iter().zip(bodies) {
        at = at.next_multiple_of(8);
        let len = match part {
            Part::Old(whole) => {
                let payload = |at: u64| at.saturating_add(FRAME_HEADER_LEN);
                let is_aligned = payload(whole.frame.at()).is_multiple_of(ALIGN);
                if part.tensor().is_some() && is_aligned && start.is_multiple_of(8) {
                    let there = payload(at.saturating_add(start));
                    let missing = there.next_multiple_of(ALIGN).saturating_sub(there);
                    at = at.saturating_add(missing);
                }
                whole.frame.span.len()
            }
            other => other.kind().len_min().saturating_add(body.len() as u64),
        };
        places.push(at);
        at = at.saturating_add(len);
    }
    (places, at.next_multiple_of(8))
}

/// A frame of the old file, with what is mended of it.
pub(super) fn old(source: &Source, whole: &Whole, out: &mut Image) {
    let (frame, body) = (whole.frame, whole.frame.body());
    if !whole.is_mended {
        out.append_span(source, frame.span);
        return;
    }
    let mut bytes = Vec::new();
    frame.header.write(&mut bytes);
    out.append(bytes);
    match whole.patch {
        Some((at, byte)) => {
            let behind = at.saturating_add(1);
            out.append_span(source, Span::from_range(body.start()..at));
            out.append([byte]);
            out.append_span(source, Span::from_range(behind..body.end()));
        }
        None => out.append_span(source, body),
    }
    let mut bytes = Vec::new();
    frame.tail.write(&mut bytes);
    out.append(bytes);
}
