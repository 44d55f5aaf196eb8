//! Messages inside the bytes of a frame: a payload may be a file of messages, which are none of this file.
//!
//! ```text
//!   damaged: preamble | frame | frame of a tensor: ... message | message ... | no postamble
//! ```

use tet_format::Span;

use super::bench::{Bench, LOOK_COST};
use super::content::broken;
use crate::error::Result;
use crate::preamble::PREAMBLE_LEN;
use crate::scan::Scan;
use crate::walk::{padding_len, read_frame};

/// A part of the file: a message that stands, or bytes of none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) span: Span,
    pub(super) is_message: bool,
}

/// The parts of a file in their order. Messages inside a whole frame of a damaged one are bytes of it.
pub(super) fn stretches(bench: &mut Bench<'_>, scan: &Scan) -> Result<Vec<Stretch>> {
    let messages = scan.messages.iter().map(|span| Stretch { span: *span, is_message: true });
    let gaps = scan.gaps.iter().map(|span| Stretch { span: *span, is_message: false });
    let mut all: Vec<Stretch> = messages.chain(gaps).collect();
    all.sort_unstable_by_key(|it| it.span.start());
    let (mut out, mut rest) = (Vec::new(), all.as_slice());
    while let Some((first, behind)) = rest.split_first() {
        let (mut now, mut left) = (*first, behind);
        if !first.is_message {
            // The first one may have lost its preamble.
            let damages = scan.damages.iter().map(|it| it.span.start());
            let inside = damages.filter(|at| first.span.range().contains(at));
            for start in std::iter::once(first.span.start()).chain(inside) {
                (now, left) = grown(bench, start, (now, left))?;
            }
        }
        out.push(now);
        rest = left;
    }
    Ok(out)
}

/// A gap, and what is left behind it, with all that lies in whole frames of a message that starts at a
/// place in it.
fn grown<'a>(
    bench: &mut Bench<'_>,
    start: u64,
    (mut gap, mut left): (Stretch, &'a [Stretch]),
) -> Result<(Stretch, &'a [Stretch])> {
    let bound = bench.source.len();
    let mut at = start.saturating_add(PREAMBLE_LEN);
    while at < gap.span.end() && bench.pay(LOOK_COST) {
        let Ok(frame) = read_frame(&mut bench.window, at, bound)? else { break };
        if frame.kind().is_passed_over() {
            break;
        }
        let end = frame.span.end();
        if gap.span.end() < end {
            let count = left.iter().take_while(|it| it.span.start() < end).count();
            let Some((inside, behind)) = left.split_at_checked(count) else { break };
            let is_cut = inside.iter().any(|it| it.is_message && end < it.span.end());
            let is_whole = bench.hash(frame.body())? == Some(frame.tail.hash)
                || broken(bench, &frame)?.is_none();
            if is_cut || !is_whole {
                break;
            }
            let last = inside.last().map_or(end, |it| it.span.end());
            gap.span = Span::from_range(gap.span.start()..last).unwrap_or(gap.span);
            left = behind;
        }
        at = end.saturating_add(padding_len(end.saturating_sub(start)));
    }
    Ok((gap, left))
}
