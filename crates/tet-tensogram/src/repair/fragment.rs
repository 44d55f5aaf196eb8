//! Fragments of messages, and which of them belong to one message.

use tet_format::Span;

use crate::frame::{FRAME_HEADER_LEN, Frame, FrameKind, Phase, TAIL_LEN};
use crate::postamble::{POSTAMBLE_LEN, Postamble};
use crate::preamble::{PREAMBLE_LEN, Preamble};

/// A frame with a valid header and tail.
#[derive(Clone, Copy, Debug)]
pub(super) struct IntactFrame {
    /// The frame after repair.
    pub(super) frame: Frame,
    /// The hash of its body after repair.
    pub(super) hash: u64,
    /// A corrected byte of its body, with its offset in the old file.
    pub(super) patch: Option<(u64, u8)>,
    /// Whether it differs from the old file.
    pub(super) is_repaired: bool,
}

#[derive(Debug)]
pub(super) struct Fragment {
    /// The start of the message, as far as it is known.
    pub(super) start: u64,
    /// Whether `start` is certain, not a guess.
    pub(super) is_placed: bool,
    pub(super) preamble: Option<Preamble>,
    pub(super) frames: Vec<IntactFrame>,
    /// Spans that are neither frames nor zero.
    pub(super) lost: Vec<Span>,
    /// Offsets of padding bytes in which one bit is set.
    pub(super) odd: Vec<u64>,
    pub(super) postamble: Option<(u64, Postamble)>,
    pub(super) end: u64,
}

impl Fragment {
    pub(super) fn new(start: u64, preamble: Option<Preamble>) -> Self {
        let (frames, lost, odd, postamble) = (Vec::new(), Vec::new(), Vec::new(), None);
        let is_placed = preamble.is_some();
        Fragment { start, is_placed, preamble, frames, lost, odd, postamble, end: start }
    }

    /// Whether a postamble may belong to this message.
    pub(super) fn ends_with(&self, at: u64, postamble: &Postamble) -> bool {
        let offset = |at: u64| at.saturating_sub(self.start);
        // If the start is unknown, a postamble right after the last frame belongs to it.
        let is_behind = !self.is_placed
            && self
                .frames
                .last()
                .is_some_and(|it| at.saturating_sub(it.frame.span.end()) < GAP_LEN_MIN);
        is_behind
            || postamble.total_len == offset(at).saturating_add(POSTAMBLE_LEN)
            || postamble.first_footer_offset == offset(self.footer_at().unwrap_or(at))
    }

    /// Whether the postamble states the start of the message.
    pub(super) fn ends_agree(&self) -> bool {
        self.ends_at(self.start, self.footer_at())
    }

    /// Whether the postamble is that of a message that starts at `start`.
    fn ends_at(&self, start: u64, footer_at: Option<u64>) -> bool {
        let Some((at, postamble)) = self.postamble else { return false };
        match postamble.total_len {
            0 => Some(postamble.first_footer_offset) == footer_at.unwrap_or(at).checked_sub(start),
            len => Some(len) == at.saturating_add(POSTAMBLE_LEN).checked_sub(start),
        }
    }

    /// Whether a frame at `place` may belong to another message. Zeros may be padding; if the
    /// preamble states a longer message, they are.
    pub(super) fn is_cut_before(&self, place: u64, kind: FrameKind) -> bool {
        let len = self.preamble.map_or(0, |preamble| preamble.total_len);
        let gap_len = place.saturating_sub(self.last_end());
        let is_lost = self.lost.last().is_some_and(|it| self.last_end() <= it.start());
        let may_end =
            BOUNDARY_LEN_MIN <= gap_len && self.start.saturating_add(len) <= place || is_lost;
        let is_gap = GAP_LEN_MIN <= gap_len && may_end;
        let mut kinds = self.frames.iter().map(|it| it.frame.kind());
        let last = self.frames.iter().rev().find_map(|it| it.frame.kind().phase());
        let is_before = kind.phase().is_some_and(|phase| last > Some(phase));
        let is_once = kind.phase().is_some_and(|phase| phase != Phase::Body);
        is_gap || is_before || is_once && kinds.any(|it| it == kind)
    }

    /// Whether frames without tensors directly follow those of another fragment.
    fn is_footer_behind(&self, before: &Fragment) -> bool {
        let first_at = self.frames.first().map_or(0, |it| it.frame.at());
        let is_tensor = |it: &IntactFrame| it.frame.kind() == FrameKind::Tensor;
        first_at.saturating_sub(before.last_end()) < GAP_LEN_MIN
            && !self.frames.iter().any(is_tensor)
    }

    /// Appends the later fragments of the message.
    fn extend(&mut self, rest: Vec<Fragment>) {
        for part in rest {
            self.frames.extend(part.frames);
            self.lost.extend(part.lost);
            self.odd.extend(part.odd);
            (self.end, self.postamble) = (part.end, part.postamble);
        }
    }

    /// The offset of its footer.
    pub(super) fn footer_at(&self) -> Option<u64> {
        let is_footer = |frame: &&Frame| frame.kind().phase() == Some(Phase::Footer);
        self.frames.iter().map(|it| &it.frame).find(is_footer).map(Frame::at)
    }

    /// The end of the last frame, or of the preamble.
    pub(super) fn last_end(&self) -> u64 {
        let behind = self.start.saturating_add(PREAMBLE_LEN);
        self.frames.last().map_or(behind, |it| it.frame.span.end())
    }
}

/// This number of bytes after a frame is more than padding.
pub(super) const GAP_LEN_MIN: u64 = 8;

/// Fewer bytes cannot hold the end of one message and the start of the next.
const BOUNDARY_LEN_MIN: u64 = POSTAMBLE_LEN + PREAMBLE_LEN + FRAME_HEADER_LEN + TAIL_LEN;

/// Joins fragments separated by lost bytes: they are one message if the postamble of the last one
/// states the start of the first one.
pub(super) fn join(parts: Vec<Fragment>) -> Vec<Fragment> {
    let mut joined: Vec<Fragment> = Vec::new();
    for part in parts {
        let is_open = |it: &&Fragment| it.postamble.is_none();
        let open = joined.iter().rev().take_while(is_open).position(|it| it.is_placed);
        let head = open.and_then(|back| joined.len().checked_sub(back.saturating_add(1)));
        // A frame whose type was changed is within a footer that is otherwise complete.
        let before = joined.last().filter(|before| part.is_footer_behind(before));
        let footer_at = before.and_then(Fragment::footer_at).or_else(|| part.footer_at());
        let start = head.and_then(|head| joined.get(head)).map(|it| it.start);
        let is_end = |start| !part.is_placed && part.ends_at(start, footer_at);
        let head = head.filter(|_| start.is_some_and(is_end));
        joined.push(part);
        if let Some(head) = head {
            let rest = joined.split_off(head.saturating_add(1));
            if let Some(first) = joined.last_mut() {
                first.extend(rest);
            }
        }
    }
    joined
}
