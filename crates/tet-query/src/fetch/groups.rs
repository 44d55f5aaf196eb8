//! Tasks whose runs are read together, and the requests to a server that read them.
//!
//! ```text
//!   runs of tasks    0: a c e    1: b d f       columns of chunks, whose rows follow each other in the file
//!   requests         a b c d    e f             each byte once, in pieces that are worth a request
//! ```
//!
//! Tasks are small, so that threads share the work; a request costs as much as a megabyte. Runs that follow each other in
//! the file, or have bytes in common, are therefore one request, of whatever tasks they are, as far as what is read ahead has
//! room for them. Which tasks are a group and which requests it has follows from their runs alone, and not from what threads
//! do, so that a plan has the requests that are made.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::budget::Execution;
use crate::catalog::ReadRange;
use crate::error::Result;

/// The widest gap between runs that is read through: what lies between pages.
const GAP_MAX: u64 = 64 << 10;
/// The most runs of a group of more than one task, and so of its requests.
pub(super) const RUNS_MAX: usize = 1 << 13;
/// The most tasks of a group.
const TASKS_MAX: usize = 4096;

/// Forms the groups, one after the other.
#[derive(Debug)]
pub(super) struct Groups {
    gap_max: u64,
    request_len_max: u64,
    /// Bytes of a group of more than one task, at most.
    group_len_max: u64,
    /// The runs of the first task of the next group, if they are known.
    next: Option<Vec<ReadRange>>,
}

/// Tasks that follow each other, and the requests for their runs, in the order in which tasks need them.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// The runs of each task, each with the numbers of the requests that have its bytes.
    pub tasks: Vec<Vec<(ReadRange, Range<usize>)>>,
    pub requests: Vec<ReadRange>,
}

impl Groups {
    /// Of a local file no runs are joined. What is read ahead has room for the requests that are made at the same time, and
    /// for two groups: one that is used, and the next.
    pub(super) fn new(how: &Execution) -> Groups {
        let depth = u64::try_from(how.access.depth).unwrap_or(u64::MAX).max(1);
        let request_len_max = how.access.request_len.min(how.ahead_len() / depth);
        let group_len_max = how.ahead_len() / 2;
        Groups {
            gap_max: how.access.gap_max.min(GAP_MAX),
            request_len_max,
            group_len_max,
            next: None,
        }
    }

    /// The group that begins with task number `first`; `runs_of` gives the runs of a task. A task whose runs are not given is
    /// a group with those that are, and comes with the error.
    pub(super) fn next(
        &mut self,
        first: u64,
        task_count: u64,
        runs_of: impl Fn(u64, &mut dyn FnMut(ReadRange)) -> Result<()>,
    ) -> (Group, Result<()>) {
        let (mut tasks, mut extent) = (Vec::new(), Extent::default());
        let mut outcome = Ok(());
        for task in (first..task_count).take(TASKS_MAX) {
            let (runs, listed) = match self.next.take() {
                Some(runs) => (runs, Ok(())),
                None => listed(task, &runs_of),
            };
            if listed.is_err() && !tasks.is_empty() {
                break;
            }
            extent.add(&runs);
            let is_full = self.group_len_max < extent.len || RUNS_MAX < extent.count;
            if is_full && !tasks.is_empty() {
                self.next = Some(runs);
                break;
            }
            tasks.push(runs);
            if listed.is_err() {
                outcome = listed;
                break;
            }
        }
        (self.group(tasks), outcome)
    }

    /// The requests for the runs of these tasks.
    fn group(&self, tasks: Vec<Vec<ReadRange>>) -> Group {
        let mut sorted: Vec<(ReadRange, usize)> =
            tasks.iter().flatten().copied().zip(0..).collect();
        sorted.sort_unstable_by_key(|(run, nth)| {
            (run.object, run.span.start(), run.span.end(), *nth)
        });
        let mut chains: Vec<Chain> = Vec::new();
        let mut chain_of = vec![0; sorted.len()];
        for (run, nth) in sorted {
            let is_added = chains.last_mut().is_some_and(|chain| self.add(chain, run));
            if !is_added {
                chains.push(Chain { requests: vec![run], first: nth, number: 0 });
            }
            let last = chains.len() - 1;
            chains[last].first = chains[last].first.min(nth);
            chain_of[nth] = last;
        }
        let mut order: Vec<usize> = (0..chains.len()).collect();
        order.sort_unstable_by_key(|&at| chains[at].first);
        let mut requests = Vec::new();
        for at in order {
            chains[at].number = requests.len();
            requests.extend(&chains[at].requests);
        }
        let mut chain_of = chain_of.into_iter().map(|at| &chains[at]);
        let mut placed = |run| (run, chain_of.next().map_or(0..0, |chain| chain.numbers_of(run)));
        let placed = |runs: Vec<ReadRange>| runs.into_iter().map(&mut placed).collect();
        let tasks = tasks.into_iter().map(placed).collect();
        Group { tasks, requests }
    }

    /// Adds a run to a chain, if it is near enough: to its last request, or what is left of the run as another one.
    fn add(&self, chain: &mut Chain, run: ReadRange) -> bool {
        let Some(last) = chain.requests.last_mut().filter(|last| last.object == run.object) else {
            return false;
        };
        let (start, end) = (last.span.start(), last.span.end().max(run.span.end()));
        let is_near = run.span.start() <= last.span.end().saturating_add(self.gap_max);
        if is_near && end - start <= self.request_len_max.max(last.span.len()) {
            last.span = tet_format::Span::from_range(start..end).unwrap_or(last.span);
            return true;
        }
        if last.span.end() <= run.span.start() {
            return false;
        }
        let rest = tet_format::Span::from_range(last.span.end()..end);
        let rest = rest.map(|span| ReadRange { span, ..run });
        chain.requests.extend(rest);
        true
    }
}

/// The runs of a task, as far as they are given.
fn listed(
    task: u64,
    runs_of: impl Fn(u64, &mut dyn FnMut(ReadRange)) -> Result<()>,
) -> (Vec<ReadRange>, Result<()>) {
    let mut runs = Vec::new();
    let listed = runs_of(task, &mut |run| runs.push(run));
    (runs, listed)
}

/// Requests that follow each other without a gap, so that a run may have bytes in several of them.
struct Chain {
    requests: Vec<ReadRange>,
    /// The first run in the order of tasks that has bytes in it.
    first: usize,
    /// The number of its first request in the group.
    number: usize,
}

impl Chain {
    /// The numbers of the requests that have the bytes of a run.
    fn numbers_of(&self, run: ReadRange) -> Range<usize> {
        let begin = self.requests.partition_point(|it| it.span.end() <= run.span.start());
        let end = self.requests.partition_point(|it| it.span.start() < run.span.end());
        self.number + begin..self.number + end.max(begin)
    }
}

/// How many runs there are, and the bytes that at least one of them has.
#[derive(Debug, Default)]
struct Extent {
    count: usize,
    len: u64,
    /// Ranges that do not touch: the end of each by its object and start.
    ranges: BTreeMap<(u32, u64), u64>,
}

impl Extent {
    fn add(&mut self, runs: &[ReadRange]) {
        self.count = self.count.saturating_add(runs.len());
        for run in runs {
            let (mut start, mut end) = (run.span.start(), run.span.end());
            while let Some((&key, &to)) = self.ranges.range(..=(run.object, end)).next_back()
                && key.0 == run.object
                && start <= to
            {
                self.ranges.remove(&key);
                self.len -= to - key.1;
                (start, end) = (start.min(key.1), end.max(to));
            }
            self.ranges.insert((run.object, start), end);
            self.len += end - start;
        }
    }
}

/// Calls `visit` with the requests of all tasks; `runs_of` gives the runs of one.
///
/// # Errors
///
/// Returns what `runs_of` returns.
pub(crate) fn each_request(
    how: &Execution,
    task_count: u64,
    runs_of: impl Fn(u64, &mut dyn FnMut(ReadRange)) -> Result<()>,
    visit: &mut dyn FnMut(ReadRange),
) -> Result<()> {
    if !how.access.is_remote() {
        return (0..task_count).try_for_each(|task| runs_of(task, visit));
    }
    let (mut groups, mut first) = (Groups::new(how), 0);
    while first < task_count {
        let (group, listed) = groups.next(first, task_count, &runs_of);
        group.requests.into_iter().for_each(&mut *visit);
        listed?;
        first = first.saturating_add(group.tasks.len() as u64);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tet_format::Span;
    use tet_io::Access;

    use super::*;

    fn run(object: u32, start: u64, end: u64) -> ReadRange {
        ReadRange { object, span: Span::from_range(start..end).unwrap() }
    }

    fn far(request_len: u64) -> Access {
        Access { depth: 4, gap_max: 10, request_len }
    }

    fn groups(access: Access, memory_budget: u64, tasks: &[&[ReadRange]]) -> Vec<Group> {
        let how = Execution { access, memory_budget, ..Execution::default() };
        let runs_of = |task: u64, visit: &mut dyn FnMut(ReadRange)| {
            tasks[usize::try_from(task).unwrap()].iter().copied().for_each(visit);
            Ok(())
        };
        let (mut all, mut found, mut first) = (Groups::new(&how), Vec::new(), 0);
        while first < tasks.len() {
            let (group, listed) = all.next(first as u64, tasks.len() as u64, runs_of);
            listed.unwrap();
            first += group.tasks.len();
            found.push(group);
        }
        let mut requests = Vec::new();
        each_request(&how, tasks.len() as u64, runs_of, &mut |run| requests.push(run)).unwrap();
        let listed: Vec<_> = found.iter().flat_map(|group| group.requests.clone()).collect();
        let is_local = access == Access::LOCAL;
        assert_eq!(requests, if is_local { tasks.concat() } else { listed });
        found
    }

    fn requests(access: Access, tasks: &[&[ReadRange]]) -> Vec<ReadRange> {
        let groups = groups(access, 1 << 30, tasks);
        groups.into_iter().flat_map(|group| group.requests).collect()
    }

    #[test]
    fn runs_that_follow_each_other_are_one_request_up_to_its_length() {
        let one = [run(0, 0, 30)];
        for (tasks, expected) in [
            (vec![&one[..], &[run(0, 30, 60)], &[run(0, 70, 100)]], vec![run(0, 0, 100)]),
            (
                vec![&one[..], &[run(0, 30, 60)], &[run(0, 70, 101)]],
                vec![run(0, 0, 60), run(0, 70, 101)],
            ),
            // Too far away, and of another object; in the order of tasks.
            (vec![&one[..], &[run(0, 41, 50)]], vec![one[0], run(0, 41, 50)]),
            (vec![&[run(0, 41, 60)], &one[..]], vec![run(0, 41, 60), one[0]]),
            (vec![&one[..], &[run(1, 30, 60)]], vec![one[0], run(1, 30, 60)]),
            // Backwards, tasks without runs between them, several runs in one, and the same run again.
            (vec![&[run(0, 30, 60)], &one[..]], vec![run(0, 0, 60)]),
            (vec![&one[..], &[], &[run(0, 30, 40), run(0, 45, 50)]], vec![run(0, 0, 50)]),
            (vec![&one[..], &one[..]], vec![one[0]]),
            (vec![&[], &[]], vec![]),
            // One run is longer than a request.
            (vec![&[run(0, 0, 300)], &[run(0, 300, 310)]], vec![run(0, 0, 300), run(0, 300, 310)]),
        ] {
            assert_eq!(requests(far(100), &tasks), expected, "{tasks:?}");
            groups(Access::LOCAL, 1 << 30, &tasks);
        }
    }

    /// Columns of chunks: each byte is requested once, in the order of the file, though the runs of each task read through
    /// those of the others.
    #[test]
    fn tasks_share_the_bytes_that_each_reads_through() {
        let columns: Vec<Vec<ReadRange>> = (0..5)
            .map(|nth| {
                vec![run(0, nth * 20, nth * 20 + 320), run(0, nth * 20 + 400, nth * 20 + 420)]
            })
            .collect();
        let tasks: Vec<&[ReadRange]> = columns.iter().map(Vec::as_slice).collect();
        let group = groups(far(150), 1 << 30, &tasks).pop().unwrap();
        let spans: Vec<Span> = group.requests.iter().map(|it| it.span).collect();
        assert_eq!(spans.iter().map(|it| it.len()).sum::<u64>(), 500, "{spans:?}");
        assert!(spans.windows(2).all(|pair| pair[0].end() == pair[1].start()), "{spans:?}");
        for (run, numbers) in group.tasks.concat() {
            let of = &group.requests[numbers];
            assert!(of[0].span.start() <= run.span.start());
            assert!(run.span.end() <= of[of.len() - 1].span.end(), "{run:?} {of:?}");
            assert!(
                of.iter()
                    .all(|it| it.span.start() < run.span.end() && run.span.start() < it.span.end())
            );
        }
    }

    /// A group has as many bytes as are held ahead, halved, and one task at least.
    #[test]
    fn groups_have_room() {
        let tasks: Vec<[ReadRange; 1]> =
            (0..40).map(|nth| [run(0, nth * 100, nth * 100 + 100)]).collect();
        let tasks: Vec<&[ReadRange]> = tasks.iter().map(<[ReadRange; 1]>::as_slice).collect();
        let counts = |memory: u64| -> Vec<usize> {
            groups(far(400), memory, &tasks).iter().map(|group| group.tasks.len()).collect()
        };
        let ahead = |memory| {
            Execution { access: far(400), memory_budget: memory, ..Execution::default() }
                .ahead_len()
        };
        let memory = (1..).map(|power| 1 << power).find(|&memory| 2000 <= ahead(memory)).unwrap();
        let each = usize::try_from(ahead(memory) / 200).unwrap();
        assert!(counts(memory).iter().take(40 / each).all(|&count| count == each));
        assert_eq!(counts(4), vec![1; 40]);
        assert_eq!(counts(1 << 30), [40]);
    }

    /// Bytes that several tasks need count once, wherever the others are.
    #[test]
    fn bytes_are_counted_once() {
        let mut extent = Extent::default();
        for (added, len) in [
            (vec![run(0, 100, 200), run(0, 9000, 9100)], 200),
            (vec![run(0, 150, 250), run(0, 8900, 9000)], 350),
            (vec![run(1, 100, 200), run(0, 120, 180)], 450),
            (vec![run(0, 0, 10), run(0, 300, 310), run(0, 5, 305)], 610),
        ] {
            extent.add(&added);
            assert_eq!(extent.len, len, "{added:?} {extent:?}");
        }
        assert_eq!(extent.count, 9);
        let ranges: Vec<_> = extent.ranges.into_iter().collect();
        assert_eq!(ranges, [((0, 0), 310), ((0, 8900), 9100), ((1, 100), 200)]);
    }

    #[test]
    fn a_task_without_runs_comes_with_its_error() {
        let how = Execution { access: far(100), ..Execution::default() };
        let runs_of = |task: u64, visit: &mut dyn FnMut(ReadRange)| {
            visit(run(0, task * 10, task * 10 + 10));
            if task == 2 { Err(crate::Error::Budget { wanted: 1, budget: 0 }) } else { Ok(()) }
        };
        let mut groups = Groups::new(&how);
        for (first, count, is_ok) in [(0, 2, true), (2, 1, false), (3, 5, true)] {
            let (group, listed) = groups.next(first, 8, runs_of);
            assert_eq!((group.tasks.len(), listed.is_ok()), (count, is_ok));
        }
    }
}
