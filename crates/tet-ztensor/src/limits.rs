//! Limits on what a reader accepts from a file.

use tet_format::Span;

use crate::error::Fault;
use crate::rule;

/// Limits of a reader. The caller may change them; nothing in a file can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest index, in bytes.
    pub index_len_max: u64,
    /// The deepest nesting of items in the index, with the outermost array.
    pub depth_max: u32,
    /// The most entries, and the most extents of all shapes together.
    pub entry_count_max: usize,
    /// The most items in the custom fields of one tensor.
    pub item_count_max: usize,
    /// The longest decoded sparse blob, and the longest sparse tensor as dense elements, in bytes.
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
    /// Checks the length of an index before it is read into memory (ZT-L1). Offsets in it must fit
    /// in 32 bits, whatever the limit is.
    pub(crate) fn check_index_len(&self, index: Span) -> Result<(), Fault> {
        let wanted = self.index_len_max.min(u64::from(u32::MAX >> 1));
        if index.len() <= wanted {
            return Ok(());
        }
        let rule = &rule::LIMIT_INDEX;
        Err(Fault { rule, at: index.start(), found: index.len(), wanted })
    }
}
