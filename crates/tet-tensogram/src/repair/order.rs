//! Finds which object of a message a frame was, so that it gets its metadata entry.
//!
//! An index identifies objects by offset, a hash list by hash. If nothing is lost between the start
//! of the message and a frame, counting does. A frame that is not in the list is no object.

use std::collections::HashMap;

use super::fragment::{Fragment, GAP_LEN_MIN, IntactFrame};
use crate::frame::{FrameKind, Phase};
use crate::hashes::HashList;
use crate::index::Index;
use crate::postamble::POSTAMBLE_LEN;
use crate::preamble::PREAMBLE_LEN;

/// The object numbers of the tensor frames of a message, if anything proves them.
pub(super) fn numbers(
    fragment: &Fragment,
    index: Option<&(FrameKind, Index)>,
    list: Option<&HashList>,
) -> Vec<Option<usize>> {
    let places = index.and_then(|(kind, index)| Some(entries(index, origin(fragment, *kind)?)));
    let listed = list.map(|list| twins(list.hashes()));
    // A message whose length differs from the stated one may be parts of two.
    let len = fragment.end.saturating_sub(fragment.start);
    let is_long = fragment.preamble.is_some_and(|preamble| preamble.total_len == len)
        || fragment.ends_agree();
    let is_shifted = !is_long && (index.is_some() || fragment.postamble.is_some());
    let counted = if is_shifted { 0 } else { counted(fragment) };
    let number = |(position, intact): (usize, &IntactFrame)| {
        let (frame, is_verified) = (&intact.frame, intact.hash == intact.frame.tail.hash);
        let by_hash = listed.as_ref().and_then(|listed| listed.get(&frame.tail.hash));
        if is_verified && listed.is_some() && by_hash.is_none() {
            return None;
        }
        let place = (frame.at(), frame.header.len);
        let by_index = places.as_ref().and_then(|places| places.get(&place).copied());
        let by_count = || (position < counted).then_some(position);
        by_index.or_else(|| by_hash.copied().flatten()).or_else(by_count)
    };
    let tensors = fragment.frames.iter().filter(|it| it.frame.kind() == FrameKind::Tensor);
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

/// The position that the offsets of an index are relative to.
fn origin(fragment: &Fragment, kind: FrameKind) -> Option<u64> {
    if kind.phase() == Some(Phase::Header) {
        return fragment.is_placed.then_some(fragment.start);
    }
    let (at, postamble) = fragment.postamble?;
    match postamble.total_len {
        0 => fragment.footer_at()?.checked_sub(postamble.first_footer_offset),
        len => at.saturating_add(POSTAMBLE_LEN).checked_sub(len),
    }
}

/// Objects by offset and length.
fn entries(index: &Index, origin: u64) -> HashMap<(u64, u64), usize> {
    let entries = index.entries().iter().enumerate().rev();
    entries.map(|(number, it)| ((origin.saturating_add(it.offset), it.len), number)).collect()
}

/// Objects by hash; `None` if several have the same hash.
fn twins(hashes: &[u64]) -> HashMap<u64, Option<usize>> {
    let mut numbers = HashMap::new();
    for (number, hash) in hashes.iter().enumerate() {
        numbers.entry(*hash).and_modify(|it| *it = None).or_insert(Some(number));
    }
    numbers
}

/// The number of tensors from the start of the message on with nothing lost before them.
fn counted(fragment: &Fragment) -> usize {
    if !fragment.is_placed {
        return 0;
    }
    let (mut end, mut count) = (fragment.start.saturating_add(PREAMBLE_LEN), 0);
    for IntactFrame { frame, .. } in &fragment.frames {
        if GAP_LEN_MIN <= frame.at().saturating_sub(end) {
            break;
        }
        end = frame.span.end();
        count += usize::from(frame.kind() == FrameKind::Tensor);
    }
    count
}
