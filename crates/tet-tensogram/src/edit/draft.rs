//! What a message is to become: metadata, and tensors as they lie in their files.

use std::collections::HashMap;

use tet_cbor::Value;
use tet_codec::{Digester, Strength, digest};
use tet_io::Source;

use super::key::Key;
use super::provenance::Provenance;
use crate::error::{Error, Fault, Result};
use crate::frame::{FRAME_HEADER_LEN, Frame, FrameKind};
use crate::hashes::HashList;
use crate::item::{Cbor, read_cbor};
use crate::limits::Limits;
use crate::message::{HashRule, Message};
use crate::metadata::{Metadata, Pairs};
use crate::open::TensogramFile;
use crate::preamble::VERSION;
use crate::rule;
use crate::write::{VersionKey, metadata_bytes};

/// A message that is to be written, with its index in the header.
#[derive(Clone, Debug)]
pub struct Draft {
    pub(crate) metadata: Metadata,
    pub(crate) tensors: Vec<Carried>,
    /// Which slots hold hashes in the messages that the tensors come from.
    pub(crate) rule: HashRule,
    pub(crate) version_key: VersionKey,
    /// Whether a message that it comes from lists its hashes.
    pub(crate) is_listed: bool,
    pub(crate) limits: Limits,
}

/// A tensor frame as it lies.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    pub(crate) source: Source,
    pub(crate) frame: Frame,
    /// Where the payload starts, from the start of the frame.
    pub(crate) payload_offset: u64,
    /// Whether the slot holds a hash.
    pub(crate) is_hashed: bool,
    /// The hash, from the slot or else from a list.
    pub(crate) hash: Option<u64>,
    /// The payload goes to a multiple of this.
    pub(crate) align: u64,
}

/// What to do where two messages say different things under one key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clash {
    /// What the first one says stays.
    #[default]
    First,
    /// What the last one says counts.
    Last,
    /// It is an error.
    Refused,
}

/// The alignments that payloads keep, the largest first; the last one they get.
const ALIGNS: [u64; 3] = [65536, 4096, 64];

impl Draft {
    /// Begins with a message as it is: footer and preceders are folded into the metadata.
    ///
    /// # Errors
    ///
    /// Returns the fault of a message that breaks a rule, or whose metadata does not match its hash;
    /// [`Error::Uncarried`] when it has frames that nobody knows; [`Error::Io`].
    pub fn of(file: &TensogramFile, number: usize) -> Result<Self> {
        let message = file.message(number)?;
        check_standing(&message)?;
        let version_key = check_said(file, &message)?;
        let metadata = file.metadata(number)?;
        let (hashes, is_listed) = listed(file, &message)?;
        let mut tensors = Vec::new();
        for object in file.objects(number)? {
            let listed = hashes.get(object.number).copied();
            tensors.push(Carried {
                source: file.source().clone(),
                frame: object.frame,
                payload_offset: object.region.start().saturating_sub(object.frame.at()),
                is_hashed: object.hash.is_some(),
                hash: object.hash.or(listed),
                align: 0,
            });
        }
        let stands_at = |align: &u64| {
            let mut starts = tensors.iter().map(Carried::payload_at);
            starts.all(|start| start.is_multiple_of(*align))
        };
        let align = ALIGNS.into_iter().find(stands_at).unwrap_or(64);
        tensors.iter_mut().for_each(|tensor| tensor.align = align);
        let (rule, limits) = (message.hash_rule(), *file.limits());
        Ok(Draft { metadata, tensors, rule, version_key, is_listed, limits })
    }

    /// How many tensors it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// What is said of it and its objects.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Sets what is said of an object; of the message, where the key says `extra.` or there is no
    /// object.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Key`] for a key that is not for users to set or leads nowhere, and a value that
    /// readers do not take.
    pub fn set(&mut self, object: Option<usize>, key: &Key, value: &Value) -> Result<()> {
        key.check_settable()?;
        let refused = |why| Error::Key { key: key.text().into(), why };
        tet_cbor::check_wide_value(value).map_err(refused)?;
        let (pairs, inner) = self.pairs(object, key);
        inner.put(pairs, value.clone()).map_err(|stuck| key.stuck(stuck))
    }

    /// Takes away what is said of an object or of the message, and says whether it was there.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Key`] for a key that is not for users to set, and an element of a list.
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

    /// Takes in the tensors of another message, and what is said of them.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Clash`] when the messages say different things under one key and that is
    /// refused.
    pub fn append(&mut self, other: Draft, clash: Clash) -> Result<()> {
        let Metadata { base, extra, .. } = &mut self.metadata;
        let known = extra.iter().enumerate().map(|(at, (key, _))| (key.clone(), at));
        let known: HashMap<String, usize> = known.collect();
        for (key, value) in other.metadata.extra {
            let found = known.get(&key).and_then(|at| extra.get_mut(*at));
            match (found, clash) {
                (None, _) => extra.push((key, value)),
                (Some((_, found)), _) if bytes_of(found) == bytes_of(&value) => {}
                (Some(_), Clash::First) => {}
                (Some((_, found)), Clash::Last) => *found = value,
                (Some(_), Clash::Refused) => return Err(Error::Clash { key: key.into() }),
            }
        }
        base.resize_with(self.tensors.len(), Pairs::new);
        base.extend(other.metadata.base);
        self.tensors.extend(other.tensors);
        base.resize_with(self.tensors.len(), Pairs::new);
        if self.rule != other.rule {
            // Those of old programs say that they have a hash as later ones do.
            self.rule = HashRule::Frames;
        }
        if other.version_key == VersionKey::Written {
            self.version_key = VersionKey::Written;
        }
        self.is_listed |= other.is_listed;
        Ok(())
    }

    /// A message of one of its tensors, of which the same is said.
    #[must_use]
    pub fn pick(&self, number: usize) -> Self {
        let Metadata { base, reserved, extra } = &self.metadata;
        let base = base.get(number).cloned().into_iter().collect();
        let metadata = Metadata { base, reserved: reserved.clone(), extra: extra.clone() };
        let tensors = self.tensors.get(number).cloned().into_iter().collect();
        Draft { metadata, tensors, ..*self }
    }

    /// Says who made it.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] when something cannot be said in a message, and [`Error::Io`].
    pub fn sign(&mut self, provenance: Provenance) -> Result<()> {
        match provenance {
            Provenance::Kept => {}
            Provenance::Absent => self.metadata.reserved.clear(),
            Provenance::New(maker) => {
                self.metadata.reserved.clear();
                let said = metadata_bytes(&self.metadata, self.version_key)?;
                let hash = |tensor: &Carried| tensor.hash.map_or_else(|| tensor.digest(), Ok);
                let hashes = self.tensors.iter().map(hash).collect::<Result<Vec<_>>>()?;
                self.metadata.reserved = maker.says(said, &hashes);
            }
        }
        Ok(())
    }
}

impl Carried {
    /// Where its payload starts in its file.
    fn payload_at(&self) -> u64 {
        self.frame.at().saturating_add(self.payload_offset)
    }

    /// The hash that it would have.
    fn digest(&self) -> Result<u64> {
        let (mut digester, mut window) = (Digester::new(Strength::Fast), Vec::new());
        self.source.for_windows(self.frame.body().range(), &mut window, |_, bytes| {
            digester.update(bytes);
            Ok::<_, Error>(true)
        })?;
        Ok(digester.finish().xxh3)
    }

    /// The bytes of the header, if it must say that there is a hash and does not.
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

fn bytes_of(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    tet_cbor::encode(value, &mut bytes);
    bytes
}

/// Refuses a message with a frame that does not stand.
pub(super) fn check_whole(message: &Message) -> Result<()> {
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
            Err(Error::Uncarried { at: frame.at(), why })
        }
        None => Ok(()),
    }
}

/// Checks that what is written anew is what was hashed, lest a new hash vouch for damage; says
/// whether programs of 0.17 find the version there.
fn check_said(file: &TensogramFile, message: &Message) -> Result<VersionKey> {
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

/// The hashes that the last readable list states, and whether there is a list.
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
