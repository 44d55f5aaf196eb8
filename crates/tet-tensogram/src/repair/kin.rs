//! Which runs of frames are one message.
//!
//! ```text
//!   preamble | frame | frame | lost | frame | frame | postamble
//!   -------- one run -------          ------- another --------
//! ```
//!
//! A run ends where bytes are lost, and before a frame that cannot follow in the same message. A postamble
//! may be lost with the next preamble: two runs are one message only where an index, a list of hashes or
//! the ends say so.

use std::collections::{HashSet, VecDeque};

use super::bench::Bench;
use super::frames::{GAP_LEN_MIN, Remains, Whole};
use super::message::bytes;
use crate::error::{Error, Result};
use crate::frame::{FrameKind, Phase};
use crate::hashes::HashList;
use crate::index::Index;
use crate::postamble::POSTAMBLE_LEN;

/// So many runs are looked at for one that belongs to a message.
const AHEAD_MAX: usize = 256;

/// Puts runs together that are one message.
pub(super) fn join(bench: &mut Bench<'_>, runs: Vec<Remains>) -> Result<Vec<Remains>> {
    if runs.len() < 2 {
        return Ok(runs);
    }
    let mut left = VecDeque::new();
    for remains in runs {
        left.push_back(Run::read(bench, remains)?);
    }
    let mut joined = Vec::new();
    while let Some(mut run) = left.pop_front() {
        let mut ahead = 0;
        while let Some(other) = left.get(ahead).filter(|it| it.may_follow()) {
            if run.remains.postamble.is_some() || AHEAD_MAX <= ahead {
                break;
            }
            let is_end = other.remains.postamble.is_some();
            if run.is_kin(other) {
                left.drain(..=ahead).for_each(|part| run.extend(part));
                ahead = 0;
            } else if is_end {
                break;
            } else {
                ahead += 1;
            }
        }
        joined.push(run.remains);
    }
    Ok(joined)
}

/// Where the offsets of an index are counted from.
pub(super) fn origin(remains: &Remains, kind: FrameKind, index: &Index) -> Option<u64> {
    if kind.phase() == Some(Phase::Header) {
        return remains.is_placed.then_some(remains.start);
    }
    let footer_at = remains.footer_at()?;
    match remains.postamble {
        Some((at, postamble)) if postamble.total_len != 0 => {
            at.saturating_add(POSTAMBLE_LEN).checked_sub(postamble.total_len)
        }
        Some((_, postamble)) => footer_at.checked_sub(postamble.first_footer_offset),
        // Footers stand right behind the last tensor.
        None => {
            let last = index.entries().last()?;
            let end = last.offset.checked_add(last.len)?.checked_next_multiple_of(8)?;
            footer_at.checked_sub(end)
        }
    }
}

/// Whether what stands at the end of a message speaks of one that starts at `start`.
pub(super) fn ends_agree(remains: &Remains, start: u64) -> bool {
    ends_lead(remains, remains.footer_at(), start)
}

fn ends_lead(remains: &Remains, footer_at: Option<u64>, start: u64) -> bool {
    let Some((at, postamble)) = remains.postamble else { return false };
    let len = at.saturating_add(POSTAMBLE_LEN).checked_sub(start);
    if postamble.total_len != 0 {
        return Some(postamble.total_len) == len;
    }
    Some(postamble.first_footer_offset) == footer_at.unwrap_or(at).checked_sub(start)
}

struct Run {
    remains: Remains,
    footer_at: Option<u64>,
    /// The types that are there, of those that a message has once.
    once: HashSet<FrameKind>,
    indices: Vec<(FrameKind, Index)>,
    /// The offsets and lengths that indices speak of.
    places: HashSet<(u64, u64)>,
    /// The hashes that lists have.
    listed: HashSet<u64>,
    /// The hashes that tensors match.
    hashes: HashSet<u64>,
}

impl Run {
    fn read(bench: &mut Bench<'_>, remains: Remains) -> Result<Self> {
        let (mut indices, mut listed) = (Vec::new(), HashSet::new());
        let (mut once, mut hashes) = (HashSet::new(), HashSet::new());
        for whole in &remains.frames {
            let kind = whole.frame.kind();
            if kind.phase().is_some_and(|phase| phase != Phase::Body) {
                once.insert(kind);
            }
            if kind == FrameKind::Tensor && whole.hash == whole.frame.tail.hash {
                hashes.insert(whole.hash);
            }
            match kind {
                FrameKind::HeaderIndex | FrameKind::FooterIndex => {
                    let read = paper(bench, whole, Index::read)?;
                    indices.extend(read.map(|index| (kind, index)));
                }
                FrameKind::HeaderHashes | FrameKind::FooterHashes => {
                    let read = paper(bench, whole, HashList::read)?.filter(HashList::is_known);
                    listed.extend(read.iter().flat_map(HashList::hashes).copied());
                }
                _ => {}
            }
        }
        let entries = indices.iter().flat_map(|(_, index): &(_, Index)| index.entries());
        let places = entries.map(|it| (it.offset, it.len)).collect();
        let footer_at = remains.footer_at();
        Ok(Run { remains, footer_at, once, indices, places, listed, hashes })
    }

    /// Whether it may be a later part of a message.
    fn may_follow(&self) -> bool {
        self.remains.preamble.is_none() && !self.remains.frames.is_empty()
    }

    fn tensors(&self) -> impl Iterator<Item = &Whole> {
        self.remains.frames.iter().filter(|it| it.frame.kind() == FrameKind::Tensor)
    }

    /// Whether a later run is of the same message.
    fn is_kin(&self, other: &Run) -> bool {
        if self.ends_in(other) {
            return true;
        }
        if !self.once.is_disjoint(&other.once) {
            return false;
        }
        match (self.lists(other), other.lists(self)) {
            (Some(true), _) | (_, Some(true)) => true,
            (Some(false), _) | (_, Some(false)) => false,
            (None, None) => self.leads_to(other),
        }
    }

    /// Whether the list of hashes has a tensor of another run, if there is one to be looked for.
    fn lists(&self, other: &Run) -> Option<bool> {
        let is_there = !self.listed.is_empty() && !other.hashes.is_empty();
        is_there.then(|| !self.listed.is_disjoint(&other.hashes))
    }

    /// Whether the postamble behind a later run speaks of the start of this one.
    fn ends_in(&self, other: &Run) -> bool {
        let first_at = other.remains.frames.first().map_or(0, |it| it.frame.at());
        let is_behind = first_at.saturating_sub(self.remains.last_end()) < GAP_LEN_MIN;
        let is_same_footer = is_behind && other.tensors().next().is_none();
        let footer_at = self.footer_at.filter(|_| is_same_footer).or(other.footer_at);
        self.remains.is_placed && ends_lead(&other.remains, footer_at, self.remains.start)
    }

    /// Whether an index that counts from the start of this run leads to a tensor of a later one, or to
    /// its footer.
    fn leads_to(&self, other: &Run) -> bool {
        let start = self.remains.start;
        let place = |it: &Whole| (it.frame.at().saturating_sub(start), it.frame.header.len);
        let leads = |run: &Run| other.tensors().any(|it| run.places.contains(&place(it)));
        let is_own = |(kind, index): &(FrameKind, Index)| {
            *kind == FrameKind::FooterIndex && origin(&other.remains, *kind, index) == Some(start)
        };
        // An end that could say so has said otherwise.
        self.remains.is_placed
            && other.remains.postamble.is_none()
            && (leads(self) || leads(other) || other.indices.iter().any(is_own))
    }

    fn extend(&mut self, other: Run) {
        let (remains, more) = (&mut self.remains, other.remains);
        remains.frames.extend(more.frames);
        remains.lost.extend(more.lost);
        remains.odd.extend(more.odd);
        (remains.end, remains.postamble) = (more.end, more.postamble);
        self.footer_at = self.footer_at.or(other.footer_at);
        self.once.extend(other.once);
        self.indices.extend(other.indices);
        self.places.extend(other.places);
        self.listed.extend(other.listed);
        self.hashes.extend(other.hashes);
    }
}

type Reader<T> = fn(&[u8], u64, &crate::Limits) -> std::result::Result<T, crate::Fault>;

/// What a frame says, if that can be read.
fn paper<T>(bench: &mut Bench<'_>, whole: &Whole, read: Reader<T>) -> Result<Option<T>> {
    let body = whole.frame.body();
    if !bench.pay(body.len()) {
        return Ok(None);
    }
    match bytes(bench, whole) {
        Ok(bytes) => Ok(read(&bytes, body.start(), bench.limits).ok()),
        Err(Error::Format(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
