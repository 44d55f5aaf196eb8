//! Finds intact frames in a part of a file, and groups them into messages.
//!
//! ```text
//!   preamble | frame | frame | lost | frame | postamble | lost | preamble | frame | ...
//! ```
//!
//! After a frame the next one is expected. If there is none, it is searched for: a candidate counts
//! only if its bytes match its hash or have valid content.

use tet_format::Span;

use super::bitflip::{self, Preceding};
use super::content::broken;
use super::context::{READ_COST, RepairContext};
use super::fragment::{Fragment, IntactFrame, join};
use crate::error::Result;
use crate::frame::{FRAME_MAGIC, FrameFlags, FrameKind, Phase};
use crate::postamble::{END_MAGIC, POSTAMBLE_LEN, Postamble};
use crate::preamble::{MAGIC, PREAMBLE_LEN, Preamble};
use crate::walk::{padding_len, read_frame};
use crate::window::AHEAD_LEN_MAX;

/// The number of frame kinds that a message has at most once.
const ONCE_MAX: usize = 6;

/// A structure found at an offset.
enum Anchor {
    Preamble(Preamble),
    Frame(IntactFrame),
    Postamble(Postamble),
}

/// Finds the fragments of messages in a part of the file.
pub(super) fn fragments(context: &mut RepairContext<'_>, region: Span) -> Result<Vec<Fragment>> {
    let mut finder =
        Finder { context, bound: region.end(), at: region.start(), now: None, done: Vec::new() };
    // The first frame follows even an unreadable preamble.
    let head = finder.preamble(region.start())?;
    if head.is_none() && PREAMBLE_LEN < region.len() {
        let at = region.start().saturating_add(PREAMBLE_LEN);
        if let Some(anchor) = finder.expected(at)? {
            let head = Fragment { is_placed: true, ..Fragment::new(region.start(), None) };
            finder.now = Some(head);
            finder.take(at, anchor);
        }
    }
    while finder.at < finder.bound {
        let at = finder.at;
        let aligned = finder.aligned();
        let mut found = finder.expected(aligned)?.map(|anchor| (aligned, anchor));
        if found.is_none()
            && let Some(behind) = finder.behind_padding(aligned)?
        {
            found = finder.expected(behind)?.map(|anchor| (behind, anchor));
        }
        if found.is_none() && aligned != at {
            found = finder.intact_at(at)?.map(|anchor| (at, anchor));
        }
        if found.is_none() {
            found = finder.search()?;
        }
        let Some((place, anchor)) = found else { break };
        finder.lose(at, place)?;
        finder.take(place, anchor);
    }
    let (at, bound) = (finder.at, finder.bound);
    finder.lose(at, bound)?;
    finder.close();
    Ok(join(finder.done))
}

struct Finder<'f, 'b> {
    context: &'f mut RepairContext<'b>,
    bound: u64,
    at: u64,
    now: Option<Fragment>,
    done: Vec<Fragment>,
}

impl Finder<'_, '_> {
    fn close(&mut self) {
        self.done.extend(self.now.take());
    }

    /// The part of the message that was found last.
    fn last(&self) -> Option<Phase> {
        self.now.as_ref()?.frames.iter().rev().find_map(|it| it.frame.kind().phase())
    }

    fn before(&self) -> Preceding {
        let frames = self.now.iter().flat_map(|now| &now.frames).map(|it| it.frame.kind());
        let is_once = |kind: &FrameKind| kind.phase() != Some(Phase::Body);
        Preceding { last: self.last(), once: frames.filter(is_once).take(ONCE_MAX).collect() }
    }

    /// The offset where the next frame is expected.
    fn aligned(&self) -> u64 {
        let start = self.now.as_ref().map_or(self.at, |now| now.start);
        self.at.saturating_add(padding_len(self.at.saturating_sub(start)))
    }

    /// The offset where something may start after longer padding than necessary.
    fn behind_padding(&mut self, start: u64) -> Result<Option<u64>> {
        let Some(odd_at) = self.context.window.first_odd(start, self.bound)? else {
            return Ok(None);
        };
        // A postamble begins with zeros, and so may a preamble whose first bytes are lost.
        Ok(Some(odd_at - odd_at.saturating_sub(start) % 8).filter(|at| start < *at))
    }

    fn take(&mut self, place: u64, anchor: Anchor) {
        match anchor {
            Anchor::Preamble(preamble) => {
                self.close();
                self.now = Some(Fragment::new(place, Some(preamble)));
                self.at = place.saturating_add(PREAMBLE_LEN);
            }
            Anchor::Frame(intact) => {
                let kind = intact.frame.kind();
                if self.now.as_ref().is_some_and(|now| now.is_cut_before(place, kind)) {
                    self.close();
                }
                let (start, is_placed) =
                    (place.saturating_sub(PREAMBLE_LEN), kind == FrameKind::HeaderMetadata);
                let new = || Fragment { is_placed, ..Fragment::new(start, None) };
                let now = self.now.get_or_insert_with(new);
                now.frames.push(intact);
                self.at = intact.frame.span.end();
            }
            Anchor::Postamble(postamble) => {
                if let Some(now) = &mut self.now {
                    now.postamble = Some((place, postamble));
                }
                self.at = place.saturating_add(POSTAMBLE_LEN);
            }
        }
        if let Some(now) = &mut self.now {
            now.end = self.at;
            if now.postamble.is_some() {
                self.close();
            }
        }
    }

    /// Notes lost bytes, unless they are padding.
    fn lose(&mut self, start: u64, end: u64) -> Result<()> {
        let Some(odd_at) = self.context.window.first_odd(start, end)? else { return Ok(()) };
        let Some(span) = Span::from_range(odd_at..end) else { return Ok(()) };
        let is_flipped = self.is_one_bit(span)?;
        match &mut self.now {
            Some(now) if is_flipped => now.odd.push(odd_at),
            Some(now) => {
                now.lost.push(span);
                now.end = end;
            }
            // An unreadable preamble is rewritten.
            None => {
                let mut junk = Fragment::new(start, None);
                (junk.end, junk.lost) = (end, vec![span]);
                self.done.push(junk);
            }
        }
        Ok(())
    }

    /// Whether a span is zero except for one bit, in its first byte.
    fn is_one_bit(&mut self, span: Span) -> Result<bool> {
        let first = self.context.window.near(span.start(), 1)?.first().copied().unwrap_or_default();
        let behind = span.start().saturating_add(1);
        let is_rest_zero = self.context.window.first_odd(behind, span.end())?.is_none();
        Ok(first.is_power_of_two() && is_rest_zero)
    }

    fn preamble(&mut self, at: u64) -> Result<Option<Preamble>> {
        let bytes = self.context.window.near(at, PREAMBLE_LEN)?;
        let is_inside = at.saturating_add(PREAMBLE_LEN) <= self.bound;
        Ok(Preamble::read(bytes, at).ok().filter(|_| is_inside))
    }

    /// The structure at an offset, if it needs no repair.
    fn intact_at(&mut self, at: u64) -> Result<Option<Anchor>> {
        if let Some(preamble) = self.preamble(at)? {
            return Ok(Some(Anchor::Preamble(preamble)));
        }
        let is_frame = self.context.window.near(at, 2)? == FRAME_MAGIC;
        if is_frame && let Some(intact) = self.frame(at)? {
            return Ok(Some(Anchor::Frame(intact)));
        }
        self.postamble(at)
    }

    fn frame(&mut self, at: u64) -> Result<Option<IntactFrame>> {
        let Ok(frame) = read_frame(&mut self.context.window, at, self.bound)? else {
            return Ok(None);
        };
        let hash = self.context.hash(frame.body())?;
        Ok(hash.map(|hash| IntactFrame { frame, hash, patch: None, is_repaired: false }))
    }

    fn postamble(&mut self, at: u64) -> Result<Option<Anchor>> {
        let is_inside = at.saturating_add(POSTAMBLE_LEN) <= self.bound;
        let bytes = self.context.window.near(at, POSTAMBLE_LEN)?;
        let postamble = Postamble::read(bytes, at).ok().filter(|_| is_inside);
        let is_end = |now: &Fragment| postamble.is_some_and(|it| now.ends_with(at, &it));
        let is_own = self.now.as_ref().is_some_and(is_end);
        Ok(postamble.filter(|_| is_own).map(Anchor::Postamble))
    }

    /// The structure at an offset where one is expected, repaired if a hash proves the repair.
    fn expected(&mut self, at: u64) -> Result<Option<Anchor>> {
        let before = self.before();
        match self.intact_at(at)? {
            Some(Anchor::Frame(intact)) => Ok(Some(Anchor::Frame(self.repaired(intact)?))),
            Some(anchor) => Ok(Some(anchor)),
            None => Ok(bitflip::ends(self.context, (at, self.bound), &before)?.map(Anchor::Frame)),
        }
    }

    fn repaired(&mut self, intact: IntactFrame) -> Result<IntactFrame> {
        let before = self.before();
        let (frame, context) = (intact.frame, &mut *self.context);
        let slot = frame.tail.hash;
        let is_hashed = frame.header.flags.contains(FrameFlags::HASHED) || slot != 0;
        if frame.kind().is_passed_over() {
            return Ok(bitflip::ends(context, (frame.at(), self.bound), &before)?.unwrap_or(intact));
        }
        if slot == intact.hash && frame.kind() == FrameKind::Tensor {
            if broken(context, &frame)?.is_none() {
                return Ok(intact);
            }
            return Ok(bitflip::descriptor(context, &intact)?.unwrap_or(intact));
        }
        if !is_hashed || slot == intact.hash {
            // The type is not covered by the hash.
            let is_odd = broken(context, &frame)?.is_some();
            let repaired = if is_odd {
                bitflip::ends(context, (frame.at(), self.bound), &before)?
            } else {
                None
            };
            return Ok(repaired.unwrap_or(intact));
        }
        if let Some(repaired) = bitflip::ends(context, (frame.at(), self.bound), &before)? {
            return Ok(repaired);
        }
        Ok(bitflip::body(context, &intact)?.unwrap_or(intact))
    }

    /// The next structure at any later offset.
    fn search(&mut self) -> Result<Option<(u64, Anchor)>> {
        let mut at = self.at;
        while at < self.bound {
            let len = AHEAD_LEN_MAX.min(self.bound.saturating_sub(at));
            if !self.context.spend(len) {
                return Ok(None);
            }
            self.context.progress().check()?;
            let bytes = self.context.source.read_vec(at, len)?;
            for skip in starts(&bytes) {
                let place = at.saturating_add(skip as u64);
                if let Some(found) = self.candidate(place)? {
                    return Ok(Some(found));
                }
            }
            if at.saturating_add(len) >= self.bound {
                break;
            }
            // A magic may begin in the last bytes.
            at = at.saturating_add(len.saturating_sub(MAGIC.len() as u64 - 1).max(1));
        }
        Ok(None)
    }

    fn candidate(&mut self, place: u64) -> Result<Option<(u64, Anchor)>> {
        if !self.context.spend(READ_COST) {
            return Ok(None);
        }
        let bytes = self.context.window.near(place, MAGIC.len() as u64)?;
        if bytes == MAGIC {
            let preamble = self.preamble(place)?;
            return Ok(preamble.map(|preamble| (place, Anchor::Preamble(preamble))));
        }
        if bytes == END_MAGIC {
            let start = place.checked_sub(POSTAMBLE_LEN - END_MAGIC.len() as u64);
            let Some(start) = start.filter(|start| self.at <= *start) else { return Ok(None) };
            return Ok(self.postamble(start)?.map(|anchor| (start, anchor)));
        }
        let Ok(frame) = read_frame(&mut self.context.window, place, self.bound)? else {
            return Ok(None);
        };
        if frame.kind().is_passed_over() {
            return Ok(None);
        }
        let is_content = broken(self.context, &frame)?.is_none();
        let intact = self.frame(place)?;
        let intact = intact.filter(|intact| is_content || intact.hash == frame.tail.hash);
        Ok(intact.map(|intact| (place, Anchor::Frame(intact))))
    }
}

/// The offsets where a preamble, a frame of a known type or the end of a postamble may be.
fn starts(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let first = |(at, byte): (usize, &u8)| matches!(byte, b'F' | b'T' | b'3').then_some(at);
    bytes.iter().enumerate().filter_map(first).filter(|at| {
        let rest = bytes.get(*at..).unwrap_or_default();
        match rest {
            [b'F', b'R', 0, code, ..] => matches!(code, 1..=9),
            [b'T', ..] => rest.starts_with(&MAGIC),
            _ => rest.starts_with(&END_MAGIC),
        }
    })
}
