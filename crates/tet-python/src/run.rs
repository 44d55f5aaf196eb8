//! Long work beside the interpreter: without its lock, with its signals, and with progress.
//!
//! ```text
//!   short work    this thread, the lock released
//!   long work     a thread of its own; this one waits, and every 50 ms looks for signals and reports progress
//!   opening       this thread, the lock released; it looks for signals itself when it reports what it scanned
//! ```

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use tet_io::Progress;

use crate::error::{internal, raise};

/// How long signals wait at most.
const TICK: Duration = Duration::from_millis(50);

/// Work on fewer bytes is over before a thread would have been started, or soon after.
const SHORT_LEN: u64 = 4 << 20;

/// How much there is to do, and who hears of it.
pub(crate) struct ProgressCallback<'p> {
    /// Bytes to be read or computed with.
    len: u64,
    /// Called with the bytes that are done and the bytes in all; 0 where they are not known.
    progress: Option<&'p Bound<'p, PyAny>>,
}

impl<'p> ProgressCallback<'p> {
    /// Work on `len` bytes.
    pub(crate) fn new(len: u64, progress: Option<&'p Bound<'p, PyAny>>) -> ProgressCallback<'p> {
        ProgressCallback { len, progress }
    }

    /// Work of any length.
    pub(crate) fn long(progress: Option<&'p Bound<'p, PyAny>>) -> ProgressCallback<'p> {
        ProgressCallback { len: u64::MAX, progress }
    }
}

/// Bytes that are done, and bytes in all.
#[derive(Default)]
struct Count {
    done: AtomicU64,
    all: AtomicU64,
}

/// Does the work without the lock of the interpreter.
///
/// # Errors
///
/// Those of the work as exceptions, and what a handler of a signal or the callback raises: the work is then canceled
/// and waited for.
pub(crate) fn detached<T, E>(
    py: Python<'_>,
    job: &ProgressCallback<'_>,
    work: impl FnOnce(Progress) -> Result<T, E> + Send,
) -> PyResult<T>
where
    T: Send,
    E: Into<tet::Error> + Send,
{
    let guarded = |progress: Progress| {
        let transfers = progress.silent();
        catch_unwind(AssertUnwindSafe(|| transfers.during(|| work(progress))))
    };
    let outcome = if job.len < SHORT_LEN && job.progress.is_none() {
        py.detach(|| guarded(Progress::default()))
    } else {
        watched(py, job, guarded)?
    };
    settled(py, outcome)
}

/// Does the work on this thread without the lock of the interpreter; whenever it reports progress, and a tick has
/// passed, it looks for signals. A thread of its own would take longer than most files take to open.
///
/// # Errors
///
/// Those of the work as exceptions, and what a handler of a signal raises: the work is then canceled.
pub(crate) fn attended<T, E>(
    py: Python<'_>,
    work: impl FnOnce(Progress) -> Result<T, E> + Send,
) -> PyResult<T>
where
    T: Send,
    E: Into<tet::Error> + Send,
{
    let cancel = Arc::new(AtomicBool::new(false));
    let (raised, stop) = (Arc::new(Mutex::new(None)), Arc::clone(&cancel));
    let (stopped, seen) = (Arc::clone(&raised), Mutex::new(Instant::now()));
    let progress = Progress::new(move |_, _| {
        let mut seen = lock(&seen);
        if seen.elapsed() < TICK {
            return;
        }
        *seen = Instant::now();
        drop(seen);
        if let Err(signal) = Python::attach(|py| py.check_signals()) {
            *lock(&stopped) = Some(signal);
            stop.store(true, Ordering::Relaxed);
        }
    });
    let progress = progress.with_cancel(cancel);
    let transfers = progress.clone();
    let outcome =
        py.detach(|| catch_unwind(AssertUnwindSafe(|| transfers.during(|| work(progress)))));
    match lock(&raised).take() {
        Some(signal) => Err(signal),
        None => settled(py, outcome),
    }
}

/// The result of the work, or the exception of its error.
fn settled<T, E: Into<tet::Error>>(
    py: Python<'_>,
    outcome: std::thread::Result<Result<T, E>>,
) -> PyResult<T> {
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(raise(py, &error.into())),
        Err(panic) => Err(internal(py, &message(&*panic))),
    }
}

/// Does the work on another thread, and waits.
fn watched<T: Send>(
    py: Python<'_>,
    job: &ProgressCallback<'_>,
    work: impl FnOnce(Progress) -> T + Send,
) -> PyResult<T> {
    let cancel = Arc::new(AtomicBool::new(false));
    let count = Arc::new(Count::default());
    let counted = Arc::clone(&count);
    let progress = Progress::new(move |done, all| {
        counted.all.store(all, Ordering::Relaxed);
        counted.done.store(done, Ordering::Relaxed);
    });
    let progress = progress.with_cancel(Arc::clone(&cancel));
    let (slot, ready) = (Mutex::new(None), Condvar::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let value = work(progress);
            *lock(&slot) = Some(value);
            ready.notify_all();
        });
        let mut stopped = Ok(());
        let mut reported = None;
        loop {
            let value = py.detach(|| wait(&slot, &ready));
            if stopped.is_ok() {
                stopped = py.check_signals();
            }
            if stopped.is_ok() {
                stopped = report(job, &count, &mut reported);
            }
            match value {
                // The work is done; what was raised meanwhile comes first.
                Some(value) => return stopped.map(|()| value),
                None if stopped.is_err() => cancel.store(true, Ordering::Relaxed),
                None => {}
            }
        }
    })
}

/// Waits for the value, for the time of a tick at most.
fn wait<T>(slot: &Mutex<Option<T>>, ready: &Condvar) -> Option<T> {
    let waiting = ready.wait_timeout_while(lock(slot), TICK, |value| value.is_none());
    waiting.unwrap_or_else(PoisonError::into_inner).0.take()
}

fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls the callback, or moves the bar, where the count is another than the last one.
fn report(
    job: &ProgressCallback<'_>,
    count: &Count,
    reported: &mut Option<(u64, u64)>,
) -> PyResult<()> {
    let Some(callback) = job.progress else { return Ok(()) };
    let now = (count.done.load(Ordering::Relaxed), count.all.load(Ordering::Relaxed));
    if *reported == Some(now) {
        return Ok(());
    }
    *reported = Some(now);
    let (done, all) = now;
    match callback.getattr("update") {
        // A bar of tqdm takes how many more.
        Ok(update) => {
            callback.setattr("total", all)?;
            let shown: u64 = callback.getattr("n")?.extract()?;
            update.call1((done.saturating_sub(shown),))?;
        }
        Err(_) => {
            callback.call1(now)?;
        }
    }
    Ok(())
}

/// Message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
