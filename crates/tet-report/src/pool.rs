//! Runs the same work for many items on several threads; results are in the order of the items.

use std::error::Error;
use std::sync::OnceLock;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Lets rayon work on this thread alone where the system gives no threads: it would panic otherwise. To be called before
/// rayon is used without a [`Pool`].
///
/// # Examples
///
/// ```
/// tet_report::ensure_threads();
/// assert!(rayon::current_num_threads() > 0);
/// ```
pub fn ensure_threads() {
    static ARE_THERE: OnceLock<bool> = OnceLock::new();
    let are_there = ARE_THERE.get_or_init(|| match ThreadPoolBuilder::new().build_global() {
        Ok(()) => true,
        // Without a reason of the system the pool was there before.
        Err(error) => error.source().is_none(),
    });
    if !are_there && rayon::current_thread_index().is_none() {
        work_alone();
    }
}

/// Makes this thread the only one of a pool, which lasts as long as the thread.
fn work_alone() {
    let alone = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    std::mem::forget(alone);
}

/// The most bytes that are read on one thread.
const ALONE_LEN_MAX: u64 = 4 << 20;

/// The threads that read payloads.
#[derive(Debug)]
pub struct Pool(Option<ThreadPool>);

impl Pool {
    /// A pool of `threads` threads (0 is one per processor), but at most `count_max`; one thread if
    /// less than a few MiB are read.
    #[must_use]
    pub fn new(threads: usize, count_max: usize, len: u64) -> Pool {
        if len <= ALONE_LEN_MAX {
            return Pool(None);
        }
        let all = || std::thread::available_parallelism().map_or(1, Into::into);
        let count = if threads == 0 { all() } else { threads }.min(count_max);
        let builder = ThreadPoolBuilder::new().num_threads(count);
        let builder = builder.thread_name(|at| format!("tet-verify-{at}"));
        // If no threads can be started, the caller's thread does the work.
        Pool((count > 1).then(|| builder.build().ok()).flatten())
    }

    /// The number of threads.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.0.as_ref().map_or(1, ThreadPool::current_num_threads)
    }

    /// Runs the work for every item.
    ///
    /// # Errors
    ///
    /// The first error in the order of the items.
    pub fn map<T: Sync, S, R: Send, E: Send>(
        &self,
        items: &[T],
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, &T) -> Result<R, E> + Sync + Send,
    ) -> Result<Vec<R>, E> {
        match &self.0 {
            Some(pool) if items.len() > 1 => {
                let work = || items.par_iter().map_init(&scratch, &work).collect::<Vec<_>>();
                pool.install(work).into_iter().collect()
            }
            _ => {
                let mut scratch = scratch();
                items.iter().map(|item| work(&mut scratch, item)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_may_be_all_there_is() {
        let alone = std::thread::spawn(|| {
            work_alone();
            // The second one finds itself in a pool.
            ensure_threads();
            let numbers: Vec<u64> = (0..1000).collect();
            let sum: u64 = numbers.par_iter().sum();
            let (a, b) = rayon::join(|| sum, rayon::current_num_threads);
            (a, b, rayon::current_thread_index())
        });
        assert_eq!(alone.join().unwrap(), (499_500, 1, Some(0)));
        ensure_threads();
        assert!(rayon::current_thread_index().is_none());
    }
}
