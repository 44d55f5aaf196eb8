//! One message: its frames and objects, found by walking it.

use tet_format::Span;
use tet_io::Source;

use crate::error::{Fault, Result, Sink};
use crate::frame::{Frame, FrameFlags, FrameKind};
use crate::limits::Limits;
use crate::parts::Object;
use crate::postamble::{POSTAMBLE_LEN, Postamble};
use crate::preamble::{Flags, PREAMBLE_LEN, Preamble};
use crate::scan::Damage;
use crate::walk::{Extent, Until, Walk, walk};
use crate::window::Window;

/// Which hash slots of a message hold hashes (section 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HashRule {
    /// Those of frames with the hash flag: from 0.21 on.
    Frames,
    /// Those of all frames: the preamble has the hash flag and no frame does, as in 0.17 to 0.20.
    Preamble,
    /// None.
    Unhashed,
}

/// A message with all its frames.
#[derive(Debug)]
pub struct Message {
    span: Span,
    preamble: Preamble,
    walk: Walk,
    hash_rule: HashRule,
}

impl Message {
    /// Walks the message of this span, whose end is known from its length or from a walk.
    pub(crate) fn read(
        window: &mut Window<'_>,
        span: Span,
        limits: &Limits,
        sink: Sink<'_>,
    ) -> Result<Self> {
        let bytes = window.near(span.start(), PREAMBLE_LEN)?;
        let preamble = Preamble::read(bytes, span.start())?;
        let extent = Extent::Known(span.end());
        let walk = walk(window, span.start(), &preamble, extent, Until::End, limits, sink)?;
        let hash_rule = hash_rule(&preamble, &walk.frames);
        Ok(Message { span, preamble, walk, hash_rule })
    }

    /// The readable part of a damaged message: the objects before the fault.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Format`](crate::Error::Format) when not even its preamble is valid, and
    /// [`Error::Io`](crate::Error::Io) when bytes cannot be read.
    pub fn salvage(source: &Source, damage: &Damage, limits: &Limits) -> Result<Self> {
        let mut window = Window::new(source);
        let start = damage.span.start();
        let preamble = Preamble::read(window.near(start, PREAMBLE_LEN)?, start)?;
        let extent = Extent::Known(damage.span.end().saturating_add(POSTAMBLE_LEN));
        let sink = &mut |_, _| {};
        let mut walk = walk(&mut window, start, &preamble, extent, Until::End, limits, sink)?;
        (walk.fault, walk.postamble) = (Some(damage.fault), None);
        let hash_rule = hash_rule(&preamble, &walk.frames);
        Ok(Message { span: damage.span, preamble, walk, hash_rule })
    }

    /// All its bytes.
    #[must_use]
    pub const fn span(&self) -> Span {
        self.span
    }

    /// Its preamble.
    #[must_use]
    pub const fn preamble(&self) -> &Preamble {
        &self.preamble
    }

    /// Its postamble, unless a damaged frame precedes it.
    #[must_use]
    pub const fn postamble(&self) -> Option<&Postamble> {
        self.walk.postamble.as_ref()
    }

    /// The frames, in their order, up to the first damaged one.
    #[must_use]
    pub fn frames(&self) -> &[Frame] {
        &self.walk.frames
    }

    /// The first rule that the message itself breaks, not one of its objects.
    #[must_use]
    pub const fn fault(&self) -> Option<&Fault> {
        self.walk.fault.as_ref()
    }

    /// Whether the walk reached the end, so that all objects are known.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.walk.postamble.is_some()
    }

    /// The number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.walk.objects.len()
    }

    /// Whether there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.walk.objects.is_empty()
    }

    /// The objects, in their order.
    #[must_use]
    pub fn objects(&self) -> &[Object] {
        &self.walk.objects
    }

    /// The frame of an object.
    #[must_use]
    pub fn object_frame(&self, number: usize) -> Option<&Frame> {
        self.frames().get(self.objects().get(number)?.frame)
    }

    /// The frames of one kind.
    pub fn frames_of(&self, kind: FrameKind) -> impl Iterator<Item = &Frame> {
        self.frames().iter().filter(move |frame| frame.kind() == kind)
    }

    /// Which hash slots hold hashes.
    #[must_use]
    pub const fn hash_rule(&self) -> HashRule {
        self.hash_rule
    }

    /// The hash of a frame of this message, if its slot holds one.
    #[must_use]
    pub fn hash(&self, frame: &Frame) -> Option<u64> {
        is_hashed(self.hash_rule, frame).then_some(frame.tail.hash)
    }
}

/// Which hash slots hold hashes, if `frames` are all frames of the message.
fn hash_rule(preamble: &Preamble, frames: &[Frame]) -> HashRule {
    if frames.iter().any(|frame| frame.header.flags.contains(FrameFlags::HASHED)) {
        HashRule::Frames
    } else if preamble.flags.contains(Flags::HASHED) {
        HashRule::Preamble
    } else {
        HashRule::Unhashed
    }
}

/// Whether the slot of a frame holds a hash. For a frame of an unknown type, the hashed bytes are
/// unknown.
pub(crate) fn is_hashed(rule: HashRule, frame: &Frame) -> bool {
    !frame.kind().is_passed_over()
        && match rule {
            HashRule::Frames => frame.header.flags.contains(FrameFlags::HASHED),
            HashRule::Preamble => true,
            HashRule::Unhashed => false,
        }
}
