//! Opens a file (section 6.2): finds its messages first, and reads the rest on request.

use std::sync::{Arc, OnceLock};

use tet_format::Span;
use tet_io::Source;

use crate::error::{Error, Fault, Result};
use crate::frame::{FRAME_HEADER_LEN, Frame, FrameFlags, FrameKind};
use crate::hashes::HashList;
use crate::index::{Index, IndexEntry};
use crate::item::read_cbor;
use crate::limits::Limits;
use crate::message::Message;
use crate::metadata::Metadata;
use crate::parts::{self, Object};
use crate::postamble::{POSTAMBLE_LEN, Postamble};
use crate::preamble::{Flags, PREAMBLE_LEN, Preamble};
use crate::rule;
use crate::scan::{Damage, Scan, scan};
use crate::walk::{Extent, Until, footer, read_frame, walk};
use crate::window::Window;

/// Messages with at most this number of objects are walked, which reports all their faults.
const WALKED_COUNT: usize = 64;

/// An opened file with the positions of its messages. Frames are read on request.
#[derive(Clone, Debug)]
pub struct TensogramFile {
    source: Source,
    limits: Limits,
    opened: Arc<Opened>,
}

#[derive(Debug)]
struct Opened {
    scan: Scan,
    slots: Vec<Slot>,
}

/// Cached parts of a message.
#[derive(Debug, Default)]
struct Slot {
    message: OnceLock<Arc<Message>>,
    index: OnceLock<Option<Index>>,
}

/// An object of a file, with all its spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectAt {
    /// The number of its message in the file.
    pub message: usize,
    /// Its number in the message.
    pub number: usize,
    /// Its frame.
    pub frame: Frame,
    /// The bytes of payload and masks.
    pub region: Span,
    /// The CBOR that describes it.
    pub descriptor: Span,
    /// The hash of the body of its frame, if its slot holds one.
    pub hash: Option<u64>,
    /// The rule that its frame breaks: region and descriptor are unknown then.
    pub fault: Option<Fault>,
}

impl TensogramFile {
    /// Opens a file: finds its messages, and reads none whose length is stored.
    ///
    /// Damaged messages are listed in [`TensogramFile::damages`]; the others can be read.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Format`] when no message is intact, or for a limit; [`Error::Io`] when
    /// bytes cannot be read.
    pub fn open(source: Source, limits: &Limits) -> Result<Self> {
        let scan = scan(&source, limits)?;
        source.check_unchanged()?;
        if scan.messages.is_empty() {
            return Err(no_message(&source, &scan)?.into());
        }
        let slots = scan.messages.iter().map(|_| Slot::default()).collect();
        Ok(TensogramFile { source, limits: *limits, opened: Arc::new(Opened { scan, slots }) })
    }

    /// The source of the bytes.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The limits of the reader.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.opened.scan.messages.len()
    }

    /// Whether there are no messages; always false.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.opened.scan.messages.is_empty()
    }

    /// The spans of the file outside all messages.
    #[must_use]
    pub fn gaps(&self) -> &[Span] {
        &self.opened.scan.gaps
    }

    /// The damaged messages; only the first ones if there are many.
    #[must_use]
    pub fn damages(&self) -> &[Damage] {
        &self.opened.scan.damages
    }

    /// The spans of the file in which something was lost, each with the first broken rule: those
    /// that are outside all messages and not zero.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when bytes cannot be read.
    pub fn losses(&self) -> Result<Vec<Damage>> {
        let mut window = Window::new(&self.source);
        let mut losses = Vec::new();
        for &span in self.gaps() {
            let Some(at) = window.first_odd(span.start(), span.end())? else { continue };
            let first = self.damages().partition_point(|it| it.span.start() < span.start());
            let damages = self.damages().iter().skip(first);
            let damage = damages
                .take_while(|damage| damage.span.start() < span.end())
                .find(|damage| span.contains(damage.span));
            let found = span.end().saturating_sub(at);
            let bytes = Fault { rule: &rule::GAP_BYTES, at, found, wanted: 0 };
            losses.push(Damage { span, fault: damage.map_or(bytes, |damage| damage.fault) });
        }
        self.source.check_unchanged()?;
        Ok(losses)
    }

    /// The span of a message.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] when there is no message of this number.
    pub fn span(&self, message: usize) -> Result<Span> {
        let missing = || missing("number of a message", message, self.len());
        self.opened.scan.messages.get(message).copied().ok_or_else(missing)
    }

    /// A message with all its frames; it is walked only once.
    ///
    /// The walk ends at a damaged frame: the message has the objects before it, and the fault.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] when there is no such message, [`Error::Format`] for a limit,
    /// [`Error::Io`] when bytes cannot be read.
    pub fn message(&self, message: usize) -> Result<Arc<Message>> {
        let (span, slot) = (self.span(message)?, self.slot(message)?);
        if let Some(message) = slot.message.get() {
            return Ok(Arc::clone(message));
        }
        let mut window = Window::new(&self.source);
        let read = Message::read(&mut window, span, &self.limits, &mut |_, _| {})?;
        self.source.check_unchanged()?;
        if read.is_empty() {
            // There may be millions of them, a few bytes each.
            return Ok(Arc::new(read));
        }
        Ok(Arc::clone(slot.message.get_or_init(|| Arc::new(read))))
    }

    /// An object of a message.
    ///
    /// Uses the index of the message if the frame at the stated offset matches it; otherwise walks
    /// the message.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] when there is no such object, and what [`TensogramFile::message`]
    /// returns; the fault of the message if a damaged frame hides the object.
    pub fn object(&self, message: usize, number: usize) -> Result<ObjectAt> {
        let slot = self.slot(message)?;
        if slot.message.get().is_none()
            && let Some(found) = self.indexed(message, number)?
        {
            return Ok(found);
        }
        let walked = self.message(message)?;
        if let Some(found) = object_at(&walked, message, number) {
            return Ok(found);
        }
        if let Some(found) = self.indexed(message, number)? {
            return Ok(found);
        }
        match walked.fault().filter(|_| !walked.is_whole()) {
            Some(fault) => Err((*fault).into()),
            None => Err(missing("number of an object", number, walked.len())),
        }
    }

    /// An object and the metadata of a large message, found by its header and index alone: the
    /// number of reads does not depend on the number of objects.
    ///
    /// `None` if these do not lead to it, or if walking the message is not slower: then use
    /// [`TensogramFile::object`] and [`TensogramFile::metadata`].
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] when there is no such message, and [`Error::Io`].
    pub fn object_by_header(
        &self,
        message: usize,
        number: usize,
    ) -> Result<Option<(ObjectAt, Metadata)>> {
        let span = self.span(message)?;
        let mut window = Window::new(&self.source);
        let preamble = Preamble::read(window.near(span.start(), PREAMBLE_LEN)?, span.start())?;
        let has = |flags| preamble.flags.contains(flags);
        let leads = has(Flags::HEADER_METADATA.with(Flags::HEADER_INDEX))
            && !has(Flags::FOOTER_METADATA)
            && !has(Flags::PRECEDER);
        if !leads {
            return Ok(None);
        }
        let Some(object) = self.indexed(message, number)? else { return Ok(None) };
        let index = self.slot(message)?.index.get().and_then(Option::as_ref);
        let count = index.map_or(0, |index| index.entries().len());
        if count <= WALKED_COUNT {
            return Ok(None);
        }
        let (extent, sink) = (Extent::Known(span.end()), &mut |_, _| {});
        let head =
            walk(&mut window, span.start(), &preamble, extent, Until::Body, &self.limits, sink)?;
        let frame = head.frames.iter().rfind(|it| it.kind() == FrameKind::HeaderMetadata);
        let Some(body) = frame.map(Frame::body) else { return Ok(None) };
        let bytes = match read_cbor(&self.source, body, &self.limits) {
            Err(Error::Format(_)) => return Ok(None),
            bytes => bytes?,
        };
        let metadata = Metadata::read(&bytes, body.start(), &self.limits).ok();
        self.source.check_unchanged()?;
        Ok(metadata.filter(|it| it.base.len() == count).map(|metadata| (object, metadata)))
    }

    /// All objects of a message, in their order.
    ///
    /// # Errors
    ///
    /// Returns what [`TensogramFile::message`] returns.
    pub fn objects(&self, message: usize) -> Result<Vec<ObjectAt>> {
        let walked = self.message(message)?;
        Ok((0..walked.len()).filter_map(|number| object_at(&walked, message, number)).collect())
    }

    /// All metadata of a message and its objects.
    ///
    /// # Errors
    ///
    /// Returns what [`TensogramFile::message`] and [`Metadata::from_message`] return.
    pub fn metadata(&self, message: usize) -> Result<Metadata> {
        let walked = self.message(message)?;
        let metadata = Metadata::from_message(&self.source, &walked, &self.limits)?;
        self.source.check_unchanged()?;
        Ok(metadata)
    }

    /// The number of objects according to the index of a message, its hashes, or its metadata: the
    /// first of these that can be read. If a different number was found, frames are lost.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when bytes cannot be read.
    pub fn counted(&self, message: &Message) -> Result<Option<usize>> {
        use FrameKind as Kind;
        let limits = &self.limits;
        for kinds in [
            [Kind::HeaderIndex, Kind::FooterIndex],
            [Kind::HeaderHashes, Kind::FooterHashes],
            [Kind::HeaderMetadata, Kind::FooterMetadata],
        ] {
            for frame in kinds.iter().flat_map(|&kind| message.frames_of(kind)) {
                let at = frame.body().start();
                let bytes = match read_cbor(&self.source, frame.body(), limits) {
                    Ok(bytes) => bytes,
                    Err(Error::Format(_)) => continue,
                    Err(error) => return Err(error),
                };
                let count = match kinds[0] {
                    Kind::HeaderIndex => {
                        Index::read(&bytes, at, limits).map(|index| index.entries().len())
                    }
                    Kind::HeaderHashes => {
                        HashList::read(&bytes, at, limits).map(|list| list.hashes().len())
                    }
                    _ => Metadata::read(&bytes, at, limits).map(|metadata| metadata.base.len()),
                };
                if let Ok(count) = count {
                    return Ok(Some(count));
                }
            }
        }
        Ok(None)
    }

    /// The CBOR that describes an object.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Format`] when the frame of the object breaks a rule, or for a limit, and
    /// [`Error::Io`].
    pub fn read_descriptor(&self, object: &ObjectAt) -> Result<Vec<u8>> {
        match object.fault {
            Some(fault) => Err(fault.into()),
            None => read_cbor(&self.source, object.descriptor, &self.limits),
        }
    }

    fn slot(&self, message: usize) -> Result<&Slot> {
        let missing = || missing("number of a message", message, self.len());
        self.opened.slots.get(message).ok_or_else(missing)
    }

    /// The object that the index of a message leads to, if it does.
    fn indexed(&self, message: usize, number: usize) -> Result<Option<ObjectAt>> {
        let (span, slot) = (self.span(message)?, self.slot(message)?);
        let mut window = Window::new(&self.source);
        let index = match slot.index.get() {
            Some(index) => index,
            None => {
                let index = self.read_index(&mut window, span)?;
                slot.index.get_or_init(|| index)
            }
        };
        let entry = index.as_ref().and_then(|index| index.entries().get(number));
        let Some(IndexEntry { offset, len }) = entry.copied() else { return Ok(None) };
        let bound = span.end().saturating_sub(POSTAMBLE_LEN);
        let at = span.start().checked_add(offset).filter(|at| *at < bound);
        let Some(at) = at.filter(|_| PREAMBLE_LEN <= offset) else { return Ok(None) };
        let Ok(frame) = read_frame(&mut window, at, bound)? else { return Ok(None) };
        if frame.kind() != FrameKind::Tensor || frame.header.len != len {
            return Ok(None);
        }
        let preamble = Preamble::read(window.near(span.start(), PREAMBLE_LEN)?, span.start())?;
        let is_hashed = frame.header.flags.contains(FrameFlags::HASHED);
        if !is_hashed && preamble.flags.contains(Flags::HASHED) {
            // Only all frames together determine whether the slot holds a hash.
            return Ok(None);
        }
        let object = parts::object(&mut window, &frame, 0, None, &self.limits)?;
        let hash = is_hashed.then_some(frame.tail.hash);
        let Object { region, descriptor, fault, .. } = object;
        Ok(Some(ObjectAt { message, number, frame, region, descriptor, hash, fault }))
    }

    /// The index of a message, from its header or its footer; `None` if it is damaged.
    fn read_index(&self, window: &mut Window<'_>, span: Span) -> Result<Option<Index>> {
        let preamble = Preamble::read(window.near(span.start(), PREAMBLE_LEN)?, span.start())?;
        let (extent, sink) = (Extent::Known(span.end()), &mut |_, _| {});
        let head = walk(window, span.start(), &preamble, extent, Until::Body, &self.limits, sink)?;
        let of = |frames: &[Frame], kind| frames.iter().rfind(|it| it.kind() == kind).copied();
        let mut frame = of(&head.frames, FrameKind::HeaderIndex);
        if frame.is_none() {
            let bound = span.end().saturating_sub(POSTAMBLE_LEN);
            let postamble = Postamble::read(window.near(bound, POSTAMBLE_LEN)?, bound)?;
            let offset = postamble.first_footer_offset;
            let footer_at = span.start().checked_add(offset);
            let footer_at = footer_at.filter(|_| PREAMBLE_LEN + FRAME_HEADER_LEN <= offset);
            if let Some(footer_at) = footer_at {
                let frames = footer(window, span.start(), footer_at, bound)?;
                frame = frames.and_then(|frames| of(&frames, FrameKind::FooterIndex));
            }
        }
        let Some(body) = frame.map(|frame| frame.body()) else { return Ok(None) };
        if self.limits.cbor_len_max < body.len() {
            return Ok(None);
        }
        let bytes = self.source.read_vec(body.start(), body.len())?;
        let index = Index::read(&bytes, body.start(), &self.limits).ok();
        Ok(index.filter(Index::is_ascending))
    }
}

fn object_at(walked: &Message, message: usize, number: usize) -> Option<ObjectAt> {
    let object = walked.objects().get(number)?;
    let frame = *walked.frames().get(object.frame)?;
    let (hash, Object { region, descriptor, fault, .. }) = (walked.hash(&frame), *object);
    Some(ObjectAt { message, number, frame, region, descriptor, hash, fault })
}

fn missing(what: &'static str, number: usize, count: usize) -> Error {
    Error::Usage { what, found: number as u64, wanted: count as u64 }
}

/// Why a file has no message: the first damaged one, or how the file starts.
pub(crate) fn no_message(source: &Source, scan: &Scan) -> Result<Fault> {
    if let Some(damage) = scan.damages.first() {
        return Ok(damage.fault);
    }
    let head = source.read_vec(0, PREAMBLE_LEN.min(source.len()))?;
    let none = Fault { rule: &rule::NO_MESSAGE, at: 0, found: 0, wanted: 1 };
    Ok(Preamble::read(&head, 0).err().filter(|_| !head.is_empty()).unwrap_or(none))
}
