//! Checks all frames of a message together, and notes what is unusual about them.

use super::Walker;
use crate::error::Fault;
use crate::frame::{FRAME_VERSION, Frame, FrameFlags, FrameKind};
use crate::preamble::{Flags, Preamble};
use crate::rule;

impl Walker<'_, '_> {
    /// Checks all frames together.
    pub(super) fn judge_whole(&mut self) {
        let frames = self.walk.frames.iter();
        let mut flags =
            frames.fold(Flags::default(), |flags, frame| flags.with(frame.kind().flag()));
        let (has_header, has_footer) =
            (flags.contains(Flags::HEADER_METADATA), flags.contains(Flags::FOOTER_METADATA));
        let is_hashed =
            self.walk.frames.iter().any(|it| it.header.flags.contains(FrameFlags::HASHED));
        let stated = self.preamble.flags;
        // Old writers set it in the preamble only.
        if is_hashed || stated.contains(Flags::HASHED) {
            flags = flags.with(Flags::HASHED);
        }
        if !has_header && !has_footer {
            let fault =
                Fault { rule: &rule::METADATA_MISSING, at: self.start, found: 0, wanted: 1 };
            self.report(fault, None);
        }
        // A streaming writer sets these in advance, and writes no hashes if there are no objects.
        let mut early = Flags::default();
        if has_footer {
            early = Flags::PRECEDER;
            if self.walk.objects.is_empty() {
                early = early.with(Flags::FOOTER_HASHES);
            }
        }
        let differs = (stated.bits() & 0xFF) ^ flags.bits();
        if differs & !(early.bits() & stated.bits()) != 0 {
            let (found, wanted) = (stated.bits().into(), flags.bits().into());
            let at = self.start.saturating_add(10);
            self.report(Fault { rule: &rule::FLAGS_DIFFER, at, found, wanted }, None);
        }
        self.note_hashes(is_hashed);
    }

    fn note_hashes(&mut self, is_hashed: bool) {
        if !self.preamble.flags.contains(Flags::HASHED) {
            return;
        }
        let found = self.preamble.flags.bits().into();
        if !is_hashed {
            let at = self.start.saturating_add(10);
            self.report(Fault { rule: &rule::HASHED_OLD, at, found, wanted: 0 }, None);
            return;
        }
        let bare = |it: &&Frame| !it.header.flags.contains(FrameFlags::HASHED);
        let bare = self.walk.frames.iter().filter(|it| !it.kind().is_passed_over()).find(bare);
        if let Some(at) = bare.map(Frame::at) {
            self.report(Fault { rule: &rule::HASH_MISSING, at, found: 0, wanted: 1 }, None);
        }
    }

    pub(super) fn note_preamble(&mut self) {
        let Preamble { flags, reserved, .. } = *self.preamble;
        let found = u64::from(reserved) | u64::from(flags.reserved()) << 32;
        if found != 0 {
            let at = self.start.saturating_add(10);
            self.report(Fault { rule: &rule::RESERVED, at, found, wanted: 0 }, None);
        }
    }

    pub(super) fn note_padding(&mut self, at: u64, end: u64) {
        let found = end.saturating_sub(at);
        self.report(Fault { rule: &rule::PADDING, at, found, wanted: 0 }, None);
    }

    pub(super) fn note_frame(&mut self, frame: &Frame) {
        let (header, at) = (frame.header, frame.at());
        let mut note = |rule, found: u64, wanted| {
            (self.sink)(Fault { rule, at, found, wanted }, None);
        };
        let misaligned = at.saturating_sub(self.start) % 8;
        if misaligned != 0 {
            note(&rule::ALIGNMENT, misaligned, 0);
        }
        if header.version != FRAME_VERSION {
            note(&rule::FRAME_VERSION, header.version.into(), FRAME_VERSION.into());
        }
        let reserved = header.flags.reserved(header.kind);
        if reserved != 0 {
            note(&rule::RESERVED, reserved.into(), 0);
        }
        if let FrameKind::Unknown(code) = header.kind {
            note(&rule::KIND_UNKNOWN, code.into(), 9);
        }
        if header.kind == FrameKind::Obsolete {
            self.report(Fault { rule: &rule::OBSOLETE, at, found: 4, wanted: 9 }, None);
        }
    }
}
