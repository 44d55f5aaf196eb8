//! The index of a message (section 3.3): where its tensor frames are. Types 2 and 6.

use crate::error::{Fault, Sink};
use crate::item::Cbor;
use crate::limits::Limits;
use crate::rule;

/// The position of a tensor frame according to an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    /// The offset of the frame in the message.
    pub(crate) offset: u64,
    /// Its length, without padding.
    pub(crate) len: u64,
}

/// The index of a message as stored, correct or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    entries: Vec<IndexEntry>,
}

impl Index {
    /// Reads the CBOR of an index frame that starts at `at` of the file.
    ///
    /// # Errors
    ///
    /// The bytes break a rule (TGM-M1 to TGM-M3, TGM-M10, TGM-L2, TGM-L3).
    pub(crate) fn read(bytes: &[u8], at: u64, limits: &Limits) -> Result<Self, Fault> {
        Self::read_with(bytes, at, limits, &mut |_, _| {})
    }

    pub(crate) fn read_with(
        bytes: &[u8],
        at: u64,
        limits: &Limits,
        sink: Sink<'_>,
    ) -> Result<Self, Fault> {
        let (mut offsets, mut lengths) = (None, None);
        let mut cbor = Cbor::new(bytes, at, limits, sink);
        cbor.whole(|cbor, key, key_at| {
            let numbers = match &*key {
                "offsets" => &mut offsets,
                "lengths" => &mut lengths,
                _ => return cbor.skip(1),
            };
            let mut read: Vec<u64> = Vec::new();
            cbor.array(1, &rule::INDEX_FIELDS, |cbor| {
                read.push(cbor.unsigned(2, &rule::INDEX_FIELDS)?);
                Ok(())
            })?;
            if numbers.replace(read).is_some() {
                cbor.note(&rule::KEY_TWICE, key_at, 2);
            }
            Ok(())
        })?;
        let (offsets, lengths) = (offsets.unwrap_or_default(), lengths.unwrap_or_default());
        if offsets.len() != lengths.len() {
            let (found, wanted) = (lengths.len() as u64, offsets.len() as u64);
            return Err(Fault { rule: &rule::INDEX_FIELDS, at, found, wanted });
        }
        let entries = offsets.into_iter().zip(lengths);
        let entries = entries.map(|(offset, len)| IndexEntry { offset, len }).collect();
        Ok(Index { entries })
    }

    /// Its entries, object by object.
    pub(crate) fn entries(&self) -> &[IndexEntry] {
        &self.entries
    }

    /// Whether each entry starts after the end of the one before, as frames do.
    pub(crate) fn is_ascending(&self) -> bool {
        let mut end = 0;
        self.entries.iter().all(|entry| {
            let is_behind = end <= entry.offset;
            end = entry.offset.saturating_add(entry.len.max(1));
            is_behind
        })
    }

    /// Appends the CBOR of an index.
    pub(crate) fn write(entries: &[IndexEntry], out: &mut Vec<u8>) {
        tet_cbor::map_head(2, out);
        let count = entries.len() as u64;
        tet_cbor::text("lengths", out);
        tet_cbor::array_head(count, out);
        entries.iter().for_each(|entry| tet_cbor::unsigned(entry.len, out));
        tet_cbor::text("offsets", out);
        tet_cbor::array_head(count, out);
        entries.iter().for_each(|entry| tet_cbor::unsigned(entry.offset, out));
    }
}
