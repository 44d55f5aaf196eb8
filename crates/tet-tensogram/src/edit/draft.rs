//! A new message before it is written: metadata, and tensor frames to copy from other files.

use tet_cbor::Value;
use tet_codec::digest;
use tet_io::Source;

use super::key::Key;
use crate::error::{Error, Fault, Result};
use crate::frame::{FRAME_HEADER_LEN, Frame, FrameKind};
use crate::hashes::HashList;
use crate::item::{Cbor, read_cbor};
use crate::limits::Limits;
use crate::message::{HashRule, Message};
use crate::metadata::{Metadata, Pairs, RESERVED_KEY};
use crate::open::TensogramFile;
use crate::preamble::VERSION;
use crate::rule;
use crate::window::Window;
use crate::write::VersionKey;

/// A message to be written, with its index in the header.
#[derive(Clone, Debug)]
pub struct Draft {
    pub(crate) metadata: Metadata,
    pub(crate) tensors: Vec<TensorCopy>,
    /// Which hash slots hold hashes in the messages that the tensors come from.
    pub(crate) rule: HashRule,
    pub(crate) version_key: VersionKey,
    /// Whether a source message has a list of hashes.
    pub(crate) is_listed: bool,
    pub(crate) limits: Limits,
}

/// A tensor frame that is copied unchanged.
#[derive(Clone, Debug)]
pub(crate) struct TensorCopy {
    pub(crate) source: Source,
    pub(crate) frame: Frame,
    /// The offset of the payload in the frame.
    pub(crate) payload_offset: u64,
    /// Whether the slot holds a hash.
    pub(crate) is_hashed: bool,
    /// The hash, from the slot or from a list.
    pub(crate) hash: Option<u64>,
    /// The payload is aligned to a multiple of this.
    pub(crate) align: u64,
}

/// The alignments of payloads that are preserved, largest first; the last is the minimum.
const ALIGNS: [u64; 3] = [65536, 4096, 64];

impl Draft {
    /// Starts from an existing message: the footer and the preceders are merged into the metadata.
    ///
    /// # Errors
    ///
    /// Returns the fault of a message that breaks a rule, or whose metadata does not match its
    /// hash; [`Error::NotRewritable`] when it has frames of unknown types; [`Error::Io`].
    pub fn from_message(file: &TensogramFile, number: usize) -> Result<Self> {
        let message = file.message(number)?;
        check_standing(&message)?;
        let version_key = check_metadata(file, &message)?;
        let metadata = file.metadata(number)?;
        let (hashes, is_listed) = listed(file, &message)?;
        let mut tensors = Vec::new();
        for object in file.objects(number)? {
            let listed = hashes.get(object.number).copied();
            tensors.push(TensorCopy {
                source: file.source().clone(),
                frame: object.frame,
                payload_offset: object.region.start().saturating_sub(object.frame.at()),
                is_hashed: object.hash.is_some(),
                hash: object.hash.or(listed),
                align: 0,
            });
        }
        let is_aligned = |align: &u64| {
            let mut starts = tensors.iter().map(TensorCopy::payload_at);
            starts.all(|start| start.is_multiple_of(*align))
        };
        let align = ALIGNS.into_iter().find(is_aligned).unwrap_or(64);
        tensors.iter_mut().for_each(|tensor| tensor.align = align);
        let (rule, limits) = (message.hash_rule(), *file.limits());
        Ok(Draft { metadata, tensors, rule, version_key, is_listed, limits })
    }

    /// Whether the slot of a tensor holds a hash.
    #[must_use]
    pub fn is_hashed(&self, number: usize) -> bool {
        self.tensors.get(number).is_some_and(|tensor| tensor.is_hashed)
    }

    /// Sets a metadata key of an object; of the message if the key starts with `extra.` or `object`
    /// is `None`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Key`] for a key that users cannot set or that leads nowhere, and for a
    /// value that readers reject.
    pub fn set(&mut self, object: Option<usize>, key: &Key, value: &Value) -> Result<()> {
        key.check_settable()?;
        let refused = |why| Error::Key { key: key.text().into(), why };
        tet_cbor::check_wide_value(value).map_err(refused)?;
        let (pairs, inner) = self.pairs(object, key);
        inner.put(pairs, value.clone()).map_err(|stuck| key.stuck(stuck))
    }

    /// Removes a metadata key of an object or of the message. Returns whether it was there.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Key`] for a key that users cannot set, and for an element of a list.
    pub fn unset(&mut self, object: Option<usize>, key: &Key) -> Result<bool> {
        key.check_settable()?;
        let (pairs, inner) = self.pairs(object, key);
        inner.take(pairs).map_err(|stuck| key.stuck(stuck))
    }

    fn pairs(&mut self, object: Option<usize>, key: &Key) -> (&mut Pairs, Key) {
        let of_message = key.of_message();
        let entry = object.filter(|_| of_message.is_none());
        let key = of_message.unwrap_or_else(|| key.clone());
        let Metadata { base, extra, .. } = &mut self.metadata;
        (entry.and_then(|number| base.get_mut(number)).unwrap_or(extra), key)
    }

    /// Puts the first tensor of another message in the place of one of its tensors, with what libraries store of it in the
    /// metadata. The other metadata stays.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] when there is no such tensor, or the other message has none.
    pub fn replace(&mut self, number: usize, other: Draft) -> Result<()> {
        let (what, found) = ("the number of a tensor to replace", number as u64);
        let missing = Error::Usage { what, found, wanted: self.tensors.len() as u64 };
        let new = other.tensors.into_iter().next();
        let Some((old, new)) = self.tensors.get_mut(number).zip(new) else { return Err(missing) };
        *old = TensorCopy { align: old.align, ..new };
        let described = other.metadata.base.into_iter().next().unwrap_or_default();
        let described = described.into_iter().find(|(key, _)| key == RESERVED_KEY);
        if self.metadata.base.len() <= number {
            self.metadata.base.resize_with(self.tensors.len(), Pairs::new);
        }
        if let Some((pairs, described)) = self.metadata.base.get_mut(number).zip(described) {
            match pairs.iter_mut().find(|(key, _)| key == RESERVED_KEY) {
                Some(found) => *found = described,
                None => pairs.push(described),
            }
        }
        if self.rule != other.rule {
            self.rule = HashRule::Frames;
        }
        Ok(())
    }
}

impl TensorCopy {
    /// The offset of its payload in its file.
    fn payload_at(&self) -> u64 {
        self.frame.at().saturating_add(self.payload_offset)
    }

    /// The bytes of the header, if it needs a hash flag that it does not have.
    pub(super) fn header(&self, rule: HashRule) -> Option<Vec<u8>> {
        use crate::frame::{FrameFlags, FrameHeader};
        let FrameHeader { flags, .. } = self.frame.header;
        let is_silent = self.is_hashed && !flags.contains(FrameFlags::HASHED);
        if rule != HashRule::Frames || !is_silent {
            return None;
        }
        let flags = flags.with(FrameFlags::HASHED);
        let mut bytes = Vec::new();
        FrameHeader { flags, ..self.frame.header }.write(&mut bytes);
        debug_assert_eq!(bytes.len() as u64, FRAME_HEADER_LEN);
        Some(bytes)
    }
}

/// Refuses a file of which an edit would lose a part: damaged messages or frames, and bytes outside
/// all messages.
///
/// # Errors
///
/// Returns the first fault, and [`Error::Io`].
pub fn check_sound(file: &TensogramFile) -> Result<()> {
    if let Some(damage) = file.damages().first() {
        return Err(damage.fault.into());
    }
    if let Some(loss) = file.losses()?.first() {
        return Err(loss.fault.into());
    }
    let (mut window, limits) = (Window::new(file.source()), file.limits());
    for number in 0..file.len() {
        check_whole(&Message::read(&mut window, file.span(number)?, limits, &mut |_, _| {})?)?;
    }
    Ok(file.source().check_unchanged()?)
}

/// Refuses a message with a damaged frame.
fn check_whole(message: &Message) -> Result<()> {
    let of_objects = || message.objects().iter().find_map(|object| object.fault);
    message.fault().copied().or_else(of_objects).map_or(Ok(()), |fault| Err(fault.into()))
}

/// Refuses a message of which a part would be lost.
fn check_standing(message: &Message) -> Result<()> {
    check_whole(message)?;
    let unknown = message.frames().iter().find(|frame| frame.kind().is_passed_over());
    match unknown {
        Some(frame) => {
            let why = "it has a frame of a type that is not known";
            Err(Error::NotRewritable { at: frame.at(), why })
        }
        None => Ok(()),
    }
}

/// Checks metadata against its hash before it is rewritten, so that a new hash does not cover
/// damage. Returns whether the metadata has the `version` key that programs of 0.17 look for.
fn check_metadata(file: &TensogramFile, message: &Message) -> Result<VersionKey> {
    let mut version_key = VersionKey::Absent;
    for frame in message.frames() {
        let is_metadata =
            matches!(frame.kind(), FrameKind::HeaderMetadata | FrameKind::FooterMetadata);
        if !is_metadata && frame.kind() != FrameKind::Preceder {
            continue;
        }
        let body = frame.body();
        let bytes = read_cbor(file.source(), body, file.limits())?;
        let found = digest(&bytes).xxh3;
        if let Some(wanted) = message.hash(frame).filter(|hash| *hash != found) {
            return Err(Fault { rule: &rule::HASH, at: frame.at(), found, wanted }.into());
        }
        if is_metadata {
            let sink = &mut |_, _| {};
            let mut cbor = Cbor::new(&bytes, body.start(), file.limits(), sink);
            cbor.whole(|cbor, key, _| {
                let value = cbor.value(1)?;
                if key == "version" && value == Value::Int(VERSION.into()) {
                    version_key = VersionKey::Written;
                }
                Ok(())
            })?;
        }
    }
    Ok(version_key)
}

/// The hashes in the last readable list, and whether there is a list.
fn listed(file: &TensogramFile, message: &Message) -> Result<(Vec<u64>, bool)> {
    let (mut hashes, mut is_listed) = (Vec::new(), false);
    for kind in [FrameKind::HeaderHashes, FrameKind::FooterHashes] {
        for frame in message.frames_of(kind) {
            is_listed = true;
            let body = frame.body();
            let bytes = read_cbor(file.source(), body, file.limits())?;
            let list = HashList::read(&bytes, body.start(), file.limits()).ok();
            let is_whole =
                |list: &HashList| list.is_known() && list.hashes().len() == message.len();
            if let Some(list) = list.filter(is_whole) {
                hashes = list.hashes().to_vec();
            }
        }
    }
    Ok((hashes, is_listed))
}
