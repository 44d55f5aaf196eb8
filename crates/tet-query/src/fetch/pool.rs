//! Tasks on threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, Once};

use crate::budget::Execution;
use crate::error::{Error, Result};

/// Bytes of freed memory that is worth keeping for the next task.
const KEPT_LEN: usize = 4 << 20;

/// Runs tasks `0..count`, each once, on up to `workers` threads with one state each.
///
/// Tasks are begun in order, so the error that comes back is that of the first task that fails,
/// whatever the number of threads. A task answers how many selected bytes it finished.
pub(crate) fn run<S>(
    workers: usize,
    count: u64,
    how: &Execution,
    state: impl Fn() -> S + Sync,
    task: impl Fn(&mut S, u64) -> Result<u64> + Sync,
) -> Result<()> {
    keep_freed_memory();
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let failed: Mutex<Option<(u64, Error)>> = Mutex::new(None);
    let work = || {
        let mut state = state();
        while !stop.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            let outcome =
                if how.is_canceled() { Err(Error::Canceled) } else { task(&mut state, index) };
            match outcome {
                Ok(done) => how.report(done),
                Err(error) => {
                    stop.store(true, Ordering::Relaxed);
                    let mut first = failed.lock().unwrap_or_else(|poison| poison.into_inner());
                    if first.as_ref().is_none_or(|(at, _)| index < *at) {
                        *first = Some((index, error));
                    }
                }
            }
        }
    };
    let wanted = usize::try_from(count).unwrap_or(usize::MAX).min(workers);
    if wanted <= 1 || !on_threads(wanted, &work) {
        work();
    }
    let failed = failed.into_inner().unwrap_or_else(|poison| poison.into_inner());
    failed.map_or(Ok(()), |(_, error)| Err(error))
}

/// Has the allocator keep what a task frees, which the next one wants again: the one of glibc gives
/// blocks of 128 KiB back at once until it has seen a longer one freed, and fresh pages cost more
/// than the folding into them.
fn keep_freed_memory() {
    static SEEN: Once = Once::new();
    SEEN.call_once(|| drop(std::hint::black_box(Vec::<u8>::with_capacity(KEPT_LEN))));
}

/// Runs `work` on that many threads at once; false when there are no threads to be had.
#[cfg(feature = "parallel")]
fn on_threads(workers: usize, work: &(impl Fn() + Sync)) -> bool {
    let Some(pool) = pool_of(workers) else { return false };
    pool.scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|_| work());
        }
    });
    true
}

#[cfg(not(feature = "parallel"))]
fn on_threads(_workers: usize, _work: &(impl Fn() + Sync)) -> bool {
    false
}

/// The pool of that many threads, made once and kept: making one costs more than a small task.
#[cfg(feature = "parallel")]
fn pool_of(workers: usize) -> Option<std::sync::Arc<rayon::ThreadPool>> {
    use std::sync::Arc;

    static POOLS: Mutex<Vec<Arc<rayon::ThreadPool>>> = Mutex::new(Vec::new());
    let mut pools = POOLS.lock().unwrap_or_else(|poison| poison.into_inner());
    if let Some(pool) = pools.iter().find(|pool| pool.current_num_threads() == workers) {
        return Some(Arc::clone(pool));
    }
    let builder = rayon::ThreadPoolBuilder::new().num_threads(workers);
    let pool = Arc::new(builder.thread_name(|at| format!("tet-{at}")).build().ok()?);
    pools.push(Arc::clone(&pool));
    Some(pool)
}
