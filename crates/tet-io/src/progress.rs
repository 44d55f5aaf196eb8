//! The progress of long work, for a caller who may cancel it.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tet_format::Span;

use crate::error::Error;
use crate::source::Source;

/// Counts the bytes that long work has processed, reports them to a callback, and cancels the work.
///
/// Clones share one counter, from any thread. By default there is no callback and no cancellation.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use tet_io::{Canceled, Progress};
///
/// let reports = Arc::new(Mutex::new(Vec::new()));
/// let cancel = Arc::new(AtomicBool::new(false));
/// let log = Arc::clone(&reports);
/// let progress = Progress::new(move |done, all| log.lock().unwrap().push((done, all)));
/// let progress = progress.with_cancel(Arc::clone(&cancel)).begin(100);
///
/// progress.advance(30)?;
/// progress.advance(50)?;
/// cancel.store(true, Ordering::Relaxed);
/// assert_eq!(progress.advance(20), Err(Canceled));
/// assert_eq!(*reports.lock().unwrap(), [(30, 100), (80, 100)]);
/// # Ok::<(), Canceled>(())
/// ```
#[derive(Clone, Default)]
pub struct Progress {
    cancel: Option<Arc<AtomicBool>>,
    counter: Option<Arc<Counter>>,
}

thread_local! {
    static OF_THREAD: RefCell<Option<Progress>> = const { RefCell::new(None) };
}

/// The progress that a thread has again once this goes, by a panic too.
struct Outer(Option<Progress>);

impl Drop for Outer {
    fn drop(&mut self) {
        OF_THREAD.set(self.0.take());
    }
}

/// The bytes that are done, and the callback.
struct Counter {
    done: AtomicU64,
    /// 0 if unknown.
    all: u64,
    callback: Callback,
}

/// Receives the bytes that are done and the bytes in all.
type Callback = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// The caller canceled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("canceled")]
pub struct Canceled;

impl Progress {
    /// Calls `callback` with the bytes that are done and the bytes in all, from any thread. The bytes
    /// in all are 0 if they are unknown.
    #[must_use]
    pub fn new(callback: impl Fn(u64, u64) + Send + Sync + 'static) -> Self {
        Progress { cancel: None, counter: Some(Counter::new(0, Arc::new(callback))) }
    }

    /// The progress of new work on `all` bytes, for the same caller.
    #[must_use]
    pub fn begin(&self, all: u64) -> Self {
        let counter = self.counter.as_ref();
        let counter = counter.map(|counter| Counter::new(all, Arc::clone(&counter.callback)));
        Progress { cancel: self.cancel.clone(), counter }
    }

    /// Stops the work when the caller sets `cancel`.
    #[must_use]
    pub fn with_cancel(self, cancel: Arc<AtomicBool>) -> Self {
        Progress { cancel: Some(cancel), ..self }
    }

    /// For a part of the work that its caller reports: it can be canceled and reports nothing.
    #[must_use]
    pub fn silent(&self) -> Self {
        Progress { cancel: self.cancel.clone(), counter: None }
    }

    /// Does work of this thread; transfers of files from and to servers that it begins are reported to this progress, and
    /// canceled with it.
    ///
    /// ```
    /// use tet_io::Progress;
    ///
    /// assert!(Progress::of_thread().is_none());
    /// Progress::default().during(|| assert!(Progress::of_thread().is_some()));
    /// assert!(Progress::of_thread().is_none());
    /// ```
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let _outer = Outer(OF_THREAD.replace(Some(self.clone())));
        work()
    }

    /// The progress of the work that this thread does, by [`Progress::during`].
    #[must_use]
    pub fn of_thread() -> Option<Progress> {
        OF_THREAD.with_borrow(Clone::clone)
    }

    /// Whether the caller canceled.
    #[must_use]
    pub fn is_canceled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }

    /// Stops when the caller canceled.
    ///
    /// # Errors
    ///
    /// [`Canceled`] when it did.
    pub fn check(&self) -> Result<(), Canceled> {
        if self.is_canceled() { Err(Canceled) } else { Ok(()) }
    }

    /// Adds `len` bytes to those that are done, and reports them.
    ///
    /// # Errors
    ///
    /// [`Canceled`], and nothing is reported, when the caller canceled.
    pub fn advance(&self, len: u64) -> Result<(), Canceled> {
        self.check()?;
        if let Some(Counter { done, all, callback }) = self.counter.as_deref() {
            let done = done.fetch_add(len, Ordering::Relaxed).saturating_add(len);
            callback(if *all == 0 { done } else { done.min(*all) }, *all);
        }
        Ok(())
    }

    /// Gives the bytes of a stretch to `visit`, each piece with its place in the file, until it has
    /// seen enough; `window` is memory that is used again.
    ///
    /// # Errors
    ///
    /// As [`Source::for_windows`], and [`Canceled`] when the caller canceled.
    pub fn pieces<E: From<Error> + From<Canceled>>(
        &self,
        source: &Source,
        span: Span,
        window: &mut Vec<u8>,
        mut visit: impl FnMut(u64, &[u8]) -> bool,
    ) -> Result<(), E> {
        source.for_windows(span.range(), window, |at, bytes| {
            self.advance(bytes.len() as u64)?;
            Ok(visit(at, bytes))
        })
    }
}

impl Counter {
    fn new(all: u64, callback: Callback) -> Arc<Self> {
        Arc::new(Counter { done: AtomicU64::new(0), all, callback })
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress")
            .field("is_canceled", &self.is_canceled())
            .field("is_reported", &self.counter.is_some())
            .finish()
    }
}
