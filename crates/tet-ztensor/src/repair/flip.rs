//! Finds a single flipped bit in the index or in a blob, if the rest of the file proves it.
//!
//! ```text
//!   index that cannot be read   every bit of it, or those around the fault
//!   entry that breaks a rule    every bit of the entry
//!   blob that does not match    the bit found from its CRC-32C; else every bit of the entry
//! ```
//!
//! A candidate counts if the entry then breaks no rule and its blob matches its checksum. Several
//! such candidates prove nothing.

use std::cmp::Reverse;
use std::ops::Range;

use tet_codec::{Crc32c, flipped_bit};
use tet_format::{Severity, Span};
use tet_report::{Finding, Level, Proof};

use super::context::{RepairContext, position_of};
use crate::check::{VerifyOptions, verify};
use crate::checksum::{Checksum, Comparison};
use crate::error::{Error, Result};
use crate::index::Index;
use crate::tensor::Tensor;

/// In a longer index, only bits near its fault are tried:
const INDEX_LEN_MAX: usize = 4 << 10;
/// this number of bytes before it,
const BEFORE_LEN: usize = 512;
/// and after it.
const BEHIND_LEN: usize = 64;
/// The longest blob in which a flipped bit is corrected: in longer ones, too many wrong bits match
/// a 32-bit checksum by chance.
const BLOB_LEN_MAX: u64 = 64 << 10;
/// The cost of parsing a byte of an index, relative to comparing one.
const READ_COST: u64 = 4;
/// With more candidates than this, nothing is proved.
const CANDIDATES_MAX: usize = 256;

/// A bit to flip back.
#[derive(Debug)]
pub(super) struct Flip {
    /// The offset of its byte.
    pub(super) at: u64,
    /// Its number in the byte, from the lowest.
    pub(super) bit: u8,
    /// The byte after the flip.
    pub(super) byte: u8,
    pub(super) proof: Proof,
    /// The index after the flip, if the bit is in the index.
    pub(super) index: Option<Index>,
}

/// The flipped bit that makes the index unreadable.
pub(super) fn of_index(
    context: &mut RepairContext<'_>,
    span: Span,
    fault_at: u64,
) -> Result<Option<Flip>> {
    let bytes = context.source.read_vec(span.start(), span.len())?;
    let fault = fault_at.saturating_sub(span.start());
    let fault = usize::try_from(fault).unwrap_or(usize::MAX).min(bytes.len());
    let within = if bytes.len() <= INDEX_LEN_MAX {
        0..bytes.len()
    } else {
        fault.saturating_sub(BEFORE_LEN)..fault.saturating_add(BEHIND_LEN).min(bytes.len())
    };
    search(context, &bytes, span.start(), within, &|index, at| {
        if index.tensors().any(|tensor| tensor.fault().is_some()) || index.is_empty() {
            return None;
        }
        Some(tensor_at(index, at).map(|tensor| tensor.position()))
    })
}

/// The flipped bit that makes a tensor unreadable, in its entry or its blob.
pub(super) fn of_tensor(
    context: &mut RepairContext<'_>,
    index: &Index,
    position: usize,
) -> Result<Option<Flip>> {
    let Some(tensor) = index.tensor(position) else { return Ok(None) };
    if let Some(flip) = of_blob(context, &tensor)? {
        return Ok(Some(flip));
    }
    let start = index.span().map_or(0, Span::start);
    let at = usize::try_from(tensor.entry_at().saturating_sub(start)).unwrap_or(usize::MAX);
    let within = at..at.saturating_add(tensor.entry_bytes().len());
    let faulty = |index: &Index| index.tensors().filter(|it| it.fault().is_some()).count();
    let (before, is_faulty) = (faulty(index), tensor.fault().is_some());
    let (stored, checksum) = (tensor.stored(), tensor.checksum());
    let found = search(context, index.bytes(), start, within, &|candidate, _| {
        let tensor = candidate.tensor(position).filter(|it| it.fault().is_none())?;
        let is_same = (tensor.stored(), tensor.checksum()) == (stored, checksum);
        let is_better = faulty(candidate) < before || !is_faulty && !is_same;
        (candidate.len() == index.len() && is_better).then_some(Some(position))
    })?;
    // For an entry without a fault, only a checksum can prove the bit.
    Ok(found.filter(|flip| is_faulty || flip.proof == Proof::Digest))
}

/// Whether an index with a flipped bit may be the right one, and which tensor proves it.
type Judge<'j> = &'j dyn Fn(&Index, usize) -> Option<Option<usize>>;

/// The only bit in a span of the index that makes it valid.
fn search(
    context: &mut RepairContext<'_>,
    bytes: &[u8],
    start: u64,
    within: Range<usize>,
    judge: Judge<'_>,
) -> Result<Option<Flip>> {
    let (mut patched, mut found) = (bytes.to_vec(), Vec::new());
    let mut seen: Vec<(Span, Checksum)> = Vec::new();
    for at in within {
        for bit in 0..8_u8 {
            let Some(byte) = patched.get_mut(at) else { break };
            *byte ^= 1 << bit;
            let new = *byte;
            // A parsed entry takes many times its length in the file.
            let index = match context.spend(bytes.len() as u64 * READ_COST) {
                Some(()) => Index::read(patched.clone(), start, context.limits).ok(),
                None => return Ok(None),
            };
            patched.get_mut(at).into_iter().for_each(|byte| *byte ^= 1 << bit);
            let Some(index) = index else { continue };
            let Some(position) = judge(&index, at) else { continue };
            let tensor = position.and_then(|position| index.tensor(position));
            let matched = match tensor {
                Some(tensor) => matches(context, &tensor, &mut seen)?,
                None => None,
            };
            if matched == Some(false) {
                continue;
            }
            let proof = if matched.is_some() { Proof::Digest } else { Proof::Rest };
            let at = start.saturating_add(at as u64);
            found.push((Flip { at, bit, byte: new, proof, index: Some(index) }, position));
            if CANDIDATES_MAX < found.len() {
                return Ok(None);
            }
        }
    }
    only(context, found)
}

/// The best candidate: proved by a checksum, and with the fewest findings.
fn only(context: &RepairContext<'_>, found: Vec<(Flip, Option<usize>)>) -> Result<Option<Flip>> {
    let mut ranked = Vec::new();
    for (flip, position) in found {
        let image = context.with(flip.at, flip.byte);
        let options = VerifyOptions {
            level: Level::Structure,
            limits: *context.limits,
            threads: 1,
            ..VerifyOptions::default()
        };
        let report = verify(&image, &options)?;
        // An odd name, for example, is probably not the original.
        let is_odd = |it: &Finding| it.severity != Severity::Note && position_of(it) == position;
        if position.is_some() && report.findings.iter().any(is_odd) {
            continue;
        }
        // Unknown keys are custom fields, or damaged keys of the format.
        let tensors = flip.index.iter().flat_map(Index::tensors);
        let known_count: u32 = tensors.map(|it| it.entry().known_count()).sum();
        let (errors, notes) = (report.count(Severity::Error), report.findings.len());
        let rank = (flip.proof, errors, notes, Reverse(known_count));
        ranked.push((rank, flip));
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    let is_tied = matches!(ranked.as_slice(), [(first, _), (second, _), ..] if first == second);
    Ok(ranked.into_iter().next().map(|(_, flip)| flip).filter(|_| !is_tied))
}

/// The tensor whose entry contains a byte of the index.
fn tensor_at(index: &Index, at: usize) -> Option<Tensor<'_>> {
    let place = index.span()?.start().saturating_add(at as u64);
    index.tensors().find(|tensor| {
        let entry_at = tensor.entry_at();
        (entry_at..entry_at.saturating_add(tensor.entry_bytes().len() as u64)).contains(&place)
    })
}

/// Whether a blob matches its checksum; `None` if unknown.
fn matches(
    context: &mut RepairContext<'_>,
    tensor: &Tensor<'_>,
    seen: &mut Vec<(Span, Checksum)>,
) -> Result<Option<bool>> {
    let checksum = tensor.checksum().filter(|checksum| checksum.is_known());
    let Some((wanted, stored)) = checksum.zip(tensor.stored()) else { return Ok(None) };
    let is_kind = |it: &Checksum| std::mem::discriminant(it) == std::mem::discriminant(&wanted);
    if let Some((_, found)) = seen.iter().find(|(span, it)| *span == stored && is_kind(it)) {
        return Ok(Some(*found == wanted));
    }
    if context.spend(stored.len()).is_none() {
        return Ok(Some(false));
    }
    let mut comparison = Comparison::new(wanted);
    context.progress.pieces::<Error>(context.source, stored, &mut Vec::new(), |_, piece| {
        comparison.update(piece);
        true
    })?;
    let found = comparison.found();
    seen.push((stored, found));
    Ok(Some(found == wanted))
}

/// The flipped bit of a short blob that does not match its checksum.
fn of_blob(context: &mut RepairContext<'_>, tensor: &Tensor<'_>) -> Result<Option<Flip>> {
    let stored = tensor.stored().filter(|it| it.len() <= BLOB_LEN_MAX && tensor.fault().is_none());
    let Some((checksum, stored)) = tensor.checksum().zip(stored) else { return Ok(None) };
    let mut bytes = context.source.read_vec(stored.start(), stored.len())?;
    let bit = match checksum {
        Checksum::Crc32c(wanted) => flipped_bit(bytes.len(), Crc32c::checksum(&bytes) ^ wanted)
            .map(|bit| bit.byte * 8 + usize::from(bit.bit)),
        Checksum::Sha256(_) => sha256_bit(context, &mut bytes, checksum),
        Checksum::Xxh3(_) | Checksum::Unknown => None,
    };
    let Some((place, byte)) = bit.and_then(|bit| Some((bit, *bytes.get(bit / 8)?))) else {
        return Ok(None);
    };
    let (at, bit) = (stored.start().saturating_add((place / 8) as u64), (place % 8) as u8);
    let proof = Proof::Digest;
    Ok(Some(Flip { at, bit, byte: byte ^ 1 << bit, proof, index: None }))
}

/// The bit that makes bytes match a SHA-256, found by trying all.
fn sha256_bit(
    context: &mut RepairContext<'_>,
    bytes: &mut [u8],
    wanted: Checksum,
) -> Option<usize> {
    for bit in 0..bytes.len() * 8 {
        context.spend(bytes.len() as u64)?;
        *bytes.get_mut(bit / 8)? ^= 1 << (bit % 8);
        let is_match = Checksum::sha256(bytes) == wanted;
        *bytes.get_mut(bit / 8)? ^= 1 << (bit % 8);
        if is_match {
            return Some(bit);
        }
    }
    None
}
