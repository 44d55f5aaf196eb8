//! An allocator that counts what is held, for suites that promise bounded memory.
//!
//! The only unsafe code outside `tet-io`: the trait `GlobalAlloc` cannot be had without it.

#![allow(unsafe_code, reason = "GlobalAlloc is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The system's allocator with two numbers beside it.
#[derive(Debug)]
pub(crate) struct Counting {
    held: AtomicUsize,
    peak: AtomicUsize,
    turn: Mutex<()>,
}

impl Counting {
    /// A counter at zero.
    pub(crate) const fn new() -> Self {
        Self { held: AtomicUsize::new(0), peak: AtomicUsize::new(0), turn: Mutex::new(()) }
    }

    /// Waits until no other test counts. A test that measures holds this from its first line on.
    pub(crate) fn alone(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` and returns with its result the most bytes it held at once beyond the start.
    pub(crate) fn peak_of<T>(&self, work: impl FnOnce() -> T) -> (T, usize) {
        let before = self.held.load(Ordering::SeqCst);
        self.peak.store(before, Ordering::SeqCst);
        let result = work();
        (result, self.peak.load(Ordering::SeqCst).saturating_sub(before))
    }

    fn grow(&self, len: usize) {
        let held = self.held.fetch_add(len, Ordering::Relaxed) + len;
        self.peak.fetch_max(held, Ordering::Relaxed);
    }

    fn shrink(&self, len: usize) {
        self.held.fetch_sub(len, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to `System` with the caller's own arguments, so the contract the caller
// keeps with this allocator is the one it keeps with `System`; the counters touch no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.grow(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.grow(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        self.shrink(layout.size());
        // SAFETY: the caller passes what `alloc` gave it, which came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_len: usize) -> *mut u8 {
        self.grow(new_len);
        self.shrink(layout.size());
        // SAFETY: the caller passes what `alloc` gave it, which came from `System`.
        unsafe { System.realloc(pointer, layout, new_len) }
    }
}
