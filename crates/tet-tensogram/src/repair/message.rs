//! What the whole frames of a damaged message say, and which of it is true.

use tet_format::{ForeignRule, Severity};

use super::content::{Broken, broken, is_strange, object};
use super::context::RepairContext;
use super::order::numbers;
use super::remains::{GAP_LEN_MIN, Remains, Whole};
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

/// Metadata of a frame.
#[derive(Debug)]
pub(super) struct Paper<T> {
    pub(super) whole: Whole,
    /// What it says, if that can be read.
    pub(super) said: Result<T, &'static ForeignRule>,
    /// Whether its bytes match its hash, if it has one.
    pub(super) is_true: bool,
}

impl<T> Paper<T> {
    /// What it says, if nothing is wrong with it.
    pub(super) fn sound(&self) -> Option<&T> {
        self.said.as_ref().ok().filter(|_| self.is_true)
    }

    /// The rule that it breaks.
    pub(super) fn rule(&self) -> Option<&'static ForeignRule> {
        match &self.said {
            Err(rule) => Some(rule),
            Ok(_) => (!self.is_true).then_some(&rule::HASH),
        }
    }
}

/// A tensor frame.
#[derive(Debug)]
pub(super) struct Thing {
    pub(super) whole: Whole,
    pub(super) preceder: Option<Paper<Pairs>>,
    /// The rule that it breaks.
    pub(super) broken: Broken,
    /// Whether its elements are of a type that is not known, which is nothing to repair.
    pub(super) is_strange: bool,
    /// Whether its bytes match a hash.
    pub(super) is_verified: bool,
    /// Which object it was.
    pub(super) number: Option<usize>,
}

/// What a message says.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) hash_rule: HashRule,
    /// Metadata of the header, then that of the footer.
    pub(super) metadata: Vec<Paper<Metadata>>,
    pub(super) index: Option<(FrameKind, Index)>,
    pub(super) list: Option<HashList>,
    /// The first rule that an index or a list of hashes breaks.
    pub(super) odd: Broken,
    pub(super) things: Vec<Thing>,
    /// Frames that a new message does not have: preceders of no tensor, frames of types that are not
    /// known, tensors of version 2.
    pub(super) placeless: Vec<(Whole, &'static ForeignRule)>,
}

impl Said {
    /// Everything that is said of the message and its objects.
    pub(super) fn papers(&self) -> impl Iterator<Item = (Frame, Broken, bool)> {
        let of = |whole: &Whole, rule, is_read| (whole.frame, rule, is_read);
        let metadata =
            self.metadata.iter().map(move |it| of(&it.whole, it.rule(), it.said.is_ok()));
        let preceders = self.things.iter().filter_map(|it| it.preceder.as_ref());
        metadata.chain(preceders.map(move |it| of(&it.whole, it.rule(), it.said.is_ok())))
    }

    /// Whether nothing that is said of the message is damaged, and no object.
    pub(super) fn is_sound(&self) -> bool {
        let has_place =
            |(_, rule): &(Whole, &'static ForeignRule)| rule.id == rule::KIND_UNKNOWN.id;
        self.placeless.iter().all(has_place)
            && self.odd.is_none()
            && self.things.iter().all(|it| it.broken.is_none() && !it.is_strange)
            && self.papers().all(|(_, rule, _)| rule.is_none())
    }
}

/// Which hash slots of these frames hold hashes.
fn hash_rule(remains: &Remains) -> HashRule {
    let has = |frame: &Frame| frame.header.flags.contains(FrameFlags::HASHED);
    if remains.frames.iter().any(|it| has(&it.frame)) {
        return HashRule::Frames;
    }
    let is_stated = match &remains.preamble {
        Some(preamble) => preamble.flags.contains(Flags::HASHED),
        None => remains.frames.iter().any(|it| it.hash == it.frame.tail.hash),
    };
    if is_stated { HashRule::Preamble } else { HashRule::Unhashed }
}

/// Reads all frames of a message.
pub(super) fn read(context: &mut RepairContext<'_>, remains: &Remains) -> Result<Said> {
    let mut said = Said {
        hash_rule: hash_rule(remains),
        metadata: Vec::new(),
        index: None,
        list: None,
        odd: None,
        things: Vec::new(),
        placeless: Vec::new(),
    };
    let alone = |whole: Whole| (whole, &rule::PRECEDER_ALONE);
    let mut preceder = None;
    let mut end = remains.start;
    for whole in &remains.frames {
        let kind = whole.frame.kind();
        // What it precedes may be lost.
        let is_gap = GAP_LEN_MIN <= whole.frame.at().saturating_sub(end);
        end = whole.frame.span.end();
        if is_gap || !matches!(kind, FrameKind::Tensor | FrameKind::Unknown(_)) {
            said.placeless.extend(preceder.take().map(alone));
        }
        match kind {
            FrameKind::Tensor => {
                let thing = thing(context, whole, preceder.take(), said.hash_rule)?;
                said.things.push(thing);
            }
            FrameKind::Preceder => preceder = Some(*whole),
            FrameKind::Unknown(_) => said.placeless.push((*whole, &rule::KIND_UNKNOWN)),
            FrameKind::Obsolete => said.placeless.push((*whole, &rule::OBSOLETE)),
            FrameKind::HeaderMetadata | FrameKind::FooterMetadata => {
                let read = paper(context, whole, said.hash_rule, Metadata::read)?;
                // Of several frames of a type the last one counts.
                said.metadata.retain(|it| it.whole.frame.kind() != kind);
                said.metadata.push(read);
            }
            FrameKind::HeaderIndex | FrameKind::FooterIndex => {
                let read = paper(context, whole, said.hash_rule, Index::read)?;
                said.odd = said.odd.or(read.rule());
                said.index = read.sound().cloned().map(|it| (kind, it)).or(said.index);
            }
            FrameKind::HeaderHashes | FrameKind::FooterHashes => {
                let read = paper(context, whole, said.hash_rule, HashList::read)?;
                said.odd = said.odd.or(read.rule());
                said.list = read.sound().filter(|it| it.is_known()).cloned().or(said.list);
            }
        }
    }
    said.placeless.extend(preceder.map(alone));
    said.metadata.sort_by_key(|it| it.whole.frame.kind().phase());
    count(&mut said, remains);
    Ok(said)
}

fn paper<T>(
    context: &mut RepairContext<'_>,
    whole: &Whole,
    hash_rule: HashRule,
    read: impl FnOnce(&[u8], u64, &crate::Limits) -> Result<T, crate::Fault>,
) -> Result<Paper<T>> {
    let body = whole.frame.body();
    let is_true = !is_hashed(hash_rule, &whole.frame) || whole.hash == whole.frame.tail.hash;
    let said = match bytes(context, whole) {
        Ok(bytes) => read(&bytes, body.start(), context.limits).map_err(|fault| fault.rule),
        Err(crate::Error::Format(fault)) => Err(fault.rule),
        Err(error) => return Err(error),
    };
    Ok(Paper { whole: *whole, said, is_true })
}

/// The body of a frame of CBOR, as it is to be.
fn bytes(context: &RepairContext<'_>, whole: &Whole) -> Result<Vec<u8>> {
    let body = whole.frame.body();
    let mut bytes = read_cbor(context.source, body, context.limits)?;
    if let Some((at, byte)) = whole.patch {
        let at = usize::try_from(at.saturating_sub(body.start())).unwrap_or(usize::MAX);
        bytes.get_mut(at).into_iter().for_each(|old| *old = byte);
    }
    Ok(bytes)
}

fn thing(
    context: &mut RepairContext<'_>,
    whole: &Whole,
    preceder: Option<Whole>,
    hash_rule: HashRule,
) -> Result<Thing> {
    let preceder = match preceder {
        Some(whole) => Some(paper(context, &whole, hash_rule, |bytes, at, limits| {
            preceding(Metadata::read(bytes, at, limits)?, &whole.frame)
        })?),
        None => None,
    };
    let slot = whole.frame.tail.hash;
    let is_hashed = is_hashed(hash_rule, &whole.frame);
    let is_verified = is_hashed && slot == whole.hash;
    // What was patched is what its hash is of.
    let mut broken = match whole.patch {
        Some(_) => None,
        None => broken(context, &whole.frame)?,
    };
    if broken.is_none() && is_hashed && !is_verified {
        broken = Some(&rule::HASH);
    }
    if broken.is_none() && whole.patch.is_none() {
        let object = object(context, &whole.frame)?;
        let (source, stored) = (context.source, (object.region, object.descriptor));
        let limits = (context.limits, context.total());
        let faults = decoded(source, limits, stored, Weight::Any, context.progress())?;
        let mut faults = faults.into_iter().flatten();
        // A limit of ours says nothing about the file.
        let is_error = |rule: &ForeignRule| rule.severity == Severity::Error && !rule.is_limit();
        broken = faults.find(|it| is_error(it.rule)).map(|it| it.rule);
    }
    let is_read = broken.is_none() && whole.patch.is_none();
    let is_strange = is_read && is_strange(context, &whole.frame)?;
    Ok(Thing { whole: *whole, preceder, broken, is_strange, is_verified, number: None })
}

/// Says which objects the frames were, and compares those without a hash with what a list says.
fn count(said: &mut Said, remains: &Remains) {
    let list = said.list.as_ref();
    let numbers = numbers(remains, said.index.as_ref(), list);
    for (thing, number) in said.things.iter_mut().zip(numbers) {
        thing.number = number;
        let listed = number.and_then(|number| list?.hashes().get(number).copied());
        if is_hashed(said.hash_rule, &thing.whole.frame) {
            // The bytes are those that the list speaks of: it is the slot that is wrong.
            if !thing.is_verified && listed == Some(thing.whole.hash) {
                thing.whole.frame.tail.hash = thing.whole.hash;
                (thing.whole.is_mended, thing.is_verified) = (true, true);
                thing.broken = thing.broken.filter(|rule| rule.id != rule::HASH.id);
            }
            continue;
        }
        if let Some(listed) = listed {
            thing.is_verified = listed == thing.whole.hash;
            if !thing.is_verified && thing.broken.is_none() {
                thing.broken = Some(&rule::HASH_LISTED);
            }
        }
    }
    let mut both = list.into_iter().flat_map(|list| list.hashes().iter().zip(&said.things));
    if both.any(|(hash, thing)| thing.is_verified && *hash != thing.whole.hash) {
        said.odd = said.odd.or(Some(&rule::HASH_LISTED));
    }
}
