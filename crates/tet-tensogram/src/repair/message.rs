//! What the whole frames of a damaged message say, and which of it is true.

use tet_format::{ForeignRule, Severity};

use super::bench::Bench;
use super::content::{Broken, broken, is_strange, object};
use super::frames::{GAP_LEN_MIN, Remains, Whole};
use super::order::{Clues, numbers};
use crate::check::fidelity::{Weight, decoded};
use crate::error::Result;
use crate::frame::{Frame, FrameFlags, FrameKind};
use crate::hashes::HashList;
use crate::index::Index;
use crate::item::read_cbor;
use crate::message::{HashRule, is_hashed};
use crate::metadata::Metadata;
use crate::preamble::Flags;
use crate::rule;

/// A frame of CBOR, with what it says.
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
    pub(super) preceder: Option<Paper<()>>,
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
    pub(super) metadata: Vec<Paper<Metadata>>,
    pub(super) indices: Vec<Paper<Index>>,
    pub(super) lists: Vec<Paper<HashList>>,
    pub(super) things: Vec<Thing>,
    /// Preceders of no tensor.
    pub(super) alone: Vec<Whole>,
    /// Frames of types that are not known.
    pub(super) unknown: Vec<Whole>,
    pub(super) obsolete: Vec<Whole>,
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
pub(super) fn read(bench: &mut Bench<'_>, remains: &Remains) -> Result<Said> {
    let mut said = Said {
        hash_rule: hash_rule(remains),
        metadata: Vec::new(),
        indices: Vec::new(),
        lists: Vec::new(),
        things: Vec::new(),
        alone: Vec::new(),
        unknown: Vec::new(),
        obsolete: Vec::new(),
    };
    let mut preceder = None;
    let mut end = remains.start;
    for whole in &remains.frames {
        let kind = whole.frame.kind();
        // What it precedes may be lost.
        let is_gap = GAP_LEN_MIN <= whole.frame.at().saturating_sub(end);
        end = whole.frame.span.end();
        if is_gap || !matches!(kind, FrameKind::Tensor | FrameKind::Unknown(_)) {
            said.alone.extend(preceder.take());
        }
        match kind {
            FrameKind::Tensor => {
                let before: Option<Whole> = preceder.take();
                let thing = thing(bench, whole, before, said.hash_rule)?;
                said.things.push(thing);
            }
            FrameKind::Preceder => preceder = Some(*whole),
            FrameKind::Unknown(_) => said.unknown.push(*whole),
            FrameKind::Obsolete => said.obsolete.push(*whole),
            FrameKind::HeaderMetadata | FrameKind::FooterMetadata => {
                let read = paper(bench, whole, said.hash_rule, Metadata::read)?;
                replace(&mut said.metadata, read);
            }
            FrameKind::HeaderIndex | FrameKind::FooterIndex => {
                let read = paper(bench, whole, said.hash_rule, Index::read)?;
                replace(&mut said.indices, read);
            }
            FrameKind::HeaderHashes | FrameKind::FooterHashes => {
                let read = paper(bench, whole, said.hash_rule, HashList::read)?;
                replace(&mut said.lists, read);
            }
        }
    }
    said.alone.extend(preceder);
    count(&mut said, remains);
    Ok(said)
}

/// Of several frames of a type the last one counts.
fn replace<T>(papers: &mut Vec<Paper<T>>, read: Paper<T>) {
    papers.retain(|it| it.whole.frame.kind() != read.whole.frame.kind());
    papers.push(read);
}

type Reader<T> = fn(&[u8], u64, &crate::Limits) -> Result<T, crate::Fault>;

fn paper<T>(
    bench: &mut Bench<'_>,
    whole: &Whole,
    hash_rule: HashRule,
    read: Reader<T>,
) -> Result<Paper<T>> {
    let body = whole.frame.body();
    let is_true = !is_hashed(hash_rule, &whole.frame) || whole.hash == whole.frame.tail.hash;
    let said = match bytes(bench, whole) {
        Ok(bytes) => read(&bytes, body.start(), bench.limits).map_err(|fault| fault.rule),
        Err(crate::Error::Format(fault)) => Err(fault.rule),
        Err(error) => return Err(error),
    };
    Ok(Paper { whole: *whole, said, is_true })
}

/// The body of a frame of CBOR, as it is to be.
pub(super) fn bytes(bench: &Bench<'_>, whole: &Whole) -> Result<Vec<u8>> {
    let body = whole.frame.body();
    let mut bytes = read_cbor(bench.source, body, bench.limits)?;
    if let Some((at, byte)) = whole.patch {
        let at = usize::try_from(at.saturating_sub(body.start())).unwrap_or(usize::MAX);
        bytes.get_mut(at).into_iter().for_each(|old| *old = byte);
    }
    Ok(bytes)
}

fn thing(
    bench: &mut Bench<'_>,
    whole: &Whole,
    preceder: Option<Whole>,
    hash_rule: HashRule,
) -> Result<Thing> {
    let preceder = match preceder {
        Some(whole) => Some(paper(bench, &whole, hash_rule, |bytes, at, limits| {
            let metadata = Metadata::read(bytes, at, limits)?;
            let (found, wanted) = (metadata.base.len() as u64, 1);
            let fault = crate::Fault { rule: &rule::PRECEDER_BASE, at, found, wanted };
            if found == wanted { Ok(()) } else { Err(fault) }
        })?),
        None => None,
    };
    let slot = whole.frame.tail.hash;
    let is_hashed = is_hashed(hash_rule, &whole.frame);
    let is_verified = is_hashed && slot == whole.hash;
    // What was patched is what its hash is of.
    let mut broken = match whole.patch {
        Some(_) => None,
        None => broken(bench, &whole.frame)?,
    };
    if broken.is_none() && is_hashed && !is_verified {
        broken = Some(&rule::HASH);
    }
    if broken.is_none() && whole.patch.is_none() {
        let object = object(bench, &whole.frame)?;
        let (source, stored) = (bench.source, (object.region, object.descriptor));
        let limits = (bench.limits, bench.total());
        let faults = decoded(source, limits, stored, Weight::Any, bench.watch())?;
        let mut faults = faults.into_iter().flatten();
        // A limit of ours says nothing about the file.
        let is_error = |rule: &ForeignRule| rule.severity == Severity::Error && !rule.is_limit();
        broken = faults.find(|it| is_error(it.rule)).map(|it| it.rule);
    }
    let is_read = broken.is_none() && whole.patch.is_none();
    let is_strange = is_read && is_strange(bench, &whole.frame)?;
    Ok(Thing { whole: *whole, preceder, broken, is_strange, is_verified, number: None })
}

/// Says which objects the frames were, and compares those without a hash with what a list says.
fn count(said: &mut Said, remains: &Remains) {
    let list = said.lists.iter().rev().find_map(Paper::sound).filter(|list| list.is_known());
    let sound = |it: &Paper<Index>| it.sound().is_some();
    let index = said.indices.iter().rfind(|it| sound(it));
    let index = index.and_then(|it| Some((it.whole.frame.kind(), it.sound()?)));
    let clues = Clues { index, list };
    let numbers = numbers(remains, &clues);
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
}
