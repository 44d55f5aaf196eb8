//! Walks from frame to frame (sections 1 and 2): headers, tails and padding, no payloads.
//!
//! ```text
//!   preamble | frame | padding | frame | padding | ... | postamble
//!            start + 24        each from its length         bound
//! ```
//!
//! The stated end of a frame counts only if `ENDF` is there. Nothing is searched inside frames.

mod notes;

use tet_format::Span;

use crate::error::{Fault, Result, Sink};
use crate::frame::{
    FRAME_HEADER_LEN, FRAME_MAGIC, Frame, FrameHeader, FrameKind, FrameTail, Phase,
};
use crate::limits::Limits;
use crate::parts::{self, Object};
use crate::postamble::{END_MAGIC, POSTAMBLE_LEN, Postamble};
use crate::preamble::{MAGIC, PREAMBLE_LEN, Preamble};
use crate::rule;
use crate::search::find_magic;
use crate::window::Window;

/// Nonzero bytes between frames must be fewer than the shortest frame, or they may be a damaged
/// frame.
const JUNK_LEN_MAX: u64 = 28;

/// Where the frames must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// At the postamble that ends here.
    Known(u64),
    /// At the first postamble after a frame.
    Open,
}

/// How much of a message to walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// All of it.
    End,
    /// Up to the first frame of the body.
    Body,
}

/// The footer frames from an offset on, if they lead to the postamble that starts at `bound`.
pub(crate) fn footer(
    window: &mut Window<'_>,
    start: u64,
    footer_at: u64,
    bound: u64,
) -> Result<Option<Vec<Frame>>> {
    let (mut frames, mut at) = (Vec::new(), footer_at);
    while at < bound {
        let Ok(frame) = read_frame(window, at, bound)? else { return Ok(None) };
        if frame.kind().phase() != Some(Phase::Footer) || FOOTER_COUNT_MAX <= frames.len() {
            return Ok(None);
        }
        let end = frame.span.end();
        at = end.saturating_add(padding_len(end.saturating_sub(start))).min(bound);
        frames.push(frame);
    }
    Ok((at == bound).then_some(frames))
}

/// A footer with more frames is found by a walk.
const FOOTER_COUNT_MAX: usize = 16;

/// Reads header and tail of the frame at `at`, which must end by `bound`.
pub(crate) fn read_frame(
    window: &mut Window<'_>,
    at: u64,
    bound: u64,
) -> Result<Result<Frame, Fault>> {
    let bytes = window.near(at, FRAME_HEADER_LEN)?;
    let header = match FrameHeader::read(bytes, at) {
        Ok(header) => header,
        Err(fault) => return Ok(Err(fault)),
    };
    let span = Span::new(at, header.len).filter(|span| span.end() <= bound);
    let Some(span) = span else {
        let (found, wanted) = (header.len, bound.saturating_sub(at));
        return Ok(Err(Fault { rule: &rule::FRAME_BOUNDS, at, found, wanted }));
    };
    let tail_len = header.kind.tail_len();
    let tail_at = span.end().saturating_sub(tail_len);
    let bytes = window.near(tail_at, tail_len)?;
    let tail = FrameTail::read(header.kind, bytes, tail_at);
    Ok(tail.map(|tail| Frame { span, header, tail }))
}

/// The number of bytes between an offset in the message and the next multiple of 8.
pub(crate) const fn padding_len(offset: u64) -> u64 {
    offset.wrapping_neg() & 7
}

/// The result of a walk.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    pub(crate) frames: Vec<Frame>,
    pub(crate) objects: Vec<Object>,
    /// The postamble, if the walk reached it.
    pub(crate) postamble: Option<Postamble>,
    /// The end of the message, or of the last intact frame.
    pub(crate) end: u64,
    /// The first rule that is broken.
    pub(crate) fault: Option<Fault>,
}

/// Walks through a message that starts at `start`.
///
/// Faults of the message are in the walk; an error means that bytes cannot be read.
pub(crate) fn walk(
    window: &mut Window<'_>,
    start: u64,
    preamble: &Preamble,
    extent: Extent,
    until: Until,
    limits: &Limits,
    sink: Sink<'_>,
) -> Result<Walk> {
    let (is_known, bound) = match extent {
        Extent::Known(end) => (true, end.saturating_sub(POSTAMBLE_LEN)),
        Extent::Open => (false, window.source().len()),
    };
    let walk = Walk { end: start.saturating_add(PREAMBLE_LEN), ..Walk::default() };
    let mut walker = Walker {
        window,
        start,
        preamble,
        bound,
        is_known,
        until,
        limits,
        sink,
        phase: Phase::Header,
        preceder: None,
        footer_at: None,
        walk,
    };
    walker.note_preamble();
    walker.run()?;
    Ok(walker.walk)
}

/// Item after a frame.
enum Next {
    Frame(u64),
    Postamble(u64),
    Nothing(Fault),
}

struct Walker<'w, 's> {
    window: &'w mut Window<'s>,
    start: u64,
    preamble: &'w Preamble,
    bound: u64,
    is_known: bool,
    until: Until,
    limits: &'w Limits,
    sink: Sink<'w>,
    phase: Phase,
    /// A preceder whose tensor has not come yet.
    preceder: Option<usize>,
    footer_at: Option<u64>,
    walk: Walk,
}

impl Walker<'_, '_> {
    fn run(&mut self) -> Result<()> {
        loop {
            let end = self.walk.end;
            match self.next(end)? {
                Next::Frame(at) => {
                    let frame = match read_frame(self.window, at, self.bound)? {
                        Ok(frame) => frame,
                        Err(fault) => {
                            self.report(fault, None);
                            return Ok(());
                        }
                    };
                    let is_body = frame.kind().phase() >= Some(Phase::Body);
                    if self.until == Until::Body && is_body {
                        return Ok(());
                    }
                    self.place(frame)?;
                    self.walk.end = frame.span.end();
                }
                Next::Postamble(at) => return self.finish(at),
                Next::Nothing(fault) => {
                    self.report(fault, None);
                    return Ok(());
                }
            }
        }
    }

    /// Stores the first error of the message, and reports every fault.
    fn report(&mut self, fault: Fault, object: Option<usize>) {
        if fault.rule.severity == tet_format::Severity::Error && object.is_none() {
            self.walk.fault.get_or_insert(fault);
        }
        (self.sink)(fault, object);
    }

    fn offset(&self, at: u64) -> u64 {
        at.saturating_sub(self.start)
    }

    /// The item after a frame that ends at `end`: directly, at the next multiple of 8, or after
    /// more padding.
    fn next(&mut self, end: u64) -> Result<Next> {
        let aligned = end.saturating_add(padding_len(self.offset(end)));
        match self.structure_at(end)? {
            // `FR` in padding is no frame if a frame starts at the next multiple of 8.
            Some(Next::Frame(at)) if aligned != end && !self.is_sound(at)? => {}
            Some(next) => return Ok(next),
            None => {}
        }
        if aligned != end
            && let Some(next) = self.structure_at(aligned)?
        {
            if let Some(odd_at) = self.window.first_odd(end, aligned)? {
                self.note_padding(odd_at, aligned);
            }
            return Ok(next);
        }
        self.search(end)
    }

    /// The frame or postamble at an offset, if there is one.
    fn structure_at(&mut self, at: u64) -> Result<Option<Next>> {
        if self.is_known && self.bound <= at {
            return Ok((at == self.bound).then_some(Next::Postamble(at)));
        }
        let is_known = self.is_known;
        let bytes = self.window.near(at, POSTAMBLE_LEN)?;
        if bytes.starts_with(&FRAME_MAGIC) {
            return Ok(Some(Next::Frame(at)));
        }
        let is_end = !is_known && bytes.ends_with(&END_MAGIC) && bytes.len() == 24;
        Ok(is_end.then_some(Next::Postamble(at)))
    }

    /// Searches after padding of any length, which is zero except for a few bytes.
    fn search(&mut self, end: u64) -> Result<Next> {
        let Some(odd_at) = self.window.first_odd(end, self.bound)? else {
            return Ok(if self.is_known { Next::Postamble(self.bound) } else { self.cut(end) });
        };
        // The next message is no padding of this one.
        let bytes = self.window.near(odd_at, JUNK_LEN_MAX + MAGIC.len() as u64)?;
        let magic_at = find_magic(bytes).map(|skip| odd_at.saturating_add(skip as u64));
        let junk_end = odd_at.saturating_add(JUNK_LEN_MAX);
        let junk_end = magic_at.map_or(junk_end, |at| at.min(junk_end));
        // A postamble begins with zeros.
        let first = odd_at.saturating_sub(POSTAMBLE_LEN).max(end);
        for at in first..junk_end {
            let next = match self.structure_at(at)? {
                Some(Next::Frame(at)) if odd_at < at && !self.is_sound(at)? => None,
                Some(Next::Postamble(at)) if !self.is_known && !self.is_consistent(at)? => None,
                next => next,
            };
            if let Some(next) = next {
                if odd_at < at {
                    self.note_padding(odd_at, at);
                }
                return Ok(next);
            }
        }
        if magic_at.is_some() && !self.is_known {
            return Ok(self.cut(end));
        }
        let bytes = self.window.near(odd_at, 2)?;
        let (found, wanted) = (crate::fields::word(bytes), crate::fields::word(&FRAME_MAGIC));
        Ok(Next::Nothing(Fault { rule: &rule::FRAME_MAGIC, at: odd_at, found, wanted }))
    }

    fn cut(&self, end: u64) -> Next {
        let found = self.bound.saturating_sub(end);
        Next::Nothing(Fault { rule: &rule::STREAM_CUT, at: end, found, wanted: POSTAMBLE_LEN })
    }

    /// Whether an apparent start of a frame is one.
    fn is_sound(&mut self, at: u64) -> Result<bool> {
        let frame = read_frame(self.window, at, self.bound)?;
        Ok(frame.is_ok_and(|frame| !frame.kind().is_passed_over()))
    }

    /// Whether a postamble is consistent with the message.
    fn is_consistent(&mut self, at: u64) -> Result<bool> {
        let bytes = self.window.near(at, POSTAMBLE_LEN)?;
        let Ok(postamble) = Postamble::read(bytes, at) else { return Ok(false) };
        let footer_at = self.footer_at.unwrap_or(at);
        let total_len = self.offset(at).saturating_add(POSTAMBLE_LEN);
        let is_len = postamble.total_len == 0 || postamble.total_len == total_len;
        Ok(is_len && postamble.first_footer_offset == self.offset(footer_at))
    }

    /// Adds a frame, and checks its order and its preceder.
    fn place(&mut self, frame: Frame) -> Result<()> {
        let at = frame.at();
        let (frame_count, limit) = (self.walk.frames.len() as u64, self.limits.frame_count_max);
        if limit <= frame_count {
            let fault = Fault { rule: &rule::LIMIT_FRAMES, at, found: frame_count, wanted: limit };
            self.report(fault, None);
            return Err(fault.into());
        }
        self.note_frame(&frame);
        match frame.kind().phase() {
            Some(phase) if phase < self.phase => {
                let (found, wanted) = (frame.kind().code().into(), 0);
                self.report(Fault { rule: &rule::FRAME_ORDER, at, found, wanted }, None);
            }
            Some(phase) => self.phase = phase,
            None => {}
        }
        if frame.kind().phase() == Some(Phase::Footer) {
            self.footer_at.get_or_insert(at);
        }
        let position = self.walk.frames.len();
        match frame.kind() {
            FrameKind::Tensor => {
                let (preceder, number) = (self.preceder.take(), self.walk.objects.len());
                let object = parts::object(self.window, &frame, position, preceder, self.limits)?;
                if let Some(fault) = object.fault {
                    self.report(fault, Some(number));
                }
                self.walk.objects.push(object);
            }
            FrameKind::Unknown(_) => {}
            _ => self.judge_preceder(),
        }
        if frame.kind() == FrameKind::Preceder {
            self.preceder = Some(position);
        }
        self.walk.frames.push(frame);
        Ok(())
    }

    /// Reports a preceder that has no tensor.
    fn judge_preceder(&mut self) {
        let waiting = self.preceder.take().and_then(|position| self.walk.frames.get(position));
        if let Some(at) = waiting.map(Frame::at) {
            self.report(Fault { rule: &rule::PRECEDER_ALONE, at, found: 0, wanted: 1 }, None);
        }
    }

    fn finish(&mut self, at: u64) -> Result<()> {
        self.judge_preceder();
        let bytes = self.window.near(at, POSTAMBLE_LEN)?;
        let postamble = match Postamble::read(bytes, at) {
            Ok(postamble) => postamble,
            Err(fault) => {
                self.report(fault, None);
                return Ok(());
            }
        };
        let end = at.saturating_add(POSTAMBLE_LEN);
        self.walk.end = end;
        self.walk.postamble = Some(postamble);
        let (found, wanted) = (postamble.total_len, self.offset(end));
        if found != 0 && found != wanted {
            let at = at.saturating_add(8);
            self.report(Fault { rule: &rule::TOTAL_DIFFERS, at, found, wanted }, None);
        }
        let footer = self.footer_at.unwrap_or(at);
        let (found, wanted) = (postamble.first_footer_offset, self.offset(footer));
        if found != wanted && self.until == Until::End {
            self.report(Fault { rule: &rule::FOOTER_OFFSET, at, found, wanted }, None);
        }
        if self.until == Until::End {
            self.judge_whole();
        }
        Ok(())
    }
}
