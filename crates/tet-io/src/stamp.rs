//! The identity and state of a file at one moment.

use std::fs::{File, Metadata};
use std::io;

/// The identity and state of a file: device, inode, size and times.
///
/// Taken from the open file and compared before a result is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The device number.
    pub dev: u64,
    /// The inode number.
    pub ino: u64,
    /// Its length in bytes.
    pub size: u64,
    /// When its bytes last changed, in nanoseconds since 1970.
    pub mtime: i128,
    /// When its bytes or its inode last changed, in nanoseconds since 1970.
    pub ctime: i128,
    /// The number of hard links.
    pub link_count: u64,
}

impl Stamp {
    /// The stamp of an open file.
    ///
    /// # Errors
    ///
    /// Returns the error of the system.
    pub fn from_file(file: &File) -> io::Result<Self> {
        file.metadata().map(|metadata| Self::from_metadata(&metadata))
    }

    /// The stamp in `metadata`.
    #[must_use]
    pub fn from_metadata(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let ns = |seconds: i64, ns: i64| i128::from(seconds) * 1_000_000_000 + i128::from(ns);
        Self {
            dev: metadata.dev(),
            ino: metadata.ino(),
            size: metadata.size(),
            mtime: ns(metadata.mtime(), metadata.mtime_nsec()),
            ctime: ns(metadata.ctime(), metadata.ctime_nsec()),
            link_count: metadata.nlink(),
        }
    }

    /// Whether both are the same file, in any state.
    #[must_use]
    pub const fn is_same_file(&self, other: &Self) -> bool {
        self.dev == other.dev && self.ino == other.ino
    }

    /// Whether both are the same file in the same state, except for the number of hard links.
    ///
    /// Stricter than [`Stamp::is_unchanged`]: replacing a file by an edited copy must not ignore a
    /// change of its permissions either.
    #[must_use]
    pub fn is_same_state(&self, now: &Self) -> bool {
        Self { link_count: now.link_count, ..*self } == *now
    }

    /// Whether the bytes read under `self` are still the bytes of `now`.
    ///
    /// A file that was renamed, unlinked or replaced by rename keeps its bytes, but its inode time
    /// changes. That is no change if the number of hard links changed as well.
    #[must_use]
    pub const fn is_unchanged(&self, now: &Self) -> bool {
        self.dev == now.dev
            && self.ino == now.ino
            && self.size == now.size
            && self.mtime == now.mtime
            && (self.ctime == now.ctime || self.link_count != now.link_count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT_OPEN: Stamp = Stamp { dev: 1, ino: 2, size: 3, mtime: 4, ctime: 5, link_count: 1 };

    #[test]
    fn every_field_of_the_identity_counts() {
        assert!(AT_OPEN.is_unchanged(&AT_OPEN));
        let others = [
            Stamp { dev: 9, ..AT_OPEN },
            Stamp { ino: 9, ..AT_OPEN },
            Stamp { size: 9, ..AT_OPEN },
            Stamp { mtime: 9, ..AT_OPEN },
            Stamp { ctime: 9, ..AT_OPEN },
            Stamp { mtime: 9, ctime: 9, link_count: 0, ..AT_OPEN },
        ];
        for other in others {
            assert!(!AT_OPEN.is_unchanged(&other), "{other:?}");
            assert!(!AT_OPEN.is_same_state(&other), "{other:?}");
        }
        assert!(AT_OPEN.is_same_state(&Stamp { link_count: 2, ..AT_OPEN }));
        assert!(!AT_OPEN.is_same_state(&Stamp { ctime: 9, link_count: 2, ..AT_OPEN }));
    }

    #[test]
    fn a_file_replaced_by_rename_keeps_its_bytes() {
        assert!(AT_OPEN.is_unchanged(&Stamp { ctime: 9, link_count: 0, ..AT_OPEN }));
    }
}
