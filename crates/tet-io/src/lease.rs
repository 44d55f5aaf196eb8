//! A mapping under a kernel read lease (`F_SETLEASE`): the safe fast door on Linux.
//!
//! While the lease holds, nobody has the file open for writing, and nobody can open or truncate it
//! without the kernel asking us first and waiting. A watcher thread sees the question within
//! [`WATCH_PERIOD`], waits for the views that are out, unmaps, and gives the lease back.
#![allow(unsafe_code, reason = "maps under a lease; the three fcntl calls that leases need")]

use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::thread;
use std::time::Duration;

use memmap2::Mmap;
use rustix::param::page_size;
use rustix::process::{Resource, getrlimit};

use crate::mmap::map;
use crate::stamp::Stamp;

/// The command that chooses a lease's signal; libc does not name it on every system.
const F_SETSIG: i32 = 10;

/// How often the watcher asks whether somebody wants to write.
const WATCH_PERIOD: Duration = Duration::from_millis(100);

/// The shortest time the kernel may wait for us, in seconds; 0 means that it waits for ever.
const BREAK_TIME_MIN: u64 = 10;

/// A mapped file that nobody can write to while a view of it is out.
#[derive(Debug)]
pub(crate) struct LeasedMap {
    leased: Arc<Leased>,
    /// The watcher stops when this end is dropped.
    _watched: Sender<Infallible>,
}

#[derive(Debug)]
struct Leased {
    file: File,
    /// `None` once the lease was given back.
    map: RwLock<Option<Mmap>>,
}

/// The bytes of the map; the lease is not given back while it lives.
#[derive(Debug)]
pub(crate) struct LeasedView<'a>(RwLockReadGuard<'a, Option<Mmap>>);

impl Deref for LeasedView<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or(&[])
    }
}

/// Address space that a map leaves to threads, buffers and results.
const ROOM_LEN: u64 = 192 << 20;

/// Whether a map of `len` bytes leaves room in an address space that is limited.
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
    /// Takes the lease, then maps the file. The text says why not.
    pub(crate) fn take(file: File) -> Result<Self, String> {
        check_break_time()?;
        let fd = file.as_raw_fd();
        // A broken lease is announced by a signal. The default one would end the process; this one
        // is ignored unless the host asks for it, and the watcher does not need it.
        fcntl(fd, F_SETSIG, libc::SIGURG).map_err(|error| error.to_string())?;
        fcntl(fd, libc::F_SETLEASE, libc::F_RDLCK).map_err(|error| match error.raw_os_error() {
            Some(libc::EAGAIN) => "it is open for writing".to_owned(),
            _ => error.to_string(),
        })?;
        // From here on the file is closed on every way out, which gives the lease back.
        let len = Stamp::of(&file).map_err(|error| error.to_string())?.size;
        check_room(len)?;
        // SAFETY: the lease was granted, so nobody has the file open for writing, and `len` is its
        // length under the lease. The map is only reached through `view`, which hands it out while
        // the lease holds; before the lease is given back the map is dropped under the write half
        // of the lock, which waits for every view. So nobody changes the file while bytes of the
        // map can be read, as long as no view outlives the kernel's break time, of which
        // `Source::view` and `Source::open_leased` warn.
        let map = unsafe { map(&file, len) }.map_err(|error| error.to_string())?;
        let leased = Arc::new(Leased { file, map: RwLock::new(Some(map)) });
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

    /// The bytes, unless somebody is waiting to write or the lease is gone.
    pub(crate) fn view(&self) -> Option<LeasedView<'_>> {
        // Never waits: the lock refuses new readers while the watcher waits for the old ones.
        let map = self.leased.map.try_read().ok()?;
        // The watcher may have slept (a stopped process), so the kernel is asked as well.
        (map.is_some() && self.leased.holds()).then_some(LeasedView(map))
    }
}

impl Drop for LeasedMap {
    fn drop(&mut self) {
        self.leased.give_back();
    }
}

impl Leased {
    /// Whether the lease stands and nobody asked to break it.
    fn holds(&self) -> bool {
        matches!(fcntl(self.file.as_raw_fd(), libc::F_GETLEASE, 0), Ok(libc::F_RDLCK))
    }

    /// Waits for the views that are out, unmaps, and lets writers in.
    fn give_back(&self) {
        *self.map.write().unwrap_or_else(PoisonError::into_inner) = None;
        // An error means that the kernel took the lease itself: it is gone either way.
        let _ = fcntl(self.file.as_raw_fd(), libc::F_SETLEASE, libc::F_UNLCK);
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

/// Refuses a system that would take the lease away before a task is over.
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
