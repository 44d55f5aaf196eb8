//! Runs of several tasks that are one request to a server.
//!
//! Tasks are small, so that threads share the work; a request costs as much as a megabyte. Runs that follow
//! each other in the file are therefore one request, also where they are of several tasks. Which they are follows
//! from their order alone, and not from what threads do, so that a plan has the requests that are made.

use crate::budget::Execution;
use crate::catalog::Run;
use crate::error::Result;

/// The widest gap between runs of two tasks that is read through: what lies between pages.
const GAP_MAX: u64 = 64 << 10;
/// The most tasks that one request is for.
const TASKS_MAX: u64 = 64;

/// Joins runs, in the order of their tasks.
#[derive(Debug)]
pub(crate) struct Joined {
    gap_max: u64,
    len_max: u64,
    /// The request that more runs may join, and the first task that it is for.
    open: Option<(Run, u64)>,
}

impl Joined {
    /// Of a local file no runs are joined. What is read ahead has room for the requests that are made at the
    /// same time.
    pub(crate) fn new(how: &Execution) -> Joined {
        let depth = u64::try_from(how.access.depth).unwrap_or(u64::MAX).max(1);
        let len_max = if how.access.is_remote() {
            how.access.request_len.min(how.ahead_len() / depth)
        } else {
            0
        };
        Joined { gap_max: how.access.gap_max.min(GAP_MAX), len_max, open: None }
    }

    /// The request that a run of a task belongs to, as far as it is known now; whether it is the one before.
    pub(crate) fn add(&mut self, task: u64, run: Run) -> (Run, bool) {
        let joined = self.open.and_then(|open| Some((self.with(open, task, run)?, open.1)));
        let (request, first) = joined.unwrap_or((run, task));
        self.open = Some((request, first));
        (request, joined.is_some())
    }

    /// Whether a run of this task or a later one may still join the last request.
    pub(crate) fn may_grow(&self, task: u64) -> bool {
        self.open.is_some_and(|(request, first)| {
            task - first.min(task) < TASKS_MAX && request.span.len() < self.len_max
        })
    }

    /// A request with one run more, if that is one request.
    fn with(&self, (request, first): (Run, u64), task: u64, run: Run) -> Option<Run> {
        let gap = run.span.start().checked_sub(request.span.end())?;
        let is_near = gap <= self.gap_max && task - first.min(task) < TASKS_MAX;
        let span = request.span.start()..run.span.end();
        let span = tet_format::Span::from_range(span).filter(|span| span.len() <= self.len_max)?;
        (is_near && request.object == run.object).then_some(Run { span, ..request })
    }
}

/// Calls `visit` with the requests of all tasks, in their order; `runs_of` gives the runs of one.
///
/// # Errors
///
/// Returns what `runs_of` returns.
pub(crate) fn each_request(
    how: &Execution,
    task_count: u64,
    runs_of: impl Fn(u64, &mut dyn FnMut(Run)) -> Result<()>,
    visit: &mut dyn FnMut(Run),
) -> Result<()> {
    let (mut joined, mut last) = (Joined::new(how), None);
    for task in 0..task_count {
        runs_of(task, &mut |run| {
            let (request, is_joined) = joined.add(task, run);
            let before = last.replace(request);
            before.filter(|_| !is_joined).into_iter().for_each(&mut *visit);
        })?;
    }
    last.into_iter().for_each(visit);
    Ok(())
}

#[cfg(test)]
mod tests {
    use tet_format::Span;
    use tet_io::Access;

    use super::*;

    fn run(object: u32, start: u64, end: u64) -> Run {
        Run { object, span: Span::from_range(start..end).unwrap() }
    }

    fn requests(access: Access, tasks: &[&[Run]]) -> Vec<Run> {
        let how = Execution { access, ..Execution::default() };
        let runs_of = |task: u64, visit: &mut dyn FnMut(Run)| {
            tasks[usize::try_from(task).unwrap()].iter().copied().for_each(visit);
            Ok(())
        };
        let mut found = Vec::new();
        each_request(&how, tasks.len() as u64, runs_of, &mut |run| found.push(run)).unwrap();
        found
    }

    #[test]
    fn runs_that_follow_each_other_are_one_request_up_to_its_length() {
        let far = Access { depth: 4, gap_max: 10, request_len: 100 };
        let one = [run(0, 0, 30)];
        for (tasks, expected) in [
            (vec![&one[..], &[run(0, 30, 60)], &[run(0, 70, 100)]], vec![run(0, 0, 100)]),
            (
                vec![&one[..], &[run(0, 30, 60)], &[run(0, 70, 101)]],
                vec![run(0, 0, 60), run(0, 70, 101)],
            ),
            // Too far away, backwards, and of another object.
            (vec![&one[..], &[run(0, 41, 50)]], vec![one[0], run(0, 41, 50)]),
            (vec![&[run(0, 30, 60)], &one[..]], vec![run(0, 30, 60), one[0]]),
            (vec![&one[..], &[run(1, 30, 60)]], vec![one[0], run(1, 30, 60)]),
            // Tasks without runs are between them, and several runs in one.
            (vec![&one[..], &[], &[run(0, 30, 40), run(0, 45, 50)]], vec![run(0, 0, 50)]),
            (vec![&one[..], &one[..]], vec![one[0], one[0]]),
            (vec![&[], &[]], vec![]),
        ] {
            assert_eq!(requests(far, &tasks), expected, "{tasks:?}");
            let all: Vec<Run> = tasks.concat();
            assert_eq!(requests(Access::LOCAL, &tasks), all, "a local file");
        }
    }

    #[test]
    fn a_request_is_for_a_bounded_number_of_tasks() {
        let far = Access { depth: 4, gap_max: 10, request_len: 1 << 20 };
        let first = [run(0, 0, 1)];
        let second = [run(0, 1, 2)];
        let count = usize::try_from(TASKS_MAX).unwrap();
        for (empty, expected) in [(count - 2, 1), (count - 1, 2)] {
            let mut tasks: Vec<&[Run]> = vec![&first];
            tasks.extend(vec![&[][..]; empty]);
            tasks.push(&second);
            assert_eq!(requests(far, &tasks).len(), expected);
        }
        let mut joined = Joined::new(&Execution { access: far, ..Execution::default() });
        assert!(!joined.may_grow(0));
        joined.add(3, first[0]);
        assert!(
            joined.may_grow(4) && joined.may_grow(2 + TASKS_MAX) && !joined.may_grow(3 + TASKS_MAX)
        );
    }
}
