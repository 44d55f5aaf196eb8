//! Checks a sound entry against its container: where its blobs are, and whether its parts fit its layout.

use tet_codec::{Decode, Zstd};

use super::container::Version;
use super::object::{ManifestObject, ObjectLayout};
use super::part::{ObjectPart, PartEncoding};
use super::rule;
use crate::error::Fault;

/// Checks the place of every part; `data_end` gives the end of the blobs of a file, by its shard.
pub(super) fn places(
    version: Version,
    object: &ManifestObject,
    data_end: &dyn Fn(Option<usize>) -> u64,
) -> Result<(), Fault> {
    for part in &object.parts {
        let (start, end, align) = (part.stored.start(), part.stored.end(), version.align());
        if start < align || !start.is_multiple_of(align) {
            let wanted = (start / align).max(1).saturating_mul(align);
            return Err(object.broken(&rule::BLOB_ALIGNED, start, wanted));
        }
        let data_end = data_end(part.shard);
        if data_end < end {
            return Err(object.broken(&rule::BLOB_BOUNDS, end, data_end));
        }
    }
    Ok(())
}

/// Checks the parts of a layout that is known, and completes the lengths that version 1 leaves out.
pub(super) fn layout(version: Version, object: &mut ManifestObject) -> Result<(), Fault> {
    match object.layout {
        ObjectLayout::Dense => dense(object)?,
        ObjectLayout::Csr => csr(version, object)?,
        ObjectLayout::Coo => coo(version, object)?,
        ObjectLayout::Unknown => {}
    }
    for part in object.parts.iter().filter(|part| part.encoding == PartEncoding::Zstd) {
        let (stored_len, decoded_len) = (part.stored.len(), part.decoded_len.unwrap_or(0));
        if Zstd.check_len(stored_len, decoded_len).is_err() {
            let (rule, at) = (&rule::ZSTD_BOUND, part.stored.start());
            return Err(Fault { rule, at, found: stored_len, wanted: decoded_len });
        }
    }
    Ok(())
}

fn dense(object: &mut ManifestObject) -> Result<(), Fault> {
    let count = object.element_count().unwrap_or(u64::MAX);
    let shape_fault = object.broken(&rule::SHAPE, 0, 0);
    let parts_fault = object.broken(&rule::PARTS_FIT, 0, 0);
    let [part] = object.parts.as_mut_slice() else { return Err(parts_fault) };
    if part.name != "data" {
        return Err(parts_fault);
    }
    let Some(element) = part.element else { return Ok(()) };
    let wanted = element.byte_len(count).ok_or(shape_fault)?;
    let found = *part.decoded_len.get_or_insert(wanted);
    if found == wanted {
        return Ok(());
    }
    Err(object.broken(&rule::PART_LEN, found, wanted))
}

fn csr(version: Version, object: &ManifestObject) -> Result<(), Fault> {
    let parts_fault = object.broken(&rule::PARTS_FIT, 0, 0);
    let parts = ["values", "indices", "indptr"].map(|name| object.part(name));
    let ([Some(values), Some(indices), Some(indptr)], [rows, _], 3) =
        (parts, object.shape.as_slice(), object.parts.len())
    else {
        return Err(parts_fault);
    };
    let is_same = indices.element == indptr.element || version == Version::One;
    if !is_position(version, indices) || !is_position(version, indptr) || !is_same {
        return Err(parts_fault);
    }
    let wanted = rows.checked_add(1).and_then(|count| count.checked_mul(indptr.storage_len));
    check_len(object, indptr, wanted)?;
    check_values(object, values, indices, 1)
}

fn coo(version: Version, object: &ManifestObject) -> Result<(), Fault> {
    let parts_fault = object.broken(&rule::PARTS_FIT, 0, 0);
    let rank = u64::try_from(object.shape.len()).unwrap_or(u64::MAX);
    let parts = ["values", "coords"].map(|name| object.part(name));
    let ([Some(values), Some(coords)], 1.., 2) = (parts, rank, object.parts.len()) else {
        return Err(parts_fault);
    };
    if !is_position(version, coords) {
        return Err(parts_fault);
    }
    check_values(object, values, coords, rank)
}

/// Whether the numbers of a part can be positions. Version 1 does not say which types they have.
fn is_position(version: Version, part: &ObjectPart) -> bool {
    let name = part.element.filter(|it| it.is_plain).map(|it| it.name);
    let is_other = matches!(name, Some("uint16" | "uint8" | "int64" | "int32"));
    part.is_position() || version == Version::One && is_other
}

/// Checks that there are as many values as there are places of `each` numbers.
fn check_values(
    object: &ManifestObject,
    values: &ObjectPart,
    places: &ObjectPart,
    each: u64,
) -> Result<(), Fault> {
    let Some(len) = places.decoded_len else { return Ok(()) };
    let record = places.storage_len.checked_mul(each).filter(|record| *record != 0);
    let count = record.and_then(|record| len.checked_div(record)).unwrap_or(0);
    let wanted = record.and_then(|record| record.checked_mul(count));
    check_len(object, places, wanted)?;
    match values.element {
        Some(element) => check_len(object, values, element.byte_len(count)),
        None => Ok(()),
    }
}

/// Checks the decoded length of a part, if it is known.
fn check_len(object: &ManifestObject, part: &ObjectPart, wanted: Option<u64>) -> Result<(), Fault> {
    let wanted = wanted.unwrap_or(u64::MAX);
    match part.decoded_len {
        Some(found) if found != wanted => Err(object.broken(&rule::PART_LEN, found, wanted)),
        _ => Ok(()),
    }
}
