//! Which object of a message a frame was, so that it keeps what is said of it.
//!
//! An index tells by places, a list of hashes by hashes; where nothing is lost between the start of the
//! message and a frame, counting does. What a list does not have is no object of the message.

use std::collections::HashMap;

use super::frames::{GAP_LEN_MIN, Remains, Whole};
use super::kin::{ends_agree, origin};
use crate::frame::{FrameKind, Phase};
use crate::hashes::HashList;
use crate::index::Index;
use crate::preamble::PREAMBLE_LEN;

/// What is known of the order of objects.
#[derive(Default)]
pub(super) struct Clues<'c> {
    pub(super) index: Option<(FrameKind, &'c Index)>,
    pub(super) list: Option<&'c HashList>,
}

/// The numbers that the tensor frames of a message had, as far as anything tells.
pub(super) fn numbers(remains: &Remains, clues: &Clues<'_>) -> Vec<Option<usize>> {
    let is_tensor = |it: &&Whole| it.frame.kind() == FrameKind::Tensor;
    let index = clues.index.and_then(|(kind, index)| {
        let places: HashMap<(u64, u64), usize> = entries(index, origin(remains, kind, index)?);
        Some(places)
    });
    let listed = clues.list.map(|list| twins(list.hashes()));
    // A wrong index says nothing where the message is as long as it says.
    let len = remains.end.saturating_sub(remains.start);
    let is_long = remains.preamble.is_some_and(|preamble| preamble.total_len == len)
        || ends_agree(remains, remains.start);
    let is_shifted = !is_long && (clues.index.is_some() || remains.postamble.is_some());
    let counted = counted(remains);
    let number = |(position, whole): (usize, &Whole)| {
        let (frame, is_true) = (&whole.frame, whole.hash == whole.frame.tail.hash);
        let by_hash = listed.as_ref().and_then(|listed| listed.get(&frame.tail.hash));
        let is_foreign = is_true && listed.is_some() && by_hash.is_none();
        if is_foreign {
            return None;
        }
        let place = (frame.at(), frame.header.len);
        let by_index = index.as_ref().and_then(|index| index.get(&place).copied());
        let by_count = || (position < counted && !is_shifted).then_some(position);
        by_index.or_else(|| by_hash.copied().flatten()).or_else(by_count)
    };
    let tensors = remains.frames.iter().filter(is_tensor).enumerate();
    let mut numbers: Vec<Option<usize>> = tensors.map(number).collect();
    // Frames stand in the order of their objects.
    let mut last = None;
    for number in &mut numbers {
        match *number {
            Some(found) if last.is_none_or(|last| last < found) => last = Some(found),
            _ => *number = None,
        }
    }
    numbers
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

/// How many tensors stand behind the start of the message with nothing lost before them.
fn counted(remains: &Remains) -> usize {
    let is_header = |whole: &Whole| whole.frame.kind().phase() == Some(Phase::Header);
    if !remains.is_placed && !remains.frames.first().is_some_and(is_header) {
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
