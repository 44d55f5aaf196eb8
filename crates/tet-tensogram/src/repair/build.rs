//! A message of what is left of one: what is kept, what is written anew, and what that costs.

use tet_format::{ForeignRule, Span};
use tet_io::Image;
use tet_report::{Kept, Proof};

use super::bench::Bench;
use super::edit::{Action, Edit, Loss, new_edit};
use super::frames::Remains;
use super::layout::{self, Part};
use super::message::{Paper, Said, Thing, bytes, read};
use super::papers;
use super::patch::patched;
use super::{RepairOptions, Salvage};
use crate::error::Result;
use crate::frame::{FRAME_HEADER_LEN, Frame, FrameKind, Phase, TAIL_LEN};
use crate::message::HashRule;
use crate::postamble::{END_MAGIC, POSTAMBLE_LEN};
use crate::preamble::Flags;
use crate::rule;
use crate::walk::padding_len;

/// What is done for a stretch of the file.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) edits: Vec<Edit>,
    /// What stays damaged.
    pub(super) lost: Vec<Loss>,
    pub(super) kept: Vec<Kept>,
}

impl Outcome {
    pub(super) fn edit(
        &mut self,
        (rule, action, proof): (&'static ForeignRule, Action, Proof),
        span: Span,
        losses: Vec<Loss>,
    ) {
        let edit = new_edit(rule, (span.start(), span.len()), action);
        self.edits.push(edit.losses(losses).proof(proof));
    }
}

/// Makes a message of what is left of one, to start at `start` of the new file; `None` if no object is
/// left that it could have.
///
/// Without an edit the message is to stay what it is.
pub(super) fn build(
    bench: &mut Bench<'_>,
    remains: &Remains,
    (options, broken): (&RepairOptions, &'static ForeignRule),
    start: u64,
) -> Result<(Option<Image>, Outcome)> {
    let (mut said, mut out) = (read(bench, remains)?, Outcome::default());
    let has_end = has_end(bench, remains)?;
    if (remains.postamble.is_some() || has_end)
        && !said.things.is_empty()
        && let Some(image) = patched(bench, remains, &said, options)?
    {
        note_mended(remains, &said, &mut out);
        ends(remains, &mut out);
        if !out.edits.is_empty() {
            note_kept(&said, &mut out);
            return Ok((Some(image), out));
        }
    }
    let had_objects = !said.things.is_empty();
    let whole = Span::from_range(remains.start..remains.end);
    let span = whole.unwrap_or_else(|| Span::new(remains.start, 0).expect("no bytes fit anywhere"));
    note_lost(remains, &said, broken, &mut out);
    let is_cut = out.edits.iter().any(|it| it.action == Action::DropBytes);
    drop_objects(&mut said, options.salvage, &mut out);
    let is_bare = !is_cut && !had_objects && papers::is_bare(&said) && has_end;
    if said.things.is_empty() && !is_bare {
        let (offset, len) = (span.start(), span.len());
        let mut dropped = Outcome::default();
        let mut losses = vec![Loss::Bytes { offset, len }];
        losses.extend(
            out.edits
                .into_iter()
                .filter(|it| it.action == Action::DropObjects)
                .flat_map(|edit| edit.losses),
        );
        dropped.edit((broken, Action::DropMessage, Proof::None), span, losses);
        return Ok((None, dropped));
    }
    note_mended(remains, &said, &mut out);
    let mut parts = Vec::new();
    papers::metadata(&said, options.salvage, is_cut, &mut parts, &mut out)?;
    body(bench, &mut said, options.salvage, &mut parts, &mut out)?;
    indices(remains, &said, is_cut, &mut parts, &mut out);
    order(remains, &said, &mut out);
    // In each part of a message any order is as good: that of the old one.
    let place = |kind: FrameKind| remains.frames.iter().position(|it| it.frame.kind() == kind);
    parts.sort_by_key(|part: &Part| match part.kind().phase() {
        None | Some(Phase::Body) => (Phase::Body, 0),
        Some(phase) => (phase, place(part.kind()).unwrap_or(usize::MAX)),
    });
    let image = layout::message(bench.source, &parts, said.hash_rule, start);
    ends(remains, &mut out);
    if out.edits.is_empty() && out.lost.is_empty() {
        out.edit((broken, Action::OrderFrames, Proof::Rest), span, Vec::new());
    }
    note_kept(&said, &mut out);
    Ok((Some(image), out))
}

/// Whether a postamble stands behind the last frame, damaged or not.
fn has_end(bench: &mut Bench<'_>, remains: &Remains) -> Result<bool> {
    let last = remains.frames.last().map_or(remains.start, |it| it.frame.span.end());
    let aligned = last.saturating_add(padding_len(last.saturating_sub(remains.start)));
    let bytes = bench.window.near(aligned, POSTAMBLE_LEN)?;
    let found = bytes.last_chunk::<8>().copied().unwrap_or_default();
    let same = found.iter().zip(END_MAGIC).filter(|(found, wanted)| *found == wanted).count();
    Ok(remains.end.checked_sub(aligned) == Some(POSTAMBLE_LEN) && END_LETTERS_MIN <= same)
}

/// In fewer bytes no frame is lost.
const FRAME_LEN_MIN: u64 = FRAME_HEADER_LEN + TAIL_LEN;

/// So many letters of the end magic are one that is damaged.
const END_LETTERS_MIN: usize = 5;

/// Stretches that are no frames: a damaged postamble is none of them.
fn note_lost(remains: &Remains, said: &Said, broken: &'static ForeignRule, out: &mut Outcome) {
    let mut missing = missing(said);
    let is_end = |span: &Span| {
        remains.postamble.is_none() && span.end() == remains.end && span.len() <= POSTAMBLE_LEN + 7
    };
    for span in &remains.lost {
        if span.len() < FRAME_LEN_MIN || is_end(span) {
            continue;
        }
        let mut losses = vec![Loss::Bytes { offset: span.start(), len: span.len() }];
        losses.append(&mut missing);
        out.edit((broken, Action::DropBytes, Proof::None), *span, losses);
    }
}

/// What metadata calls an object.
fn name_of(said: &Said, number: usize) -> Option<String> {
    said.metadata.iter().rev().find_map(|paper| {
        let pairs = paper.said.as_ref().ok()?.base.get(number)?;
        let (_, name) = pairs.iter().find(|(key, _)| key == "name")?;
        name.as_text().map(str::to_owned)
    })
}

/// The objects that metadata names and that no frame is known to be.
fn missing(said: &Said) -> Vec<Loss> {
    let count = said.metadata.iter().filter_map(|it| Some(it.said.as_ref().ok()?.base.len())).max();
    let is_found = |number: usize| said.things.iter().any(|it| it.number == Some(number));
    let missing = (0..count.unwrap_or(0)).filter(|number| !is_found(*number));
    missing
        .filter_map(|number| Some(Loss::Missing { number, name: name_of(said, number)? }))
        .collect()
}

/// Objects that are sound.
fn note_kept(said: &Said, out: &mut Outcome) {
    let kept = said.things.iter().filter(|thing| thing.broken.is_none());
    out.kept.extend(kept.map(|it| {
        let (offset, is_verified) = (it.whole.frame.at(), it.is_verified);
        Kept { offset, is_verified }
    }));
}

fn note_mended(remains: &Remains, said: &Said, out: &mut Outcome) {
    let others = remains.frames.iter().filter(|it| it.frame.kind() != FrameKind::Tensor);
    let all = others.chain(said.things.iter().map(|it| &it.whole));
    for whole in all.filter(|it| it.is_mended) {
        let is_proven = whole.hash == whole.frame.tail.hash;
        let (rule, proof) = if is_proven {
            (&rule::HASH, Proof::Digest)
        } else {
            (&rule::FRAME_MAGIC, Proof::Rest)
        };
        out.edit((rule, Action::MendFrame, proof), whole.frame.span, Vec::new());
    }
    for span in remains.odd.iter().filter_map(|at| Span::new(*at, 1)) {
        out.edit((&rule::PADDING, Action::ClearPadding, Proof::Rest), span, Vec::new());
    }
}

/// Takes damaged objects out, or says that they stay.
fn drop_objects(said: &mut Said, salvage: Salvage, out: &mut Outcome) {
    let loss = |thing: &Thing, rule| {
        let name = thing.number.and_then(|number| name_of(said, number));
        Loss::Object { offset: thing.whole.frame.at(), rule, name }
    };
    let strange = said.things.iter().filter(|it| it.is_strange);
    out.lost.extend(strange.map(|it| loss(it, &rule::DESCRIPTOR_DTYPE)));
    let damaged = said.things.iter().filter_map(|it| Some((it, it.broken?)));
    let damaged: Vec<(Span, &'static ForeignRule, Loss)> =
        damaged.map(|(it, rule)| (it.whole.frame.span, rule, loss(it, rule))).collect();
    if salvage == Salvage::None {
        out.lost.extend(damaged.into_iter().map(|(.., loss)| loss));
        return;
    }
    said.things.retain(|it| it.broken.is_none());
    for (span, rule, loss) in damaged {
        out.edit((rule, Action::DropObjects, Proof::Rest), span, vec![loss]);
    }
}

/// Tensors with their preceders, and frames that nobody knows.
fn body(
    bench: &Bench<'_>,
    said: &mut Said,
    salvage: Salvage,
    parts: &mut Vec<Part>,
    out: &mut Outcome,
) -> Result<()> {
    let mut unknown = said.unknown.iter().peekable();
    for thing in &said.things {
        let at = thing.preceder.as_ref().map_or(thing.whole.frame.at(), |it| it.whole.frame.at());
        while let Some(before) = unknown.next_if(|it| it.frame.at() < at) {
            parts.push(Part::Old(*before));
        }
        if let Some(paper) = &thing.preceder {
            preceder(bench, paper, salvage, parts, out)?;
        }
        parts.push(Part::Old(thing.whole));
    }
    parts.extend(unknown.map(|it| Part::Old(*it)));
    Ok(())
}

fn preceder(
    bench: &Bench<'_>,
    paper: &Paper<()>,
    salvage: Salvage,
    parts: &mut Vec<Part>,
    out: &mut Outcome,
) -> Result<()> {
    let frame = paper.whole.frame;
    let loss = |rule| Loss::Metadata { offset: frame.at(), rule };
    match paper.rule() {
        None => parts.push(Part::Old(paper.whole)),
        Some(rule) if paper.said.is_ok() && salvage == Salvage::None => {
            out.lost.push(loss(rule));
            parts.push(Part::Old(paper.whole));
        }
        Some(rule) => {
            if paper.said.is_ok() {
                parts.push(Part::New(frame.kind(), bytes(bench, &paper.whole)?));
            }
            let why = (rule, Action::WriteMetadata, Proof::None);
            out.edit(why, frame.span, vec![loss(rule)]);
        }
    }
    Ok(())
}

/// An index and a list of hashes, where there were some or should be.
fn indices(remains: &Remains, said: &Said, is_cut: bool, parts: &mut Vec<Part>, out: &mut Outcome) {
    let flags = remains.preamble.map(|preamble| preamble.flags).unwrap_or_default();
    let footers = [Flags::FOOTER_METADATA, Flags::FOOTER_INDEX, Flags::FOOTER_HASHES];
    let is_stream = footers.into_iter().any(|flag| flags.contains(flag))
        || remains.frames.iter().any(|it| it.frame.kind().phase() == Some(Phase::Footer));
    let had = |kind, flag| {
        flags.contains(flag) || remains.frames.iter().any(|it| it.frame.kind() == kind)
    };
    let is_empty = said.things.is_empty();
    let hashed = |frame: &Frame| crate::message::is_hashed(said.hash_rule, frame);
    let is_listable = said.hash_rule != HashRule::Unhashed
        && said.things.iter().all(|it| hashed(&it.whole.frame) && it.is_verified);
    let mut kept = Vec::new();
    for (kind, flag) in [
        (FrameKind::HeaderHashes, Flags::HEADER_HASHES),
        (FrameKind::FooterHashes, Flags::FOOTER_HASHES),
    ] {
        // A list that says of damaged objects what they should be is worth more than a new one.
        let old = said.lists.iter().find(|it| it.whole.frame.kind() == kind);
        match old.filter(|it| it.sound().is_some() && !is_listable && !is_cut) {
            Some(old) => {
                parts.push(Part::Old(old.whole));
                kept.push(kind);
            }
            None if had(kind, flag) && is_listable && !is_empty => parts.push(Part::Hashes(kind)),
            None => {}
        }
    }
    let has = [FrameKind::HeaderIndex, FrameKind::FooterIndex].map(|kind| {
        let flag =
            if kind == FrameKind::HeaderIndex { Flags::HEADER_INDEX } else { Flags::FOOTER_INDEX };
        had(kind, flag)
    });
    let [is_header, is_footer] = if has == [false, false] { [!is_stream, is_stream] } else { has };
    for (kind, is_there) in
        [(FrameKind::HeaderIndex, is_header), (FrameKind::FooterIndex, is_footer)]
    {
        if is_there && !is_empty {
            parts.push(Part::Index(kind));
        }
    }
    papers::note_indices(remains, said, is_cut, &kept, out);
}

/// Frames that stand in no order, or have no place.
fn order(remains: &Remains, said: &Said, out: &mut Outcome) {
    let phases: Vec<Phase> =
        remains.frames.iter().filter_map(|it| it.frame.kind().phase()).collect();
    let span = remains.frames.first().map(|it| it.frame.span);
    if let Some(span) = span.filter(|_| !phases.is_sorted()) {
        out.edit((&rule::FRAME_ORDER, Action::OrderFrames, Proof::Rest), span, Vec::new());
    }
    for whole in &said.alone {
        let (rule, offset) = (&rule::PRECEDER_ALONE, whole.frame.at());
        let losses = vec![Loss::Metadata { offset, rule }];
        out.edit((rule, Action::OrderFrames, Proof::Rest), whole.frame.span, losses);
    }
    for whole in &said.obsolete {
        let (rule, span) = (&rule::OBSOLETE, whole.frame.span);
        let losses = vec![Loss::Object { offset: span.start(), rule, name: None }];
        out.edit((rule, Action::DropObjects, Proof::None), span, losses);
    }
}

/// What is wrong with the first and the last bytes.
fn ends(remains: &Remains, out: &mut Outcome) {
    let Remains { start, preamble, postamble, end, frames, .. } = remains;
    let len = end.saturating_sub(*start);
    let is_footer = |frame: &&Frame| frame.kind().phase() == Some(Phase::Footer);
    let footer_at = frames.iter().map(|it| &it.frame).find(is_footer).map(Frame::at);
    let broken = match (preamble, postamble) {
        (None, _) => Some(&rule::MAGIC),
        (Some(preamble), None) if preamble.total_len == 0 => Some(&rule::STREAM_CUT),
        (Some(_), None) => Some(&rule::END_MAGIC),
        (Some(preamble), Some((at, postamble))) => {
            let footer = footer_at.unwrap_or(*at).saturating_sub(*start);
            let is_len = |stated: u64| stated == 0 || stated == len;
            if !is_len(preamble.total_len) || !is_len(postamble.total_len) {
                Some(&rule::TOTAL_DIFFERS)
            } else if postamble.first_footer_offset != footer {
                Some(&rule::FOOTER_OFFSET)
            } else {
                None
            }
        }
    };
    let span = Span::new(*start, len);
    if let Some((rule, span)) = broken.zip(span) {
        out.edit((rule, Action::WriteEnds, Proof::Rest), span, Vec::new());
    }
}
