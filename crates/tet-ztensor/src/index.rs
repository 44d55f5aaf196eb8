//! The index (section 3): one CBOR array, one entry per tensor.
//!
//! The bytes stay in memory and the entries point into them, so that large indexes open fast.

use std::borrow::Cow;
use std::sync::OnceLock;

use tet_cbor::{Head, Items, Reader};
use tet_format::Span;

use crate::entry::{Entries, Entry, Sink, Text, resolve};
use crate::error::{Fault, Result};
use crate::limits::Limits;
use crate::names::Names;
use crate::rule;

/// The shortest entry that has its required keys.
const ENTRY_LEN_MIN: u64 = 52;

/// The index of a file, in memory.
#[derive(Clone, Debug)]
pub struct Index {
    bytes: Vec<u8>,
    start: u64,
    entries: Vec<Entry>,
    extents: Vec<u64>,
    joined: Vec<u8>,
    faults: Vec<Fault>,
    limits: Limits,
    names: OnceLock<Names>,
}

impl Index {
    /// Reads an index that starts at `start` in the file; blobs must end before that.
    ///
    /// An entry that breaks a rule stores its fault and does not affect the others. Empty input is
    /// an index without entries.
    ///
    /// # Errors
    ///
    /// The bytes are not exactly one array, or exceed a limit (ZT-I1 to ZT-I4, ZT-L1, ZT-L2).
    pub fn read(bytes: Vec<u8>, start: u64, limits: &Limits) -> Result<Self, Fault> {
        Self::read_with(bytes, start, limits, &mut |_, _, _| {})
    }

    /// Reads an index and reports every fault of its entries.
    pub(crate) fn read_with(
        bytes: Vec<u8>,
        start: u64,
        limits: &Limits,
        sink: Sink<'_>,
    ) -> Result<Self, Fault> {
        let len = bytes.len() as u64;
        let span = Span::new(start, len);
        let unbounded = Fault { rule: &rule::LIMIT_INDEX, at: start, found: len, wanted: len };
        limits.check_index_len(span.ok_or(unbounded)?)?;
        let reader = Reader::new(&bytes, 0, start, limits.depth_max);
        let mut all = Entries::new(reader, start, sink);
        all.index_len = u32::try_from(len).unwrap_or(u32::MAX);
        all.extent_count_max = limits.entry_count_max.saturating_mul(8);
        let (mut entries, mut faults) = (Vec::new(), Vec::new());
        read_array(&mut all, limits, &mut entries, &mut faults)?;
        let (extents, joined) = (all.extents, all.joined);
        let (limits, names) = (*limits, OnceLock::new());
        Ok(Index { bytes, start, entries, extents, joined, faults, limits, names })
    }

    /// The number of tensors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no tensors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The bytes of the index.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The span of the index in the file.
    #[must_use]
    pub fn span(&self) -> Option<Span> {
        Span::new(self.start, self.bytes.len() as u64)
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The positions of all tensors with a name.
    #[must_use]
    pub fn positions(&self, name: &str) -> Vec<usize> {
        self.names().find(name.as_bytes(), |position| self.name_at(position))
    }

    fn names(&self) -> &Names {
        self.names.get_or_init(|| Names::new(self.len(), |position| self.name_at(position)))
    }

    fn name_at(&self, position: usize) -> &[u8] {
        let Some(entry) = self.entries.get(position) else { return &[] };
        let bytes = resolve(&self.bytes, &self.joined, entry.name);
        // Nearly all names are ASCII, which is checked faster than UTF-8.
        if bytes.is_ascii() { bytes } else { self.text(entry.name).as_bytes() }
    }

    /// A text, up to its first invalid byte.
    pub(crate) fn text(&self, text: Text) -> &str {
        let bytes = resolve(&self.bytes, &self.joined, text);
        match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => bytes
                .get(..error.valid_up_to())
                .and_then(|bytes| std::str::from_utf8(bytes).ok())
                .unwrap_or_default(),
        }
    }

    pub(crate) fn shape(&self, entry: &Entry) -> &[u64] {
        let Text { start, len } = entry.shape;
        let [start, len] = [start, len].map(|number| usize::try_from(number).unwrap_or(0));
        self.extents.get(start..).and_then(|extents| extents.get(..len)).unwrap_or_default()
    }

    pub(crate) fn fault(&self, entry: &Entry) -> Option<&Fault> {
        let at = usize::try_from(entry.fault).ok()?.checked_sub(1)?;
        self.faults.get(at)
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// A reader at the start of an entry.
    pub(crate) fn reader(&self, entry: &Entry) -> Reader<'_> {
        let at = usize::try_from(entry.item.start).unwrap_or(usize::MAX);
        Reader::new(&self.bytes, at, self.start, self.limits.depth_max)
    }

    /// The bytes of an entry.
    pub(crate) fn item(&self, entry: &Entry) -> &[u8] {
        resolve(&self.bytes, &[], entry.item)
    }

    /// The length of the item at a file offset, if that is in the index.
    pub(crate) fn item_len(&self, at: u64) -> Option<u64> {
        let start = usize::try_from(at.checked_sub(self.start)?).ok()?;
        let mut reader = Reader::new(&self.bytes, start, self.start, self.limits.depth_max);
        reader.skip(0).ok()?;
        Some(reader.since(start).len() as u64)
    }

    /// Calls `visit` with the key and value of every field of an entry, until it returns a value.
    pub(crate) fn for_fields<'a, T>(
        &'a self,
        entry: &Entry,
        mut visit: impl FnMut(Cow<'a, [u8]>, &mut Reader<'a>, u32) -> Result<Option<T>, Fault>,
    ) -> Result<Option<T>, Fault> {
        let mut reader = self.reader(entry);
        let Head::Map(count) = reader.untagged(1)? else { return Ok(None) };
        let (inside, mut items) = (reader.deeper(1)?, Items::new(count));
        while items.next(&mut reader) {
            let start = reader.at();
            let key = match reader.untagged(inside)? {
                head @ Head::Text(_) => reader.string(head)?,
                head => {
                    reader.skip_rest(head, start, inside)?;
                    reader.skip(inside)?;
                    continue;
                }
            };
            let at = reader.at();
            if let Some(found) = visit(key, &mut reader, inside)? {
                return Ok(Some(found));
            }
            reader.rewind(at);
            reader.skip(inside)?;
        }
        Ok(None)
    }
}

fn read_array(
    all: &mut Entries<'_, '_>,
    limits: &Limits,
    entries: &mut Vec<Entry>,
    faults: &mut Vec<Fault>,
) -> Result<(), Fault> {
    let Head::Array(count) = all.reader.untagged(0)? else {
        let found = all.reader.all().first().copied().unwrap_or_default().into();
        return Err(Fault { rule: &rule::INDEX_ARRAY, at: all.index_start, found, wanted: 0x80 });
    };
    all.reader.deeper(0)?;
    // A valid index has no more entries, so a wrong count allocates no more than the index does.
    let likely = count.unwrap_or(0).min(u64::from(all.index_len) / ENTRY_LEN_MIN);
    entries.reserve(usize::try_from(likely).unwrap_or(0).min(limits.entry_count_max));
    let mut items = Items::new(count);
    while items.next(&mut all.reader) {
        let position = entries.len();
        if limits.entry_count_max <= position {
            let (at, wanted) = (all.reader.place(all.reader.at()), position as u64);
            return Err(Fault { rule: &rule::LIMIT_ENTRIES, at, found: wanted + 1, wanted });
        }
        let (mut entry, fault) = all.read(position)?;
        if let Some(fault) = fault {
            faults.push(fault);
            entry.fault = u32::try_from(faults.len()).unwrap_or(0);
        }
        entries.push(entry);
    }
    if all.reader.is_at_end() {
        return Ok(());
    }
    let (at, wanted) = (all.reader.place(all.reader.at()), all.reader.at() as u64);
    Err(Fault { rule: &rule::INDEX_TRAILING, at, found: all.index_len.into(), wanted })
}
