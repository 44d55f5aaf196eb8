//! New offsets of blobs when space between them is reclaimed.

use tet_format::Span;

/// The alignments of blobs that are preserved, largest first.
const ALIGNS: [u64; 3] = [65536, 4096, 64];

/// Bytes that move to another offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    pub(super) from: Span,
    pub(super) to: u64,
}

/// Places blobs one after the other from `start` on, in their order; blobs that share bytes move
/// together. `None` if the file would be longer than 2^64 bytes.
///
/// A blob keeps its alignment; a blob that is not at a multiple of 64 keeps its offset modulo 64.
pub(super) fn moves(mut blobs: Vec<Span>, start: u64) -> Option<Vec<Move>> {
    blobs.sort_unstable();
    let mut moves: Vec<Move> = Vec::new();
    let mut end = start;
    let mut together: Vec<Span> = Vec::new();
    for blob in blobs {
        match together.last_mut() {
            // An empty blob may have any offset: it shares no bytes.
            Some(last) if blob == *last || blob.start() < last.end() => {
                *last = Span::from_range(last.start()..last.end().max(blob.end()))?;
            }
            _ => together.push(blob),
        }
    }
    for from in together {
        let align = ALIGNS.into_iter().find(|align| from.start() % align == 0);
        let (align, rest) = align.map_or((64, from.start() % 64), |align| (align, 0));
        let base = end.saturating_sub(rest).checked_next_multiple_of(align)?;
        let to = base.checked_add(rest)?;
        end = to.checked_add(from.len())?;
        moves.push(Move { from, to });
    }
    Some(moves)
}

/// The new offset of a blob; `None` if no move contains it.
pub(super) fn moved(moves: &[Move], blob: Span) -> Option<u64> {
    let behind = moves.partition_point(|it| it.from.start() <= blob.start());
    // Empty blobs may be at the start or the end of another one.
    let near = moves.get(behind.saturating_sub(2)..behind)?.iter().rev();
    let found = near.into_iter().find(|it| it.from.contains(blob))?;
    found.to.checked_add(blob.start().checked_sub(found.from.start())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, len: u64) -> Span {
        Span::new(start, len).unwrap()
    }

    #[test]
    fn blobs_close_up_and_keep_what_they_stood_at() {
        let blobs = vec![
            span(8192, 10),
            span(192, 100),
            span(192, 100),
            span(256, 100),
            span(640, 0),
            span(131_072, 1),
            span(700, 3),
        ];
        let moves = moves(blobs.clone(), 8).unwrap();
        let to: Vec<_> = moves.iter().map(|it| (it.from.start(), it.from.len(), it.to)).collect();
        let wanted =
            [(192, 164, 64), (640, 0, 256), (700, 3, 316), (8192, 10, 4096), (131_072, 1, 65536)];
        assert_eq!(to, wanted);
        assert_eq!(moved(&moves, span(256, 100)), Some(128));
        assert_eq!(moved(&moves, span(640, 0)), Some(256));
        assert_eq!(moved(&moves, span(500, 1)), None);
        assert_eq!(blobs.len(), 7);
    }
}
