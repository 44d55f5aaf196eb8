//! Repairs superblock, directory and index header, which contain much information twice.
//!
//! ```text
//!   index_offset  = 40 + records_len          = the offset of `TIDX`
//!   dataset_count = how many records fill the directory
//!   index_len     = 32 + 104 * row_count      = 32 + 104 * the chunks of all grids
//! ```
//!
//! A digest proves any candidate. Without a digest, a field is set only if the two other values
//! agree.

use tet_file::integrity::IntegrityKey;
use tet_format::directory::{DatasetRecord, Directory, WireDirectory, WireRecord};
use tet_format::index::{self, HEADER_LEN, IndexHeader};
use tet_format::map::{ByteField, Map};
use tet_format::superblock::{self, FLAG_FOOTER, WireSuperblock};
use tet_format::{Digest, Limits, NoteCode, Region, Rule, Superblock, layout};
use tet_io::Source;
use tet_report::{Code, Proof};

use super::context::RepairContext;
use super::edit::{Action, Edit, put_edit};
use crate::error::Result;

/// How far a directory is searched for.
const SCANNED_LEN_MAX: u64 = 16 << 20;
/// The most index offsets that are tried.
const PLACES_MAX: usize = 16;
/// Without a digest at most this number of fields is set, not counting a lost superblock.
const FIELDS_MAX: usize = 2;

/// Repairs the head. Returns whether it can be read then.
pub(super) fn repair(context: &mut RepairContext<'_>, key: Option<&IntegrityKey>) -> Result<bool> {
    let source = context.source();
    if source.len() < superblock::LEN {
        return Ok(false);
    }
    let repaired = match key {
        Some(key) => by_digest(context, &source, key.head)?,
        None => by_the_rest(context, &source)?,
    };
    if let Some((old, new, proof)) = repaired {
        for edit in edits(&old, &new, source.len()) {
            context.apply(edit.proof(proof))?;
        }
    }
    is_readable(&context.source(), context.limits())
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

/// The head before and after, and the proof of the repair.
type Repaired = Option<(Vec<u8>, Vec<u8>, Proof)>;

fn by_digest(context: &RepairContext<'_>, source: &Source, wanted: Digest) -> Result<Repaired> {
    let holds = |head: &[u8]| tet_codec::digest(head) == wanted;
    for place in places(source)? {
        let old = head_at(source, place)?;
        if holds(&old) {
            return Ok(None);
        }
        let mut candidates = vec![old.clone()];
        candidates.extend(determined(&old, place, source.len(), context.limits()));
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
    // Nothing is proven, but the file may still be readable.
    by_the_rest(context, source)
}

fn by_the_rest(context: &RepairContext<'_>, source: &Source) -> Result<Repaired> {
    for place in places(source)? {
        let old = head_at(source, place)?;
        let Some(new) = determined(&old, place, source.len(), context.limits()) else {
            continue;
        };
        if new == old {
            return Ok(None);
        }
        let numbers = edits(&old, &new, source.len());
        let numbers = numbers.iter().filter(|edit| matches!(edit.code, Code::Rule(_)));
        let outside = numbers.clone().any(|edit| edit.region != Region::Superblock.name());
        if numbers.count() <= FIELDS_MAX || (!outside && place != superblock::LEN) {
            return Ok(Some((old, new, Proof::Rest)));
        }
    }
    Ok(None)
}

/// The possible offsets of the index: from the superblock, the end of the directory, or `TIDX`; 32
/// in a file without datasets.
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

/// The head with its fields computed from each other, for an index at `place`; `None` if they
/// disagree.
fn determined(old: &[u8], place: u64, file_len: u64, limits: &Limits) -> Option<Vec<u8>> {
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
    let dataset_count = count_records(&mut new, place)?;
    let chunk_count = grids(&new, place, dataset_count, limits)?;
    let header_at = usize::try_from(place).ok()?;
    let header = IndexHeader::decode(old.get(header_at..)?.first_chunk()?);
    let wanted = layout::index_len(chunk_count)?;
    // Two of three values must agree on the number of rows.
    if header.row_count != chunk_count && wire.index_len != wanted {
        return None;
    }
    let header = IndexHeader {
        magic: index::MAGIC,
        index_version: index::INDEX_VERSION,
        row_count: chunk_count,
        reserved: 0,
        reserved_tail: 0,
        ..header
    };
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

fn put(bytes: &mut [u8], at: u64, new: &[u8]) -> Option<()> {
    let at = usize::try_from(at).ok()?;
    bytes.get_mut(at..at.checked_add(new.len())?)?.copy_from_slice(new);
    Some(())
}

/// The number of records in the directory up to `place`; clears reserved bytes.
fn count_records(head: &mut [u8], place: u64) -> Option<u32> {
    let mut at = layout::RECORDS_OFFSET;
    let mut count = 0_u32;
    while at < place {
        let start = usize::try_from(at).ok()?;
        let record = WireRecord::decode(head.get(start..)?.first_chunk()?);
        let name_end =
            at.checked_add(WireRecord::LEN as u64)?.checked_add(record.name_len.into())?;
        put(head, at, &WireRecord { reserved: 0, ..record }.encode())?;
        let padding = layout::name_padding(record.name_len.into());
        put(head, name_end, vec![0; usize::try_from(padding).ok()?].as_slice())?;
        at = at.checked_add(layout::record_len(record.name_len, record.rank))?;
        count = count.checked_add(1)?;
    }
    (at == place && count != 0).then_some(count)
}

/// The number of chunks of all datasets; `None` if the directory cannot be read.
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
fn edits(old: &[u8], new: &[u8], file_len: u64) -> Vec<Edit> {
    let map = Map::new(new, &[], file_len);
    let mut edits = Vec::new();
    let mut at = 0;
    while at < new.len() {
        let place = map.locate(at as u64).filter(|_| old.get(at) != new.get(at));
        let Some(place) = place else {
            at += 1;
            continue;
        };
        let end = usize::try_from(place.end()).unwrap_or(at).clamp(at + 1, new.len());
        let start = usize::try_from(place.offset).unwrap_or(at).min(at);
        let (old, bytes) = (old.get(start..end).unwrap_or_default(), &new[start..end]);
        let code = code_of(&place, new);
        let action = bit_between(old, bytes).unwrap_or(match code {
            Code::Note(_) => Action::Clear,
            Code::Rule(_) | Code::Foreign(_) => Action::SetField(place.field),
        });
        edits.push(put_edit(code, place.region, start as u64, bytes, action));
        at = end;
    }
    edits
}

/// The single bit in which two slices differ.
fn bit_between(old: &[u8], new: &[u8]) -> Option<Action> {
    let mut changed = old.iter().zip(new).map(|(a, b)| a ^ b).filter(|&it| it != 0);
    let first = changed.next()?;
    let is_one = first.is_power_of_two() && changed.next().is_none();
    let bit = u8::try_from(first.trailing_zeros()).ok()?;
    is_one.then_some(Action::FlipBit { bit })
}

/// The rule that a wrong field of a head breaks.
fn code_of(place: &ByteField, head: &[u8]) -> Code {
    let has_footer = head.get(12).is_some_and(|flags| u32::from(*flags) & FLAG_FOOTER != 0);
    match (place.region, place.field) {
        (Region::Superblock, "magic") => Code::Rule(Rule::Magic),
        (Region::Superblock, "layout_version") => Code::Rule(Rule::LayoutVersion),
        (Region::Superblock, "dataset_count") => Code::Rule(Rule::RecordCount),
        (Region::Superblock, "flags") if has_footer => Code::Rule(Rule::FlagCleared),
        (Region::Superblock, "flags") => Code::Note(NoteCode::UnknownFlags),
        (Region::Superblock, "index_offset") => Code::Rule(Rule::IndexOffset),
        (Region::Superblock, _) => Code::Rule(Rule::IndexLen),
        (Region::Directory, "records_len") => Code::Rule(Rule::RecordsLen),
        (Region::Directory, "reserved") => Code::Note(NoteCode::RecordReserved),
        (Region::Directory, "name_padding") => Code::Note(NoteCode::NamePadding),
        (Region::Index, "magic") => Code::Rule(Rule::IndexMagic),
        (Region::Index, "index_version") => Code::Rule(Rule::IndexVersion),
        (Region::Index, "row_count") => Code::Rule(Rule::IndexLen),
        (Region::Index, "reserved" | "reserved_tail") => Code::Note(NoteCode::IndexReserved),
        _ => Code::Rule(Rule::HeadDigest),
    }
}
