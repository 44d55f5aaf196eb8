//! Checks the arrays of a sparse tensor before they are used.

use tet_sparse::Places;

use crate::error::Fault;
use crate::rule;
use crate::stored::Sound;

/// The length in bytes of a position number.
const WORD: u64 = 8;

/// Checks that a blob of `found` decoded bytes can match the shape, before it is decoded.
pub(crate) fn blob_len(sound: &Sound<'_>, found: u64) -> Result<(), Fault> {
    let each = record_len(sound);
    let head_len = if sound.layout.is_csr() { indptr_len(sound) } else { 0 };
    match found.checked_sub(head_len) {
        Some(rest) if rest.is_multiple_of(each) => Ok(()),
        Some(rest) => Err(len_fault(sound, found, found - rest % each)),
        None => Err(len_fault(sound, found, head_len)),
    }
}

/// Checks that a blob of `found` bytes has exactly `count` values after `indptr`.
pub(crate) fn csr_len(sound: &Sound<'_>, found: u64, count: u64) -> Result<(), Fault> {
    let wanted = count.checked_mul(record_len(sound));
    let wanted = wanted.and_then(|len| len.checked_add(indptr_len(sound))).unwrap_or(u64::MAX);
    if found == wanted { Ok(()) } else { Err(len_fault(sound, found, wanted)) }
}

/// The length of `indptr` in bytes.
fn indptr_len(sound: &Sound<'_>) -> u64 {
    let rows = sound.tensor.shape().first().copied().unwrap_or(0);
    let len = rows.checked_add(1).and_then(|count| count.checked_mul(WORD));
    len.unwrap_or(u64::MAX)
}

/// The length in bytes of one value and its position.
fn record_len(sound: &Sound<'_>) -> u64 {
    let words = if sound.layout.is_csr() { 1 } else { sound.tensor.shape().len() as u64 };
    words.saturating_mul(WORD).saturating_add(sound.element_size)
}

/// Splits the blob of a csr tensor.
pub(super) fn csr(sound: &Sound<'_>, bytes: &[u8]) -> Result<(Places, Vec<u8>), Fault> {
    let (found, wanted) = (bytes.len() as u64, indptr_len(sound));
    let (indptr, rest) = split(bytes, wanted).ok_or(len_fault(sound, found, wanted))?;
    let indptr = words(indptr);
    check_indptr(sound, &indptr)?;
    let count = indptr.last().copied().unwrap_or(0);
    csr_len(sound, found, count)?;
    let (indices, values) = split(rest, count * WORD).ok_or(len_fault(sound, found, wanted))?;
    Ok((Places::Csr { indptr, indices: words(indices) }, values.to_vec()))
}

/// Splits the blob of a coo tensor.
pub(super) fn coo(sound: &Sound<'_>, bytes: &[u8]) -> Result<(Places, Vec<u8>), Fault> {
    let record_len = record_len(sound);
    let coords_len = record_len.saturating_sub(sound.element_size);
    let (mut coords, mut values) = (Vec::new(), Vec::new());
    // A record is at most as long as the blob.
    for record in bytes.chunks_exact(usize::try_from(record_len).unwrap_or(usize::MAX)) {
        let (place, value) = split(record, coords_len).unwrap_or_default();
        coords.extend(place.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)));
        values.extend_from_slice(value);
    }
    Ok((Places::Coo { coords }, values))
}

/// Checks that positions in the entry match the shape and the values.
pub(super) fn inline_lens(sound: &Sound<'_>, places: &Places, len: u64) -> Result<(), Fault> {
    let shape = sound.tensor.shape();
    let count = match places {
        Places::Csr { indptr, indices } => {
            let rows = shape.first().copied().unwrap_or(0);
            let wanted = rows.saturating_add(1);
            if indptr.len() as u64 != wanted {
                return Err(len_fault(sound, indptr.len() as u64, wanted));
            }
            check_indptr(sound, indptr)?;
            let count = indptr.last().copied().unwrap_or(0);
            if indices.len() as u64 != count {
                return Err(len_fault(sound, indices.len() as u64, count));
            }
            count
        }
        Places::Coo { coords } => {
            let (found, rank) = (coords.len() as u64, shape.len() as u64);
            let count = found.checked_div(rank).unwrap_or(0);
            if found != count.saturating_mul(rank) {
                return Err(len_fault(sound, found, count.saturating_mul(rank)));
            }
            count
        }
    };
    let wanted = count.saturating_mul(sound.element_size);
    if len == wanted { Ok(()) } else { Err(len_fault(sound, len, wanted)) }
}

fn check_indptr(sound: &Sound<'_>, indptr: &[u64]) -> Result<(), Fault> {
    let fault = |found: u64, wanted: u64| {
        let (rule, at) = (&rule::SPARSE_INDPTR, sound.stored.start());
        Fault { rule, at, found, wanted }
    };
    match indptr.first() {
        Some(0) => {}
        first => return Err(fault(first.copied().unwrap_or(u64::MAX), 0)),
    }
    match indptr.windows(2).find(|pair| pair[1] < pair[0]) {
        Some(pair) => Err(fault(pair[1], pair[0])),
        None => Ok(()),
    }
}

/// Checks that every position is within the shape.
pub(super) fn places(sound: &Sound<'_>, places: &Places) -> Result<(), Fault> {
    let shape = sound.tensor.shape();
    let outside = match places {
        Places::Csr { indices, .. } => {
            let columns = shape.get(1).copied().unwrap_or(0);
            indices.iter().find(|column| columns <= **column).map(|column| (*column, columns))
        }
        Places::Coo { coords } => {
            let mut axes = coords.iter().zip(shape.iter().cycle());
            axes.find(|(coord, extent)| *extent <= *coord).map(|(a, b)| (*a, *b))
        }
    };
    match outside {
        Some((found, wanted)) => {
            let (rule, at) = (&rule::SPARSE_RANGE, sound.stored.start());
            Err(Fault { rule, at, found, wanted })
        }
        None => Ok(()),
    }
}

fn len_fault(sound: &Sound<'_>, found: u64, wanted: u64) -> Fault {
    Fault { rule: &rule::SPARSE_LEN, at: sound.stored.start(), found, wanted }
}

fn split(bytes: &[u8], at: u64) -> Option<(&[u8], &[u8])> {
    bytes.split_at_checked(usize::try_from(at).ok()?)
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}
