//! Shared code of the suites: files assembled by hand from `docs/spec/format.md`, and the lists of cases.
//!
//! ```text
//! ask        opening and reading in a line, and the rule behind an error
//! assemble   a sheet of datasets -> bytes, with the place of every structure marked
//! frame      zstd frames written by hand
//! case       what a case is: bytes, and what must become of them
//! accept     files that open, with the values they hold
//! reject     files that break one rule at one byte, each with a twin that does not
//! zoo        hostile files: small bytes, large claims
//! tgm        Tensogram files of every kind, and hostile ones, put together by hand
//! zt         zTensor files of every kind, put together by hand
//! h5         HDF5 files put together by hand, and hostile ones
//! naive      the oracle: the answers of the engine by the plainest way, to compare with
//! npy        a small reader of `.npy` and `.npz`, the other side of the rival samples
//! values     seeded bytes for every element type
//! meter      a source that counts what is read
//! witness    what a sound file answers, and a damaged one
//! fuzz       what is done with any bytes, a function for each fuzz target
//! sim        a disk in memory, and what a power cut may leave of it
//! oracle     documents with the answers of NumPy
//! program    the `tet` program, for suites that run it
//! bucket     a bucket of an object store, with faults
//! server     a server of files, with range requests, a log, and faults
//! written    files made by the project's own writer, for suites that ask what it writes
//! ```
//!
//! Nothing but `written` uses the project's writer, so that a mistake cannot agree with itself.

#![forbid(unsafe_code)]
#![allow(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a library of tests: a panic is a failed test"
)]

pub mod accept;
pub mod ask;
pub mod assemble;
pub mod bucket;
pub mod case;
pub mod frame;
pub mod fuzz;
pub mod h5;
pub mod meter;
pub mod naive;
pub mod npy;
pub mod oracle;
pub mod program;
pub mod reject;
pub mod server;
pub mod sim;
pub mod tgm;
pub mod values;
pub mod witness;
pub mod written;
pub mod zoo;
pub mod zt;

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct ReadmeDoctests;
