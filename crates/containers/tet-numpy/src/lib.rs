//! NumPy's files as containers: `.npy`, one array, and `.npz`, a zip archive of them.

#![forbid(unsafe_code)]

pub mod npy;
pub mod npz;

pub use npy::Npy;
pub use npz::{Npz, write_npz_file};

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
