//! Merging spans that lie close together into runs, each read in one go.
//!
//! Runs have no length limit: they say what is read, not how much is held. Fetching cuts them into
//! windows.

use std::ops::Range;

use tet_format::Span;

/// Spans that are fetched together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The bytes to fetch, gaps included.
    pub span: Span,
    /// Which spans of the input it serves.
    pub members: Range<usize>,
}

/// How far coalescing may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coalesce {
    /// The widest gap worth reading through, in bytes.
    pub gap_max: u64,
}

impl Coalesce {
    /// Reads through gaps that cost less than another request on a local disk.
    pub const DEFAULT: Coalesce = Coalesce { gap_max: 16 * 1024 };
    /// Reads no byte that was not asked for; spans that touch still merge.
    pub const NONE: Coalesce = Coalesce { gap_max: 0 };
    /// For storage where a request costs much more than a megabyte.
    pub const WIDE: Coalesce = Coalesce { gap_max: 1024 * 1024 };
}

impl Default for Coalesce {
    fn default() -> Self {
        Coalesce::DEFAULT
    }
}

/// Merges `spans` into runs.
///
/// `spans` must be sorted by start. Runs come back in the same order, and every span belongs to
/// exactly one of them.
#[must_use]
pub fn coalesce(spans: &[Span], policy: Coalesce) -> Vec<Run> {
    debug_assert!(spans.is_sorted(), "spans must come in file order");
    let mut runs: Vec<Run> = Vec::new();
    for (member, &span) in spans.iter().enumerate() {
        match runs.last_mut().and_then(|run| Some((join(run.span, span, policy)?, run))) {
            Some((joined, run)) => {
                run.span = joined;
                run.members.end = member + 1;
            }
            None => runs.push(Run { span, members: member..member + 1 }),
        }
    }
    runs
}

/// One span over both when the gap between them is worth reading through.
///
/// `next` must not start before `run`.
pub(crate) fn join(run: Span, next: Span, policy: Coalesce) -> Option<Span> {
    let gap = next.start().saturating_sub(run.end());
    if gap > policy.gap_max {
        return None;
    }
    Span::from_range(run.start()..run.end().max(next.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every list of up to three spans in a nine-byte file, under every small policy.
    #[test]
    fn runs_cover_and_are_maximal() {
        let spans: Vec<Span> = (0..8)
            .flat_map(|start| (start + 1..=8).filter_map(move |end| Span::from_range(start..end)))
            .collect();
        let mut lists = vec![vec![]];
        for &a in &spans {
            lists.push(vec![a]);
            for &b in spans.iter().filter(|b| a <= **b) {
                lists.push(vec![a, b]);
                lists.extend(spans.iter().filter(|c| b <= **c).map(|&c| vec![a, b, c]));
            }
        }
        for list in &lists {
            for gap_max in 0..4 {
                check(list, Coalesce { gap_max });
            }
        }
    }

    fn check(spans: &[Span], policy: Coalesce) {
        let runs = coalesce(spans, policy);
        let members: Vec<usize> = runs.iter().flat_map(|run| run.members.clone()).collect();
        assert_eq!(members, Vec::from_iter(0..spans.len()), "each span is in one run, in order");
        for run in &runs {
            let served = &spans[run.members.clone()];
            assert_eq!(run.span.start(), served[0].start(), "a run starts with its first span");
            assert_eq!(run.span.end(), end_of(served), "a run ends where its last byte does");
            for cut in 1..served.len() {
                let gap = served[cut].start().saturating_sub(end_of(&served[..cut]));
                assert!(gap <= policy.gap_max, "a run reads through no wide gap");
            }
        }
        for pair in runs.windows(2) {
            let next = spans[pair[1].members.start];
            let gap = next.start().saturating_sub(pair[0].span.end());
            assert!(policy.gap_max < gap, "a run takes all it may");
        }
    }

    fn end_of(spans: &[Span]) -> u64 {
        spans.iter().map(|span| span.end()).max().unwrap()
    }
}
