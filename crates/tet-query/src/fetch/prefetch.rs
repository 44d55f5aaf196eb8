//! Runs of a server's file that are read before the task that needs them comes to them.
//!
//! A request takes long, and several at the same time take no longer. So threads of their own make
//! requests in the order of the tasks, as many as [`Access`](tet_io::Access) allows, and hold what comes
//! back within a share of the memory budget:
//!
//! ```text
//!   tasks      0: run, run    1: run    2: run ...
//!   requests   0 ----------------- 0    1 ---- ...    of a group of tasks, as far as the share reaches
//!   threads    make request 0, then request 1; a task reads by itself what is not being read yet
//! ```
//!
//! Requests are those of the plan, made by any thread. No task waits for a request that is not being made, so nothing
//! waits for ever.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::groups::{Groups, RUNS_MAX};
use crate::budget::Execution;
use crate::buffer;
use crate::catalog::{Dataset, ReadRange};
use crate::error::{Error, Result};

/// Requests that are held at most: those of two groups.
const HELD_MAX: usize = 2 * RUNS_MAX;

/// Gives the runs of a task.
type RunsOf<'a> = dyn Fn(u64, &mut dyn FnMut(ReadRange)) -> Result<()> + Sync + 'a;

/// The runs of the tasks of one pass.
pub(crate) struct Prefetch<'a> {
    dataset: &'a Dataset,
    /// Requests at the same time.
    depth: usize,
    /// Most bytes of read-ahead: 0 for a local file.
    len_max: u64,
    task_count: u64,
    runs_of: Box<RunsOf<'a>>,
    state: Mutex<PrefetchQueue>,
    changed: Condvar,
}

struct PrefetchQueue {
    /// Remaining runs of the tasks whose runs are listed, each with the numbers of its requests.
    tasks: BTreeMap<u64, VecDeque<(ReadRange, Range<u64>)>>,
    /// Tasks before this one have their runs listed.
    known: u64,
    /// Requests that a task may still need, by number, in order.
    requests: BTreeMap<u64, Request>,
    /// The number of the next request, and the groups after those that are known.
    request_count: u64,
    groups: Groups,
    /// No request before this one waits.
    next: u64,
    /// Bytes and requests that are made or held.
    held_len: u64,
    held_count: usize,
    is_stopped: bool,
}

/// A request, for runs of one or more tasks.
struct Request {
    run: ReadRange,
    /// How many runs with bytes of it tasks have neither taken nor given up.
    left: usize,
    held: RequestState,
}

enum RequestState {
    /// It is not being made.
    Waiting,
    Reading,
    Ready(Arc<Vec<u8>>),
    Failed(Error),
    /// It failed, and a task has the error.
    Lost,
}

/// Stops the threads when it goes, by a panic too.
struct Stop<'a>(&'a Prefetch<'a>);

impl fmt::Debug for Prefetch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prefetch").field("depth", &self.depth).finish_non_exhaustive()
    }
}

impl<'a> Prefetch<'a> {
    /// For `task_count` tasks over a dataset; `runs_of` gives the runs of one.
    pub(crate) fn new(
        dataset: &'a Dataset,
        how: &Execution,
        task_count: u64,
        runs_of: impl Fn(u64, &mut dyn FnMut(ReadRange)) -> Result<()> + Sync + 'a,
    ) -> Self {
        Prefetch {
            dataset,
            depth: how.access.depth,
            len_max: how.ahead_len(),
            task_count,
            runs_of: Box::new(runs_of),
            state: Mutex::new(PrefetchQueue::new(how)),
            changed: Condvar::new(),
        }
    }

    fn is_off(&self) -> bool {
        self.len_max == 0
    }

    /// Reads ahead while `work` runs.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        if self.is_off() {
            return work();
        }
        std::thread::scope(|scope| {
            let _stop = Stop(self);
            for nth in 0..self.depth {
                let thread = std::thread::Builder::new().name(format!("tet-read-{nth}"));
                // Where the system has no more threads, tasks read for themselves.
                if thread.spawn_scoped(scope, || self.read_ahead()).is_err() {
                    break;
                }
            }
            work()
        })
    }

    /// Fills `out` with a run of a task; false where the caller has to read it.
    ///
    /// # Errors
    ///
    /// Returns the error of reading it.
    pub(super) fn take(&self, task: u64, run: ReadRange, out: &mut [u8]) -> Result<bool> {
        if self.is_off() {
            return Ok(false);
        }
        let mut state = self.state();
        while state.known <= task {
            self.list_next(&mut state)?;
        }
        let Some(numbers) = state.pass_to(task, run) else { return Ok(false) };
        let (mut parts, mut outcome) = (Vec::new(), Ok(()));
        for number in numbers {
            let (guard, part) = self.await_part(state, number, run);
            state = guard;
            match part {
                Ok(Some(part)) => parts.push(part),
                Ok(None) => break,
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        state.pop(task);
        drop(state);
        self.changed.notify_all();
        outcome.map(|()| copy_parts(&parts, run, out))
    }

    /// Waits for a request that has bytes of a run, or makes it; `None` where the caller has to read the run.
    fn await_part<'s>(
        &'s self,
        mut state: MutexGuard<'s, PrefetchQueue>,
        number: u64,
        run: ReadRange,
    ) -> (MutexGuard<'s, PrefetchQueue>, Result<Option<RequestBytes>>) {
        loop {
            let Some(whole) = state.requests.get(&number).map(|request| request.run) else {
                return (state, Ok(None));
            };
            let has_room = self.has_room(&state, whole);
            let Some(request) = state.requests.get_mut(&number) else { return (state, Ok(None)) };
            match &request.held {
                RequestState::Reading => {
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                // It has more than this run, or less: it is made here.
                RequestState::Waiting if whole != run && has_room => {
                    state.begin(number, whole);
                    state = self.make(state, number, whole);
                }
                RequestState::Waiting | RequestState::Lost => return (state, Ok(None)),
                RequestState::Ready(bytes) => {
                    let part = RequestBytes { run: whole, bytes: Arc::clone(bytes) };
                    return (state, Ok(Some(part)));
                }
                RequestState::Failed(_) => {
                    let held = std::mem::replace(&mut request.held, RequestState::Lost);
                    let RequestState::Failed(error) = held else { return (state, Ok(None)) };
                    return (state, Err(error));
                }
            }
        }
    }

    /// Forgets what is left of a task.
    pub(super) fn end(&self, task: u64) {
        if self.is_off() {
            return;
        }
        let mut state = self.state();
        while state.tasks.get(&task).is_some_and(|runs| !runs.is_empty()) {
            state.pop(task);
        }
        state.tasks.remove(&task);
        drop(state);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, PrefetchQueue> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loop of one thread, until it is stopped.
    fn read_ahead(&self) {
        let mut state = self.state();
        while !state.is_stopped {
            match self.claim(&mut state) {
                Some((number, run)) => state = self.make(state, number, run),
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Makes a request that was begun.
    fn make<'s>(
        &'s self,
        state: MutexGuard<'s, PrefetchQueue>,
        number: u64,
        run: ReadRange,
    ) -> MutexGuard<'s, PrefetchQueue> {
        drop(state);
        let read = catch_unwind(AssertUnwindSafe(|| self.read(run)));
        let mut state = self.state();
        let held = match read {
            Ok(Ok(bytes)) => RequestState::Ready(Arc::new(bytes)),
            Ok(Err(error)) => RequestState::Failed(error),
            // A task that needs it reads by itself, and meets the panic.
            Err(_) => RequestState::Lost,
        };
        state.finish(number, held);
        self.changed.notify_all();
        state
    }

    /// The next request to be made; `None` where there is none, or no room for it.
    fn claim(&self, state: &mut PrefetchQueue) -> Option<(u64, ReadRange)> {
        loop {
            if let Some(number) = state.next_waiting() {
                let run = state.requests.get(&number)?.run;
                if !self.has_room(state, run) {
                    return None;
                }
                state.begin(number, run);
                return Some((number, run));
            }
            if self.task_count <= state.known {
                return None;
            }
            // The task meets the error by itself.
            self.list_next(state).ok()?;
        }
    }

    fn has_room(&self, state: &PrefetchQueue, run: ReadRange) -> bool {
        let len = state.held_len.saturating_add(run.span.len());
        state.held_count < HELD_MAX && len <= self.len_max
    }

    /// Lists the tasks of the next group.
    fn list_next(&self, state: &mut PrefetchQueue) -> Result<()> {
        let (group, listed) = state.groups.next(state.known, self.task_count, &self.runs_of);
        let first = state.request_count;
        for run in group.requests {
            let request = Request { run, left: 0, held: RequestState::Waiting };
            state.requests.insert(state.request_count, request);
            state.request_count += 1;
        }
        for runs in group.tasks {
            let runs = runs.into_iter().map(|(run, numbers)| {
                (run, first + numbers.start as u64..first + numbers.end as u64)
            });
            let runs: VecDeque<_> = runs.collect();
            for number in runs.iter().flat_map(|(_, numbers)| numbers.clone()) {
                state.requests.entry(number).and_modify(|request| request.left += 1);
            }
            state.tasks.insert(state.known, runs);
            state.known += 1;
        }
        listed
    }

    fn read(&self, run: ReadRange) -> Result<Vec<u8>> {
        let mut bytes = vec![0; buffer::len(run.span.len())?];
        let object = if run.object == 0 { None } else { self.dataset.chunks.object(run.object)? };
        let source = object.as_ref().unwrap_or(&self.dataset.source);
        source.read_ranges(&mut [(run.span.start(), &mut bytes)])?;
        Ok(bytes)
    }
}

impl PrefetchQueue {
    fn new(how: &Execution) -> PrefetchQueue {
        PrefetchQueue {
            tasks: BTreeMap::new(),
            known: 0,
            requests: BTreeMap::new(),
            request_count: 0,
            groups: Groups::new(how),
            next: 0,
            held_len: 0,
            held_count: 0,
            is_stopped: false,
        }
    }

    /// The first request that is not being made.
    fn next_waiting(&mut self) -> Option<u64> {
        let mut requests = self.requests.range(self.next..);
        let waiting = requests.find(|(_, request)| matches!(request.held, RequestState::Waiting));
        let number = waiting.map(|(&number, _)| number);
        self.next = number.unwrap_or(self.next);
        number
    }

    /// The requests of a run of a task; the runs before it are not needed any more.
    fn pass_to(&mut self, task: u64, run: ReadRange) -> Option<Range<u64>> {
        let at = self.tasks.get(&task)?.iter().position(|(listed, _)| *listed == run)?;
        for _ in 0..at {
            self.pop(task);
        }
        self.tasks.get(&task)?.front().map(|(_, numbers)| numbers.clone())
    }

    /// Takes the first run of a task off its requests. What is being read counts until it is here.
    fn pop(&mut self, task: u64) -> Option<()> {
        let (_, numbers) = self.tasks.get_mut(&task)?.pop_front()?;
        for number in numbers {
            let Some(request) = self.requests.get_mut(&number) else { continue };
            request.left -= 1;
            if request.left > 0 || matches!(request.held, RequestState::Reading) {
                continue;
            }
            let (run, is_held) = (request.run, !matches!(request.held, RequestState::Waiting));
            self.requests.remove(&number);
            if is_held {
                self.free(run);
            }
        }
        Some(())
    }

    fn begin(&mut self, number: u64, run: ReadRange) {
        if let Some(request) = self.requests.get_mut(&number) {
            request.held = RequestState::Reading;
            self.held_len = self.held_len.saturating_add(run.span.len());
            self.held_count += 1;
        }
    }

    fn finish(&mut self, number: u64, held: RequestState) {
        let Some(request) = self.requests.get_mut(&number) else { return };
        let run = request.run;
        if request.left == 0 {
            self.requests.remove(&number);
            self.free(run);
        } else {
            request.held = held;
        }
    }

    fn free(&mut self, run: ReadRange) {
        self.held_len = self.held_len.saturating_sub(run.span.len());
        self.held_count = self.held_count.saturating_sub(1);
    }
}

/// The bytes of a request.
struct RequestBytes {
    run: ReadRange,
    bytes: Arc<Vec<u8>>,
}

/// Copies a run out of the bytes of its requests, which follow each other; whether they have it.
fn copy_parts(parts: &[RequestBytes], run: ReadRange, out: &mut [u8]) -> bool {
    let mut done = 0;
    for RequestBytes { run: whole, bytes } in parts {
        let at = (run.span.start() + done as u64).checked_sub(whole.span.start());
        let at = at.and_then(|at| usize::try_from(at).ok()).unwrap_or(usize::MAX);
        let (Some(from), Some(to)) = (bytes.get(at..), out.get_mut(done..)) else { return false };
        let len = from.len().min(to.len());
        to[..len].copy_from_slice(&from[..len]);
        done += len;
    }
    done == out.len()
}

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.state().is_stopped = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests;
