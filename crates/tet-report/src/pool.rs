//! The same work for many items, on several threads; answers come in the order of the items.

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// What one thread reads sooner than several are made.
const ALONE_LEN_MAX: u64 = 4 << 20;

/// The threads that read payloads.
#[derive(Debug)]
pub struct Pool(Option<ThreadPool>);

impl Pool {
    /// As many threads as the caller asks for (0 is as many as the machine runs at once), but at most
    /// `count_max`; one for fewer than a few MiB.
    #[must_use]
    pub fn new(threads: usize, count_max: usize, len: u64) -> Pool {
        if len <= ALONE_LEN_MAX {
            return Pool(None);
        }
        let all = || std::thread::available_parallelism().map_or(1, Into::into);
        let count = if threads == 0 { all() } else { threads }.min(count_max);
        let builder = ThreadPoolBuilder::new().num_threads(count);
        let builder = builder.thread_name(|at| format!("tet-verify-{at}"));
        // Without threads the caller's own does the work.
        Pool((count > 1).then(|| builder.build().ok()).flatten())
    }

    /// How many threads there are.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.0.as_ref().map_or(1, ThreadPool::current_num_threads)
    }

    /// Does the work for every item.
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
