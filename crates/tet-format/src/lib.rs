//! The bytes of the `.tet` v1 tensor file.
//!
//! ```text
//!   superblock | directory | index | payloads ... | footer
//!       32 B     records     rows    stored chunks   JSON + 16-byte tail
//! ```
//!
//! This crate parses and encodes those bytes. It opens no file, has no dependency, and works
//! without `std`; only [`write::FileWriter`] needs it. Reading is borrowed and lazy: index rows are
//! only decoded on request.
//!
//! A module is a section of the format document (`docs/spec/format.md`), and every MUST of that
//! document is a [`Rule`] with one implementation, written against [`Faults`]: a reader stops at
//! the first fault, a verifier collects them all.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        clippy::cast_possible_truncation
    )
)]

#[cfg(target_endian = "big")]
compile_error!(
    "elements of files are little endian, and used as they are stored: hosts are little endian too"
);

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

#[macro_use]
pub mod wire;
mod error;
mod foreign;
mod note;
mod region;
mod rule;

mod codec;
mod dtype;
mod grid;
mod limits;
mod shape;
mod span;

mod records;
pub mod superblock;

pub mod directory;

pub mod index;

pub mod footer;

pub mod digest;
mod integrity;
pub mod statistics;

mod file;
pub mod layout;
pub mod map;
pub mod write;

#[cfg(test)]
mod testing;

pub use codec::{Codec, usual_decoded_max, zstd_decoded_max};
pub use digest::Digest;
pub use dtype::DType;
pub use error::{Error, Faults, Result, Strict};
pub use file::File;
pub use foreign::{Digits, ForeignFault, ForeignRule, Losses, Reach, Severity};
pub use grid::Grid;
pub use integrity::Integrity;
pub use limits::Limits;
pub use note::{Note, NoteCode};
pub use region::Region;
pub use rule::Rule;
pub use shape::Shape;
pub use span::Span;
pub use statistics::ChunkStatistics;
pub use superblock::Superblock;

/// The examples of the crate's README, compiled and run.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
