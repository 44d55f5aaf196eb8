//! Reads the parts of a sparse object, and checks its places before they are used.

use tet_codec::{WINDOW_LOG_MAX, ZstdScan};
use tet_format::ForeignRule;
use tet_sparse::{Places, Sparse};

use super::container::Version;
use super::file::ObjectFile;
use super::object::{ManifestObject, ObjectLayout};
use super::part::{ObjectPart, PartEncoding};
use super::rule;
use crate::error::{Error, Fault, Result};

impl ObjectFile {
    /// The decoded length of all parts of an object, where each is known.
    #[must_use]
    pub fn parts_len(&self, object: &ManifestObject) -> Option<u64> {
        object.parts.iter().try_fold(0_u64, |sum, part| sum.checked_add(part.decoded_len?))
    }

    /// Reads the decoded bytes of a part, at most `len_max` of them.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Limit`] for a longer part, [`Error::Tensor`] with the rule that its blob breaks, and
    /// [`Error::Io`] when its file cannot be read.
    pub fn read_part(
        &self,
        object: &ManifestObject,
        part: &ObjectPart,
        len_max: u64,
    ) -> Result<Vec<u8>> {
        let broken = |rule, found, wanted| broken(object, part, rule, found, wanted);
        let source = self.source_of(part).ok_or(broken(&rule::SHARD_MISSING, 0, 0))?;
        let wanted = part.decoded_len.unwrap_or(len_max);
        if len_max < wanted {
            let (what, limit) = ("bytes of a part in memory", len_max);
            return Err(Error::Limit { what, wanted, limit });
        }
        match part.encoding {
            PartEncoding::Raw => Ok(source.read_vec(part.stored.start(), part.stored.len())?),
            PartEncoding::Zstd => {
                let codec = |fault: tet_codec::Error| broken(zstd_rule(&fault), 0, wanted);
                let mut scan = ZstdScan::new().map_err(codec)?;
                scan.begin(wanted, WINDOW_LOG_MAX).map_err(codec)?;
                let (mut out, mut window, mut fault) = (Vec::new(), Vec::new(), None);
                // Output is buffered as it comes: a wrong length allocates nothing.
                source.for_windows(part.stored.range(), &mut window, |_, bytes| {
                    fault = scan.update_with(bytes, |decoded| out.extend_from_slice(decoded)).err();
                    Ok::<bool, Error>(fault.is_none())
                })?;
                let ended = fault.map_or(Ok(()), Err);
                let ended =
                    ended.and_then(|()| scan.finish_with(|decoded| out.extend_from_slice(decoded)));
                ended.map_err(codec)?;
                let found = u64::try_from(out.len()).unwrap_or(u64::MAX);
                match part.decoded_len {
                    Some(wanted) if found != wanted => Err(broken(&rule::ZSTD_LEN, found, wanted)),
                    _ => Ok(out),
                }
            }
            PartEncoding::Unknown => Err(broken(&rule::UNSUPPORTED, 0, 0)),
        }
    }

    /// Reads the stored elements of a sound sparse object, at most `len_max` bytes of each part, and checks
    /// their places.
    ///
    /// # Errors
    ///
    /// As [`ObjectFile::read_part`].
    pub fn read_sparse(&self, object: &ManifestObject, len_max: u64) -> Result<Sparse> {
        let read = |name: &str| {
            let part = object.part(name).ok_or_else(|| no_part(object))?;
            Ok::<_, Error>((part, self.read_part(object, part, len_max)?))
        };
        let (values_part, values) = read("values")?;
        let element = values_part.element.filter(|element| element.bits.is_multiple_of(8));
        let element_size = element.ok_or_else(|| no_part(object))?.bits / 8;
        let places = match object.layout {
            ObjectLayout::Csr => {
                let [indptr, indices] = ["indptr", "indices"].map(read);
                let ((indptr_part, indptr), (indices_part, indices)) = (indptr?, indices?);
                let indptr = numbers(indptr_part, &indptr);
                Places::Csr { indptr, indices: numbers(indices_part, &indices) }
            }
            _ => {
                let (part, coords) = read("coords")?;
                Places::Coo { coords: by_element(&numbers(part, &coords), object.shape.len()) }
            }
        };
        let sparse = Sparse { shape: object.shape.clone(), element_size, places, values };
        self.check_sparse(object, &sparse)?;
        Ok(sparse)
    }

    /// Checks the places of a sparse object.
    fn check_sparse(&self, object: &ManifestObject, sparse: &Sparse) -> Result<()> {
        let Some(values) = object.part("values") else { return Err(no_part(object)) };
        let count = sparse.value_count();
        if count.checked_mul(sparse.element_size) != u64::try_from(sparse.values.len()).ok() {
            let found = u64::try_from(sparse.values.len()).unwrap_or(u64::MAX);
            return Err(broken(object, values, &rule::PART_LEN, found, 0));
        }
        // Version 1 does not forbid rows in another order, and places that are stated twice.
        let is_strict = self.version() == Version::Two;
        match &sparse.places {
            Places::Csr { indptr, indices } => {
                check_csr(object, indptr, indices, count, is_strict.then_some(()))
            }
            Places::Coo { coords } => {
                let Some(part) = object.part("coords") else { return Err(no_part(object)) };
                let fault = |rule, found, wanted| Err(broken(object, part, rule, found, wanted));
                let rank = object.shape.len().max(1);
                let found = u64::try_from(coords.len() / rank).unwrap_or(u64::MAX);
                if found != count || !coords.len().is_multiple_of(rank) {
                    return fault(&rule::PART_LEN, found, count);
                }
                let mut axes = coords.iter().zip(object.shape.iter().cycle());
                if let Some((found, wanted)) = axes.find(|(coord, extent)| extent <= coord) {
                    return fault(&rule::RANGE, *found, *wanted);
                }
                match sparse.first_twin().filter(|_| is_strict) {
                    Some(twin) => fault(&rule::COORD_TWICE, twin, 0),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Checks rows: their starts, and the columns in each, which increase where order is `strict`.
fn check_csr(
    object: &ManifestObject,
    indptr: &[u64],
    indices: &[u64],
    count: u64,
    strict: Option<()>,
) -> Result<()> {
    let (Some(starts), Some(columns)) = (object.part("indptr"), object.part("indices")) else {
        return Err(no_part(object));
    };
    let [rows, extent] = [0, 1].map(|axis| object.shape.get(axis).copied().unwrap_or(0));
    let lens = [indptr.len(), indices.len()].map(|len| u64::try_from(len).unwrap_or(u64::MAX));
    if lens != [rows.saturating_add(1), count] {
        return Err(broken(object, columns, &rule::PART_LEN, lens[1], count));
    }
    let indptr_fault = |found, wanted| Err(broken(object, starts, &rule::INDPTR, found, wanted));
    match (indptr.first(), indptr.last()) {
        (Some(0), Some(last)) if *last == count => {}
        (Some(0), last) => return indptr_fault(last.copied().unwrap_or(0), count),
        (first, _) => return indptr_fault(first.copied().unwrap_or(u64::MAX), 0),
    }
    if let Some(pair) = indptr.windows(2).find(|pair| pair[1] < pair[0]) {
        return indptr_fault(pair[1], pair[0]);
    }
    if let Some(found) = indices.iter().find(|column| extent <= **column) {
        return Err(broken(object, columns, &rule::RANGE, *found, extent));
    }
    for bounds in indptr.windows(2).filter(|_| strict.is_some()) {
        let bounds = bounds.iter().map(|at| usize::try_from(*at).unwrap_or(usize::MAX));
        let (start, end) = (bounds.clone().min().unwrap_or(0), bounds.max().unwrap_or(0));
        let row = indices.get(start..end).unwrap_or_default();
        if let Some(pair) = row.windows(2).find(|pair| pair[1] <= pair[0]) {
            return Err(broken(object, columns, &rule::ROW_ORDER, pair[1], pair[0]));
        }
    }
    Ok(())
}

/// The numbers of a part of positions; a negative one, which only version 1 can have, is in no shape.
fn numbers(part: &ObjectPart, bytes: &[u8]) -> Vec<u64> {
    let is_signed = part.element.is_some_and(|it| it.name.starts_with("int"));
    let wide = |number: u64, bits: u32| {
        let is_negative = is_signed && number >> (bits - 1) & 1 == 1;
        if is_negative { u64::MAX } else { number }
    };
    match part.storage_len {
        1 => bytes.iter().map(|byte| wide(u64::from(*byte), 8)).collect(),
        2 => {
            bytes.as_chunks().0.iter().map(|it| wide(u16::from_le_bytes(*it).into(), 16)).collect()
        }
        4 => {
            bytes.as_chunks().0.iter().map(|it| wide(u32::from_le_bytes(*it).into(), 32)).collect()
        }
        _ => bytes.as_chunks().0.iter().map(|it| wide(u64::from_le_bytes(*it), 64)).collect(),
    }
}

/// Coordinates, stored axis after axis, in the order of the elements.
fn by_element(coords: &[u64], rank: usize) -> Vec<u64> {
    let count = coords.len().checked_div(rank).unwrap_or(0);
    let mut ordered = Vec::with_capacity(coords.len());
    for element in 0..count {
        ordered.extend(coords.iter().skip(element).step_by(count.max(1)).take(rank));
    }
    ordered
}

pub(super) fn broken(
    object: &ManifestObject,
    part: &ObjectPart,
    rule: &'static ForeignRule,
    found: u64,
    wanted: u64,
) -> Error {
    let fault = Fault { rule, at: part.stored.start(), found, wanted };
    Error::Tensor { name: object.name.clone(), fault }
}

fn no_part(object: &ManifestObject) -> Error {
    Error::Tensor { name: object.name.clone(), fault: object.broken(&rule::PARTS_FIT, 0, 0) }
}

/// The rule that a zstd blob breaks, for an error of its decoder.
pub(super) const fn zstd_rule(fault: &tet_codec::Error) -> &'static ForeignRule {
    match fault {
        tet_codec::Error::Lengths { .. } => &rule::ZSTD_BOUND,
        tet_codec::Error::TooLong { .. } | tet_codec::Error::TooShort { .. } => &rule::ZSTD_LEN,
        _ => &rule::ZSTD_FRAMES,
    }
}
