//! Runs the same work for many items on several threads; results are in the order of the items.

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

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
