//! Tasks on threads.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, Once};

use crate::budget::Execution;
use crate::error::{Error, Result};

/// Bytes of freed memory that is worth keeping for the next task.
const KEPT_LEN: usize = 4 << 20;

/// Runs tasks `0..count`, each once, on up to `workers` threads with one state each.
///
/// Tasks are begun in order, so the error that comes back is that of the first task that fails,
/// whatever the number of threads. Those that have begun are `ahead` at most, counted from the first
/// that has not ended: what ends before its turn is held until then. A task answers how many selected
/// bytes it finished.
pub(crate) fn run<S>(
    workers: usize,
    ahead: u64,
    count: u64,
    how: &Execution,
    state: impl Fn() -> S + Sync,
    task: impl Fn(&mut S, u64) -> Result<u64> + Sync,
) -> Result<()> {
    keep_freed_memory();
    let queue = Queue::new(count, ahead);
    let work = || {
        let mut state = state();
        queue.work(how, &mut |index| task(&mut state, index));
    };
    let wanted = usize::try_from(count).unwrap_or(usize::MAX).min(workers);
    on_threads(wanted, &work);
    queue.finish()
}

/// Tasks that wait for a thread.
struct Queue {
    count: u64,
    ahead: u64,
    state: Mutex<Progress>,
    ended: Condvar,
}

#[derive(Default)]
struct Progress {
    /// The next task to begin.
    next: u64,
    /// All before this one have ended.
    oldest: u64,
    /// Tasks that ended before one that had begun earlier.
    early: BTreeSet<u64>,
    /// Threads that wait for a task to end: where there are none, a notification would be a call of the system for nothing.
    waiting: usize,
    failed: Option<(u64, Error)>,
}

/// A task that has begun; it ends when this goes, by a panic too.
struct Turn<'a> {
    queue: &'a Queue,
    index: u64,
}

impl Queue {
    fn new(count: u64, ahead: u64) -> Self {
        Queue { count, ahead: ahead.max(1), state: Mutex::default(), ended: Condvar::new() }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.state.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// The next task, once it may begin; `None` when there is none, or one has failed.
    fn next(&self) -> Option<Turn<'_>> {
        let mut progress = self.progress();
        loop {
            if progress.failed.is_some() || self.count <= progress.next {
                return None;
            }
            if progress.next - progress.oldest < self.ahead {
                let index = progress.next;
                progress.next += 1;
                return Some(Turn { queue: self, index });
            }
            progress.waiting += 1;
            progress = self.ended.wait(progress).unwrap_or_else(|poison| poison.into_inner());
            progress.waiting -= 1;
        }
    }

    /// Runs tasks until there are none.
    fn work(&self, how: &Execution, task: &mut dyn FnMut(u64) -> Result<u64>) {
        while let Some(turn) = self.next() {
            let done = how.progress.check().map_err(Error::from);
            let done = done.and_then(|()| task(turn.index));
            if let Err(error) = done.and_then(|done| Ok(how.progress.advance(done)?)) {
                self.fail(turn.index, error);
            }
        }
    }

    fn fail(&self, index: u64, error: Error) {
        let mut progress = self.progress();
        if progress.failed.as_ref().is_none_or(|(at, _)| index < *at) {
            progress.failed = Some((index, error));
        }
    }

    fn finish(self) -> Result<()> {
        let progress = self.state.into_inner().unwrap_or_else(|poison| poison.into_inner());
        progress.failed.map_or(Ok(()), |(_, error)| Err(error))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut progress = self.queue.progress();
        progress.early.insert(self.index);
        while progress.early.first() == Some(&progress.oldest) {
            progress.early.pop_first();
            progress.oldest += 1;
        }
        let is_awaited = progress.waiting != 0;
        drop(progress);
        if is_awaited {
            self.queue.ended.notify_all();
        }
    }
}

/// Has the allocator keep what a task frees, which the next one wants again: the one of glibc gives
/// blocks of 128 KiB back at once until it has seen a longer one freed, and fresh pages cost more
/// than the folding into them.
fn keep_freed_memory() {
    static SEEN: Once = Once::new();
    SEEN.call_once(|| drop(std::hint::black_box(Vec::<u8>::with_capacity(KEPT_LEN))));
}

/// Runs `work` on that many threads, this one among them; on fewer where the system has no more.
///
/// The threads are made for this and end with it. A permanent pool would have to be one for each
/// number of threads, would hang after `fork`, and saves 15 us a thread of tasks that take 1 ms.
fn on_threads(workers: usize, work: &(dyn Fn() + Sync)) {
    if workers <= 1 {
        return work();
    }
    std::thread::scope(|scope| {
        let spawn = |nth| {
            let thread = std::thread::Builder::new().name(format!("tet-{nth}"));
            thread.spawn_scoped(scope, work)
        };
        let threads: Vec<_> = (1..workers).map_while(|nth| spawn(nth).ok()).collect();
        work();
        // The scope alone waits for the work and not for the threads.
        for thread in threads {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}
