//! Rebuilds a message from its intact parts: what is copied, what is rewritten, and what is lost.
//!
//! ```text
//!   only flipped bits, padding and ends wrong    patch.rs: the old message, with these corrected
//!   else                                         its tensor frames, copied to a new message
//! ```

use std::collections::HashSet;

use tet_format::{ForeignRule, Span};
use tet_io::Image;
use tet_report::{KeptObject, Proof};

use super::context::RepairContext;
use super::edit::{Action, Edit, Loss, new_edit};
use super::fragment::{Fragment, IntactFrame};
use super::message::{Parsed, TensorFrame, read};
use super::patch::{old, patched};
use super::{RepairOptions, Salvage};
use crate::check::structure_error;
use crate::edit::{Draft, Site, TensorCopy, lay};
use crate::error::{Error, Result};
use crate::frame::{FRAME_HEADER_LEN, Frame, FrameKind, TAIL_LEN};
use crate::message::is_hashed;
use crate::metadata::{Metadata, Pairs, put};
use crate::postamble::{END_MAGIC, POSTAMBLE_LEN};
use crate::preamble::VERSION;
use crate::walk::padding_len;
use crate::write::VersionKey;
use crate::{Value, rule};

/// The result for a part of the file.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) edits: Vec<Edit>,
    /// What stays damaged.
    pub(super) lost: Vec<Loss>,
    pub(super) kept: Vec<KeptObject>,
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

/// Rebuilds the message of a fragment in `span`, to start at `start` of the new file; `None` if no
/// object is left for it.
///
/// Without an edit the message stays unchanged.
pub(super) fn build(
    context: &mut RepairContext<'_>,
    fragment: &Fragment,
    (options, broken, kind): (&RepairOptions, &'static ForeignRule, PartKind),
    (span, start): (Span, u64),
) -> Result<(Option<Image>, Outcome)> {
    let (mut parsed, mut out) = (read(context, fragment)?, Outcome::default());
    if let Some(image) = corrected(context, fragment, &parsed, (options, broken), &mut out)? {
        note_kept(&parsed, &mut out);
        return Ok((Some(image), out));
    }
    note_lost(fragment, &parsed, broken, &mut out);
    let spared = parsed.tensors.iter().filter(|it| it.broken.is_some() || it.is_unknown);
    let spared: Vec<Span> = spared.map(|it| it.intact.frame.span).collect();
    drop_objects(&mut parsed, options.salvage, &mut out);
    if parsed.tensors.is_empty() {
        let losses = out.edits.iter().filter(|it| it.action == Action::DropObjects);
        let mut losses: Vec<Loss> = losses.flat_map(|it| it.losses.clone()).collect();
        losses.insert(0, Loss::Bytes { offset: span.start(), len: span.len() });
        out.edits.clear();
        out.edit((broken, Action::DropMessage, Proof::None), span, losses);
        return Ok((None, out));
    }
    note_kept(&parsed, &mut out);
    let tampered = parsed.metadata_frames().filter(|(_, rule, is_read)| rule.is_some() && *is_read);
    let tampered: Vec<u64> = tampered.map(|(frame, ..)| frame.at()).collect();
    if options.salvage == Salvage::None && !tampered.is_empty() {
        let loss = |offset| Loss::Metadata { offset, rule: &rule::HASH };
        return Ok((out.keep(tampered.into_iter().map(loss)), out));
    }
    note_repaired(fragment, &parsed, &mut out);
    let metadata = metadata(&parsed, &mut out);
    let why = match kind {
        PartKind::Gap => Some(broken),
        PartKind::Message => structure_error(&mut context.window, span, context.limits, &spared)?,
    };
    if let Some(rule) = why.or(parsed.odd) {
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
        match lay(&draft(context, fragment, &parsed, metadata), Site { start, next_start: None }) {
            Ok(image) => Some(image),
            Err(Error::Io(error)) => return Err(Error::Io(error)),
            Err(_) => out.keep([Loss::Message { offset: span.start(), rule: broken }]),
        };
    Ok((image, out))
}

/// Whether a part of the file is a message that the scan found, or bytes outside all messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartKind {
    Message,
    Gap,
}

/// The old message with its flipped bits, padding and ends corrected, if nothing else is wrong.
fn corrected(
    context: &mut RepairContext<'_>,
    fragment: &Fragment,
    parsed: &Parsed,
    (options, broken): (&RepairOptions, &'static ForeignRule),
    out: &mut Outcome,
) -> Result<Option<Image>> {
    if fragment.postamble.is_none() && !has_end(context, fragment)? {
        return Ok(None);
    }
    let Some((image, written)) = patched(context, fragment, parsed, options)? else {
        return Ok(None);
    };
    note_repaired(fragment, parsed, out);
    if let Some(span) = written {
        out.edit((broken, Action::WriteEnds, Proof::Rest), span, Vec::new());
    }
    Ok((!out.edits.is_empty()).then_some(image))
}

/// A new message of the remaining tensors.
fn draft(
    context: &mut RepairContext<'_>,
    fragment: &Fragment,
    parsed: &Parsed,
    (metadata, version_key): (Metadata, VersionKey),
) -> Draft {
    let flags = fragment.preamble.map(|preamble| preamble.flags).unwrap_or_default();
    let kinds = [FrameKind::HeaderHashes, FrameKind::FooterHashes];
    let is_listed = kinds.into_iter().any(|kind| {
        flags.contains(kind.flag()) || fragment.frames.iter().any(|it| it.frame.kind() == kind)
    });
    let (rule, limits) = (parsed.hash_rule, *context.limits);
    let listed = |it: &TensorFrame| parsed.list.as_ref()?.hashes().get(it.number?).copied();
    let copy = |it: &TensorFrame| {
        let is_hashed = is_hashed(rule, &it.intact.frame);
        let slot = is_hashed.then_some(it.intact.frame.tail.hash);
        copy(context, &it.intact, is_hashed, slot.or_else(|| listed(it)))
    };
    let tensors = parsed.tensors.iter().map(copy).collect();
    Draft { metadata, tensors, rule, version_key, is_listed, limits }
}

/// A tensor frame as it is written. An aligned payload stays aligned.
fn copy(
    context: &RepairContext<'_>,
    intact: &IntactFrame,
    is_hashed: bool,
    hash: Option<u64>,
) -> TensorCopy {
    let Frame { span, header, tail } = intact.frame;
    let is_aligned = span.start().saturating_add(FRAME_HEADER_LEN).is_multiple_of(ALIGN);
    let (mut source, mut span) = (context.source.clone(), span);
    if intact.is_repaired {
        let mut image = Image::default();
        old(context.source, intact, &mut image);
        (source, span) = (image.to_source(), Span::new(0, span.len()).unwrap_or(span));
    }
    let (frame, align) = (Frame { span, header, tail }, if is_aligned { ALIGN } else { 8 });
    TensorCopy { source, frame, payload_offset: FRAME_HEADER_LEN, is_hashed, hash, align }
}

/// Payloads aligned to this stay aligned.
const ALIGN: u64 = 64;

/// Whether a postamble, damaged or not, follows the last frame.
fn has_end(context: &mut RepairContext<'_>, fragment: &Fragment) -> Result<bool> {
    let last = fragment.frames.last().map_or(fragment.start, |it| it.frame.span.end());
    let aligned = last.saturating_add(padding_len(last.saturating_sub(fragment.start)));
    let bytes = context.window.near(aligned, POSTAMBLE_LEN)?;
    let found = bytes.last_chunk::<8>().copied().unwrap_or_default();
    let same = found.iter().zip(END_MAGIC).filter(|(found, wanted)| *found == wanted).count();
    Ok(fragment.end.checked_sub(aligned) == Some(POSTAMBLE_LEN) && END_LETTERS_MIN <= same)
}

/// Fewer bytes than this cannot contain a lost frame.
const FRAME_LEN_MIN: u64 = FRAME_HEADER_LEN + TAIL_LEN;

/// At least this number of matching letters is taken for a damaged end magic.
const END_LETTERS_MIN: usize = 5;

/// Notes lost spans between frames, except a damaged postamble.
fn note_lost(
    fragment: &Fragment,
    parsed: &Parsed,
    broken: &'static ForeignRule,
    out: &mut Outcome,
) {
    let mut missing = missing(parsed);
    let is_end = |span: &Span| {
        fragment.postamble.is_none()
            && span.end() == fragment.end
            && span.len() <= POSTAMBLE_LEN + 7
    };
    for span in &fragment.lost {
        if span.len() < FRAME_LEN_MIN || is_end(span) {
            continue;
        }
        let mut losses = vec![Loss::Bytes { offset: span.start(), len: span.len() }];
        losses.append(&mut missing);
        out.edit((broken, Action::DropBytes, Proof::None), *span, losses);
    }
}

/// The name of an object in the metadata.
fn name_of(parsed: &Parsed, number: usize) -> Option<String> {
    parsed.metadata.iter().rev().find_map(|frame| {
        let pairs = frame.content.as_ref().ok()?.base.get(number)?;
        let (_, name) = pairs.iter().find(|(key, _)| key == "name")?;
        name.as_text().map(str::to_owned)
    })
}

/// The objects that metadata names and that match no frame.
fn missing(parsed: &Parsed) -> Vec<Loss> {
    let count =
        parsed.metadata.iter().filter_map(|it| Some(it.content.as_ref().ok()?.base.len())).max();
    let known = known(parsed);
    let missing = (0..count.unwrap_or(0)).filter(|number| !known.contains(number));
    missing
        .filter_map(|number| Some(Loss::Missing { number, name: name_of(parsed, number)? }))
        .collect()
}

/// The objects that match a frame.
fn known(parsed: &Parsed) -> HashSet<usize> {
    parsed.tensors.iter().filter_map(|it| it.number).collect()
}

/// Notes the intact objects.
fn note_kept(parsed: &Parsed, out: &mut Outcome) {
    let kept = parsed.tensors.iter().filter(|tensor| tensor.broken.is_none());
    out.kept.extend(kept.map(|it| {
        let (offset, is_verified) = (it.intact.frame.at(), it.is_verified);
        KeptObject { offset, is_verified }
    }));
}

fn note_repaired(fragment: &Fragment, parsed: &Parsed, out: &mut Outcome) {
    let others = fragment.frames.iter().filter(|it| it.frame.kind() != FrameKind::Tensor);
    let all = others.chain(parsed.tensors.iter().map(|it| &it.intact));
    for intact in all.filter(|it| it.is_repaired) {
        let is_proven = intact.hash == intact.frame.tail.hash;
        let (rule, proof) = if is_proven {
            (&rule::HASH, Proof::Digest)
        } else {
            (&rule::FRAME_MAGIC, Proof::Rest)
        };
        out.edit((rule, Action::RepairFrame, proof), intact.frame.span, Vec::new());
    }
    for span in fragment.odd.iter().filter_map(|at| Span::new(*at, 1)) {
        out.edit((&rule::PADDING, Action::ClearPadding, Proof::Rest), span, Vec::new());
    }
}

/// Removes damaged objects or notes that they stay; drops frames that no new message can hold.
fn drop_objects(parsed: &mut Parsed, salvage: Salvage, out: &mut Outcome) {
    let loss = |tensor: &TensorFrame, rule| {
        let name = tensor.number.and_then(|number| name_of(parsed, number));
        Loss::Object { offset: tensor.intact.frame.at(), rule, name }
    };
    let strange = parsed.tensors.iter().filter(|it| it.is_unknown);
    out.lost.extend(strange.map(|it| loss(it, &rule::DESCRIPTOR_DTYPE)));
    for tensor in &parsed.tensors {
        let Some(rule) = tensor.broken else { continue };
        let loss = loss(tensor, rule);
        if salvage == Salvage::None {
            out.lost.push(loss);
        } else {
            let why = (rule, Action::DropObjects, Proof::Rest);
            out.edit(why, tensor.intact.frame.span, vec![loss]);
        }
    }
    for (intact, rule) in &parsed.unplaced {
        let (frame, rule) = (intact.frame, *rule);
        let (offset, len) = (frame.at(), frame.span.len());
        let (action, loss) = match frame.kind() {
            FrameKind::Preceder => (Action::WriteMetadata, Loss::Metadata { offset, rule }),
            FrameKind::Obsolete => (Action::DropObjects, Loss::Object { offset, rule, name: None }),
            _ => (Action::DropBytes, Loss::Bytes { offset, len }),
        };
        out.edit((rule, action, Proof::None), frame.span, vec![loss]);
    }
    if salvage == Salvage::Objects {
        parsed.tensors.retain(|it| it.broken.is_none());
    }
}

/// The metadata of the remaining objects.
fn metadata(parsed: &Parsed, out: &mut Outcome) -> (Metadata, VersionKey) {
    let mut all = Metadata::default();
    let read = parsed.metadata.iter().filter_map(|it| it.content.as_ref().ok());
    read.clone().for_each(|it| all.merge(it.clone()));
    for (frame, rule, _) in parsed.metadata_frames() {
        let Some(rule) = rule else { continue };
        let loss = Loss::Metadata { offset: frame.at(), rule };
        out.edit((rule, Action::WriteMetadata, Proof::None), frame.span, vec![loss]);
    }
    let known = known(parsed);
    let mut entries = all.base.iter().enumerate();
    let is_more = entries.any(|(number, it)| !it.is_empty() && !known.contains(&number));
    let frame = parsed.metadata.last().map(|it| it.intact.frame);
    if let Some(frame) = frame.filter(|_| is_more && !out.has_lost()) {
        let (offset, rule) = (frame.at(), &rule::BASE_COUNT);
        let losses = vec![Loss::Metadata { offset, rule }];
        out.edit((rule, Action::WriteMetadata, Proof::None), frame.span, losses);
    }
    let is_silent = read.count() == 0;
    let is_nameless =
        |it: &&TensorFrame| it.preceder.is_none() && (is_silent || it.number.is_none());
    let count = parsed.tensors.iter().filter(is_nameless).count() as u64;
    let first = frame.or_else(|| Some(parsed.tensors.first()?.intact.frame));
    if let Some(frame) = first.filter(|_| count != 0 && (is_silent || !all.base.is_empty())) {
        let rule = if is_silent { &rule::METADATA_MISSING } else { &rule::BASE_COUNT };
        let losses = vec![Loss::Entries { count }];
        out.edit((rule, Action::WriteMetadata, Proof::None), frame.span, losses);
    }
    let entry = |it: &TensorFrame| it.number.and_then(|number| all.base.get(number)).cloned();
    let mut base: Vec<Pairs> =
        parsed.tensors.iter().map(|it| entry(it).unwrap_or_default()).collect();
    for (entry, tensor) in base.iter_mut().zip(&parsed.tensors) {
        let over = tensor.preceder.as_ref().and_then(|it| it.content.as_ref().ok());
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
