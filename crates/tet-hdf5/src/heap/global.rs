//! Global heaps: values of variable length, and references (section III.E).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Result, fault};
use crate::reader::{Piece, Reader};
use crate::rule;

/// Collections that are kept.
const KEPT: usize = 64;

/// The global heaps of a file, those that were used last kept.
#[derive(Debug, Default)]
pub(crate) struct GlobalHeaps {
    held: Mutex<BTreeMap<u64, Arc<Piece>>>,
}

impl GlobalHeaps {
    /// The object of this index in the collection at an address.
    pub(crate) fn object(&self, reader: &Reader, address: u64, index: u32) -> Result<Vec<u8>> {
        let collection = self.collection(reader, address)?;
        let mut fields = collection.fields().with_rule(&rule::HEAP_OBJECT);
        let head_len = head_len(reader);
        fields.take(head_len)?;
        while head_len <= fields.left() {
            let found = fields.u16()?;
            fields.take(6)?;
            let len = fields.length()?;
            fields.take(head_len - 8 - reader.sizes.length)?;
            if found == 0 {
                break;
            }
            let outside =
                || fault(&rule::HEAP_OBJECT, collection.at, len, collection.bytes.len() as u64);
            let len = usize::try_from(len).map_err(|_| outside())?;
            if u32::from(found) == index {
                return Ok(fields.take(len)?.to_vec());
            }
            let padded = len.checked_next_multiple_of(8).ok_or_else(outside)?;
            fields.take(padded.min(fields.left()))?;
        }
        Err(fault(&rule::HEAP_OBJECT, collection.at, index.into(), 0))
    }

    fn collection(&self, reader: &Reader, address: u64) -> Result<Arc<Piece>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(collection) = held.get(&address) {
            return Ok(Arc::clone(collection));
        }
        let head_len = head_len(reader) as u64;
        let head = reader.piece(address, head_len, &rule::HEAP_CUT)?;
        let mut fields = head.fields();
        fields.signature(b"GCOL", &rule::HEAP_HEAD)?;
        fields.take(4)?;
        let len = fields.length()?;
        let collection = Arc::new(reader.piece(address, len.max(head_len), &rule::HEAP_CUT)?);
        while KEPT <= held.len() {
            held.pop_first();
        }
        held.insert(address, Arc::clone(&collection));
        Ok(collection)
    }
}

/// Bytes of the head of a collection, and of each object: fields padded to 8 bytes.
const fn head_len(reader: &Reader) -> usize {
    (8 + reader.sizes.length).next_multiple_of(8)
}
