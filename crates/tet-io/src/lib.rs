//! Where bytes come from and go to.
//!
//! [`Source`] reads: by position by default, through a map that the caller vouches for, or through one
//! that is held under a kernel lease. [`publish`] writes: a new file beside the target, synced
//! and renamed, so that the target is the old file or the new file and nothing else. [`Appender`]
//! writes behind the end of a file in place, which is faster and promises less.
//! No other library of this workspace opens a file.

#![deny(unsafe_code)]

mod append;
mod bytes;
mod clock;
mod error;
mod image;
#[cfg(all(feature = "mmap", target_os = "linux"))]
mod lease;
#[cfg(feature = "mmap")]
mod mmap;
mod progress;
pub mod publish;
mod source;
mod stamp;
pub mod vfs;
mod writers;

pub use append::Appender;
pub use bytes::Bytes;
pub use clock::utc;
pub use error::{Error, Kind, Result, Step, shown};
pub use image::Image;
#[cfg(feature = "mmap")]
pub use mmap::use_huge_pages;
pub use progress::{Canceled, Progress};
pub use publish::{Output, Overwrite, Publish, Publisher, Settled, commit_all};
pub use source::{ReadAt, Source, SourceKind, View};
pub use stamp::Stamp;
pub use writers::Writers;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
