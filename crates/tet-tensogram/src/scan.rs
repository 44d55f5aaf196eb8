//! Finds the messages of a file (section 6), and what is between them.
//!
//! ```text
//!   message | message | gap | message | damaged message | message | trailing bytes
//! ```
//!
//! The scan only moves forward. After the magic of a damaged message it searches for the next
//! magic: if a message was truncated, the next one may be in what seems to be a frame. The number
//! of frames that are walked again for this is limited by the length of the file.

use tet_format::Span;
use tet_io::Source;

use crate::error::{Fault, Result};
use crate::fields::Fields;
use crate::frame::{Frame, FrameHeader, Phase};
use crate::limits::Limits;
use crate::postamble::{END_MAGIC, POSTAMBLE_LEN, Postamble};
use crate::preamble::{MAGIC, PREAMBLE_LEN, Preamble, VERSION};
use crate::rule;
use crate::search::find_magic;
use crate::walk::{Extent, Until, Walk, walk};
use crate::window::{AHEAD_LEN_MAX, NEAR_LEN, Window};

/// A damaged message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Preamble and frames up to the fault; in a loss, the whole span outside all messages.
    pub span: Span,
    /// The first broken rule.
    pub fault: Fault,
}

/// The messages of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scan {
    /// The messages, in their order.
    pub messages: Vec<Span>,
    /// The spans outside all messages.
    pub gaps: Vec<Span>,
    /// The damaged messages in the gaps; only the first ones if there are many.
    pub damages: Vec<Damage>,
    /// The number of damaged messages.
    pub damage_count: u64,
}

/// The most damaged messages that are stored; the rest are only counted.
const DAMAGE_KEPT_MAX: usize = 1024;
/// In any file, this number of frames may be walked again,
const CREDIT_MIN: u64 = 1 << 10;
/// and one more for each of these bytes of the file.
const CREDIT_LEN: u64 = 256;

/// Finds all messages of a source.
///
/// # Errors
///
/// Returns [`Error::Io`](crate::Error::Io) when bytes cannot be read, and
/// [`Error::Format`](crate::Error::Format) when there are more messages, or frames in one without a
/// length, than the limits allow.
pub fn scan(source: &Source, limits: &Limits) -> Result<Scan> {
    let mut scanner = Scanner {
        near: Window::new(source),
        junk: Window::new(source),
        far: Window::new(source),
        ahead: NEAR_LEN,
        limits,
        credit: CREDIT_MIN + source.len() / CREDIT_LEN,
        reach: 0,
        scan: Scan::default(),
    };
    let (mut at, mut covered_end) = (0, 0);
    while let Some(start) = scanner.next_magic(at)? {
        match scanner.judge(start)? {
            ScanResult::Message(span) => {
                scanner.note_gap(covered_end, start);
                scanner.push(span)?;
                scanner.ahead = NEAR_LEN;
                (at, covered_end) = (span.end(), span.end());
            }
            ScanResult::Damage(damage, frame_count) => {
                at = scanner.resume(&damage, frame_count);
                scanner.scan.damage_count = scanner.scan.damage_count.saturating_add(1);
                if scanner.scan.damages.len() < DAMAGE_KEPT_MAX {
                    scanner.scan.damages.push(damage);
                }
            }
            // The letters of the magic differ, so no other magic starts inside it.
            ScanResult::Nothing => at = start.saturating_add(MAGIC.len() as u64),
        }
    }
    scanner.note_gap(covered_end, source.len());
    Ok(scanner.scan)
}

/// Whether a file that does not begin with a message contains messages: the first frame is at its
/// place, or a preamble is in the first MiB.
///
/// # Errors
///
/// Returns [`Error::Io`](crate::Error::Io) when bytes cannot be read.
pub fn is_likely(source: &Source) -> Result<bool> {
    const HEAD_LEN: u64 = 1 << 20;
    let head = source.read_vec(0, source.len().min(HEAD_LEN))?;
    let behind = |at: u64| head.get(usize::try_from(at).unwrap_or(usize::MAX)..);
    let header = behind(PREAMBLE_LEN).map(|bytes| FrameHeader::read(bytes, PREAMBLE_LEN));
    if header.is_some_and(|it| it.is_ok_and(|header| !header.kind.is_passed_over())) {
        return Ok(true);
    }
    let mut rest = &head[..];
    while let Some(at) = find_magic(rest) {
        rest = rest.get(at + MAGIC.len()..).unwrap_or_default();
        if Fields::new(rest).u16() == VERSION {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The result at a magic.
enum ScanResult {
    Message(Span),
    /// With the number of its intact frames.
    Damage(Damage, u64),
    Nothing,
}

/// Whether a walk reached a postamble that points to the first footer frame.
fn points_to_footer(walk: &Walk, start: u64) -> bool {
    let is_footer = |frame: &&Frame| frame.kind().phase() == Some(Phase::Footer);
    let footer_at = walk.frames.iter().find(is_footer).map(Frame::at);
    let footer_at = footer_at.unwrap_or(walk.end.saturating_sub(POSTAMBLE_LEN));
    let offset = walk.postamble.map(|postamble| postamble.first_footer_offset);
    offset == footer_at.checked_sub(start)
}

/// A message of which only the magic is intact.
fn bare(start: u64, fault: Fault) -> ScanResult {
    let span = Span::new(start, MAGIC.len() as u64);
    let damage = |span| ScanResult::Damage(Damage { span, fault }, 0);
    span.map_or(ScanResult::Nothing, damage)
}

struct Scanner<'s> {
    /// For preambles, postambles, and frames.
    near: Window<'s>,
    /// For searching a magic.
    junk: Window<'s>,
    /// For the ends of messages whose start is in `junk`.
    far: Window<'s>,
    /// The read-ahead for that; it grows with the number of reads.
    ahead: u64,
    /// How many frames may be walked again.
    credit: u64,
    /// The end of the damaged messages so far.
    reach: u64,
    limits: &'s Limits,
    scan: Scan,
}

impl Scanner<'_> {
    /// The next magic: nearly always at `at`.
    fn next_magic(&mut self, at: u64) -> Result<Option<u64>> {
        let file_len = self.near.source().len();
        let is_first = at == self.scan.messages.last().map_or(0, |span| span.end());
        if is_first && self.near.near(at, MAGIC.len() as u64)? == MAGIC {
            return Ok(Some(at));
        }
        let (mut at, magic_len) = (at, MAGIC.len() as u64);
        while at.saturating_add(magic_len) <= file_len {
            if !self.junk.holds(at, magic_len) {
                self.ahead = (self.ahead * 2).min(AHEAD_LEN_MAX);
            }
            let bytes = self.junk.held(at, magic_len, self.ahead)?;
            if let Some(skip) = find_magic(bytes) {
                return Ok(Some(at.saturating_add(skip as u64)));
            }
            // The magic may begin in the last bytes.
            let passed = (bytes.len() as u64).saturating_sub(magic_len - 1);
            at = at.saturating_add(passed.max(1));
        }
        Ok(None)
    }

    /// Whether a message starts at a magic, and where it ends.
    fn judge(&mut self, start: u64) -> Result<ScanResult> {
        let file_len = self.near.source().len();
        let is_junk = self.junk.holds(start, PREAMBLE_LEN);
        let window = if is_junk { &mut self.junk } else { &mut self.near };
        let magic_len = MAGIC.len() as u64;
        let behind = window.near(start.saturating_add(magic_len), PREAMBLE_LEN - 1)?;
        if let Some(skip) = find_magic(behind) {
            // Another message starts before the end of this preamble, if it is one.
            let is_preamble = 2 <= skip && Fields::new(behind).u16() == VERSION;
            let (found, wanted) = (magic_len.saturating_add(skip as u64), PREAMBLE_LEN);
            let fault = Fault { rule: &rule::PREAMBLE_CUT, at: start, found, wanted };
            return Ok(if is_preamble { bare(start, fault) } else { ScanResult::Nothing });
        }
        let preamble = match Preamble::read(window.near(start, PREAMBLE_LEN)?, start) {
            Ok(preamble) => preamble,
            Err(fault) => return self.judge_preamble(start, fault),
        };
        let fault = if preamble.total_len == 0 {
            None
        } else {
            let span = Span::new(start, preamble.total_len).filter(|span| span.end() <= file_len);
            let Some(span) = span else {
                let (found, wanted) = (preamble.total_len, file_len.saturating_sub(start));
                let fault = Fault { rule: &rule::TOTAL_BOUNDS, at: start, found, wanted };
                return self.walk(start, &preamble, Extent::Open, Some(fault));
            };
            let at = span.end().saturating_sub(POSTAMBLE_LEN);
            let bytes = self.last(at, is_junk)?;
            match Postamble::read(bytes, at) {
                Ok(postamble) if [0, preamble.total_len].contains(&postamble.total_len) => {
                    // A walk that finds a message is free.
                    self.credit = self.credit.saturating_add(1);
                    return Ok(ScanResult::Message(span));
                }
                // It may belong to another message, with this one truncated.
                Ok(_) => return self.walk(start, &preamble, Extent::Known(span.end()), None),
                Err(fault) => Some(fault),
            }
        };
        self.walk(start, &preamble, Extent::Open, fault)
    }

    /// The last bytes of a possible message; none if too many wrong ones were read.
    fn last(&mut self, at: u64, is_junk: bool) -> Result<&[u8]> {
        if !is_junk {
            self.credit = self.credit.saturating_sub(1);
            return self.near.near(at, POSTAMBLE_LEN);
        }
        if self.junk.holds(at, POSTAMBLE_LEN) {
            self.credit = self.credit.saturating_sub(1);
            return self.junk.near(at, POSTAMBLE_LEN);
        }
        match self.credit.checked_sub(1) {
            Some(credit) => {
                self.credit = credit;
                self.far.near(at, POSTAMBLE_LEN)
            }
            None => Ok(&[]),
        }
    }

    /// Walks a message whose length is unknown or doubtful.
    fn walk(
        &mut self,
        start: u64,
        preamble: &Preamble,
        extent: Extent,
        fault: Option<Fault>,
    ) -> Result<ScanResult> {
        let sink = &mut |_, _| {};
        let walk = walk(&mut self.near, start, preamble, extent, Until::End, self.limits, sink)?;
        let Some(span) = Span::from_range(start..walk.end) else { return Ok(ScanResult::Nothing) };
        // A walk that reaches no postamble reports why. One that reaches the postamble of another
        // message finds wrong offsets or a wrong order of frames.
        let is_end = match extent {
            Extent::Known(_) => walk.postamble.is_some(),
            Extent::Open => {
                let is_order = |fault: &Fault| fault.rule.id == rule::FRAME_ORDER.id;
                points_to_footer(&walk, start) && !walk.fault.as_ref().is_some_and(is_order)
            }
        };
        let fault = fault.or(walk.fault.filter(|_| !is_end));
        Ok(match fault {
            None => ScanResult::Message(span),
            Some(fault) => ScanResult::Damage(Damage { span, fault }, walk.frames.len() as u64),
        })
    }

    /// A preamble of another version or a truncated one; or the magic is part of some text.
    fn judge_preamble(&mut self, start: u64, fault: Fault) -> Result<ScanResult> {
        let file_len = self.near.source().len();
        let is_version = fault.rule.id == rule::VERSION.id && fault.found <= 0xFF;
        let is_known =
            [&rule::PREAMBLE_CUT, &rule::TOTAL_MIN].iter().any(|it| it.id == fault.rule.id);
        if !is_version && !is_known {
            return Ok(ScanResult::Nothing);
        }
        if !is_version {
            return Ok(bare(start, fault));
        }
        // Messages of version 2 have their length at the same offset, and the same end.
        let mut fields = Fields::new(self.near.near(start, PREAMBLE_LEN)?);
        let (_, total_len): ([u8; 16], u64) = (fields.bytes(), fields.u64());
        let span = Span::new(start, total_len).filter(|span| span.end() <= file_len);
        if let Some(span) = span.filter(|span| PREAMBLE_LEN < span.len()) {
            let magic_len = END_MAGIC.len() as u64;
            let bytes = self.near.near(span.end().saturating_sub(magic_len), magic_len)?;
            if bytes == END_MAGIC {
                // It contains nothing of version 3.
                return Ok(ScanResult::Damage(Damage { span, fault }, u64::MAX));
            }
        }
        Ok(bare(start, fault))
    }

    /// Where to continue after a damaged message.
    fn resume(&mut self, damage: &Damage, frame_count: u64) -> u64 {
        self.reach = self.reach.max(damage.span.end());
        match self.credit.checked_sub(frame_count) {
            Some(credit) => {
                self.credit = credit;
                damage.span.start().saturating_add(MAGIC.len() as u64)
            }
            None => damage.span.end(),
        }
    }

    fn push(&mut self, span: Span) -> Result<()> {
        if span.start() < self.reach {
            // Damage inside this message belongs to it.
            for damage in &mut self.scan.damages {
                let end = damage.span.end().min(span.start());
                damage.span = Span::from_range(damage.span.start()..end).unwrap_or(damage.span);
            }
            self.reach = span.start();
        }
        let (found, wanted) = (self.scan.messages.len() as u64, self.limits.message_count_max);
        if wanted <= found {
            let fault = Fault { rule: &rule::LIMIT_MESSAGES, at: span.start(), found, wanted };
            return Err(fault.into());
        }
        self.scan.messages.push(span);
        Ok(())
    }

    fn note_gap(&mut self, start: u64, end: u64) {
        let gap = Span::from_range(start..end).filter(|gap| !gap.is_empty());
        self.scan.gaps.extend(gap);
    }
}
