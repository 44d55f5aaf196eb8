//! Joining spans that lie close together into runs, each read as one range, in batches that a buffer
//! holds.

use std::iter::Peekable;

use tet_format::Span;

/// Bytes of a buffer for each run of a batch, at least: so long are the lists that describe them.
const RUN_LEN_MIN: u64 = 64;

/// How far coalescing may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coalesce {
    /// The widest gap worth reading through, in bytes.
    pub gap_max: u64,
}

impl Coalesce {
    /// Reads through gaps that cost less than another request on a local disk.
    pub const DEFAULT: Coalesce = Coalesce { gap_max: 16 * 1024 };
    /// Reads requested bytes only; adjacent spans still merge.
    pub const NONE: Coalesce = Coalesce { gap_max: 0 };
    /// For storage where a request costs much more than a megabyte.
    pub const WIDE: Coalesce = Coalesce { gap_max: 1024 * 1024 };
}

impl Default for Coalesce {
    fn default() -> Self {
        Coalesce::DEFAULT
    }
}

/// A span that a task needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Need {
    /// The object that it is in.
    pub object: u32,
    pub span: Span,
    /// Whether it is a batch of its own.
    pub is_alone: bool,
}

impl Need {
    /// A span that is joined to spans near it.
    pub(crate) const fn joined(object: u32, span: Span) -> Need {
        Need { object, span, is_alone: false }
    }
}

/// Sets `runs` to the next batch of `needs`, in their order: at least one need, and more of the same
/// object while all runs together have at most `len_max` bytes. Gives the object.
pub(crate) fn batch(
    needs: &mut Peekable<impl Iterator<Item = Need>>,
    policy: Coalesce,
    len_max: u64,
    runs: &mut Vec<Span>,
) -> u32 {
    runs.clear();
    let object = needs.peek().map_or(0, |need| need.object);
    let cost = |run: Span| run.len().max(RUN_LEN_MIN);
    let mut left = len_max;
    while let Some(&Need { span, is_alone, .. }) = needs.peek().filter(|it| it.object == object) {
        if let Some(last) = runs.last_mut() {
            let joined = join(*last, span, policy).filter(|_| !is_alone);
            let more = joined.map_or(cost(span), |run| cost(run) - cost(*last));
            if is_alone || left < more {
                break;
            }
            left -= more;
            match joined {
                Some(run) => *last = run,
                None => runs.push(span),
            }
        } else {
            left = left.saturating_sub(cost(span));
            runs.push(span);
        }
        needs.next();
        if is_alone {
            break;
        }
    }
    object
}

/// One span over both, when `next` lies in `run` or follows it with a gap worth reading through.
fn join(run: Span, next: Span, policy: Coalesce) -> Option<Span> {
    if run.contains(next) {
        return Some(run);
    }
    let gap = next.start().checked_sub(run.end())?;
    Span::from_range(run.start()..next.end()).filter(|_| gap <= policy.gap_max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every list of up to three spans in a nine-byte file, under every small policy and for every
    /// length of batches.
    #[test]
    fn batches_bring_each_need_in_order_and_are_as_few_as_fit() {
        let spans: Vec<Span> = (0..8)
            .flat_map(|start| (start + 1..=8).filter_map(move |end| Span::from_range(start..end)))
            .collect();
        let lists = spans.iter().flat_map(|&a| {
            let spans = &spans;
            spans.iter().flat_map(move |&b| spans.iter().map(move |&c| [a, b, c]))
        });
        for list in lists {
            for len in 1..=3 {
                for gap_max in 0..3 {
                    for len_max in [0, RUN_LEN_MIN, RUN_LEN_MIN + 2, 2 * RUN_LEN_MIN, 1000] {
                        check(&list[..len], Coalesce { gap_max }, len_max);
                    }
                }
            }
        }
    }

    fn check(spans: &[Span], policy: Coalesce, len_max: u64) {
        let mut needs = spans.iter().map(|&span| Need::joined(0, span)).peekable();
        let (mut runs, mut at) = (Vec::new(), 0);
        while needs.peek().is_some() {
            batch(&mut needs, policy, len_max, &mut runs);
            let served = spans.len() - needs.len();
            let mut run = 0;
            for &span in &spans[at..served] {
                run += usize::from(!runs[run].contains(span));
                assert!(runs[run].contains(span), "needs are in the runs, in order");
            }
            assert_eq!(run, runs.len() - 1, "each run is needed");
            let cost: u64 = runs.iter().map(|run| run.len().max(RUN_LEN_MIN)).sum();
            let first = spans[at].len().max(RUN_LEN_MIN);
            assert!(cost <= len_max.max(first), "{runs:?} fit the buffer");
            let asked: u64 = spans[at..served].iter().map(|span| span.len()).sum();
            let gaps = policy.gap_max * (served - at) as u64;
            let read: u64 = runs.iter().map(|run| run.len()).sum();
            assert!(read <= asked + gaps, "no wide gap is read through");
            if let Some(next) = spans.get(served) {
                let more = RUN_LEN_MIN + policy.gap_max + next.len();
                assert!(len_max < cost + more, "a batch takes all it may");
            }
            at = served;
        }
        let near = |pair: &[Span]| {
            pair[0].end() <= pair[1].start() && pair[1].start() - pair[0].end() <= policy.gap_max
        };
        if len_max == 1000 && spans.windows(2).all(near) {
            assert_eq!(runs.len(), 1, "close spans are one run");
        }
    }
}
