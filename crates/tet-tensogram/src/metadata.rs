//! The metadata of a message and of its objects (section 3.2). Types 1, 7 and 8.
//!
//! ```text
//!   {base: [{...}, ...], _reserved_: {...}, _extra_: {...}}     header < footer < preceders
//! ```

use tet_cbor::Value;
use tet_io::Source;

use crate::error::{Fault, Result, Sink};
use crate::frame::{Frame, FrameKind};
use crate::item::{Cbor, read_cbor};
use crate::limits::Limits;
use crate::message::Message;
use crate::rule;

/// Keys and values, in the order of the file, without repeated keys.
pub type Pairs = Vec<(String, Value)>;

/// The key of metadata that the library writes, for the message and for each object.
pub const RESERVED_KEY: &str = "_reserved_";
/// The key of metadata that the user sets for the message.
pub(crate) const EXTRA_KEY: &str = "_extra_";
/// The key of the metadata of the objects.
pub(crate) const BASE_KEY: &str = "base";

/// Metadata of a frame, or of a message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// The metadata of each object.
    pub base: Vec<Pairs>,
    /// The metadata of the message written by the library.
    pub reserved: Pairs,
    /// The metadata of the message set by the user.
    pub extra: Pairs,
}

impl Metadata {
    /// Reads the CBOR of a metadata frame that starts at `at` of the file.
    ///
    /// # Errors
    ///
    /// The bytes break a rule (TGM-M1 to TGM-M4, TGM-M7, TGM-M8, TGM-L2, TGM-L3).
    pub fn read(bytes: &[u8], at: u64, limits: &Limits) -> Result<Self, Fault> {
        Self::read_with(bytes, at, limits, &mut |_, _| {})
    }

    pub(crate) fn read_with(
        bytes: &[u8],
        at: u64,
        limits: &Limits,
        sink: Sink<'_>,
    ) -> Result<Self, Fault> {
        let (mut metadata, mut free) = (Metadata::default(), Pairs::new());
        let mut twice = Twice::default();
        let mut cbor = Cbor::new(bytes, at, limits, sink);
        cbor.whole(|cbor, key, key_at| {
            match &*key {
                BASE_KEY => {
                    twice.see(cbor, 0, key_at);
                    metadata.base.clear();
                    cbor.array(1, &rule::BASE, |cbor| {
                        metadata.base.push(pairs(cbor, 2, &rule::BASE)?);
                        Ok(())
                    })?;
                }
                RESERVED_KEY => {
                    twice.see(cbor, 1, key_at);
                    metadata.reserved = pairs(cbor, 1, &rule::METADATA_FIELDS)?;
                }
                EXTRA_KEY => {
                    twice.see(cbor, 2, key_at);
                    metadata.extra = pairs(cbor, 1, &rule::METADATA_FIELDS)?;
                }
                _ => {
                    let value = cbor.value(1)?;
                    free.push((key.into_owned(), value));
                }
            }
            Ok(())
        })?;
        let dropped = settle(&mut free);
        if dropped != 0 {
            cbor.note(&rule::KEY_TWICE, at, dropped);
        }
        let (free_count, extra_count) = (free.len(), metadata.extra.len());
        metadata.extra.extend(free);
        let both = settle(&mut metadata.extra);
        if both != 0 {
            return Err(Fault { rule: &rule::EXTRA_TWICE, at, found: both, wanted: 0 });
        }
        debug_assert_eq!(metadata.extra.len(), free_count + extra_count);
        Ok(metadata)
    }

    /// Merges metadata that takes precedence.
    pub fn merge(&mut self, over: Metadata) {
        put(&mut self.reserved, over.reserved);
        put(&mut self.extra, over.extra);
        if self.base.len() < over.base.len() {
            self.base.resize_with(over.base.len(), Pairs::new);
        }
        for (entry, over) in self.base.iter_mut().zip(over.base) {
            put(entry, over);
        }
    }

    /// Reads all metadata of a message: the footer overrides the header, preceders override both.
    /// After a broken frame there may be more entries than objects were found.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Format`](crate::Error::Format) for the first rule that a metadata frame
    /// breaks, and [`Error::Io`](crate::Error::Io).
    pub fn from_message(source: &Source, message: &Message, limits: &Limits) -> Result<Self> {
        let read = |frame: &Frame| -> Result<Self> {
            let bytes = read_cbor(source, frame.body(), limits)?;
            Ok(Metadata::read(&bytes, frame.body().start(), limits)?)
        };
        let mut metadata = Metadata::default();
        for kind in [FrameKind::HeaderMetadata, FrameKind::FooterMetadata] {
            if let Some(frame) = message.frames_of(kind).last() {
                let over = read(frame)?;
                if message.is_whole() {
                    check_count(&over, message.len(), frame)?;
                }
                metadata.merge(over);
            }
        }
        // Objects after a broken frame are known only from metadata.
        let stated = if message.is_whole() { 0 } else { metadata.base.len() };
        metadata.base.resize_with(message.len().max(stated), Pairs::new);
        for (object, entry) in message.objects().iter().zip(&mut metadata.base) {
            let preceder = object.preceder.and_then(|position| message.frames().get(position));
            if let Some(frame) = preceder {
                put(entry, preceding(read(frame)?, frame)?);
            }
        }
        Ok(metadata)
    }
}

/// The metadata of an object in its preceder.
pub(crate) fn preceding(metadata: Metadata, frame: &Frame) -> Result<Pairs, Fault> {
    let (found, at) = (metadata.base.len() as u64, frame.body().start());
    let mut entries = metadata.base.into_iter();
    match (entries.next(), entries.next()) {
        (Some(mut entry), None) => {
            // Only the metadata at the end of a message may set that key.
            entry.retain(|(key, _)| key != RESERVED_KEY);
            Ok(entry)
        }
        _ => Err(Fault { rule: &rule::PRECEDER_BASE, at, found, wanted: 1 }),
    }
}

/// Checks that there is no entry for an object that does not exist.
pub(crate) fn check_count(metadata: &Metadata, count: usize, frame: &Frame) -> Result<(), Fault> {
    let (found, wanted) = (metadata.base.len() as u64, count as u64);
    if found <= wanted {
        return Ok(());
    }
    Err(Fault { rule: &rule::BASE_COUNT, at: frame.body().start(), found, wanted })
}

/// Reads a map; the last value of a repeated key is used.
fn pairs(
    cbor: &mut Cbor<'_, '_>,
    depth: u32,
    rule: &'static tet_format::ForeignRule,
) -> Result<Pairs, Fault> {
    let (mut pairs, at) = (Pairs::new(), cbor.place());
    cbor.map(depth, rule, |cbor, key, _| {
        let value = cbor.value(depth.saturating_add(1))?;
        pairs.push((key.into_owned(), value));
        Ok(())
    })?;
    let dropped = settle(&mut pairs);
    if dropped != 0 {
        cbor.note(&rule::KEY_TWICE, at, dropped);
    }
    Ok(pairs)
}

/// Sets values, replacing those of the same keys.
pub(crate) fn put(pairs: &mut Pairs, over: Pairs) {
    if !over.is_empty() {
        pairs.extend(over);
        settle(pairs);
    }
}

/// Removes all but the last value of each key. Returns how many were removed.
fn settle(pairs: &mut Pairs) -> u64 {
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    let key = |at: usize| pairs.get(at).map(|(key, _)| key.as_str());
    order.sort_by(|one, other| key(*one).cmp(&key(*other)).then(one.cmp(other)));
    let twins = order.iter().zip(order.iter().skip(1));
    let mut dropped: Vec<usize> =
        twins.filter(|(one, next)| key(**one) == key(**next)).map(|(one, _)| *one).collect();
    if dropped.is_empty() {
        return 0;
    }
    dropped.sort_unstable();
    let (mut at, mut next) = (0, dropped.iter().peekable());
    pairs.retain(|_| {
        let is_dropped = next.next_if_eq(&&at).is_some();
        at += 1;
        !is_dropped
    });
    dropped.len() as u64
}

/// Which of the defined keys were seen.
#[derive(Default)]
struct Twice([bool; 3]);

impl Twice {
    fn see(&mut self, cbor: &mut Cbor<'_, '_>, which: usize, at: u64) {
        if let Some(seen) = self.0.get_mut(which)
            && std::mem::replace(seen, true)
        {
            cbor.note(&rule::KEY_TWICE, at, 2);
        }
    }
}
