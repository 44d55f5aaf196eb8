//! Runs jobs in parallel and delivers them in order.
//!
//! The caller's thread makes jobs and delivers them in the order of making; workers run them in
//! between. At most `in_flight_max` jobs exist at a time, so a fast producer waits.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The jobs between the caller's thread and the workers.
struct JobQueue<J> {
    state: Mutex<QueueState<J>>,
    /// A job is ready, or the queue is closed.
    todo: Condvar,
    /// A job is finished, or a worker has ended.
    done: Condvar,
}

struct QueueState<J> {
    todo: VecDeque<(u64, J)>,
    done: BTreeMap<u64, J>,
    worker_count: usize,
    is_closed: bool,
}

impl<J> JobQueue<J> {
    fn lock(&self) -> MutexGuard<'_, QueueState<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, number: u64, job: J) {
        self.lock().todo.push_back((number, job));
        self.todo.notify_one();
    }

    /// Waits for job `number`; `None` if no worker is left to run it.
    fn take_done(&self, number: u64) -> Option<J> {
        let is_waiting =
            |state: &mut QueueState<J>| !state.done.contains_key(&number) && state.worker_count > 0;
        let state = self.done.wait_while(self.lock(), is_waiting);
        state.unwrap_or_else(PoisonError::into_inner).done.remove(&number)
    }

    fn work(&self, work: impl Fn(&mut J)) {
        let _present = WorkerGuard(self);
        let is_waiting = |state: &mut QueueState<J>| state.todo.is_empty() && !state.is_closed;
        loop {
            let state = self.todo.wait_while(self.lock(), is_waiting);
            let next = state.unwrap_or_else(PoisonError::into_inner).todo.pop_front();
            let Some((number, mut job)) = next else { return };
            work(&mut job);
            self.lock().done.insert(number, job);
            self.done.notify_one();
        }
    }
}

/// Reports the end of a worker, even after a panic.
struct WorkerGuard<'a, J>(&'a JobQueue<J>);

impl<J> Drop for WorkerGuard<'_, J> {
    fn drop(&mut self) {
        self.0.lock().worker_count -= 1;
        self.0.done.notify_one();
    }
}

/// Closes the queue at the end of the caller's work, even after a panic, so that the workers end.
struct QueueGuard<'a, J>(&'a JobQueue<J>);

impl<J> Drop for QueueGuard<'_, J> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_closed = true;
        state.todo.clear();
        drop(state);
        self.0.todo.notify_all();
    }
}

/// The number of workers and jobs.
///
/// # Examples
///
/// ```
/// use tet_file::write::OrderedWorkers;
///
/// let alone = OrderedWorkers { worker_count: 0, in_flight_max: 1 };
/// assert_eq!(alone.worker_count, 0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OrderedWorkers {
    /// The number of threads; with 0, the caller's thread runs the jobs. 1 keeps their order.
    pub worker_count: usize,
    /// The most jobs that exist at a time.
    pub in_flight_max: usize,
}

/// The callbacks of a caller of [`in_order`].
///
/// # Examples
///
/// ```
/// use tet_file::write::{OrderedJobs, OrderedWorkers, in_order};
///
/// /// The squares of numbers, in their order.
/// struct Squares(Vec<u64>, Vec<u64>);
///
/// impl OrderedJobs for Squares {
///     type Item = u64;
///     type Error = &'static str;
///
///     fn make(&mut self) -> Result<Option<u64>, &'static str> {
///         Ok(self.0.pop())
///     }
///
///     fn deliver(&mut self, job: u64) -> Result<(), &'static str> {
///         self.1.push(job);
///         Ok(())
///     }
///
///     fn lost(&self) -> &'static str {
///         "a worker has ended"
///     }
/// }
///
/// let mut squares = Squares(vec![3, 2, 1], Vec::new());
/// let workers = OrderedWorkers { worker_count: 2, in_flight_max: 4 };
/// in_order(&mut squares, workers, |job| *job *= *job)?;
/// assert_eq!(squares.1, [1, 4, 9]);
/// # Ok::<(), &'static str>(())
/// ```
pub trait OrderedJobs {
    /// The data of a job.
    type Item: Send;
    /// The error of a callback.
    type Error;

    /// Makes the next job, on the caller's thread; `None` after the last.
    ///
    /// # Errors
    ///
    /// An error ends the work.
    fn make(&mut self) -> Result<Option<Self::Item>, Self::Error>;

    /// Delivers a finished job, on the caller's thread, in the order of making.
    ///
    /// # Errors
    ///
    /// An error ends the work.
    fn deliver(&mut self, job: Self::Item) -> Result<(), Self::Error>;

    /// The error for a worker that ended without finishing its job.
    fn lost(&self) -> Self::Error;
}

/// Runs `work` on each job that `pipeline` makes. If no thread can be started, the caller's thread does the
/// work.
///
/// # Errors
///
/// Returns the first error of the callbacks, or that a worker was lost.
pub fn in_order<P: OrderedJobs>(
    pipeline: &mut P,
    workers: OrderedWorkers,
    work: impl Fn(&mut P::Item) + Sync,
) -> Result<(), P::Error> {
    let state = QueueState {
        todo: VecDeque::new(),
        done: BTreeMap::new(),
        worker_count: 0,
        is_closed: false,
    };
    let queue = JobQueue { state: Mutex::new(state), todo: Condvar::new(), done: Condvar::new() };
    thread::scope(|scope| {
        let _open = QueueGuard(&queue);
        if workers.in_flight_max > 1 {
            for _ in 0..workers.worker_count.min(workers.in_flight_max) {
                queue.lock().worker_count += 1;
                let worker = || queue.work(&work);
                if thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                    queue.lock().worker_count -= 1;
                    break;
                }
            }
        }
        if queue.lock().worker_count == 0 {
            return run_alone(pipeline, &work);
        }
        run_with_workers(pipeline, &queue, workers.in_flight_max)
    })
}

fn run_alone<P: OrderedJobs>(
    pipeline: &mut P,
    work: &impl Fn(&mut P::Item),
) -> Result<(), P::Error> {
    while let Some(mut job) = pipeline.make()? {
        work(&mut job);
        pipeline.deliver(job)?;
    }
    Ok(())
}

fn run_with_workers<P: OrderedJobs>(
    pipeline: &mut P,
    queue: &JobQueue<P::Item>,
    in_flight_max: usize,
) -> Result<(), P::Error> {
    let (mut made, mut delivered) = (0_u64, 0_u64);
    let mut is_more = true;
    while is_more || delivered < made {
        let has_room = made - delivered < in_flight_max as u64;
        if is_more && has_room {
            match pipeline.make()? {
                Some(job) => {
                    queue.put(made, job);
                    made += 1;
                }
                None => is_more = false,
            }
        } else {
            let job = queue.take_done(delivered).ok_or_else(|| pipeline.lost())?;
            pipeline.deliver(job)?;
            delivered += 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Makes `count` numbers and receives their doubles.
    struct Doubling {
        made: u64,
        count: u64,
        taken: Vec<u64>,
        fails_at: Option<u64>,
        in_flight: u64,
        in_flight_seen: u64,
    }

    impl Doubling {
        fn new(count: u64) -> Self {
            Self { made: 0, count, taken: vec![], fails_at: None, in_flight: 0, in_flight_seen: 0 }
        }
    }

    impl OrderedJobs for Doubling {
        type Item = u64;
        type Error = &'static str;

        fn make(&mut self) -> Result<Option<u64>, &'static str> {
            if self.fails_at == Some(self.made) {
                return Err("cannot make");
            }
            if self.made == self.count {
                return Ok(None);
            }
            self.made += 1;
            self.in_flight += 1;
            self.in_flight_seen = self.in_flight_seen.max(self.in_flight);
            Ok(Some(self.made - 1))
        }

        fn deliver(&mut self, job: u64) -> Result<(), &'static str> {
            self.in_flight -= 1;
            self.taken.push(job);
            Ok(())
        }

        fn lost(&self) -> &'static str {
            "lost"
        }
    }

    #[test]
    fn jobs_come_back_in_order_for_any_number_of_workers() {
        for worker_count in 0..6 {
            for in_flight_max in 1..6 {
                let mut doubling = Doubling::new(200);
                let workers = OrderedWorkers { worker_count, in_flight_max };
                in_order(&mut doubling, workers, |job| *job *= 2).unwrap();
                assert_eq!(doubling.taken, (0..200).map(|job| job * 2).collect::<Vec<_>>());
                assert!(doubling.in_flight_seen <= in_flight_max as u64, "memory is bounded");
            }
        }
    }

    #[test]
    fn a_failing_maker_ends_the_workers() {
        let mut doubling = Doubling { fails_at: Some(50), ..Doubling::new(200) };
        let workers = OrderedWorkers { worker_count: 4, in_flight_max: 8 };
        assert_eq!(in_order(&mut doubling, workers, |job| *job *= 2), Err("cannot make"));
    }

    #[test]
    fn workers_share_the_work() {
        let (here, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut doubling = Doubling::new(2);
        let workers = OrderedWorkers { worker_count: 2, in_flight_max: 2 };
        in_order(&mut doubling, workers, |_| {
            let now = here.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            // This loop ends only if both jobs run at the same time.
            while most.load(Ordering::SeqCst) < 2 {
                thread::yield_now();
            }
        })
        .unwrap();
        assert_eq!(most.into_inner(), 2);
    }
}
