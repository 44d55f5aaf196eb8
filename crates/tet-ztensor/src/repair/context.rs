//! The file under repair, and a budget for the remaining work.

use tet_cbor::Reader;
use tet_format::Span;
use tet_io::{Image, Progress, Source};
use tet_report::Finding;

use crate::container::MAGIC;
use crate::error::{Fault, Result};
use crate::index::Index;
use crate::limits::Limits;
use crate::rule;
use crate::tensor::Tensor;

/// The budget in bytes of work for each byte of the file.
const WORK_FACTOR: u64 = 8;
/// An additional budget, so that small files are searched thoroughly.
const WORK_LEN_MIN: u64 = 64 << 20;
/// How far before the end of the file an index without a footer is searched for.
const TAIL_LEN_MAX: u64 = 64 << 20;

/// The number of bytes that [`may_be_index`] reads.
pub(super) const INDEX_START_LEN: u64 = 13;

/// The file under repair, and the remaining budget.
pub(super) struct RepairContext<'a> {
    pub(super) source: &'a Source,
    pub(super) limits: &'a Limits,
    pub(super) progress: &'a Progress,
    work_left: u64,
}

impl<'a> RepairContext<'a> {
    pub(super) fn new(source: &'a Source, limits: &'a Limits, progress: &'a Progress) -> Self {
        let work_left = source.len().saturating_mul(WORK_FACTOR).saturating_add(WORK_LEN_MIN);
        Self { source, limits, progress, work_left }
    }

    /// The file with one byte replaced.
    pub(super) fn with(&self, at: u64, byte: u8) -> Source {
        let mut image = image_of(self.source);
        image.put(at, [byte]);
        image.to_source()
    }

    /// Spends budget for reading `len` bytes; `None` if it is used up.
    pub(super) fn spend(&mut self, len: u64) -> Option<()> {
        self.work_left = self.work_left.checked_sub(len)?;
        Some(())
    }

    /// The last bytes of the file, and their offset: they may be an index without a footer.
    pub(super) fn tail(&self) -> Result<(Vec<u8>, u64)> {
        let file_len = self.source.len();
        let start = file_len.saturating_sub(TAIL_LEN_MAX).max(file_len.min(8));
        Ok((self.source.read_vec(start, file_len.saturating_sub(start))?, start))
    }

    /// A reader of bytes that start at an offset of the file.
    pub(super) fn reader<'b>(&self, bytes: &'b [u8], at: usize, base: u64) -> Reader<'b> {
        Reader::new(bytes, at, base, self.limits.depth_max)
    }

    /// Parses bytes as an index of this file: it must start where its last blob ends, and at least
    /// one of its tensors must be intact.
    pub(super) fn own_index(&self, bytes: &[u8], start: u64) -> Option<Index> {
        let index = Index::read(bytes.to_vec(), start, self.limits).ok()?;
        let is_sound = index.is_empty() || index.tensors().any(|tensor| tensor.fault().is_none());
        (is_sound && blobs_end(&index) == start).then_some(index)
    }
}

/// The image of a source, starting with the magic of a valid file.
pub(super) fn image_of(source: &Source) -> Image {
    let mut image = Image::from_source(source);
    image.put(0, MAGIC);
    image.resize(source.len());
    image
}

/// The end of the last blob that ends before the index.
pub(super) fn blobs_end(index: &Index) -> u64 {
    let ends = index.tensors().filter_map(|tensor| tensor.stored()).map(Span::end);
    ends.max().unwrap_or(8).max(8)
}

/// The length of the head of an array of entries, and its count if it has one; `None` if there is
/// no such head.
pub(super) fn index_head(bytes: &[u8]) -> Option<(usize, Option<u64>)> {
    let first = *bytes.first()?;
    let len = match first {
        0x81..=0x97 | 0x9f => 1,
        0x98 => 2,
        0x99 => 3,
        0x9a => 5,
        0x9b => 9,
        _ => return None,
    };
    let rest = bytes.get(len..).filter(|rest| may_be_entry(rest))?;
    let digits = bytes.get(1..bytes.len().saturating_sub(rest.len())).unwrap_or_default();
    let count = match first {
        0x9f => None,
        0x98.. => Some(digits.iter().fold(0, |count, byte| count << 8 | u64::from(*byte))),
        _ => Some(u64::from(first & 0x1f)),
    };
    Some((len, count))
}

/// Whether an entry may start with these bytes: a map whose first key is text.
pub(super) fn may_be_entry(bytes: &[u8]) -> bool {
    let key_at = match bytes.first() {
        Some(0xa1..=0xb7 | 0xbf) => 1,
        Some(0xb8) => 2,
        Some(0xb9) => 3,
        _ => return false,
    };
    bytes.get(key_at).is_some_and(|key| (0x61..=0x78).contains(key))
}

/// The fault of a damaged tensor; none for a tensor of an unknown kind.
pub(super) fn damage(tensor: &Tensor<'_>) -> Option<Fault> {
    let kinds =
        [&rule::DTYPE_KNOWN, &rule::ENCODING_KNOWN, &rule::LAYOUT_KNOWN, &rule::FORMAT_KNOWN];
    tensor.fault().copied().filter(|fault| !kinds.contains(&fault.rule))
}

/// The position of the tensor of a finding.
pub(super) fn position_of(finding: &Finding) -> Option<usize> {
    finding.place.dataset.and_then(|position| usize::try_from(position).ok())
}
