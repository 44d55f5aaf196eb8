//! A message of what is left of one: what is kept, what is written anew, and what that costs.
//!
//! ```text
//!   nothing but flipped bits, padding and ends   patch.rs: the old message, with these corrected
//!   else                                         its tensor frames, as they are, in a new message
//! ```

use std::collections::HashSet;

use tet_format::{ForeignRule, Span};
use tet_io::Image;
use tet_report::{Kept, Proof};

use super::context::RepairContext;
use super::edit::{Action, Edit, Loss, new_edit};
use super::message::{Said, Thing, read};
use super::patch::{old, patched};
use super::remains::{Remains, Whole};
use super::{RepairOptions, Salvage};
use crate::check::structure_error;
use crate::edit::{Carried, Draft, Site, lay};
use crate::error::{Error, Result};
use crate::frame::{FRAME_HEADER_LEN, Frame, FrameKind, TAIL_LEN};
use crate::message::is_hashed;
use crate::metadata::{Metadata, Pairs, put};
use crate::postamble::{END_MAGIC, POSTAMBLE_LEN};
use crate::preamble::VERSION;
use crate::walk::padding_len;
use crate::write::VersionKey;
use crate::{Value, rule};

/// What is done for a stretch of the file.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) edits: Vec<Edit>,
    /// What stays damaged.
    pub(super) lost: Vec<Loss>,
    pub(super) kept: Vec<Kept>,
}

impl Outcome {
    /// The message stays as it is, with its damage.
    fn keep(&mut self, lost: impl IntoIterator<Item = Loss>) -> Option<Image> {
        self.edits.clear();
        self.lost.extend(lost);
        Some(Image::default())
    }

    fn has_lost(&self) -> bool {
        let is_loss = |it: &Edit| matches!(it.action, Action::DropBytes | Action::DropObjects);
        self.edits.iter().any(is_loss)
    }

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

/// Makes a message of what is left of one in `span`, to start at `start` of the new file; `None` if no
/// object is left that it could have.
///
/// Without an edit the message is to stay what it is.
pub(super) fn build(
    context: &mut RepairContext<'_>,
    remains: &Remains,
    (options, broken, stretch): (&RepairOptions, &'static ForeignRule, Stretch),
    (span, start): (Span, u64),
) -> Result<(Option<Image>, Outcome)> {
    let (mut said, mut out) = (read(context, remains)?, Outcome::default());
    if let Some(image) = mended(context, remains, &said, (options, broken), &mut out)? {
        note_kept(&said, &mut out);
        return Ok((Some(image), out));
    }
    note_lost(remains, &said, broken, &mut out);
    let spared = said.things.iter().filter(|it| it.broken.is_some() || it.is_strange);
    let spared: Vec<Span> = spared.map(|it| it.whole.frame.span).collect();
    drop_objects(&mut said, options.salvage, &mut out);
    if said.things.is_empty() {
        let losses = out.edits.iter().filter(|it| it.action == Action::DropObjects);
        let mut losses: Vec<Loss> = losses.flat_map(|it| it.losses.clone()).collect();
        losses.insert(0, Loss::Bytes { offset: span.start(), len: span.len() });
        out.edits.clear();
        out.edit((broken, Action::DropMessage, Proof::None), span, losses);
        return Ok((None, out));
    }
    note_kept(&said, &mut out);
    let tampered = said.papers().filter(|(_, rule, is_read)| rule.is_some() && *is_read);
    let tampered: Vec<u64> = tampered.map(|(frame, ..)| frame.at()).collect();
    if options.salvage == Salvage::None && !tampered.is_empty() {
        let loss = |offset| Loss::Metadata { offset, rule: &rule::HASH };
        return Ok((out.keep(tampered.into_iter().map(loss)), out));
    }
    note_mended(remains, &said, &mut out);
    let metadata = metadata(&said, &mut out);
    let why = match stretch {
        Stretch::Gap => Some(broken),
        Stretch::Message => structure_error(&mut context.window, span, context.limits, &spared)?,
    };
    if let Some(rule) = why.or(said.odd) {
        out.edit((rule, Action::WriteMessage, Proof::Rest), span, Vec::new());
    }
    if out.edits.is_empty() {
        if out.lost.is_empty() {
            out.edit((broken, Action::WriteMessage, Proof::Rest), span, Vec::new());
        } else {
            return Ok((Some(Image::default()), out));
        }
    }
    let image =
        match lay(&draft(context, remains, &said, metadata), Site { start, next_start: None }) {
            Ok(image) => Some(image),
            Err(Error::Io(error)) => return Err(Error::Io(error)),
            Err(_) => out.keep([Loss::Message { offset: span.start(), rule: broken }]),
        };
    Ok((image, out))
}

/// A part of the file: a message that a scan finds, or bytes of none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stretch {
    Message,
    Gap,
}

/// The old message with its flipped bits, padding and ends corrected, if nothing else is wrong with it.
fn mended(
    context: &mut RepairContext<'_>,
    remains: &Remains,
    said: &Said,
    (options, broken): (&RepairOptions, &'static ForeignRule),
    out: &mut Outcome,
) -> Result<Option<Image>> {
    if remains.postamble.is_none() && !has_end(context, remains)? {
        return Ok(None);
    }
    let Some((image, written)) = patched(context, remains, said, options)? else { return Ok(None) };
    note_mended(remains, said, out);
    if let Some(span) = written {
        out.edit((broken, Action::WriteEnds, Proof::Rest), span, Vec::new());
    }
    Ok((!out.edits.is_empty()).then_some(image))
}

/// The tensors that are left, as a new message.
fn draft(
    context: &mut RepairContext<'_>,
    remains: &Remains,
    said: &Said,
    (metadata, version_key): (Metadata, VersionKey),
) -> Draft {
    let flags = remains.preamble.map(|preamble| preamble.flags).unwrap_or_default();
    let kinds = [FrameKind::HeaderHashes, FrameKind::FooterHashes];
    let is_listed = kinds.into_iter().any(|kind| {
        flags.contains(kind.flag()) || remains.frames.iter().any(|it| it.frame.kind() == kind)
    });
    let (rule, limits) = (said.hash_rule, *context.limits);
    let listed = |it: &Thing| said.list.as_ref()?.hashes().get(it.number?).copied();
    let carried = |it: &Thing| {
        let is_hashed = is_hashed(rule, &it.whole.frame);
        let slot = is_hashed.then_some(it.whole.frame.tail.hash);
        carried(context, &it.whole, is_hashed, slot.or_else(|| listed(it)))
    };
    let tensors = said.things.iter().map(carried).collect();
    Draft { metadata, tensors, rule, version_key, is_listed, limits }
}

/// A tensor frame as it is, or as it is to be. A payload that is aligned stays so.
fn carried(
    context: &RepairContext<'_>,
    whole: &Whole,
    is_hashed: bool,
    hash: Option<u64>,
) -> Carried {
    let Frame { span, header, tail } = whole.frame;
    let is_aligned = span.start().saturating_add(FRAME_HEADER_LEN).is_multiple_of(ALIGN);
    let (mut source, mut span) = (context.source.clone(), span);
    if whole.is_mended {
        let mut image = Image::default();
        old(context.source, whole, &mut image);
        (source, span) = (image.to_source(), Span::new(0, span.len()).unwrap_or(span));
    }
    let (frame, align) = (Frame { span, header, tail }, if is_aligned { ALIGN } else { 8 });
    Carried { source, frame, payload_offset: FRAME_HEADER_LEN, is_hashed, hash, align }
}

/// Payloads that were at a multiple of this are so again.
const ALIGN: u64 = 64;

/// Whether a postamble stands behind the last frame, damaged or not.
fn has_end(context: &mut RepairContext<'_>, remains: &Remains) -> Result<bool> {
    let last = remains.frames.last().map_or(remains.start, |it| it.frame.span.end());
    let aligned = last.saturating_add(padding_len(last.saturating_sub(remains.start)));
    let bytes = context.window.near(aligned, POSTAMBLE_LEN)?;
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
    let known = known(said);
    let missing = (0..count.unwrap_or(0)).filter(|number| !known.contains(number));
    missing
        .filter_map(|number| Some(Loss::Missing { number, name: name_of(said, number)? }))
        .collect()
}

/// The objects that a frame is known to be.
fn known(said: &Said) -> HashSet<usize> {
    said.things.iter().filter_map(|it| it.number).collect()
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

/// Takes damaged objects out, or says that they stay; frames without a place in a new message go.
fn drop_objects(said: &mut Said, salvage: Salvage, out: &mut Outcome) {
    let loss = |thing: &Thing, rule| {
        let name = thing.number.and_then(|number| name_of(said, number));
        Loss::Object { offset: thing.whole.frame.at(), rule, name }
    };
    let strange = said.things.iter().filter(|it| it.is_strange);
    out.lost.extend(strange.map(|it| loss(it, &rule::DESCRIPTOR_DTYPE)));
    for thing in &said.things {
        let Some(rule) = thing.broken else { continue };
        let loss = loss(thing, rule);
        if salvage == Salvage::None {
            out.lost.push(loss);
        } else {
            let why = (rule, Action::DropObjects, Proof::Rest);
            out.edit(why, thing.whole.frame.span, vec![loss]);
        }
    }
    for (whole, rule) in &said.placeless {
        let (frame, rule) = (whole.frame, *rule);
        let (offset, len) = (frame.at(), frame.span.len());
        let (action, loss) = match frame.kind() {
            FrameKind::Preceder => (Action::WriteMetadata, Loss::Metadata { offset, rule }),
            FrameKind::Obsolete => (Action::DropObjects, Loss::Object { offset, rule, name: None }),
            _ => (Action::DropBytes, Loss::Bytes { offset, len }),
        };
        out.edit((rule, action, Proof::None), frame.span, vec![loss]);
    }
    if salvage == Salvage::Objects {
        said.things.retain(|it| it.broken.is_none());
    }
}

/// All that is said of the objects that are left.
fn metadata(said: &Said, out: &mut Outcome) -> (Metadata, VersionKey) {
    let mut all = Metadata::default();
    let read = said.metadata.iter().filter_map(|it| it.said.as_ref().ok());
    read.clone().for_each(|it| all.merge(it.clone()));
    for (frame, rule, _) in said.papers() {
        let Some(rule) = rule else { continue };
        let loss = Loss::Metadata { offset: frame.at(), rule };
        out.edit((rule, Action::WriteMetadata, Proof::None), frame.span, vec![loss]);
    }
    let known = known(said);
    let mut entries = all.base.iter().enumerate();
    let is_more = entries.any(|(number, it)| !it.is_empty() && !known.contains(&number));
    let frame = said.metadata.last().map(|it| it.whole.frame);
    if let Some(frame) = frame.filter(|_| is_more && !out.has_lost()) {
        let (offset, rule) = (frame.at(), &rule::BASE_COUNT);
        let losses = vec![Loss::Metadata { offset, rule }];
        out.edit((rule, Action::WriteMetadata, Proof::None), frame.span, losses);
    }
    let is_silent = read.count() == 0;
    let is_nameless = |it: &&Thing| it.preceder.is_none() && (is_silent || it.number.is_none());
    let count = said.things.iter().filter(is_nameless).count() as u64;
    let first = frame.or_else(|| Some(said.things.first()?.whole.frame));
    if let Some(frame) = first.filter(|_| count != 0 && (is_silent || !all.base.is_empty())) {
        let rule = if is_silent { &rule::METADATA_MISSING } else { &rule::BASE_COUNT };
        let losses = vec![Loss::Entries { count }];
        out.edit((rule, Action::WriteMetadata, Proof::None), frame.span, losses);
    }
    let entry = |it: &Thing| it.number.and_then(|number| all.base.get(number)).cloned();
    let mut base: Vec<Pairs> = said.things.iter().map(|it| entry(it).unwrap_or_default()).collect();
    for (entry, thing) in base.iter_mut().zip(&said.things) {
        let over = thing.preceder.as_ref().and_then(|it| it.said.as_ref().ok());
        put(entry, over.cloned().unwrap_or_default());
    }
    let is_old =
        |(key, value): &(String, Value)| key == VERSION_KEY && *value == Value::Int(VERSION.into());
    let is_old = all.extra.iter().any(is_old);
    let version_key = if is_old { VersionKey::Written } else { VersionKey::Absent };
    (Metadata { base, ..all }, version_key)
}

/// The key that programs of 0.17 look for.
const VERSION_KEY: &str = "version";
