//! Reads and writes files.
//!
//! [`Source`] reads: by offset, through a mapping that the caller guarantees, or through a mapping
//! under a kernel lease. [`publish`] writes atomically: a new file in the target's folder, synced
//! and renamed. No other library of this workspace opens a file.

#![deny(unsafe_code)]

#[cfg(not(unix))]
compile_error!(
    "tet reads and writes files on Linux, macOS and other Unix systems; it does not support this platform"
);

mod at_once;
mod bytes;
mod clock;
mod compared;
mod error;
mod file_lock;
mod folder;
mod image;
#[cfg(all(feature = "mmap", target_os = "linux"))]
mod lease;
#[cfg(feature = "mmap")]
mod mmap;
mod pool;
mod progress;
pub mod publish;
mod read_at;
mod size;
mod source;
mod stamp;
mod url;
pub mod vfs;
mod writers;

pub use at_once::at_once;
pub use bytes::Bytes;
pub use clock::utc;
pub use compared::Compared;
pub use error::{Error, Kind, Operation, Result, missing_folder, scratch_in, shown};
pub use file_lock::FileLock;
pub use folder::{Folder, FolderFile, FolderList};
pub use image::Image;
#[cfg(feature = "mmap")]
pub use mmap::use_huge_pages;
pub use pool::FilePool;
pub use progress::{Canceled, Progress};
pub use publish::{
    FolderPublisher, Leftover, Output, Overwrite, Publish, Publisher, Settled, Sharing,
    UrlFolderPublisher, commit_all, is_temporary,
};
pub use read_at::{Access, ReadAt};
pub use size::parse_size;
pub use source::{
    FolderEntry, PendingUpload, PutMode, Source, SourceKind, UrlList, UrlPart, UrlStore, UrlUpload,
    View, has_url_store, may_copy_on_server, set_url_store,
};
pub use stamp::Stamp;
pub use url::{file_name, is_url, local_path, without_secrets};
pub use writers::Writers;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
