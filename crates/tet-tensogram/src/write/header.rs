//! The part before the tensors of a message with its index in the header, shared by writers, edits
//! and repairs.
//!
//! ```text
//!   preamble | metadata | index, if there are tensors | list of hashes, if wanted |
//! ```

use std::borrow::Cow;

use super::frames::cbor_frame;
use crate::error::Result;
use crate::frame::FrameKind;
use crate::hashes::HashList;
use crate::index::{Index, IndexEntry};
use crate::message::HashRule;
use crate::preamble::{Flags, PREAMBLE_LEN, Preamble};

/// Frames before the tensors, except their positions.
pub(crate) struct Header<'h> {
    rule: HashRule,
    metadata: &'h [u8],
    list: Option<Vec<u8>>,
}

impl<'h> Header<'h> {
    /// The header of a message with this metadata, whose slots hold hashes by `rule`, with a hash
    /// list of the tensors if `hashes` is given.
    pub(crate) fn new(rule: HashRule, metadata: &'h [u8], hashes: Option<&[u64]>) -> Self {
        let list = hashes.map(|hashes| {
            let mut body = Vec::new();
            HashList::write(hashes, &mut body);
            body
        });
        Header { rule, metadata, list }
    }

    fn frames(&self, entries: &[IndexEntry]) -> Vec<(FrameKind, Cow<'_, [u8]>)> {
        let mut frames = vec![(FrameKind::HeaderMetadata, Cow::from(self.metadata))];
        if !entries.is_empty() {
            let mut body = Vec::new();
            Index::write(entries, &mut body);
            frames.push((FrameKind::HeaderIndex, body.into()));
        }
        frames.extend(self.list.iter().map(|it| (FrameKind::HeaderHashes, Cow::from(it))));
        frames
    }

    /// Finds the positions of the tensors. `places` returns them, and the end of the last one, for
    /// a given start.
    pub(crate) fn place(
        &self,
        places: impl Fn(u64) -> Result<(Vec<IndexEntry>, u64)>,
    ) -> Result<(Vec<IndexEntry>, u64)> {
        let (mut entries, _) = places(PREAMBLE_LEN)?;
        // A longer index only increases the offsets, and these the index, so this ends.
        loop {
            let at = self.frames(&entries).iter().fold(PREAMBLE_LEN, |at, (kind, body)| {
                let len = kind.len_min().saturating_add(body.len() as u64);
                at.saturating_add(len).checked_next_multiple_of(8).unwrap_or(u64::MAX)
            });
            let (next, end) = places(at)?;
            if next == entries {
                return Ok((entries, end));
            }
            entries = next;
        }
    }

    /// Its bytes, with its flags and `flags`.
    pub(crate) fn bytes(&self, entries: &[IndexEntry], flags: Flags, total_len: u64) -> Vec<u8> {
        let (frames, mut out) = (self.frames(entries), Vec::new());
        let flags = frames.iter().fold(flags, |flags, (kind, _)| flags.with(kind.flag()));
        Preamble { flags, reserved: 0, total_len }.write(&mut out);
        for (kind, body) in frames {
            cbor_frame(kind, &body, self.rule, &mut out);
            out.resize(out.len().next_multiple_of(8), 0);
        }
        out
    }
}
