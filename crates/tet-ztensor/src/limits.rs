//! How much of a file's claims a reader is willing to believe.

use tet_format::Span;

use crate::error::Fault;
use crate::rule;

/// Bounds of a reader. The caller may change them; nothing in a file can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest index, in bytes.
    pub index_len_max: u64,
    /// The deepest nesting of items in the index, the outermost array counted.
    pub depth_max: u32,
    /// The most entries, and the most extents of all shapes together.
    pub entry_count_max: usize,
    /// The most items that custom fields of one tensor may come to.
    pub item_count_max: usize,
    /// The most bytes that a compressed sparse blob, or a sparse tensor made dense, may come to.
    pub sparse_len_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            index_len_max: 1 << 30,
            depth_max: 128,
            entry_count_max: 1 << 22,
            item_count_max: 1 << 20,
            sparse_len_max: 16 << 30,
        }
    }
}

impl Limits {
    /// Bounds an index that is about to be read into memory (ZT-L1). Places in it must fit in 32
    /// bits, whatever the limit.
    pub(crate) fn check_index_len(&self, index: Span) -> Result<(), Fault> {
        let wanted = self.index_len_max.min(u64::from(u32::MAX >> 1));
        if index.len() <= wanted {
            return Ok(());
        }
        let rule = &rule::LIMIT_INDEX;
        Err(Fault { rule, at: index.start(), found: index.len(), wanted })
    }
}
