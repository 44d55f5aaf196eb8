//! Kernel read leases (`F_SETLEASE`): mappings under a lease, and who has a file open for writing.
//!
//! While a lease is held, no process has the file open for writing, and the kernel notifies us and
//! waits before one can open or truncate it. A watcher thread notices this within
//! [`WATCH_PERIOD`], waits for all views to end, unmaps the file, and releases the lease.
//!
//! This works only on local file systems ([`BINDING`]): FUSE and overlay grant leases that do not
//! stop writers. A lease belongs to the open file, which a forked process shares: there, no view is
//! returned, and the lease of the parent is not touched.
#![allow(unsafe_code, reason = "maps under a lease; the three fcntl calls that leases need")]

use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::thread;
use std::time::Duration;

use memmap2::{Advice, Mmap, MmapOptions};
use rustix::fs::fstatfs;
use rustix::param::page_size;
use rustix::process::{Resource, getrlimit};

use crate::stamp::Stamp;
use crate::writers::Writers;

/// File systems on which a lease stops writers, by their `statfs(2)` numbers: ext2 to ext4, xfs,
/// btrfs, f2fs, zfs, tmpfs.
const BINDING: [rustix::fs::FsWord; 6] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x2fc1_2fc1, 0x0102_1994];

/// The length of a window of a mapping whose pages are read ahead together, once.
const WINDOW_LEN: usize = 2 << 20;

/// The command that sets a lease's signal; libc does not define it on every system.
const F_SETSIG: i32 = 10;

/// How often the watcher checks for writers.
const WATCH_PERIOD: Duration = Duration::from_millis(100);

/// The shortest allowed time that the kernel waits for us, in seconds; 0 means forever.
const BREAK_TIME_MIN: u64 = 10;

/// A mapped file that no process can write to while a view of it exists.
#[derive(Debug)]
pub(crate) struct LeasedMap {
    leased: Arc<Leased>,
    /// The watcher stops when this end is dropped.
    _watched: Sender<Infallible>,
}

#[derive(Debug)]
struct Leased {
    file: File,
    /// The process that took the lease.
    process: u32,
    /// `None` after the lease was released.
    map: RwLock<Option<Mmap>>,
    /// A bit for each window whose pages were read ahead.
    populated: Vec<AtomicU64>,
}

/// The bytes of the mapping; the lease is not released while it exists.
#[derive(Debug)]
pub(crate) struct LeasedView<'a> {
    map: RwLockReadGuard<'a, Option<Mmap>>,
    populated: &'a [AtomicU64],
}

impl LeasedView<'_> {
    /// The length of the mapping.
    pub(crate) fn len(&self) -> usize {
        self.map.as_ref().map_or(0, |map| map.len())
    }

    /// These bytes, after loading their pages: accessing a page that cannot be read would raise a
    /// signal, reading it ahead returns an error.
    pub(crate) fn bytes(&self, range: Range<usize>) -> Option<&[u8]> {
        let map = self.map.as_ref()?;
        let bytes = map.get(range.clone())?;
        for window in range.start / WINDOW_LEN..range.end.div_ceil(WINDOW_LEN) {
            let (word, bit) = (self.populated.get(window / 64)?, 1 << (window % 64));
            if word.load(Ordering::Relaxed) & bit == 0 {
                let start = window * WINDOW_LEN;
                let len = WINDOW_LEN.min(map.len() - start);
                map.advise_range(Advice::PopulateRead, start, len).ok()?;
                word.fetch_or(bit, Ordering::Relaxed);
            }
        }
        Some(bytes)
    }
}

/// Address space that a mapping must leave for threads, buffers and results.
const ROOM_LEN: u64 = 192 << 20;

/// Checks that a mapping of `len` bytes leaves enough of a limited address space.
fn check_room(len: u64) -> Result<(), String> {
    let Some(limit) = getrlimit(Resource::As).current else { return Ok(()) };
    let pages = std::fs::read_to_string("/proc/self/statm").map_err(|error| error.to_string())?;
    let pages = pages.split(' ').next().and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0);
    let used = pages.saturating_mul(page_size() as u64);
    if limit < used.saturating_add(len).saturating_add(ROOM_LEN) {
        return Err(format!("{len} bytes do not fit the limit on address space, {limit} bytes"));
    }
    Ok(())
}

impl LeasedMap {
    /// Takes the lease, then maps the file. The error text is the reason.
    pub(crate) fn take(file: File) -> Result<Self, String> {
        check_break_time()?;
        if !stops_writers(&file) {
            return Err("leases do not stop writers on its file system".to_owned());
        }
        take_lease(&file).map_err(|error| match error.raw_os_error() {
            Some(libc::EAGAIN) => "it is open for writing".to_owned(),
            _ => error.to_string(),
        })?;
        // From here on every return closes the file, which releases the lease.
        let len = Stamp::from_file(&file).map_err(|error| error.to_string())?.size;
        check_room(len)?;
        let map_len = usize::try_from(len).map_err(|error| error.to_string())?;
        // SAFETY: the lease was granted, so no one has the file open for writing, and `len` is its
        // length under the lease. The map is only reached through `view`, which hands it out while
        // the lease holds; before the lease is given back the map is dropped under the write half
        // of the lock, which waits for every view. So no one changes the file while bytes of the
        // map can be read, as long as no view outlives the kernel's break time, of which
        // `Source::view` and `Source::open_leased` warn.
        let map = unsafe { MmapOptions::new().len(map_len).map(&file) };
        let map = map.map_err(|error| error.to_string())?;
        let words = map.len().div_ceil(WINDOW_LEN).div_ceil(64);
        let populated = std::iter::repeat_with(AtomicU64::default).take(words).collect();
        let process = std::process::id();
        let leased = Arc::new(Leased { file, process, map: RwLock::new(Some(map)), populated });
        let (watched, end) = channel();
        let watching = Arc::clone(&leased);
        thread::Builder::new()
            .name("tet-lease".to_owned())
            .spawn(move || watching.watch(&end))
            .map_err(|error| error.to_string())?;
        Ok(Self { leased, _watched: watched })
    }

    pub(crate) fn file(&self) -> &File {
        &self.leased.file
    }

    /// The bytes, unless a writer is waiting or the lease is released.
    pub(crate) fn view(&self) -> Option<LeasedView<'_>> {
        if !self.leased.is_own() {
            return None;
        }
        // Never waits: the lock refuses new readers while the watcher waits for the old ones.
        let map = self.leased.map.try_read().ok()?;
        // The watcher may be late (a stopped process), so the kernel is asked as well.
        let populated = &self.leased.populated;
        (map.is_some() && self.leased.holds()).then_some(LeasedView { map, populated })
    }

    /// Who has the file open for writing: no process while the lease is held.
    pub(crate) fn writers(&self) -> Writers {
        if self.leased.holds() { Writers::Absent } else { Writers::Unknown }
    }
}

impl Drop for LeasedMap {
    fn drop(&mut self) {
        if self.leased.is_own() {
            self.leased.give_back();
        }
    }
}

impl Leased {
    /// Whether this process took the lease and did not inherit it.
    fn is_own(&self) -> bool {
        self.process == std::process::id()
    }

    /// Whether the lease is held and no writer is waiting.
    fn holds(&self) -> bool {
        matches!(fcntl(self.file.as_raw_fd(), libc::F_GETLEASE, 0), Ok(libc::F_RDLCK))
    }

    /// Waits for all views to end, unmaps the file, and releases the lease.
    fn give_back(&self) {
        *self.map.write().unwrap_or_else(PoisonError::into_inner) = None;
        give_lease_back(&self.file);
    }

    fn watch(&self, end: &Receiver<Infallible>) {
        while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(WATCH_PERIOD) {
            if !self.holds() {
                self.give_back();
                return;
            }
        }
    }
}

/// Finds out who has a file open for writing, by a lease that is released at once; `stops_writers` tells whether a lease on
/// its file system does.
pub(crate) fn writers_of(file: &File, stops_writers: impl FnOnce() -> bool) -> Writers {
    match take_lease(file) {
        Ok(()) => {
            give_lease_back(file);
            if stops_writers() { Writers::Absent } else { Writers::Unknown }
        }
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Writers::Present,
        Err(_) => Writers::Unknown,
    }
}

/// Whether a lease on a file, or on others of its file system, stops writers.
pub(crate) fn stops_writers(file: &File) -> bool {
    fstatfs(file).is_ok_and(|found| BINDING.contains(&found.f_type))
}

fn take_lease(file: &File) -> io::Result<()> {
    // A broken lease is announced by a signal. The default signal would end the process; this one
    // is ignored by default, and the watcher does not need it.
    fcntl(file.as_raw_fd(), F_SETSIG, libc::SIGURG)?;
    fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK).map(drop)
}

fn give_lease_back(file: &File) {
    // After an error the kernel has already removed the lease.
    let _ = fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_UNLCK);
}

/// Refuses a system that removes leases after too short a time.
fn check_break_time() -> Result<(), String> {
    let Ok(text) = std::fs::read_to_string("/proc/sys/fs/lease-break-time") else {
        return Ok(());
    };
    match text.trim().parse::<u64>() {
        Ok(seconds) if 0 < seconds && seconds < BREAK_TIME_MIN => {
            Err(format!("the system breaks leases after {seconds} s, fewer than {BREAK_TIME_MIN}"))
        }
        _ => Ok(()),
    }
}

fn fcntl(fd: i32, command: i32, argument: i32) -> io::Result<i32> {
    // SAFETY: the commands used here (F_SETSIG, F_SETLEASE, F_GETLEASE) take an integer and touch
    // no memory of ours; a descriptor that is not open is answered with EBADF.
    let answer = unsafe { libc::fcntl(fd, command, argument) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}
