//! Runs of a server's file that are read before the task that needs them comes to them.
//!
//! A request takes long, and several at the same time take no longer. So threads of their own make
//! requests in the order of the tasks, as many as [`Access`](tet_io::Access) allows, and hold what comes
//! back within a share of the memory budget:
//!
//! ```text
//!   requests   task 0: run 0, run 1    task 1: run 2    task 2: run 3 ...    as far as the share reaches
//!   threads    take run 0, then run 1; a run that is not being read yet they read themselves
//! ```
//!
//! What is read stays what the plan says: nothing is read here that a task would not read. No task
//! waits for a run that is not being read, so nothing waits for ever.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::budget::Execution;
use crate::buffer;
use crate::catalog::{Dataset, Run};
use crate::error::{Error, Result};

/// Runs that are held at most, for each request that is made at the same time.
const HELD_PER_REQUEST: usize = 16;

/// Gives the runs of a task.
type RunsOf<'a> = dyn Fn(u64, &mut dyn FnMut(Run)) -> Result<()> + Sync + 'a;

/// The runs of the tasks of one pass.
pub(crate) struct Prefetch<'a> {
    dataset: &'a Dataset,
    /// Requests at the same time; 1 for a local file, of which nothing is read ahead.
    depth: usize,
    /// Bytes that may be held.
    len_max: u64,
    task_count: u64,
    runs_of: Box<RunsOf<'a>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// What is left of the tasks whose runs are known.
    tasks: BTreeMap<u64, Pieces>,
    /// The runs of tasks before this one are known.
    known: u64,
    /// No piece before this one waits: the task, and the number of the piece in it.
    next: (u64, u64),
    /// Bytes and pieces that are read or held.
    held_len: u64,
    held_count: usize,
    is_stopped: bool,
}

/// The runs of a task, in its order.
#[derive(Default)]
struct Pieces {
    /// The number of the first that is left.
    first: u64,
    left: VecDeque<Piece>,
}

struct Piece {
    run: Run,
    held: Held,
}

enum Held {
    /// It is not being read.
    Waiting,
    Reading,
    Ready(Vec<u8>),
    Failed(Error),
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
        runs_of: impl Fn(u64, &mut dyn FnMut(Run)) -> Result<()> + Sync + 'a,
    ) -> Self {
        Prefetch {
            dataset,
            depth: how.access.depth,
            len_max: how.ahead_len(),
            task_count,
            runs_of: Box::new(runs_of),
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn is_off(&self) -> bool {
        self.depth <= 1
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
    pub(super) fn take(&self, task: u64, run: Run, out: &mut [u8]) -> Result<bool> {
        if self.is_off() {
            return Ok(false);
        }
        let mut state = self.state();
        while state.known <= task {
            self.list_next(&mut state)?;
        }
        loop {
            let Some(piece) = state.pass_to(task, run) else { return Ok(false) };
            if matches!(piece.held, Held::Reading) {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let piece = state.pop(task);
            drop(state);
            self.changed.notify_all();
            return match piece.map(|piece| piece.held) {
                Some(Held::Ready(bytes)) if bytes.len() == out.len() => {
                    out.copy_from_slice(&bytes);
                    Ok(true)
                }
                Some(Held::Failed(error)) => Err(error),
                _ => Ok(false),
            };
        }
    }

    /// Forgets what is left of a task.
    pub(super) fn end(&self, task: u64) {
        if self.is_off() {
            return;
        }
        let mut state = self.state();
        while state.pop(task).is_some() {}
        state.tasks.remove(&task);
        drop(state);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What one thread does until it is stopped.
    fn read_ahead(&self) {
        let mut state = self.state();
        while !state.is_stopped {
            let Some((at, run)) = self.claim(&mut state) else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            let read = catch_unwind(AssertUnwindSafe(|| self.read(run)));
            state = self.state();
            match read {
                Ok(read) => state.finish(at, run, read.map_or_else(Held::Failed, Held::Ready)),
                // A task that waits for it reads by itself.
                Err(_) => state.give_back(at, run),
            }
            self.changed.notify_all();
        }
    }

    /// The next run to be read; `None` where there is none, or no room for it.
    fn claim(&self, state: &mut State) -> Option<((u64, u64), Run)> {
        loop {
            if let Some(at) = state.next_waiting() {
                let has_room = state.held_count < HELD_PER_REQUEST * self.depth;
                let run = state.piece(at)?.run;
                let len = state.held_len.saturating_add(run.span.len());
                if !has_room || self.len_max < len {
                    return None;
                }
                state.piece(at)?.held = Held::Reading;
                (state.held_len, state.held_count) = (len, state.held_count + 1);
                return Some((at, run));
            }
            if self.task_count <= state.known {
                return None;
            }
            // The task meets the error by itself.
            self.list_next(state).ok()?;
        }
    }

    fn list_next(&self, state: &mut State) -> Result<()> {
        let mut pieces = Pieces::default();
        let listed = (self.runs_of)(state.known, &mut |run| {
            pieces.left.push_back(Piece { run, held: Held::Waiting });
        });
        state.tasks.insert(state.known, pieces);
        state.known += 1;
        listed
    }

    fn read(&self, run: Run) -> Result<Vec<u8>> {
        let mut bytes = vec![0; buffer::len(run.span.len())?];
        let object = if run.object == 0 { None } else { self.dataset.chunks.object(run.object)? };
        let source = object.as_ref().unwrap_or(&self.dataset.source);
        source.read_ranges(&mut [(run.span.start(), &mut bytes)])?;
        Ok(bytes)
    }
}

impl State {
    fn piece(&mut self, (task, number): (u64, u64)) -> Option<&mut Piece> {
        let pieces = self.tasks.get_mut(&task)?;
        let at = number.checked_sub(pieces.first)?;
        pieces.left.get_mut(usize::try_from(at).ok()?)
    }

    /// The first piece that is not being read.
    fn next_waiting(&mut self) -> Option<(u64, u64)> {
        let (from, number) = self.next;
        for (&task, pieces) in self.tasks.range(from..) {
            let from = if task == from { number.max(pieces.first) } else { pieces.first };
            let skip = usize::try_from(from - pieces.first).unwrap_or(usize::MAX);
            let mut left = pieces.left.iter().zip(pieces.first..).skip(skip);
            let waiting = left.find(|(piece, _)| matches!(piece.held, Held::Waiting));
            if let Some((_, number)) = waiting {
                self.next = (task, number);
                return Some(self.next);
            }
        }
        None
    }

    /// The piece of a run; those before it are not needed any more.
    fn pass_to(&mut self, task: u64, run: Run) -> Option<&Piece> {
        let left = &self.tasks.get(&task)?.left;
        let at = left.iter().position(|piece| piece.run == run)?;
        for _ in 0..at {
            self.pop(task);
        }
        self.tasks.get(&task)?.left.front()
    }

    /// Takes the first piece of a task. What is being read counts until it is here.
    fn pop(&mut self, task: u64) -> Option<Piece> {
        let pieces = self.tasks.get_mut(&task)?;
        let piece = pieces.left.pop_front()?;
        pieces.first += 1;
        if let Held::Ready(_) | Held::Failed(_) = piece.held {
            self.free(piece.run);
        }
        Some(piece)
    }

    fn finish(&mut self, at: (u64, u64), run: Run, held: Held) {
        match self.piece(at) {
            Some(piece) => piece.held = held,
            None => self.free(run),
        }
    }

    fn give_back(&mut self, at: (u64, u64), run: Run) {
        if let Some(piece) = self.piece(at) {
            piece.held = Held::Waiting;
        }
        self.free(run);
    }

    fn free(&mut self, run: Run) {
        self.held_len = self.held_len.saturating_sub(run.span.len());
        self.held_count = self.held_count.saturating_sub(1);
    }
}

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.state().is_stopped = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests;
