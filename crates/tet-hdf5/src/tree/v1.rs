//! B-trees of version 1: links of old groups, and chunks (section III.A.1).

use crate::error::{Result, fault};
use crate::reader::{Fields, Piece, Reader};
use crate::rule;

/// Keys of the nodes of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Links: keys are offsets in the heap of names.
    Links,
    /// Chunks of a dataset of this rank: keys are their stored length, filter mask and offset.
    Chunks {
        /// The number of axes.
        rank: usize,
    },
}

impl Keys {
    const fn number(self) -> u8 {
        match self {
            Keys::Links => 0,
            Keys::Chunks { .. } => 1,
        }
    }

    const fn len(self, reader: &Reader) -> usize {
        match self {
            Keys::Links => reader.sizes.length,
            Keys::Chunks { rank } => 8 + 8 * (rank + 1),
        }
    }
}

/// A node.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) level: u8,
    count: usize,
    body: Piece,
    key_len: usize,
}

/// A key, and the child that follows it.
pub(crate) struct Entry<'a> {
    pub(crate) key: Fields<'a>,
    pub(crate) child: Option<u64>,
}

impl Node {
    /// The node at an address; `parent` is the level of its parent.
    pub(crate) fn read(
        reader: &Reader,
        address: u64,
        keys: Keys,
        parent: Option<u8>,
    ) -> Result<Node> {
        let head_len = 8 + 2 * reader.sizes.offset;
        let head = reader.piece(address, head_len as u64, &rule::TREE_CUT)?;
        let mut fields = head.fields();
        fields.signature(b"TREE", &rule::TREE_NODE)?;
        let at = fields.at();
        let number = fields.byte()?;
        if number != keys.number() {
            return Err(fault(&rule::TREE_NODE, at, number.into(), keys.number().into()));
        }
        let level = fields.byte()?;
        let wanted = parent.map(|parent| parent.checked_sub(1));
        if wanted.is_some_and(|wanted| wanted != Some(level)) {
            let wanted = wanted.flatten().map_or(0, u64::from);
            return Err(fault(&rule::TREE_LEVEL, at.saturating_add(1), level.into(), wanted));
        }
        let count = usize::from(fields.u16()?);
        let key_len = keys.len(reader);
        let len = count * (key_len + reader.sizes.offset) + key_len;
        let body_at = address.saturating_add(head_len as u64);
        // The key behind the last child is not needed, and not always there.
        let len = len as u64;
        let body = reader.up_to(body_at, len, &rule::TREE_CUT)?;
        Ok(Node { level, count, body, key_len })
    }

    /// How many children there are.
    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    /// An entry by its number.
    pub(crate) fn entry(&self, number: usize) -> Result<Entry<'_>> {
        let mut fields = self.body.fields();
        let stride = self.key_len + fields.sizes.offset;
        fields.take(number.saturating_mul(stride))?;
        let key = fields.part(self.key_len)?;
        Ok(Entry { key, child: fields.address()? })
    }
}
