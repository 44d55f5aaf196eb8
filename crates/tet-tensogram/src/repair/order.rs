//! Which object of a message a frame was, so that it keeps what is said of it.
//!
//! An index tells by places, a list of hashes by hashes; where nothing is lost before a frame, or behind
//! it, counting does.

use tet_format::Span;

use super::frames::Remains;
use crate::frame::{Frame, FrameKind, Phase};
use crate::hashes::HashList;
use crate::index::Index;

/// Shorter stretches that are no frames are padding.
pub(super) const PADDING_LEN_MAX: u64 = 28;

/// What is known of the order of objects.
#[derive(Default)]
pub(super) struct Clues<'c> {
    pub(super) index: Option<&'c Index>,
    pub(super) list: Option<&'c HashList>,
    /// How many objects something is said of.
    pub(super) said_count: usize,
}

/// The numbers that the tensor frames of a message had, as far as anything tells.
pub(super) fn numbers(remains: &Remains, clues: &Clues<'_>) -> Vec<Option<usize>> {
    let is_tensor = |frame: &&Frame| frame.kind() == FrameKind::Tensor;
    let frames: Vec<&Frame> = remains.frames.iter().map(|it| &it.frame).filter(is_tensor).collect();
    let count = frames.len();
    let is_lost = |span: &Span| PADDING_LEN_MAX <= span.len();
    let lost: Vec<&Span> = remains.lost.iter().filter(|span| is_lost(span)).collect();
    let has_end = remains.postamble.is_some()
        || remains.frames.iter().any(|it| it.frame.kind().phase() == Some(Phase::Footer));
    let number = |(position, frame): (usize, &&Frame)| {
        let at = frame.at().saturating_sub(remains.start);
        let by_index = clues.index.and_then(|index| {
            index.entries().iter().position(|it| it.offset == at && it.len == frame.header.len)
        });
        let by_hash = || {
            let mut twins =
                clues.list?.hashes().iter().enumerate().filter(|(_, it)| **it == frame.tail.hash);
            twins.next().filter(|_| twins.next().is_none()).map(|(number, _)| number)
        };
        let from_start = || {
            let is_first = lost.iter().all(|span| frame.at() < span.start());
            (is_first && remains.preamble.is_some() || lost.is_empty()).then_some(position)
        };
        let from_end = || {
            let is_last = lost.iter().all(|span| span.start() < frame.at());
            let behind = count.saturating_sub(position);
            (is_last && has_end).then(|| clues.said_count.checked_sub(behind)).flatten()
        };
        by_index.or_else(by_hash).or_else(from_start).or_else(from_end)
    };
    let mut numbers: Vec<Option<usize>> = frames.iter().enumerate().map(number).collect();
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
