//! Global heaps: values of variable length, and references (section III.E).

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{Result, fault};
use crate::lru::LruCache;
use crate::reader::{Piece, Reader};
use crate::rule;

/// Bytes of collections that are kept, but for the last one.
const KEPT_LEN: usize = 64 << 20;

/// The global heaps of a file, those that were used kept.
#[derive(Debug)]
pub(crate) struct GlobalHeaps {
    collections: LruCache<Collection>,
}

impl Default for GlobalHeaps {
    fn default() -> Self {
        GlobalHeaps { collections: LruCache::new(KEPT_LEN) }
    }
}

/// A collection: its bytes, and where each object is in them.
#[derive(Debug)]
struct Collection {
    piece: Piece,
    objects: HashMap<u16, (usize, usize)>,
}

impl GlobalHeaps {
    /// The first `len` bytes of the object of this index in the collection at an address.
    pub(crate) fn object(
        &self,
        reader: &Reader,
        address: u64,
        index: u32,
        len: u64,
    ) -> Result<Vec<u8>> {
        let collection = self.collection(reader, address)?;
        let place = u16::try_from(index).ok().and_then(|index| collection.objects.get(&index));
        let bytes = place.and_then(|&(start, end)| collection.piece.bytes.get(start..end));
        let lost = || fault(&rule::HEAP_OBJECT, collection.piece.at, index.into(), 0);
        let bytes = bytes.ok_or_else(lost)?;
        let held = bytes.len() as u64;
        let first = usize::try_from(len).ok().and_then(|len| bytes.get(..len));
        let short = || fault(&rule::HEAP_OBJECT, collection.piece.at, held, len);
        Ok(first.ok_or_else(short)?.to_vec())
    }

    fn collection(&self, reader: &Reader, address: u64) -> Result<Arc<Collection>> {
        self.collections.get(address, || {
            let collection = Collection::read(reader, address)?;
            let len = collection.piece.bytes.len();
            Ok((collection, len))
        })
    }
}

impl Collection {
    fn read(reader: &Reader, address: u64) -> Result<Collection> {
        // The heads of collections and objects are padded to 8 bytes.
        let head_len = (8 + reader.sizes.length).next_multiple_of(8);
        let head = reader.piece(address, head_len as u64, &rule::HEAP_CUT)?;
        let mut fields = head.fields();
        fields.signature(b"GCOL", &rule::HEAP_HEAD)?;
        fields.take(4)?;
        let len = fields.length()?.max(head_len as u64);
        let piece = reader.piece(address, len, &rule::HEAP_CUT)?;
        let mut objects = HashMap::new();
        let mut fields = piece.fields().with_rule(&rule::HEAP_OBJECT);
        fields.take(head_len)?;
        while head_len <= fields.left() {
            let start = fields.position().saturating_add(head_len);
            let index = fields.u16()?;
            fields.take(6)?;
            let len = fields.length()?;
            if index == 0 {
                break;
            }
            fields.take(start.saturating_sub(fields.position()))?;
            let end = usize::try_from(len).ok().and_then(|len| start.checked_add(len));
            let Some(end) = end.filter(|&end| end <= piece.bytes.len()) else { break };
            objects.entry(index).or_insert((start, end));
            let padded = end.checked_next_multiple_of(8).unwrap_or(end);
            fields.take(padded.saturating_sub(start).min(fields.left()))?;
        }
        Ok(Collection { piece, objects })
    }
}
