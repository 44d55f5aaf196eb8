//! The same work for many items, on several threads; answers come in the order of the items.

use rayon::ThreadPool;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::error::Result;
use crate::options::VerifyOptions;

/// What a thread holds while it decodes a payload with a window of the usual size, twice over.
const HELD_LEN: u64 = 20 << 20;

/// What one thread looks at sooner than several are made.
const ALONE_LEN_MAX: u64 = 4 << 20;

/// The threads that look at payloads.
pub(crate) struct Pool(Option<ThreadPool>);

impl Pool {
    /// As many threads as are asked for, the machine has, the budget allows, and so many bytes are
    /// worth.
    pub(crate) fn new(options: &VerifyOptions, all: u64) -> Pool {
        if all <= ALONE_LEN_MAX {
            return Pool(None);
        }
        let all = || std::thread::available_parallelism().map_or(1, Into::into);
        let asked = if options.threads == 0 { all() } else { options.threads };
        let affordable = usize::try_from(options.memory_budget / HELD_LEN).unwrap_or(usize::MAX);
        let count = asked.min(affordable).max(1);
        let builder = rayon::ThreadPoolBuilder::new().num_threads(count);
        let builder = builder.thread_name(|at| format!("tet-verify-{at}"));
        // Without threads the caller's own does the work.
        Pool((count > 1).then(|| builder.build().ok()).flatten())
    }

    /// Does the work for every item; the first error in their order is the one that is told.
    pub(crate) fn map<T: Sync, S, R: Send>(
        &self,
        items: &[T],
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, &T) -> Result<R> + Sync + Send,
    ) -> Result<Vec<R>> {
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
