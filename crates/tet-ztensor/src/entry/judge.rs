//! Checks the fields of an entry against each other: lengths, offsets, missing fields.

use tet_format::{DType, ForeignRule, Span, zstd_decoded_max};

use super::{Draft, Entries, Field};
use crate::error::Fault;
use crate::footer::ALIGN;
use crate::rule;
use crate::words::{Encoding, Layout};

/// The most elements and bytes of a tensor.
const LEN_MAX: u64 = i64::MAX.cast_unsigned();

/// The number of elements of a shape; `None` if it is too large.
pub(crate) fn element_count(shape: &[u64]) -> Option<u64> {
    // Extents before a zero must not overflow the product.
    if shape.contains(&0) {
        return Some(0);
    }
    let count = shape.iter().try_fold(1_u64, |count, extent| count.checked_mul(*extent))?;
    (count <= LEN_MAX).then_some(count)
}

/// The length in bytes of the elements of a shape; `None` if it is too large.
pub(crate) fn dense_len(shape: &[u64], dtype: DType) -> Option<u64> {
    let len = element_count(shape)?.checked_mul(dtype.size()?)?;
    (len <= LEN_MAX).then_some(len)
}

impl Entries<'_, '_> {
    /// Checks an entry whose fields have been read.
    pub(super) fn judge(&mut self, draft: &mut Draft, start: usize) {
        for field in Field::REQUIRED {
            if draft.seen & field.bit() == 0 {
                self.fault(draft, &rule::KEY_MISSING, start, field.key());
            }
        }
        self.judge_layout(draft);
        let len = self.judge_shape(draft);
        if draft.entry.holds(Field::Offset) && draft.entry.holds(Field::Size) {
            self.judge_place(draft);
        }
        if let Some(len) = len.filter(|_| draft.entry.holds(Field::Size)) {
            self.judge_len(draft, len);
        }
    }

    /// Sets the layout from its word, and the format of `sparse`; dense if there is none.
    fn judge_layout(&mut self, draft: &mut Draft) {
        if draft.is_sparse {
            draft.entry.layout = draft.sparse_format.and_then(|(_, format)| format);
            if draft.entry.layout.is_none() {
                let layout_at = draft.at[Field::Layout as usize];
                let at = draft.sparse_format.map_or(layout_at, |(at, _)| at);
                self.fault(draft, &rule::FORMAT_KNOWN, at, "sparse_format");
            }
        } else if !draft.entry.holds(Field::Layout) && draft.entry.layout.is_none() {
            let is_stated = draft.seen & Field::Layout.bit() != 0;
            let is_damaged = is_stated && draft.fault.is_some_and(|it| it.rule == &rule::KEY_TYPE);
            draft.entry.layout = (!is_damaged).then_some(Layout::Dense);
        }
    }

    /// The length of the elements, if shape and dtype are known and it is not too large.
    fn judge_shape(&mut self, draft: &mut Draft) -> Option<u64> {
        let entry = &draft.entry;
        if !entry.holds(Field::Shape) {
            return None;
        }
        let start = usize::try_from(entry.shape.start).ok()?;
        let shape = self.extents.get(start..).unwrap_or_default();
        // An unknown dtype takes at least one byte.
        let len = dense_len(shape, entry.dtype.unwrap_or(DType::UInt8));
        let (rank, dtype) = (shape.len() as u64, entry.dtype);
        let Some(len) = len else {
            let count = shape.iter().fold(1_u64, |count, extent| count.saturating_mul(*extent));
            let found = count.saturating_mul(dtype.and_then(DType::size).unwrap_or(1));
            let at = draft.at[Field::Shape as usize];
            self.numbered(draft, &rule::SHAPE_PRODUCT, at, found, LEN_MAX, "shape");
            return None;
        };
        let wanted = match entry.layout {
            Some(Layout::Csr | Layout::SparseCsr) if rank != 2 => 2,
            Some(Layout::Coo | Layout::SparseCoo) if rank == 0 => 1,
            _ => return dtype.map(|_| len),
        };
        let at = draft.at[Field::Shape as usize];
        self.numbered(draft, &rule::SPARSE_RANK, at, rank, wanted, "shape");
        None
    }

    fn judge_place(&mut self, draft: &mut Draft) {
        let (offset, size) = (draft.entry.offset, draft.entry.size);
        let at = draft.at[Field::Offset as usize];
        if offset == 0 || !offset.is_multiple_of(ALIGN) {
            self.numbered(draft, &rule::BLOB_ALIGNED, at, offset, ALIGN, "offset");
        }
        let end = Span::new(offset, size).map(Span::end).filter(|end| *end <= self.index_start);
        if end.is_none() {
            self.numbered(
                draft,
                &rule::BLOB_BOUNDS,
                at,
                offset.saturating_add(size),
                self.index_start,
                "offset",
            );
        }
    }

    fn judge_len(&mut self, draft: &mut Draft, len: u64) {
        let (size, at) = (draft.entry.size, draft.at[Field::Size as usize]);
        match (draft.entry.encoding, draft.entry.layout) {
            (Some(Encoding::Raw), Some(Layout::Dense)) if size != len => {
                self.numbered(draft, &rule::BLOB_LEN, at, size, len, "size");
            }
            (Some(Encoding::Zstd), Some(Layout::Dense)) if zstd_decoded_max(size) < len => {
                self.numbered(draft, &rule::ZSTD_BOUND, at, size, len, "size");
            }
            _ => {}
        }
    }

    /// Reports a broken rule.
    pub(super) fn fault(
        &mut self,
        draft: &mut Draft,
        rule: &'static ForeignRule,
        at: usize,
        field: &'static str,
    ) {
        self.numbered(draft, rule, at, 0, 0, field);
    }

    fn numbered(
        &mut self,
        draft: &mut Draft,
        rule: &'static ForeignRule,
        at: usize,
        found: u64,
        wanted: u64,
        field: &'static str,
    ) {
        let fault = Fault { rule, at: self.reader.place(at), found, wanted };
        draft.fault.get_or_insert(fault);
        (self.sink)(draft.position, fault, field);
    }
}
