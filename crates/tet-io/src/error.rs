//! What can go wrong between a file and us, with the step and the path.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Who can act on an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The file is damaged or hostile.
    Format,
    /// The caller asked for something that cannot be.
    Usage,
    /// A bound was reached.
    Limit,
    /// The world: a missing path, a full disk, a file that changed.
    Io,
}

/// What was being done when it went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Opening a file for reading.
    Open,
    /// Asking for length, times and identity.
    Stat,
    /// Reading bytes.
    Read,
    /// Mapping a file.
    Map,
    /// Following the links of a target.
    Resolve,
    /// Creating the new file beside its target.
    Create,
    /// Opening the folder of the new file, to make its name durable at the end.
    OpenFolder,
    /// Writing bytes.
    Write,
    /// Giving the new file the permissions of the old one.
    SetMode,
    /// Making the new file's bytes durable.
    Sync,
    /// Giving the new file a name.
    Link,
    /// Keeping other edits of the target out.
    Lock,
    /// Renaming the new file over its target.
    Rename,
    /// Removing an index whose files are about to be replaced.
    Remove,
    /// Making the new name durable.
    SyncFolder,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Stat => "stat",
            Self::Read => "read",
            Self::Map => "map",
            Self::Resolve => "resolve",
            Self::Create => "create a new file for",
            Self::OpenFolder => "open the folder of",
            Self::Write => "write",
            Self::SetMode => "set the permissions of",
            Self::Sync => "sync",
            Self::Link => "name the new file for",
            Self::Lock => "lock",
            Self::Rename => "rename the new file to",
            Self::Remove => "remove the old",
            Self::SyncFolder => "sync the folder of",
        })
    }
}

/// A path as messages show it: characters that could forge a line of a message are escaped.
#[must_use]
pub fn shown(path: &Path) -> String {
    let path = path.to_string_lossy();
    let mut shown = String::with_capacity(path.len());
    for c in path.chars() {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused a step.
    #[error("cannot {step} {}: {source}", shown(path))]
    Io {
        /// What was being done.
        step: Step,
        /// To which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The path names a folder, a pipe or a device.
    #[error("{} is {what}, not a regular file", shown(path))]
    NotRegular {
        /// The path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// The file changed while it was read, so no answer can be given.
    #[error("{} changed while it was read; try again", shown(path))]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// Bytes past the end of the file were asked for.
    #[error("{} ends at byte {file_len}, before byte {end}", shown(path))]
    PastEnd {
        /// The file.
        path: PathBuf,
        /// Where the bytes would end.
        end: u64,
        /// Where the file ends.
        file_len: u64,
    },
    /// No lease was granted, so the file cannot be mapped safely.
    #[error("no read lease on {}: {reason}", shown(path))]
    NoLease {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The output exists and may not be replaced.
    #[error("{} exists", shown(path))]
    Exists {
        /// The output.
        path: PathBuf,
    },
    /// The output is one of the inputs.
    #[error("{} is the input itself", shown(path))]
    SameFile {
        /// The output.
        path: PathBuf,
    },
    /// What was written does not read back as it was.
    #[error("{} does not read back as it was written, from byte {at} on", shown(path))]
    NotWritten {
        /// The output, which is as it was before.
        path: PathBuf,
        /// The first offset that differs.
        at: u64,
    },
    /// The output path does not end in a file name.
    #[error("{} does not end in a file name", shown(path))]
    NoName {
        /// The output.
        path: PathBuf,
    },
}

impl Error {
    /// Who can act on this error.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            // No file says so: a reader of the caller, which makes its bytes of damaged ones.
            Self::Io { step: Step::Read, source, .. }
                if source.kind() == io::ErrorKind::InvalidData =>
            {
                Kind::Format
            }
            Self::Exists { .. } | Self::SameFile { .. } | Self::NoName { .. } => Kind::Usage,
            Self::PastEnd { .. } => Kind::Format,
            _ => Kind::Io,
        }
    }

    /// The file it happened to.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Io { path, .. }
            | Self::NotRegular { path, .. }
            | Self::Changed { path }
            | Self::PastEnd { path, .. }
            | Self::NoLease { path, .. }
            | Self::Exists { path }
            | Self::SameFile { path }
            | Self::NotWritten { path, .. }
            | Self::NoName { path } => path,
        }
    }

    /// The file and the error of the system, where the system refused something.
    #[must_use]
    pub fn system(&self) -> Option<(&Path, &io::Error)> {
        match self {
            Self::Io { path, source, .. } => Some((path, source)),
            _ => None,
        }
    }

    /// An error of the system at `step` on `path`.
    #[must_use]
    pub fn io(step: Step, path: &Path, source: io::Error) -> Self {
        Self::Io { step, path: path.to_path_buf(), source }
    }
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
