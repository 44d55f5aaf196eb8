//! Faults of `.npy` arrays.

use std::io;

use thiserror::Error;

/// A header of more bytes than this is refused; NumPy's own limit is lower.
pub const HEADER_LEN_MAX: u32 = 1 << 16;

/// A fault of a `.npy` array.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NpyFault {
    /// The array cannot be read.
    #[error("cannot be read: {0}")]
    Read(#[source] io::Error),
    /// The first bytes are not those of a `.npy` file.
    #[error("is not a .npy array: its first bytes are not \\x93NUMPY")]
    Magic,
    /// A version this build does not read.
    #[error(".npy version {major}.{minor} is not read (1.0, 2.0 and 3.0 are)")]
    Version {
        /// The first number.
        major: u8,
        /// The second.
        minor: u8,
    },
    /// The bytes end within the header.
    #[error("the .npy header is cut off")]
    HeaderTruncated,
    /// The header is longer than any array needs.
    #[error("a .npy header of {found} bytes is refused (at most {HEADER_LEN_MAX})")]
    HeaderLen {
        /// The length in the file, in bytes.
        found: u32,
    },
    /// A version 3.0 header is not UTF-8.
    #[error("the .npy header is not UTF-8")]
    HeaderText,
    /// The header is no Python dict.
    #[error("the .npy header is malformed at byte {at}: {wanted} was expected")]
    Malformed {
        /// Offset within the array's bytes.
        at: u64,
        /// The token that was expected there.
        wanted: &'static str,
    },
    /// The header lacks a key, doubles one, has another or a value of the wrong kind.
    #[error(
        "the .npy header's {key} is missing, doubled or not what it should be \
         (wanted: descr, fortran_order, shape)"
    )]
    Key {
        /// The key.
        key: &'static str,
    },
    /// The dtype string is not understood.
    #[error("the .npy dtype `{descr}` is not understood")]
    Descr {
        /// The string, escaped.
        descr: String,
    },
    /// `.tet` has no such dtype.
    #[error("dtype {name} is not supported: {advice}")]
    Dtype {
        /// NumPy's name.
        name: String,
        /// A hint how the array can be written instead.
        advice: &'static str,
        /// The array's shape.
        shape: Vec<u64>,
    },
    /// More axes than NumPy has.
    #[error("{rank} axes are more than NumPy has (at most 64)")]
    Rank {
        /// The array's rank.
        rank: usize,
    },
    /// The extents multiply past any file.
    #[error("shape {shape:?} is larger than any file")]
    TooLarge {
        /// The array's shape.
        shape: Vec<u64>,
    },
    /// Fewer bytes than the header promises.
    #[error("the elements are cut off: {wanted} bytes are promised, {found} are there")]
    Truncated {
        /// Bytes there are.
        found: u64,
        /// Bytes the header promises.
        wanted: u64,
    },
    /// More bytes than the header promises.
    #[error(
        "bytes follow the elements: {wanted} are promised, {found} are there \
         (one array is read from a file; was `numpy.save` called twice on it?)"
    )]
    Trailing {
        /// Bytes there are.
        found: u64,
        /// Bytes the header promises.
        wanted: u64,
    },
}
