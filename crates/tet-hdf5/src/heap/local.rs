//! The local heap: names of the links of an old group (section III.D).

use crate::error::{Result, fault};
use crate::reader::{Piece, Reader};
use crate::rule;

/// The names of a group.
#[derive(Debug)]
pub(crate) struct LocalHeap {
    names: Piece,
}

impl LocalHeap {
    pub(crate) fn read(reader: &Reader, address: u64) -> Result<LocalHeap> {
        let len = 8 + 2 * reader.sizes.length + reader.sizes.offset;
        let head = reader.piece(address, len as u64, &rule::HEAP_CUT)?;
        let mut fields = head.fields();
        fields.signature(b"HEAP", &rule::HEAP_HEAD)?;
        fields.take(4)?;
        let len = fields.length()?;
        let _free = fields.length()?;
        let at = fields.at();
        let names = fields.address()?.ok_or_else(|| fault(&rule::HEAP_CUT, at, u64::MAX, 0))?;
        Ok(LocalHeap { names: reader.piece(names, len, &rule::HEAP_CUT)? })
    }

    /// The text at an offset.
    pub(crate) fn text(&self, offset: u64) -> Result<String> {
        let outside =
            || fault(&rule::HEAP_OBJECT, self.names.at, offset, self.names.bytes.len() as u64);
        let start = usize::try_from(offset).map_err(|_| outside())?;
        let mut fields = self.names.fields().with_rule(&rule::HEAP_OBJECT);
        fields.take(start)?;
        fields.text()
    }
}
