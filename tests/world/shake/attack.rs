//! Changes of a file while it is read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, fallocate};

/// How many bytes are overwritten at once.
const PAGE_LEN: u64 = 4096;

/// How many bytes become a hole.
const HOLE_LEN: u64 = 64 * PAGE_LEN;

/// Between two writes the clock of the file system goes on: changes within one of its ticks look
/// like one change.
const TICK: Duration = Duration::from_millis(30);

/// A reader with a lease lets a writer in between two views.
const LEASE_TIME_MAX: Duration = Duration::from_secs(20);

/// A way to change a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attack {
    /// Cut to nothing.
    Empty,
    /// Cut in the middle, and there in the middle of a page.
    Half,
    /// Cut inside of its last page, where a map shows zeros instead of a fault.
    Tail,
    /// A page behind, then one in front: whoever reads between them sees a file that never was.
    Overwrite,
    /// Bytes in the middle given back to the file system.
    Hole,
    /// Another file takes the name.
    Replace,
}

impl Attack {
    pub(crate) const ALL: [Attack; 6] =
        [Self::Empty, Self::Half, Self::Tail, Self::Overwrite, Self::Hole, Self::Replace];

    /// How many states the file goes through.
    pub(crate) const fn step_count(self) -> usize {
        if matches!(self, Self::Overwrite) { 2 } else { 1 }
    }

    /// Opens the file as this attack needs it; one that replaces it does not.
    pub(crate) fn open(self, path: &Path) -> Option<File> {
        (self != Self::Replace).then(|| open(path))
    }

    /// Does all steps.
    pub(crate) fn strike(self, file: Option<&File>, path: &Path, next: &Path) {
        for step in 0..self.step_count() {
            if step > 0 {
                std::thread::sleep(TICK);
            }
            self.step(step, file, path, next).unwrap();
        }
    }

    /// Does one step; `next` is what takes the name.
    pub(crate) fn step(
        self,
        step: usize,
        file: Option<&File>,
        path: &Path,
        next: &Path,
    ) -> io::Result<()> {
        let Some(file) = file else { return fs::rename(next, path) };
        let len = fs::metadata(next)?.len();
        let page_at = |offset: u64| offset / PAGE_LEN * PAGE_LEN;
        match self {
            Self::Empty => file.set_len(0),
            Self::Half => file.set_len(page_at(len / 2) + 1001),
            Self::Tail => file.set_len(len - 52),
            Self::Overwrite => {
                let quarter = if step == 0 { 3 } else { 1 };
                let page = [b'A'; PAGE_LEN as usize];
                file.write_all_at(&page, page_at(len / 4 * quarter))
            }
            Self::Hole => {
                let way = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                Ok(fallocate(file, way, page_at(len / 2), HOLE_LEN)?)
            }
            Self::Replace => fs::rename(next, path),
        }
    }
}

/// Opens a file for writing; a reader with a lease is waited for.
fn open(path: &Path) -> File {
    let since = Instant::now();
    loop {
        let mut options = OpenOptions::new();
        options.write(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        match options.open(path) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                assert!(since.elapsed() < LEASE_TIME_MAX, "a lease was not given back");
                std::thread::sleep(Duration::from_millis(1));
            }
            outcome => return outcome.unwrap(),
        }
    }
}
