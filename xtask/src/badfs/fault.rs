//! What goes wrong in the file system.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::wire::errno;

/// One thing that goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// Reads that touch these bytes fail.
    ReadFails(Range<u64>),
    /// Reads end here, though `stat` shows more.
    ReadEnds(u64),
    /// The file is cut to this length after so many reads.
    Cut {
        after: u64,
        len: usize,
    },
    /// Another program writes these bytes in its place after so many reads.
    Replace {
        after: u64,
        bytes: Arc<Vec<u8>>,
    },
    /// A bit is flipped after so many reads, and no time of the file shows it.
    FlipUnseen {
        after: u64,
        at: usize,
    },
    /// Some reads take 100 ms.
    Slow,
    /// Two of three reads are interrupted.
    Interrupted,
    /// The folder cannot be opened.
    ListFails,
    /// Writes behind this byte fail with this error.
    WriteFails {
        from: u64,
        error: i32,
    },
    CreateFails,
    SyncFails,
    CloseFails,
    RenameFails,
    FolderSyncFails,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::ReadFails(range) => write!(f, " at {}", range.start),
            Self::ReadEnds(at) | Self::WriteFails { from: at, .. } => write!(f, " at {at}"),
            Self::FlipUnseen { after, at } => write!(f, " at {at} after {after} reads"),
            _ => self.after().map_or(Ok(()), |after| write!(f, " after {after} reads")),
        }
    }
}

impl Fault {
    /// What it is called in the table.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ReadFails(_) => "read fails (EIO)",
            Self::ReadEnds(_) => "file ends early",
            Self::Cut { .. } => "cut between reads",
            Self::Replace { .. } => "replaced between reads",
            Self::FlipUnseen { .. } => "bit flipped, same time",
            Self::Slow => "slow reads",
            Self::Interrupted => "reads interrupted",
            Self::ListFails => "folder cannot be opened",
            Self::WriteFails { error: errno::ENOSPC, .. } => "write fails (ENOSPC)",
            Self::WriteFails { .. } => "write fails (EIO)",
            Self::CreateFails => "create fails (ENOSPC)",
            Self::SyncFails => "fsync fails",
            Self::CloseFails => "close fails",
            Self::RenameFails => "rename fails",
            Self::FolderSyncFails => "fsync of folder fails",
        }
    }

    /// Whether the command must succeed all the same.
    pub(super) const fn is_harmless_to_reads(&self) -> bool {
        matches!(self, Self::Slow | Self::Interrupted | Self::ListFails)
    }

    /// Whether each read of a process is to be a request.
    pub(super) const fn counts_reads(&self) -> bool {
        match self {
            Self::None | Self::Interrupted => true,
            _ => self.after().is_some(),
        }
    }

    /// After how many reads the file changes.
    pub(super) const fn after(&self) -> Option<u64> {
        match self {
            Self::Cut { after, .. } | Self::Replace { after, .. } => Some(*after),
            Self::FlipUnseen { after, .. } => Some(*after),
            _ => None,
        }
    }

    /// The bytes of the file after the change.
    pub(super) fn changed(&self, old: &[u8]) -> Option<Arc<Vec<u8>>> {
        match self {
            Self::Cut { len, .. } => Some(Arc::new(old.get(..*len)?.to_vec())),
            Self::Replace { bytes, .. } => Some(Arc::clone(bytes)),
            Self::FlipUnseen { at, .. } => {
                let mut bytes = old.to_vec();
                *bytes.get_mut(*at)? ^= 4;
                Some(Arc::new(bytes))
            }
            _ => None,
        }
    }

    /// Fails where a write reaches past the byte from which on writes fail.
    pub(super) const fn check_write(&self, end: u64) -> Result<(), i32> {
        match *self {
            Self::WriteFails { from, error } if from < end => Err(error),
            _ => Ok(()),
        }
    }
}

/// What goes wrong with the file that is read: `len` bytes long, read `read_count` times by the
/// command, and `other` of its kind.
pub(super) fn of_reads(len: usize, read_count: u64, other: &Arc<Vec<u8>>) -> Vec<Fault> {
    let mut faults = vec![Fault::Slow, Fault::Interrupted, Fault::ListFails];
    for at in [0, 100, len / 4, len / 2, len - 1] {
        let at = at as u64;
        faults.push(Fault::ReadFails(at..at + 1));
    }
    for len in [len / 2, len - 1] {
        faults.push(Fault::ReadEnds(len as u64));
    }
    let mut moments = vec![1, 3, read_count / 2, read_count.saturating_sub(1)];
    moments.retain(|&after| 0 < after && after < read_count);
    moments.sort_unstable();
    moments.dedup();
    for after in moments {
        faults.push(Fault::Cut { after, len: len / 2 });
        faults.push(Fault::Replace { after, bytes: Arc::clone(other) });
        for at in [len / 4, len * 3 / 4] {
            faults.push(Fault::FlipUnseen { after, at });
        }
    }
    faults
}

/// What goes wrong with a new file of `len` bytes.
pub(super) fn of_writes(len: usize) -> Vec<Fault> {
    let mut faults = vec![
        Fault::CreateFails,
        Fault::SyncFails,
        Fault::CloseFails,
        Fault::RenameFails,
        Fault::FolderSyncFails,
    ];
    for from in [0, len / 2, len - 1] {
        for error in [errno::EIO, errno::ENOSPC] {
            faults.push(Fault::WriteFails { from: from as u64, error });
        }
    }
    faults
}
