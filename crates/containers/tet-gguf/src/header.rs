//! The header of a GGUF file: its keys, and the names, types and places of its tensors.
//!
//! A header that breaks a rule of form is refused. A tensor whose type, shape or place breaks a rule has a
//! fault, and leaves the others readable.

use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, HashSet};

use tet_format::{ForeignFault, ForeignRule};
use tet_io::Source;
use tet_query::AttrText;
use tet_verify::ForeignFound;

use super::block::Block;
use super::cursor::Cursor;
use super::{rule, value};
use tet_container::Result;
use tet_container::entry::{ByteOrder, Entry, byte_len, placed};
use tet_container::read::header::{HeaderError, Parsed, judged};
use tet_container::read::slabs::no_bytes;

/// The alignment of files that do not set one.
const ALIGNMENT: u64 = 32;
const ALIGNMENT_KEY: &str = "general.alignment";
/// The most axes that ggml has.
const AXES_MAX: u32 = 4;

/// The contents of a header.
#[derive(Debug)]
pub(super) struct Header {
    /// The offset of the first tensor.
    pub(super) data_at: u64,
    pub(super) attrs: BTreeMap<String, AttrText>,
    /// The number of lists that are not shown.
    pub(super) hidden_count: usize,
    pub(super) entries: Vec<Entry>,
}

/// Callback for findings that leave the header readable.
pub(super) type OnFinding<'f> = &'f mut dyn FnMut(ForeignFound);

/// Reads a header; the inner error is the rule that it breaks.
pub(super) fn read(source: &Source, found: OnFinding<'_>) -> Result<Result<Header, ForeignFault>> {
    judged(parse(source, found))
}

fn parse(source: &Source, found: OnFinding<'_>) -> Parsed<Header> {
    let mut cursor = Cursor::new(source);
    cursor.take(4)?;
    version(&mut cursor)?;
    let (tensor_count, key_count) = (cursor.number()?, cursor.number()?);
    let mut keys = Keys { attrs: BTreeMap::new(), alignment: ALIGNMENT, hidden_count: 0 };
    for _ in 0..key_count {
        keys.read(&mut cursor, found)?;
    }
    let mut tensors = Vec::new();
    for number in 0..tensor_count {
        tensors.push(Tensor::read(&mut cursor, number, found)?);
    }
    let len = cursor.at();
    let data_at = len.checked_next_multiple_of(keys.alignment).unwrap_or(u64::MAX);
    let place = Place { data_at, alignment: keys.alignment, file_len: source.len() };
    let mut names = HashSet::new();
    for (tensor, number) in tensors.iter().zip(0..) {
        if !names.insert(tensor.name.as_str()) {
            warn(&rule::NAME_TWICE, tensor.at, Some((number, tensor.name.clone())), found);
        }
    }
    let order = cursor.order;
    let entries: Vec<Entry> =
        tensors.into_iter().map(|tensor| tensor.entry(order, &place)).collect();
    if let Some(fault) = data_left(&entries, &place) {
        found(ForeignFound { fault, field: fault.rule.region, len: 0, dataset: None });
    }
    Ok(Header { data_at, attrs: keys.attrs, hidden_count: keys.hidden_count, entries })
}

/// The fault of data behind all tensors: as many as a tensor that the header does not count.
fn data_left(entries: &[Entry], place: &Place) -> Option<ForeignFault> {
    if entries.iter().any(|it| it.fault.is_some()) {
        return None;
    }
    let end = entries.iter().map(|it| it.stored.end()).fold(place.data_at, u64::max);
    let left = place.file_len.saturating_sub(end);
    let (rule, found, wanted) = (&rule::DATA_LEFT, left, place.alignment.saturating_sub(1));
    (place.alignment <= left).then_some(ForeignFault { rule, at: end, found, wanted })
}

/// Reads the version, which shows the order of bytes: no version has 2^16 or more.
fn version(cursor: &mut Cursor<'_>) -> Parsed<()> {
    let at = cursor.at();
    let version = cursor.word()?;
    let is_big = version.trailing_zeros() >= 16 && version != 0;
    let version = if is_big { version.swap_bytes() } else { version };
    cursor.order = if is_big { ByteOrder::Big } else { ByteOrder::Little };
    cursor.is_narrow = version == 1;
    if (1..=3).contains(&version) {
        return Ok(());
    }
    let found = u64::from(version);
    Err(HeaderError::Fault(ForeignFault { rule: &rule::VERSION, at, found, wanted: 3 }))
}

fn warn(rule: &'static ForeignRule, at: u64, dataset: Option<(u64, String)>, found: OnFinding<'_>) {
    let fault = ForeignFault { rule, at, found: 0, wanted: 0 };
    found(ForeignFound { fault, field: "name", len: 0, dataset });
}

struct Keys {
    attrs: BTreeMap<String, AttrText>,
    alignment: u64,
    hidden_count: usize,
}

impl Keys {
    fn read(&mut self, cursor: &mut Cursor<'_>, found: OnFinding<'_>) -> Parsed<()> {
        let key_at = cursor.at();
        let key = String::from_utf8_lossy(cursor.text()?).into_owned();
        let at = cursor.at();
        let value = value::read(cursor)?;
        if key == ALIGNMENT_KEY {
            let is_whole = |word: &u64| *word != 0 && word.is_multiple_of(8);
            let Some(alignment) = value.word.filter(is_whole) else {
                let (found, wanted) = (value.word.unwrap_or(0), 8);
                let rule = &rule::ALIGNMENT;
                return Err(HeaderError::Fault(ForeignFault { rule, at, found, wanted }));
            };
            self.alignment = alignment;
        }
        if let Some(count) = value.hidden {
            self.hidden_count = self.hidden_count.saturating_add(1);
            let rule = &rule::LIST_LONG;
            let fault = ForeignFault { rule, at, found: count, wanted: 1024 };
            found(ForeignFound { fault, field: "value", len: 0, dataset: None });
        }
        match self.attrs.entry(key) {
            Slot::Occupied(_) => warn(&rule::KEY_TWICE, key_at, None, found),
            Slot::Vacant(slot) => drop(slot.insert(value.attr)),
        }
        Ok(())
    }
}

/// A tensor, as the header describes it.
struct Tensor {
    name: String,
    /// The offset of its description.
    at: u64,
    /// The extents, the outer one first.
    shape: Vec<u64>,
    tag: u32,
    /// The offset from that of the data.
    offset: u64,
    fault: Option<ForeignFault>,
}

/// Where tensors may be.
struct Place {
    data_at: u64,
    alignment: u64,
    file_len: u64,
}

impl Tensor {
    fn read(cursor: &mut Cursor<'_>, number: u64, found: OnFinding<'_>) -> Parsed<Tensor> {
        let at = cursor.at();
        let bytes = cursor.text()?;
        let is_text = str::from_utf8(bytes).is_ok();
        let name = String::from_utf8_lossy(bytes).into_owned();
        if !is_text {
            warn(&rule::NAME_UTF8, at, Some((number, name.clone())), found);
        }
        let axes_at = cursor.at();
        let rank = cursor.word()?;
        let mut shape = Vec::new();
        for _ in 0..rank {
            shape.push(cursor.number()?);
        }
        shape.reverse();
        let (tag, offset) = (cursor.word()?, cursor.long()?);
        let (rank, wanted) = (u64::from(rank), u64::from(AXES_MAX));
        let fault = ForeignFault { rule: &rule::AXES, at: axes_at, found: rank, wanted };
        let fault = (wanted < rank).then_some(fault);
        if fault.is_some() {
            shape.clear();
        }
        Ok(Tensor { name, at, shape, tag, offset, fault })
    }

    /// Where its bytes are, or the rule that it breaks.
    fn placed(&self, place: &Place) -> Result<tet_format::Span, ForeignFault> {
        let fault = |rule, at, found, wanted| Err(ForeignFault { rule, at, found, wanted });
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let Some(block) = Block::from_tag(self.tag) else {
            return fault(&rule::TENSOR_TYPE, self.at, u64::from(self.tag), 41);
        };
        let row = self.shape.last().copied().unwrap_or(1);
        if !row.is_multiple_of(block.count) {
            return fault(&rule::ROW_BLOCKS, self.at, row, block.count);
        }
        let Some(len) = byte_len(&self.shape, block.count, block.len) else {
            return fault(&rule::SHAPE_PRODUCT, self.at, u64::MAX, 1 << 63);
        };
        if !self.offset.is_multiple_of(place.alignment) {
            return fault(&rule::DATA_ALIGNMENT, self.at, self.offset, place.alignment);
        }
        let begin = place.data_at.checked_add(self.offset);
        placed(begin, len, place.file_len, &rule::DATA_BOUNDS)
    }

    fn entry(self, order: ByteOrder, place: &Place) -> Entry {
        let block = Block::from_tag(self.tag);
        let dtype = block.and_then(Block::dtype);
        let (stored, fault) = match self.placed(place) {
            Ok(stored) => (stored, None),
            Err(fault) => (no_bytes(), Some(fault)),
        };
        let type_name = block.map_or("unknown", |block| block.name);
        let dtype_name = dtype.map_or(type_name, |dtype| dtype.name()).to_owned();
        let (name, shape, attrs) = (self.name, self.shape, BTreeMap::new());
        Entry { name, dtype, dtype_name, shape, stored, order, attrs, fault }
    }
}
