//! Which object of a message a frame was, so that it keeps its entry of the metadata.
//!
//! An index tells by places, a list of hashes by hashes; where nothing is lost between the start of the
//! message and a frame, counting does. What a list does not have is no object of the message.

use std::collections::HashMap;

use super::remains::{GAP_LEN_MIN, Remains, Whole};
use crate::frame::{FrameKind, Phase};
use crate::hashes::HashList;
use crate::index::Index;
use crate::postamble::POSTAMBLE_LEN;
use crate::preamble::PREAMBLE_LEN;

/// The numbers that the tensor frames of a message had, as far as anything proves them.
pub(super) fn numbers(
    remains: &Remains,
    index: Option<&(FrameKind, Index)>,
    list: Option<&HashList>,
) -> Vec<Option<usize>> {
    let places = index.and_then(|(kind, index)| Some(entries(index, origin(remains, *kind)?)));
    let listed = list.map(|list| twins(list.hashes()));
    // A message of another length than it states may be parts of two.
    let len = remains.end.saturating_sub(remains.start);
    let is_long =
        remains.preamble.is_some_and(|preamble| preamble.total_len == len) || remains.ends_agree();
    let is_shifted = !is_long && (index.is_some() || remains.postamble.is_some());
    let counted = if is_shifted { 0 } else { counted(remains) };
    let number = |(position, whole): (usize, &Whole)| {
        let (frame, is_true) = (&whole.frame, whole.hash == whole.frame.tail.hash);
        let by_hash = listed.as_ref().and_then(|listed| listed.get(&frame.tail.hash));
        if is_true && listed.is_some() && by_hash.is_none() {
            return None;
        }
        let place = (frame.at(), frame.header.len);
        let by_index = places.as_ref().and_then(|places| places.get(&place).copied());
        let by_count = || (position < counted).then_some(position);
        by_index.or_else(|| by_hash.copied().flatten()).or_else(by_count)
    };
    let tensors = remains.frames.iter().filter(|it| it.frame.kind() == FrameKind::Tensor);
    let mut numbers: Vec<Option<usize>> = tensors.enumerate().map(number).collect();
    // Frames are in the order of their objects.
    let mut last = None;
    for number in &mut numbers {
        match *number {
            Some(found) if last.is_none_or(|last| last < found) => last = Some(found),
            _ => *number = None,
        }
    }
    numbers
}

/// Where the offsets of an index are counted from.
fn origin(remains: &Remains, kind: FrameKind) -> Option<u64> {
    if kind.phase() == Some(Phase::Header) {
        return remains.is_placed.then_some(remains.start);
    }
    let (at, postamble) = remains.postamble?;
    match postamble.total_len {
        0 => remains.footer_at()?.checked_sub(postamble.first_footer_offset),
        len => at.saturating_add(POSTAMBLE_LEN).checked_sub(len),
    }
}

/// Which object is at a place and of a length.
fn entries(index: &Index, origin: u64) -> HashMap<(u64, u64), usize> {
    let entries = index.entries().iter().enumerate().rev();
    entries.map(|(number, it)| ((origin.saturating_add(it.offset), it.len), number)).collect()
}

/// Which object has a hash; none where several do.
fn twins(hashes: &[u64]) -> HashMap<u64, Option<usize>> {
    let mut numbers = HashMap::new();
    for (number, hash) in hashes.iter().enumerate() {
        numbers.entry(*hash).and_modify(|it| *it = None).or_insert(Some(number));
    }
    numbers
}

/// How many tensors are behind the start of the message with nothing lost before them.
fn counted(remains: &Remains) -> usize {
    if !remains.is_placed {
        return 0;
    }
    let (mut end, mut count) = (remains.start.saturating_add(PREAMBLE_LEN), 0);
    for Whole { frame, .. } in &remains.frames {
        if GAP_LEN_MIN <= frame.at().saturating_sub(end) {
            break;
        }
        end = frame.span.end();
        count += usize::from(frame.kind() == FrameKind::Tensor);
    }
    count
}
