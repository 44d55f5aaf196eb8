//! Recovers the readable entries of an index that is damaged or truncated.

use tet_cbor as cbor;
use tet_format::Span;
use tet_io::Source;

use super::context::{RepairContext, blobs_end, damage, index_head, may_be_entry};
use super::edit::Loss;
use crate::checksum::Comparison;
use crate::error::{Error, Result};
use crate::index::Index;
use crate::tensor::Tensor;

/// The fewest bytes by which the start of an entry is recognized.
const ENTRY_START_LEN: usize = 4;

/// The readable entries of an unreadable index.
#[derive(Debug)]
pub(super) struct Salvaged {
    /// Where the index starts.
    pub(super) start: u64,
    /// The entries, one after the other.
    pub(super) entries: Vec<u8>,
    pub(super) count: u64,
    pub(super) losses: Vec<Loss>,
    /// The count in the head of the array, if it has one.
    counted: Option<u64>,
}

impl Salvaged {
    fn new(start: u64, counted: Option<u64>, losses: Vec<Loss>) -> Self {
        Salvaged { start, entries: Vec::new(), count: 0, losses, counted }
    }

    /// The entries that are counted but missing.
    pub(super) fn gone(&self) -> Option<Loss> {
        let named =
            self.losses.iter().filter(|it| matches!(it, Loss::Tensor { .. } | Loss::Name { .. }));
        let named = named.count();
        let there = self.count.saturating_add(named as u64);
        let count = self.counted?.saturating_sub(there);
        (count != 0).then_some(Loss::Entries { count })
    }

    /// The entries as an index.
    pub(super) fn index_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        cbor::array_head(self.count, &mut bytes);
        bytes.extend_from_slice(&self.entries);
        bytes
    }

    fn push(&mut self, entry: &[u8]) {
        self.entries.extend_from_slice(entry);
        self.count += 1;
    }

    /// Notes bytes that are no entry, and the tensor names in them.
    fn lose(&mut self, (base, bytes): (u64, &[u8]), from: usize, to: usize) {
        let lost = bytes.get(from..to).filter(|lost| !lost.is_empty());
        let Some(lost) = lost else { return };
        let (offset, len) = (base.saturating_add(from as u64), lost.len() as u64);
        self.losses.push(Loss::Bytes { offset, len });
        self.losses.extend(names(lost).into_iter().map(|name| Loss::Name { name }));
    }
}

/// Recovers the index that the footer points to, skipping what is no entry.
pub(super) fn of_span(context: &mut RepairContext<'_>, span: Span) -> Result<Option<Salvaged>> {
    let bytes = context.source.read_vec(span.start(), span.len())?;
    let Some((head_len, counted)) = index_head(&bytes) else { return Ok(None) };
    let (base, end) = (span.start(), bytes.len());
    let mut salvaged = Salvaged::new(base, counted, Vec::new());
    let (mut at, mut gap_at) = (head_len, head_len);
    while at < end {
        match entry(context, &bytes, at, base, base) {
            Entry::Read(item) => {
                salvaged.lose((base, &bytes), gap_at, at);
                salvaged.push(item);
                at += item.len();
                gap_at = at;
            }
            Entry::Cut(len) | Entry::Wrong(len) => {
                if context.spend(len).is_none() {
                    break;
                }
                at += 1;
            }
        }
    }
    // The break of an array without a count is no loss.
    let is_break = bytes.get(gap_at..) == Some(&[cbor::BREAK]);
    salvaged.lose((base, &bytes), if is_break { end } else { gap_at }, end);
    Ok(Some(salvaged).filter(|it| 0 < it.count))
}

/// Recovers an index that is truncated by the end of the file.
pub(super) fn of_tail(context: &mut RepairContext<'_>) -> Result<Option<Salvaged>> {
    let (bytes, base) = context.tail()?;
    for start in (0..bytes.len()).rev() {
        let Some((head_len, counted)) = bytes.get(start..).and_then(index_head) else { continue };
        let mut salvaged = Salvaged::new(base.saturating_add(start as u64), counted, Vec::new());
        let mut at = start + head_len;
        let is_cut = loop {
            match entry(context, &bytes, at, base, salvaged.start) {
                Entry::Read(item) => {
                    salvaged.push(item);
                    at += item.len();
                }
                Entry::Cut(_) => break true,
                Entry::Wrong(_) => break false,
            }
        };
        if context.spend(at.saturating_sub(start) as u64).is_none() {
            break;
        }
        if !is_cut || salvaged.count == 0 {
            continue;
        }
        salvaged.lose((base, &bytes), at, bytes.len());
        let salvaged = proven(context, salvaged)?;
        if salvaged.is_some() {
            return Ok(salvaged);
        }
    }
    Ok(None)
}

/// The key of names, as CBOR.
const NAME_KEY: &[u8] = b"\x64name";

/// The names in the rest of damaged entries.
fn names(bytes: &[u8]) -> Vec<String> {
    let keys = bytes.windows(NAME_KEY.len()).enumerate().filter(|(_, key)| *key == NAME_KEY);
    let name = |at: usize| {
        let mut reader = cbor::Reader::new(bytes, at, 0, 4);
        let head @ cbor::Head::Text(_) = reader.untagged(0).ok()? else { return None };
        String::from_utf8(reader.string(head).ok()?.into_owned()).ok()
    };
    keys.filter_map(|(at, _)| name(at + NAME_KEY.len())).collect()
}

/// The result of parsing an entry.
enum Entry<'b> {
    /// An entry that is not damaged.
    Read(&'b [u8]),
    /// This number of bytes, which may be the start of an entry.
    Cut(u64),
    /// Something else, after reading this number of bytes.
    Wrong(u64),
}

fn entry<'b>(
    context: &RepairContext<'_>,
    bytes: &'b [u8],
    at: usize,
    base: u64,
    index_start: u64,
) -> Entry<'b> {
    let rest = bytes.get(at..).unwrap_or_default();
    if rest.len() < ENTRY_START_LEN {
        return Entry::Cut(rest.len() as u64);
    }
    if !may_be_entry(rest) {
        return Entry::Wrong(1);
    }
    let mut reader = context.reader(bytes, at, base);
    let skipped = reader.skip(1);
    let item = reader.since(at);
    let len = item.len() as u64;
    match skipped {
        Ok(()) if is_sound(context, item, index_start) => Entry::Read(item),
        Err(fault) if fault.found < fault.wanted => Entry::Cut(len),
        _ => Entry::Wrong(len),
    }
}

/// Whether an entry is valid, and its blob is complete.
fn is_sound(context: &RepairContext<'_>, item: &[u8], index_start: u64) -> bool {
    let array = [&[0x81], item].concat();
    let Ok(index) = Index::read(array, index_start, context.limits) else { return false };
    index.tensor(0).is_some_and(|it| damage(&it).is_none() && it.stored().is_some())
}

/// Drops entries whose checksums do not match: the index of a file inside a blob has other offsets.
/// Without any checksum, the last blob must end where the index starts.
fn proven(context: &mut RepairContext<'_>, salvaged: Salvaged) -> Result<Option<Salvaged>> {
    let index = Index::read(salvaged.index_bytes(), salvaged.start, context.limits)?;
    let mut kept = Salvaged::new(salvaged.start, salvaged.counted, salvaged.losses);
    let mut is_own = blobs_end(&index) == salvaged.start;
    for tensor in index.tensors() {
        if context.spend(tensor.stored().map_or(0, Span::len)).is_none() {
            return Ok(None);
        }
        match matches(context.source, &tensor)? {
            Some(false) => kept.losses.push(Loss::tensor(&tensor)),
            matched => {
                is_own |= matched == Some(true);
                kept.push(tensor.entry_bytes());
            }
        }
    }
    Ok(Some(kept).filter(|kept| is_own && 0 < kept.count))
}

/// Whether a blob matches its checksum; `None` if it cannot be compared.
fn matches(source: &Source, tensor: &Tensor<'_>) -> Result<Option<bool>> {
    let checksum = tensor.checksum().filter(|checksum| checksum.is_known());
    let Some((checksum, stored)) = checksum.zip(tensor.stored()) else { return Ok(None) };
    let mut comparison = Comparison::new(checksum);
    source.for_windows(stored.range(), &mut Vec::new(), |_, window| {
        comparison.update(window);
        Ok::<_, Error>(true)
    })?;
    Ok(Some(comparison.differs().is_none()))
}
