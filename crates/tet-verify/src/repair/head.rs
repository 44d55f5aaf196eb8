//! Superblock, directory and index header, which say much twice.
//!
//! ```text
//!   index_offset  = 40 + records_len          = where `TIDX` stands
//!   dataset_count = how many records fill the directory
//!   index_len     = 32 + 104 * row_count      = 32 + 104 * the chunks of all grids
//! ```
//!
//! With a digest any candidate is proven or not. Without one, a field is set where the two other
//! witnesses agree.

use tet_file::integrity::IntegrityKey;
use tet_format::directory::{DatasetRecord, Directory, WireDirectory, WireRecord};
use tet_format::index::{self, HEADER_LEN, IndexHeader};
use tet_format::superblock::{self, FLAG_FOOTER, WireSuperblock};
use tet_format::wire::{Field, field_at};
use tet_format::{Digest, Limits, NoteCode, Region, Rule, Superblock, layout};
use tet_io::Source;
use tet_report::{Code, Proof};

use super::bench::Bench;
use super::edit::{Action, Edit, put_edit};
use crate::error::Result;

/// A directory is looked for no further than this.
const SCANNED_LEN_MAX: u64 = 16 << 20;
/// How many places of an index are tried.
const PLACES_MAX: usize = 16;
/// Without a digest no more fields than these are set in a head, but for the superblock alone.
const FIELDS_MAX: usize = 2;

/// Mends the head; says whether it can be read then.
pub(super) fn mend(bench: &mut Bench<'_>, key: Option<&IntegrityKey>) -> Result<bool> {
    let source = bench.source();
    if source.len() < superblock::LEN {
        return Ok(false);
    }
    let mended = match key {
        Some(key) => by_digest(bench, &source, key.head)?,
        None => by_the_rest(bench, &source)?,
    };
    if let Some((old, new, proof)) = mended {
        for edit in edits(&old, &new) {
            bench.apply(edit.proof(proof))?;
        }
    }
    is_readable(&bench.source(), bench.limits())
}

fn is_readable(source: &Source, limits: &Limits) -> Result<bool> {
    let head = source.read_vec(0, source.len().min(superblock::LEN))?;
    let Ok(superblock) = Superblock::read(&head, source.len()) else { return Ok(false) };
    if superblock.dataset_count == 0 {
        return Ok(true);
    }
    let head =
        source.read_vec(0, superblock.index_offset.saturating_add(HEADER_LEN).min(source.len()))?;
    Ok(grids(&head, superblock.index_offset, superblock.dataset_count, limits).is_some()
        && header(&head, superblock.index_offset, superblock.index_len).is_some())
}

/// The head before and after, and why it is right.
type Mended = Option<(Vec<u8>, Vec<u8>, Proof)>;

fn by_digest(bench: &Bench<'_>, source: &Source, wanted: Digest) -> Result<Mended> {
    let holds = |head: &[u8]| tet_codec::digest(head) == wanted;
    for place in places(source)? {
        let old = head_at(source, place)?;
        if holds(&old) {
            return Ok(None);
        }
        let mut candidates = vec![old.clone()];
        candidates.extend(determined(
            &old,
            place,
            source.len(),
            Determine::Numbers,
            bench.limits(),
        ));
        for mut head in candidates {
            if holds(&head) {
                return Ok(Some((old, head, Proof::Digest)));
            }
            if let Some(bit) = super::flip::flipped_bit(&head, wanted) {
                if let Some(byte) = head.get_mut(bit.byte) {
                    *byte ^= 1 << bit.bit;
                }
                return Ok(Some((old, head, Proof::Digest)));
            }
        }
    }
    // Nothing is proven, but the file may still be read.
    by_the_rest(bench, source)
}

fn by_the_rest(bench: &Bench<'_>, source: &Source) -> Result<Mended> {
    for place in places(source)? {
        let old = head_at(source, place)?;
        let all = Determine::NumbersAndZeros;
        let Some(new) = determined(&old, place, source.len(), all, bench.limits()) else {
            continue;
        };
        if new == old {
            return Ok(None);
        }
        let numbers = edits(&old, &new);
        let numbers = numbers.iter().filter(|edit| matches!(edit.code, Code::Rule(_)));
        let outside = numbers.clone().any(|edit| edit.region != Region::Superblock.name());
        if numbers.count() <= FIELDS_MAX || (!outside && place != superblock::LEN) {
            return Ok(Some((old, new, Proof::Rest)));
        }
    }
    Ok(None)
}

/// Where the index may be: where the superblock says, where the directory ends, where `TIDX`
/// stands; 32 in a file without datasets.
fn places(source: &Source) -> Result<Vec<u64>> {
    let len = source.len().min(SCANNED_LEN_MAX);
    let bytes = source.read_vec(0, len)?;
    let wire = bytes.first_chunk().map(WireSuperblock::decode);
    let directory = bytes.get(WireSuperblock::LEN..).and_then(<[u8]>::first_chunk);
    let directory = directory.map(WireDirectory::decode);
    let mut places = Vec::new();
    let empty = wire.is_some_and(|wire| wire.dataset_count == 0 && wire.index_len == 0);
    places.extend(empty.then_some(superblock::LEN));
    places.extend(wire.map(|wire| wire.index_offset));
    places.extend(directory.and_then(|it| layout::index_offset(it.records_len)));
    let words = bytes.as_chunks::<8>().0.iter().enumerate();
    let marks = words.filter(|(_, word)| word.starts_with(&index::MAGIC));
    places.extend(marks.map(|(at, _)| 8 * at as u64).take(PLACES_MAX));
    places.push(superblock::LEN);
    let mut seen = Vec::new();
    for place in places {
        let has_room = place == superblock::LEN
            || (layout::RECORDS_OFFSET <= place
                && place.checked_add(HEADER_LEN).is_some_and(|end| end <= source.len()));
        if has_room && !seen.contains(&place) {
            seen.push(place);
        }
    }
    Ok(seen)
}

/// The bytes up to the first row of an index at `place`.
fn head_at(source: &Source, place: u64) -> Result<Vec<u8>> {
    let header_len = if place == superblock::LEN { 0 } else { HEADER_LEN };
    Ok(source.read_vec(0, place.saturating_add(header_len))?)
}

/// What is set to what the rest says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Determine {
    /// Numbers that stand twice.
    Numbers,
    /// These, and what is written as zero.
    NumbersAndZeros,
}

/// The head as the rest of it says it is, with the index at `place`; `None` where the rest
/// disagrees.
fn determined(
    old: &[u8],
    place: u64,
    file_len: u64,
    what: Determine,
    limits: &Limits,
) -> Option<Vec<u8>> {
    let wire = WireSuperblock::decode(old.first_chunk()?);
    let (magic, layout_version) = (superblock::MAGIC, superblock::LAYOUT_VERSION);
    let mut new = old.to_vec();
    if place == superblock::LEN {
        let (dataset_count, index_offset, index_len) = (0, superblock::LEN, 0);
        let wire = WireSuperblock {
            magic,
            layout_version,
            dataset_count,
            index_offset,
            index_len,
            ..wire
        };
        put(&mut new, 0, &wire.encode())?;
        return Some(new);
    }
    let records_len = place.checked_sub(layout::RECORDS_OFFSET)?;
    put(&mut new, superblock::LEN, &WireDirectory { records_len }.encode())?;
    let dataset_count = count_records(&mut new, place, what)?;
    let chunk_count = grids(&new, place, dataset_count, limits)?;
    let header_at = usize::try_from(place).ok()?;
    let header = IndexHeader::decode(old.get(header_at..)?.first_chunk()?);
    let wanted = layout::index_len(chunk_count)?;
    // Two of three witnesses must agree on the number of rows.
    if header.row_count != chunk_count && wire.index_len != wanted {
        return None;
    }
    let mut header = IndexHeader { row_count: chunk_count, ..set_magic(header) };
    if what == Determine::NumbersAndZeros {
        (header.reserved, header.reserved_tail) = (0, 0);
    }
    put(&mut new, place, &header.encode())?;
    let wire = WireSuperblock {
        magic,
        layout_version,
        dataset_count,
        index_offset: place,
        index_len: wanted,
        ..wire
    };
    put(&mut new, 0, &wire.encode())?;
    place.checked_add(wanted).is_some_and(|end| end <= file_len).then_some(new)
}

fn set_magic(header: IndexHeader) -> IndexHeader {
    IndexHeader { magic: index::MAGIC, index_version: index::INDEX_VERSION, ..header }
}

fn put(bytes: &mut [u8], at: u64, new: &[u8]) -> Option<()> {
    let at = usize::try_from(at).ok()?;
    bytes.get_mut(at..at.checked_add(new.len())?)?.copy_from_slice(new);
    Some(())
}

/// How many records fill the directory up to `place`; clears what is written as zero, if asked.
fn count_records(head: &mut [u8], place: u64, what: Determine) -> Option<u32> {
    let mut at = layout::RECORDS_OFFSET;
    let mut count = 0_u32;
    while at < place {
        let start = usize::try_from(at).ok()?;
        let record = WireRecord::decode(head.get(start..)?.first_chunk()?);
        let name_end =
            at.checked_add(WireRecord::LEN as u64)?.checked_add(record.name_len.into())?;
        if what == Determine::NumbersAndZeros {
            put(head, at, &WireRecord { reserved: 0, ..record }.encode())?;
            let padding = layout::name_padding(record.name_len.into());
            put(head, name_end, vec![0; usize::try_from(padding).ok()?].as_slice())?;
        }
        at = at.checked_add(layout::record_len(record.name_len, record.rank))?;
        count = count.checked_add(1)?;
    }
    (at == place && count != 0).then_some(count)
}

/// How many chunks the datasets have together; `None` where the directory cannot be read.
fn grids(head: &[u8], place: u64, count: u32, limits: &Limits) -> Option<u64> {
    let (start, end) = (WireSuperblock::LEN, usize::try_from(place).ok()?);
    let region = head.get(start..end)?;
    let directory = Directory::read(region, superblock::LEN, count, limits).ok()?;
    let counts = directory
        .iter()
        .map(|record: DatasetRecord<'_>| record.grid().map(|grid| grid.chunk_count()));
    counts.into_iter().try_fold(0_u64, |sum, count| sum.checked_add(count?))
}

fn header(head: &[u8], place: u64, index_len: u64) -> Option<IndexHeader> {
    IndexHeader::read(head.get(usize::try_from(place).ok()?..)?, place, index_len).ok()
}

/// One edit for each field that differs.
fn edits(old: &[u8], new: &[u8]) -> Vec<Edit> {
    let place = new.first_chunk().map_or(0, |bytes| WireSuperblock::decode(bytes).index_offset);
    let mut edits = Vec::new();
    let mut at = 0;
    while at < new.len() {
        if old.get(at) == new.get(at) {
            at += 1;
            continue;
        }
        let (region, code, name, span) = field_of(new, place, at as u64);
        let end = usize::try_from(span.end).unwrap_or(at).clamp(at + 1, new.len());
        let start = usize::try_from(span.start).unwrap_or(at).min(at);
        let (old, bytes) = (old.get(start..end).unwrap_or_default(), &new[start..end]);
        let action = bit_between(old, bytes).unwrap_or(match code {
            Code::Note(_) => Action::Clear,
            Code::Rule(_) | Code::Foreign(_) => Action::SetField(name),
        });
        edits.push(put_edit(code, region, start as u64, bytes, action));
        at = end;
    }
    edits
}

/// The only bit in which two stretches differ.
fn bit_between(old: &[u8], new: &[u8]) -> Option<Action> {
    let mut changed = old.iter().zip(new).map(|(a, b)| a ^ b).filter(|&it| it != 0);
    let first = changed.next()?;
    let is_one = first.is_power_of_two() && changed.next().is_none();
    let bit = u8::try_from(first.trailing_zeros()).ok()?;
    is_one.then_some(Action::FlipBit { bit })
}

/// The field of a head that holds a byte, and the rule that it breaks when it is wrong.
fn field_of(
    head: &[u8],
    place: u64,
    at: u64,
) -> (Region, Code, &'static str, std::ops::Range<u64>) {
    let fields = |fields: &[Field], base: u64| {
        let field = field_at(fields, at.saturating_sub(base));
        let field =
            field.unwrap_or(Field { name: "bytes", offset: at.saturating_sub(base), width: 1 });
        let start = base.saturating_add(field.offset);
        (field.name, start..start.saturating_add(field.width))
    };
    let rule = Code::Rule;
    if at < superblock::LEN {
        let (name, span) = fields(WireSuperblock::FIELDS, 0);
        let flags = head.get(12..16).map_or(0, |flags| u32::from(flags[0]));
        let code = match name {
            "magic" => rule(Rule::Magic),
            "layout_version" => rule(Rule::LayoutVersion),
            "dataset_count" => rule(Rule::RecordCount),
            "flags" if flags & FLAG_FOOTER != 0 => rule(Rule::FlagCleared),
            "flags" => Code::Note(NoteCode::UnknownFlags),
            "index_offset" => rule(Rule::IndexOffset),
            _ => rule(Rule::IndexLen),
        };
        return (Region::Superblock, code, name, span);
    }
    if place <= at && place != superblock::LEN {
        let (name, span) = fields(IndexHeader::FIELDS, place);
        let code = match name {
            "magic" => rule(Rule::IndexMagic),
            "index_version" => rule(Rule::IndexVersion),
            "row_count" => rule(Rule::IndexLen),
            "reserved" | "reserved_tail" => Code::Note(NoteCode::IndexReserved),
            _ => rule(Rule::HeadDigest),
        };
        return (Region::Index, code, name, span);
    }
    if at < layout::RECORDS_OFFSET {
        let (name, span) = fields(WireDirectory::FIELDS, superblock::LEN);
        return (Region::Directory, rule(Rule::RecordsLen), name, span);
    }
    record_field(head, place, at)
}

/// The same for a byte in a record.
fn record_field(
    head: &[u8],
    place: u64,
    at: u64,
) -> (Region, Code, &'static str, std::ops::Range<u64>) {
    let mut start = layout::RECORDS_OFFSET;
    while start < place {
        let bytes = usize::try_from(start).ok().and_then(|start| head.get(start..));
        let Some(bytes) = bytes.and_then(<[u8]>::first_chunk) else { break };
        let record = WireRecord::decode(bytes);
        let end = start.saturating_add(layout::record_len(record.name_len, record.rank));
        if at < end {
            let header_end = start.saturating_add(WireRecord::LEN as u64);
            let name_end = header_end.saturating_add(record.name_len.into());
            let padding_end = name_end.saturating_add(layout::name_padding(record.name_len.into()));
            let within = at.saturating_sub(start);
            if let Some(field) = field_at(WireRecord::FIELDS, within) {
                let from = start.saturating_add(field.offset);
                let code = match field.name {
                    "reserved" => Code::Note(NoteCode::RecordReserved),
                    _ => Code::Rule(Rule::HeadDigest),
                };
                let span = from..from.saturating_add(field.width);
                return (Region::Directory, code, field.name, span);
            }
            if name_end <= at && at < padding_end {
                let code = Code::Note(NoteCode::NamePadding);
                return (Region::Directory, code, "name_padding", name_end..padding_end);
            }
            break;
        }
        start = end;
    }
    (Region::Directory, Code::Rule(Rule::HeadDigest), "record", at..at.saturating_add(1))
}
