//! Errors of reading and writing files, with the operation and the path.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::url::without_secrets;

/// Who can act on an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The file is damaged or hostile.
    Format,
    /// The request of the caller is invalid.
    Usage,
    /// A limit was reached.
    Limit,
    /// The environment: a missing path, a full disk, a file that changed.
    Io,
}

/// The operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Opening a file for reading.
    Open,
    /// Reading length, times and identity.
    Stat,
    /// Reading bytes.
    Read,
    /// Mapping a file.
    Map,
    /// Following the symbolic links of a target.
    Resolve,
    /// Creating the new file in the target's folder.
    Create,
    /// Opening the folder of the new file, to sync it at the end.
    OpenFolder,
    /// Writing bytes.
    Write,
    /// Giving the new file the permissions of the old one.
    SetMode,
    /// Syncing the new file.
    Sync,
    /// Naming the new file.
    Link,
    /// Locking the target against concurrent edits.
    Lock,
    /// Renaming the new file over its target.
    Rename,
    /// Removing an index whose files are about to be replaced.
    Remove,
    /// Syncing the folder.
    SyncFolder,
}

impl fmt::Display for Operation {
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

/// The path that stands for a file without one, which is gone with the program.
///
/// ```
/// assert_eq!(tet_io::scratch_in("data".as_ref()).to_str(), Some("a scratch file in data"));
/// ```
#[must_use]
pub fn scratch_in(folder: &Path) -> PathBuf {
    PathBuf::from(format!("a scratch file in {}", shown(folder)))
}

/// The folder that a path is in, where there is no such folder.
///
/// ```
/// assert_eq!(tet_io::missing_folder("no-such-folder/a.tet".as_ref()).and_then(|it| it.to_str()), Some("no-such-folder"));
/// assert_eq!(tet_io::missing_folder("a.tet".as_ref()), None);
/// ```
#[must_use]
pub fn missing_folder(path: &Path) -> Option<&Path> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty())?;
    (!crate::is_url(path) && !parent.exists()).then_some(parent)
}

/// A path for messages: characters that could forge a line of a message are escaped. A URL is shown
/// without its query, its fragment and its user, which may be secret.
///
/// ```
/// assert_eq!(tet_io::shown("https://host/a.tet?signature=x".as_ref()), "https://host/a.tet");
/// ```
#[must_use]
pub fn shown(path: &Path) -> String {
    let path = without_secrets(path);
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
    /// The system reported an error.
    #[error("cannot {operation} {}: {source}", shown(path))]
    Io {
        /// The operation that failed.
        operation: Operation,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The path names a folder, a pipe or a device.
    #[error("{} is {what}, not a regular file", shown(path))]
    NotRegular {
        /// The path.
        path: PathBuf,
        /// The kind of entry that it is instead.
        what: &'static str,
    },
    /// A symbolic link leads to nothing.
    #[error("{} is a link to a file that does not exist: fetch the file", shown(path))]
    DeadLink {
        /// The path.
        path: PathBuf,
    },
    /// A symbolic link leads out of the folder in which files are looked for.
    #[error("{} is a link that leads out of the folder, which is not followed", shown(path))]
    LinkOutside {
        /// The path.
        path: PathBuf,
    },
    /// The path where a folder is to be is that of something else.
    #[error("{} is not a folder", shown(path))]
    NotFolder {
        /// The path.
        path: PathBuf,
    },
    /// The file changed while it was read, so the data may be inconsistent.
    #[error("{} changed while it was read; try again", shown(path))]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A read past the end of the file.
    #[error("{} ends at byte {file_len}, before byte {end}", shown(path))]
    PastEnd {
        /// The file.
        path: PathBuf,
        /// The end of the requested bytes.
        end: u64,
        /// The length of the file.
        file_len: u64,
    },
    /// The kernel granted no lease, so the file cannot be mapped safely.
    #[error("no read lease on {}: {reason}", shown(path))]
    NoLease {
        /// The file.
        path: PathBuf,
        /// The reason.
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
    /// The written bytes differ when they are read back.
    #[error("{} does not read back as it was written, from byte {at} on", shown(path))]
    NotWritten {
        /// The output, which is unchanged.
        path: PathBuf,
        /// The first offset that differs.
        at: u64,
    },
    /// An answer of a server was lost, and the file was replaced since: by this program or by another one.
    #[error(
        "{} may have been written: the server's answer was lost, and the file was replaced since",
        shown(path)
    )]
    Unsure {
        /// The URL.
        path: PathBuf,
    },
    /// The path is a URL, and no function is set that opens URLs.
    #[error("{} is a URL, which this program does not open", shown(path))]
    NoUrls {
        /// The URL.
        path: PathBuf,
    },
    /// The server of the URL does not say which files it has.
    #[error("the server does not list what is below {}", shown(path))]
    UrlFolder {
        /// The URL.
        path: PathBuf,
    },
    /// The output is a URL to which this output is not written.
    #[error(
        "{} is not written: at s3://, gs:// and az:// URLs an output is one file, or a folder .tets or .zarr; other URLs are only read",
        shown(path)
    )]
    UrlOutput {
        /// The URL.
        path: PathBuf,
    },
    /// The server replaces whatever is there when it is asked to write.
    #[error(
        "{} is not written: its server does not compare versions, and what another program writes could be lost",
        shown(path)
    )]
    UrlUnconditional {
        /// The URL.
        path: PathBuf,
    },
    /// The output is a folder on a server that is there: no step replaces all of its files.
    #[error(
        "{} exists, and a folder on a server is not replaced: remove it, or choose another name",
        shown(path)
    )]
    FolderExists {
        /// The URL.
        path: PathBuf,
    },
    /// The output is a folder on a server that another program is writing, or was when it was killed.
    #[error(
        "{} has files of a folder that is not complete: a program is writing it, or was killed",
        shown(path)
    )]
    Unfinished {
        /// The URL.
        path: PathBuf,
    },
    /// The output is complete and has its name, and a later step failed.
    #[error("{} is written and in place, but {what}: {source}", shown(path))]
    InPlace {
        /// The output.
        path: PathBuf,
        /// The step.
        what: String,
        /// Why it failed.
        source: io::Error,
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
            // An error without a path is from a reader of the caller, whose data is damaged.
            Self::Io { operation: Operation::Read, source, .. }
                if source.kind() == io::ErrorKind::InvalidData =>
            {
                Kind::Format
            }
            Self::Exists { .. }
            | Self::FolderExists { .. }
            | Self::Unfinished { .. }
            | Self::SameFile { .. }
            | Self::NoName { .. }
            | Self::NoUrls { .. }
            | Self::UrlFolder { .. }
            | Self::UrlUnconditional { .. }
            | Self::UrlOutput { .. } => Kind::Usage,
            Self::PastEnd { .. } => Kind::Format,
            _ => Kind::Io,
        }
    }

    /// The file of the error.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Io { path, .. }
            | Self::NotRegular { path, .. }
            | Self::DeadLink { path }
            | Self::LinkOutside { path }
            | Self::NotFolder { path }
            | Self::Changed { path }
            | Self::PastEnd { path, .. }
            | Self::NoLease { path, .. }
            | Self::Exists { path }
            | Self::FolderExists { path }
            | Self::Unfinished { path }
            | Self::SameFile { path }
            | Self::NotWritten { path, .. }
            | Self::NoUrls { path }
            | Self::UrlFolder { path }
            | Self::Unsure { path }
            | Self::UrlUnconditional { path }
            | Self::UrlOutput { path }
            | Self::InPlace { path, .. }
            | Self::NoName { path } => path,
        }
    }

    /// The file and the system error, if the system reported one.
    #[must_use]
    pub fn system(&self) -> Option<(&Path, &io::Error)> {
        match self {
            Self::Io { path, source, .. } | Self::InPlace { path, source, .. } => {
                Some((path, source))
            }
            _ => None,
        }
    }

    /// Replaces the path by the one that an open file is known by.
    pub(crate) fn at(self, shown: &Path) -> Self {
        let path = shown.to_path_buf();
        match self {
            Self::Io { operation, source, .. } => Self::Io { operation, path, source },
            Self::NotRegular { what, .. } => Self::NotRegular { path, what },
            error => error,
        }
    }

    /// An error of the system at `operation` for `path`.
    #[must_use]
    pub fn io(operation: Operation, path: &Path, source: io::Error) -> Self {
        Self::Io { operation, path: path.to_path_buf(), source }
    }
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
