//! Whether the frames of a message agree with each other and with the tensors.

use tet_cbor::{Head, Reader, Value};

use super::conflict::differ;
use crate::descriptor::Descriptor;
use crate::error::{Error, Fault, Result, Sink};
use crate::frame::{Frame, FrameKind};
use crate::hashes::HashList;
use crate::index::Index;
use crate::item::{cbor_fault, read_cbor};
use crate::limits::Limits;
use crate::message::Message;
use crate::metadata::{Metadata, RESERVED_KEY, check_count, preceding};
use crate::parts::Object;
use crate::region::Region;
use crate::rule;
use crate::window::Window;

/// The hashes that the bytes of the tensors are compared with.
#[derive(Debug, Default)]
pub(super) struct Hashes {
    /// Lists of hashes whose algorithm is known, each with its offset.
    pub(super) lists: Vec<(HashList, u64)>,
}

/// Checks all CBOR of a message.
pub(super) fn check(
    window: &mut Window<'_>,
    message: &Message,
    limits: &Limits,
    sink: Sink<'_>,
) -> Result<Hashes> {
    let mut checker = Checker { window, message, limits, sink };
    checker.note_twice();
    checker.metadata()?;
    checker.preceders()?;
    checker.indices()?;
    let lists = checker.lists()?;
    checker.descriptors()?;
    Ok(lists)
}

/// A message should have at most one frame of each of these kinds.
const ONCE: [FrameKind; 6] = [
    FrameKind::HeaderMetadata,
    FrameKind::HeaderIndex,
    FrameKind::HeaderHashes,
    FrameKind::FooterHashes,
    FrameKind::FooterIndex,
    FrameKind::FooterMetadata,
];

struct Checker<'c, 'w, 's> {
    window: &'c mut Window<'w>,
    message: &'c Message,
    limits: &'c Limits,
    sink: Sink<'s>,
}

impl Checker<'_, '_, '_> {
    fn report(&mut self, fault: Fault, object: Option<usize>) {
        (self.sink)(fault, object);
    }

    /// Reads the CBOR of a frame and reports its faults.
    fn read<T>(
        &mut self,
        frame: &Frame,
        object: Option<usize>,
        read: impl FnOnce(&[u8], u64, &Limits, Sink<'_>) -> Result<T, Fault>,
    ) -> Result<Option<T>> {
        let (body, sink) = (frame.body(), &mut self.sink);
        let outcome = match read_cbor(self.window.source(), body, self.limits) {
            Ok(bytes) => {
                read(&bytes, body.start(), self.limits, &mut |fault, _| sink(fault, object))
            }
            Err(Error::Format(fault)) => Err(fault),
            Err(error) => return Err(error),
        };
        match outcome {
            Ok(read) => Ok(Some(read)),
            Err(fault) => {
                self.report(fault, object);
                Ok(None)
            }
        }
    }

    fn note_twice(&mut self) {
        for kind in ONCE {
            let second = self.message.frames_of(kind).nth(1).map(Frame::at);
            if let Some(at) = second {
                let found = self.message.frames_of(kind).count() as u64;
                self.report(Fault { rule: &rule::FRAME_TWICE, at, found, wanted: 1 }, None);
            }
        }
    }

    fn metadata(&mut self) -> Result<()> {
        let message = self.message;
        let mut last = [None, None];
        let kinds = [FrameKind::HeaderMetadata, FrameKind::FooterMetadata];
        for (kind, last) in kinds.into_iter().zip(&mut last) {
            for frame in message.frames_of(kind) {
                let read = self.read(frame, None, Metadata::read_with)?;
                if let Some(metadata) = &read
                    && message.is_whole()
                    && let Err(fault) = check_count(metadata, message.len(), frame)
                {
                    self.report(fault, None);
                }
                read.iter().for_each(|metadata| self.note_no_tensor_key(metadata, frame));
                *last = read.map(|read| (read, frame.body().start()));
            }
        }
        if let [Some((header, _)), Some((footer, at))] = &last
            && differ(header, footer)
        {
            let fault = Fault { rule: &rule::METADATA_DIFFER, at: *at, found: 0, wanted: 0 };
            self.report(fault, None);
        }
        Ok(())
    }

    /// The `_reserved_` map of an object must start with its tensor information.
    fn note_no_tensor_key(&mut self, metadata: &Metadata, frame: &Frame) {
        for (number, entry) in metadata.base.iter().enumerate() {
            let mut reserved = entry.iter().filter(|(key, _)| key == RESERVED_KEY);
            let Some((_, Value::Map(pairs))) = reserved.next() else { continue };
            if !pairs.iter().any(|(key, _)| key.as_text() == Some("tensor")) {
                let at = frame.body().start();
                let fault = Fault { rule: &rule::TENSOR_UNSAID, at, found: 0, wanted: 1 };
                self.report(fault, Some(number));
            }
        }
    }

    fn preceders(&mut self) -> Result<()> {
        let message = self.message;
        for (number, object) in message.objects().iter().enumerate() {
            let frame = object.preceder.and_then(|position| message.frames().get(position));
            let Some(frame) = frame else { continue };
            let read = self.read(frame, Some(number), |bytes, at, limits, sink| {
                preceding(Metadata::read_with(bytes, at, limits, sink)?, frame)
            });
            read?;
        }
        Ok(())
    }

    fn indices(&mut self) -> Result<()> {
        let message = self.message;
        for kind in [FrameKind::HeaderIndex, FrameKind::FooterIndex] {
            for frame in message.frames_of(kind) {
                if let Some(index) = self.read(frame, None, Index::read_with)? {
                    self.index(&index, frame.body().start());
                }
            }
        }
        Ok(())
    }

    /// Compares an index with the frames that are there.
    fn index(&mut self, index: &Index, at: u64) {
        let (found, wanted) = (index.entries().len() as u64, self.message.len() as u64);
        if found != wanted && self.message.is_whole() {
            self.report(Fault { rule: &rule::INDEX_COUNT, at, found, wanted }, None);
        }
        let start = self.message.span().start();
        for (number, entry) in index.entries().iter().enumerate() {
            let Some(frame) = self.message.object_frame(number) else { break };
            let (offset, len) = (frame.at().saturating_sub(start), frame.header.len);
            let pairs =
                [(&rule::INDEX_OFFSET, entry.offset, offset), (&rule::INDEX_LEN, entry.len, len)];
            for (rule, found, wanted) in pairs {
                if found != wanted {
                    self.report(Fault { rule, at, found, wanted }, Some(number));
                }
            }
        }
    }

    fn lists(&mut self) -> Result<Hashes> {
        let (message, mut hashes) = (self.message, Hashes::default());
        for kind in [FrameKind::HeaderHashes, FrameKind::FooterHashes] {
            for frame in message.frames_of(kind) {
                let Some(list) = self.read(frame, None, HashList::read_with)? else { continue };
                let at = frame.body().start();
                let (found, wanted) = (list.hashes().len() as u64, message.len() as u64);
                if found != wanted && message.is_whole() {
                    self.report(Fault { rule: &rule::HASH_COUNT, at, found, wanted }, None);
                }
                if list.is_known() {
                    hashes.lists.push((list, at));
                } else {
                    let fault = Fault { rule: &rule::ALGORITHM, at, found: 0, wanted: 0 };
                    self.report(fault, None);
                }
            }
        }
        Ok(hashes)
    }

    /// Checks the descriptors, and whether the regions fit them.
    fn descriptors(&mut self) -> Result<()> {
        for (number, object) in self.message.objects().iter().enumerate() {
            if object.fault.is_some() {
                continue;
            }
            match read_cbor(self.window.source(), object.descriptor, self.limits) {
                Ok(bytes) => match judge_descriptor(&bytes, object, self.limits) {
                    Ok(()) => self.described(&bytes, object, number)?,
                    Err(fault) => self.report(fault, Some(number)),
                },
                Err(Error::Format(fault)) => self.report(fault, Some(number)),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The most axes of an object that a catalog of datasets reads.
pub(crate) const AXES_MAX: u64 = 64;

impl Checker<'_, '_, '_> {
    /// Reports the faults of a descriptor that is a map.
    fn described(&mut self, bytes: &[u8], object: &Object, number: usize) -> Result<()> {
        let Object { region, descriptor, .. } = *object;
        let described = match Descriptor::read(bytes, descriptor.start(), self.limits) {
            Ok(described) => described,
            Err(Error::Format(fault)) => {
                self.report(fault, Some(number));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        described.faults().iter().for_each(|fault| self.report(*fault, Some(number)));
        if described.fault().is_some() {
            return Ok(());
        }
        let (found, wanted) = (described.shape().len() as u64, AXES_MAX);
        if wanted < found {
            let (rule, at) = (&rule::LIMIT_AXES, descriptor.start());
            self.report(Fault { rule, at, found, wanted }, Some(number));
        }
        match Region::new(&described, region.start(), region.len(), self.limits) {
            Ok(region) => region.notes().iter().for_each(|note| self.report(*note, Some(number))),
            Err(Error::Format(fault)) => self.report(fault, Some(number)),
            // Other programs may support the codec.
            Err(Error::NotBuilt { fault, .. }) => {
                let fault = Fault { rule: &rule::NOTE_NOT_BUILT, ..fault };
                self.report(fault, Some(number));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

fn judge_descriptor(bytes: &[u8], object: &Object, limits: &Limits) -> Result<(), Fault> {
    let at = object.descriptor.start();
    let mut reader = Reader::new(bytes, 0, at, limits.depth_max);
    let head = reader.untagged(0).map_err(cbor_fault)?;
    if !matches!(head, Head::Map(_)) {
        let found = bytes.first().copied().unwrap_or_default().into();
        return Err(Fault { rule: &rule::CBOR_MAP, at, found, wanted: 0 });
    }
    reader.skip_rest(head, 0, 0).map_err(cbor_fault)?;
    let found = bytes.len().saturating_sub(reader.at()) as u64;
    if found != 0 {
        let at = reader.place(reader.at());
        return Err(Fault { rule: &rule::DESCRIPTOR_TRAILING, at, found, wanted: 0 });
    }
    Ok(())
}
