//! Parses the intact frames of a damaged message, and checks them against each other.

use tet_format::{ForeignRule, Severity};

use super::content::{Broken, broken, is_unknown, object};
use super::context::RepairContext;
use super::fragment::{Fragment, GAP_LEN_MIN, IntactFrame};
use super::order::numbers;
use crate::check::fidelity::{Weight, decoded};
use crate::error::Result;
use crate::frame::{Frame, FrameFlags, FrameKind};
use crate::hashes::HashList;
use crate::index::Index;
use crate::item::read_cbor;
use crate::message::{HashRule, is_hashed};
use crate::metadata::{Metadata, Pairs, preceding};
use crate::preamble::Flags;
use crate::rule;

/// A parsed frame of CBOR.
#[derive(Debug)]
pub(super) struct ParsedFrame<T> {
    pub(super) intact: IntactFrame,
    /// Its content, or the rule that it breaks.
    pub(super) content: Result<T, &'static ForeignRule>,
    /// Whether its bytes match its hash, if it has one.
    pub(super) is_verified: bool,
}

impl<T> ParsedFrame<T> {
    /// Its content, if nothing is wrong with it.
    pub(super) fn sound(&self) -> Option<&T> {
        self.content.as_ref().ok().filter(|_| self.is_verified)
    }

    pub(super) fn rule(&self) -> Option<&'static ForeignRule> {
        match &self.content {
            Err(rule) => Some(rule),
            Ok(_) => (!self.is_verified).then_some(&rule::HASH),
        }
    }
}

#[derive(Debug)]
pub(super) struct TensorFrame {
    pub(super) intact: IntactFrame,
    pub(super) preceder: Option<ParsedFrame<Pairs>>,
    pub(super) broken: Broken,
    /// Whether the dtype of its elements is unknown, which cannot be repaired.
    pub(super) is_unknown: bool,
    pub(super) is_verified: bool,
    /// The number of its object in the old message.
    pub(super) number: Option<usize>,
}

/// The parsed frames of a message.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) hash_rule: HashRule,
    /// Metadata of the header, then that of the footer.
    pub(super) metadata: Vec<ParsedFrame<Metadata>>,
    pub(super) index: Option<(FrameKind, Index)>,
    pub(super) list: Option<HashList>,
    /// The first rule that an index or a list of hashes breaks.
    pub(super) odd: Broken,
    pub(super) tensors: Vec<TensorFrame>,
    /// Frames that a new message cannot hold: preceders without a tensor, frames of unknown types,
    /// tensors of version 2.
    pub(super) unplaced: Vec<(IntactFrame, &'static ForeignRule)>,
}

impl Parsed {
    /// The frames that hold metadata of the message and its objects.
    pub(super) fn metadata_frames(&self) -> impl Iterator<Item = (Frame, Broken, bool)> {
        let of = |intact: &IntactFrame, rule, is_read| (intact.frame, rule, is_read);
        let metadata =
            self.metadata.iter().map(move |it| of(&it.intact, it.rule(), it.content.is_ok()));
        let preceders = self.tensors.iter().filter_map(|it| it.preceder.as_ref());
        metadata.chain(preceders.map(move |it| of(&it.intact, it.rule(), it.content.is_ok())))
    }

    /// Whether no metadata and no object of the message is damaged.
    pub(super) fn is_sound(&self) -> bool {
        let has_place =
            |(_, rule): &(IntactFrame, &'static ForeignRule)| rule.id == rule::KIND_UNKNOWN.id;
        self.unplaced.iter().all(has_place)
            && self.odd.is_none()
            && self.tensors.iter().all(|it| it.broken.is_none() && !it.is_unknown)
            && self.metadata_frames().all(|(_, rule, _)| rule.is_none())
    }
}

/// Which hash slots of these frames hold hashes.
fn hash_rule(fragment: &Fragment) -> HashRule {
    let has = |frame: &Frame| frame.header.flags.contains(FrameFlags::HASHED);
    if fragment.frames.iter().any(|it| has(&it.frame)) {
        return HashRule::Frames;
    }
    let is_stated = match &fragment.preamble {
        Some(preamble) => preamble.flags.contains(Flags::HASHED),
        None => fragment.frames.iter().any(|it| it.hash == it.frame.tail.hash),
    };
    if is_stated { HashRule::Preamble } else { HashRule::Unhashed }
}

/// Parses all frames of a message.
pub(super) fn read(context: &mut RepairContext<'_>, fragment: &Fragment) -> Result<Parsed> {
    let mut parsed = Parsed {
        hash_rule: hash_rule(fragment),
        metadata: Vec::new(),
        index: None,
        list: None,
        odd: None,
        tensors: Vec::new(),
        unplaced: Vec::new(),
    };
    let alone = |intact: IntactFrame| (intact, &rule::PRECEDER_ALONE);
    let mut preceder = None;
    let mut end = fragment.start;
    for intact in &fragment.frames {
        let kind = intact.frame.kind();
        // The tensor of this preceder may be lost.
        let is_gap = GAP_LEN_MIN <= intact.frame.at().saturating_sub(end);
        end = intact.frame.span.end();
        if is_gap || !matches!(kind, FrameKind::Tensor | FrameKind::Unknown(_)) {
            parsed.unplaced.extend(preceder.take().map(alone));
        }
        match kind {
            FrameKind::Tensor => {
                let tensor = tensor(context, intact, preceder.take(), parsed.hash_rule)?;
                parsed.tensors.push(tensor);
            }
            FrameKind::Preceder => preceder = Some(*intact),
            FrameKind::Unknown(_) => parsed.unplaced.push((*intact, &rule::KIND_UNKNOWN)),
            FrameKind::Obsolete => parsed.unplaced.push((*intact, &rule::OBSOLETE)),
            FrameKind::HeaderMetadata | FrameKind::FooterMetadata => {
                let read = parse_frame(context, intact, parsed.hash_rule, Metadata::read)?;
                // Of several frames of a kind the last one is used.
                parsed.metadata.retain(|it| it.intact.frame.kind() != kind);
                parsed.metadata.push(read);
            }
            FrameKind::HeaderIndex | FrameKind::FooterIndex => {
                let read = parse_frame(context, intact, parsed.hash_rule, Index::read)?;
                parsed.odd = parsed.odd.or(read.rule());
                parsed.index = read.sound().cloned().map(|it| (kind, it)).or(parsed.index);
            }
            FrameKind::HeaderHashes | FrameKind::FooterHashes => {
                let read = parse_frame(context, intact, parsed.hash_rule, HashList::read)?;
                parsed.odd = parsed.odd.or(read.rule());
                parsed.list = read.sound().filter(|it| it.is_known()).cloned().or(parsed.list);
            }
        }
    }
    parsed.unplaced.extend(preceder.map(alone));
    parsed.metadata.sort_by_key(|it| it.intact.frame.kind().phase());
    count(&mut parsed, fragment);
    Ok(parsed)
}

fn parse_frame<T>(
    context: &mut RepairContext<'_>,
    intact: &IntactFrame,
    hash_rule: HashRule,
    read: impl FnOnce(&[u8], u64, &crate::Limits) -> Result<T, crate::Fault>,
) -> Result<ParsedFrame<T>> {
    let body = intact.frame.body();
    let is_verified = !is_hashed(hash_rule, &intact.frame) || intact.hash == intact.frame.tail.hash;
    let content = match bytes(context, intact) {
        Ok(bytes) => read(&bytes, body.start(), context.limits).map_err(|fault| fault.rule),
        Err(crate::Error::Format(fault)) => Err(fault.rule),
        Err(error) => return Err(error),
    };
    Ok(ParsedFrame { intact: *intact, content, is_verified })
}

/// The repaired body of a frame of CBOR.
fn bytes(context: &RepairContext<'_>, intact: &IntactFrame) -> Result<Vec<u8>> {
    let body = intact.frame.body();
    let mut bytes = read_cbor(context.source, body, context.limits)?;
    if let Some((at, byte)) = intact.patch {
        let at = usize::try_from(at.saturating_sub(body.start())).unwrap_or(usize::MAX);
        bytes.get_mut(at).into_iter().for_each(|old| *old = byte);
    }
    Ok(bytes)
}

fn tensor(
    context: &mut RepairContext<'_>,
    intact: &IntactFrame,
    preceder: Option<IntactFrame>,
    hash_rule: HashRule,
) -> Result<TensorFrame> {
    let preceder = match preceder {
        Some(intact) => Some(parse_frame(context, &intact, hash_rule, |bytes, at, limits| {
            preceding(Metadata::read(bytes, at, limits)?, &intact.frame)
        })?),
        None => None,
    };
    let slot = intact.frame.tail.hash;
    let is_hashed = is_hashed(hash_rule, &intact.frame);
    let is_verified = is_hashed && slot == intact.hash;
    // A corrected frame matches its hash.
    let mut broken = match intact.patch {
        Some(_) => None,
        None => broken(context, &intact.frame)?,
    };
    if broken.is_none() && is_hashed && !is_verified {
        broken = Some(&rule::HASH);
    }
    if broken.is_none() && intact.patch.is_none() {
        let object = object(context, &intact.frame)?;
        let source = context.source;
        let faults = decoded(
            source,
            context.limits,
            context.total(),
            object.region,
            object.descriptor,
            Weight::Any,
            context.progress(),
        )?;
        let mut faults = faults.into_iter().flatten();
        // A limit of the reader is no fault of the file.
        let is_error = |rule: &ForeignRule| rule.severity == Severity::Error && !rule.is_limit();
        broken = faults.find(|it| is_error(it.rule)).map(|it| it.rule);
    }
    let is_read = broken.is_none() && intact.patch.is_none();
    let is_unknown = is_read && is_unknown(context, &intact.frame)?;
    Ok(TensorFrame { intact: *intact, preceder, broken, is_unknown, is_verified, number: None })
}

/// Numbers the tensors, and compares those without a hash with the hash list.
fn count(parsed: &mut Parsed, fragment: &Fragment) {
    let list = parsed.list.as_ref();
    let numbers = numbers(fragment, parsed.index.as_ref(), list);
    for (tensor, number) in parsed.tensors.iter_mut().zip(numbers) {
        tensor.number = number;
        let listed = number.and_then(|number| list?.hashes().get(number).copied());
        if is_hashed(parsed.hash_rule, &tensor.intact.frame) {
            // The bytes match the list, so it is the slot that is wrong.
            if !tensor.is_verified && listed == Some(tensor.intact.hash) {
                tensor.intact.frame.tail.hash = tensor.intact.hash;
                (tensor.intact.is_repaired, tensor.is_verified) = (true, true);
                tensor.broken = tensor.broken.filter(|rule| rule.id != rule::HASH.id);
            }
            continue;
        }
        if let Some(listed) = listed {
            tensor.is_verified = listed == tensor.intact.hash;
            if !tensor.is_verified && tensor.broken.is_none() {
                tensor.broken = Some(&rule::HASH_LISTED);
            }
        }
    }
    let mut both = list.into_iter().flat_map(|list| list.hashes().iter().zip(&parsed.tensors));
    if both.any(|(hash, tensor)| tensor.is_verified && *hash != tensor.intact.hash) {
        parsed.odd = parsed.odd.or(Some(&rule::HASH_LISTED));
    }
}
