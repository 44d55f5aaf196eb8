//! Version 1 B-trees as chunk indexes (section III.A.1), made from the leaves up.

use tet_format::Span;

use super::{DraftChunk, UNDEFINED, len_of};

/// Children of a node: twice the default of `K`.
const CHILD_COUNT: usize = 64;

/// How keys are made: a length, a mask, and the offset of a chunk along each axis.
#[derive(Debug)]
struct Keys<'k> {
    /// How many chunks there are along each axis.
    counts: Vec<u64>,
    chunk_shape: &'k [u64],
    element_size: u32,
}

impl Keys<'_> {
    fn len(&self) -> usize {
        8 + (self.counts.len() + 1) * 8
    }

    /// Appends the key of a chunk; `beyond` is 1 for the key behind it.
    fn add(&self, chunk: DraftChunk, beyond: u64, bytes: &mut Vec<u8>) {
        let mut rest = chunk.number;
        let mut offsets = vec![0; self.counts.len() + 1];
        let axes = self.counts.iter().zip(self.chunk_shape).zip(&mut offsets);
        for ((&count, &extent), offset) in axes.rev() {
            let count = count.max(1);
            *offset = (rest % count).saturating_add(beyond).saturating_mul(extent);
            rest /= count;
        }
        if let Some(last) = offsets.last_mut() {
            *last = beyond.saturating_mul(self.element_size.into());
        }
        let len = if beyond == 0 { chunk.span.len() } else { 0 };
        bytes.extend(u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(offsets.iter().flat_map(|offset| offset.to_le_bytes()));
    }
}

/// The tree over chunks in row-major order; `at` is where it begins. Gives the address of its root.
pub(super) fn encode(
    shape: &[u64],
    chunk_shape: &[u64],
    element_size: u32,
    chunks: &[DraftChunk],
    at: u64,
) -> (Vec<u8>, Option<u64>) {
    let counts = shape.iter().zip(chunk_shape).map(|(extent, &chunk)| extent.div_ceil(chunk));
    let keys = Keys { counts: counts.collect(), chunk_shape, element_size };
    let Some(&last) = chunks.last() else { return (Vec::new(), None) };
    let (mut bytes, mut height) = (Vec::new(), 0);
    let mut level = of_level(chunks, height, last, &keys, at, &mut bytes);
    while 1 < level.len() {
        height += 1;
        level = of_level(&level, height, last, &keys, at, &mut bytes);
    }
    (bytes, level.first().map(|root| root.span.start()))
}

/// Appends the nodes over these children; gives the nodes, each with the first chunk under it, as children
/// of the next level. `last` is the last chunk of all.
fn of_level(
    children: &[DraftChunk],
    height: u8,
    last: DraftChunk,
    keys: &Keys<'_>,
    at: u64,
    bytes: &mut Vec<u8>,
) -> Vec<DraftChunk> {
    let node_len = 24 + CHILD_COUNT * 8 + (CHILD_COUNT + 1) * keys.len();
    let count = children.len().div_ceil(CHILD_COUNT);
    let first = at.saturating_add(len_of(bytes.len()));
    let address = |nth: usize| first.saturating_add(len_of(nth * node_len));
    let mut nodes = Vec::with_capacity(count);
    for (nth, part) in children.chunks(CHILD_COUNT).enumerate() {
        let start = bytes.len();
        bytes.extend(b"TREE\x01");
        bytes.push(height);
        bytes.extend(u16::try_from(part.len()).unwrap_or(u16::MAX).to_le_bytes());
        bytes.extend(nth.checked_sub(1).map_or(UNDEFINED, address).to_le_bytes());
        let right = if nth + 1 < count { address(nth + 1) } else { UNDEFINED };
        bytes.extend(right.to_le_bytes());
        for child in part {
            // The keys of inner nodes have the length of the first chunk, which nothing reads.
            keys.add(*child, 0, bytes);
            bytes.extend(child.span.start().to_le_bytes());
        }
        match children.get((nth + 1) * CHILD_COUNT) {
            Some(next) => keys.add(*next, 0, bytes),
            None => keys.add(last, 1, bytes),
        }
        bytes.resize(start + node_len, 0);
        let number = part.first().map_or(0, |child| child.number);
        let span = Span::new(address(nth), 0).unwrap_or(last.span);
        nodes.push(DraftChunk { number, span });
    }
    nodes
}
