//! Why a file could not be checked.

use tet_io::Kind;
use tet_report::Finding;

/// Why a file could not be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The source cannot be read, or changed meanwhile.
    #[error(transparent)]
    Io(#[from] tet_io::Error),
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] tet_file::Error),
    /// Digests are not added to a file with errors.
    #[error("the file does not verify: {first}")]
    NotSound {
        /// The first error.
        first: Box<Finding>,
    },
    /// Digests cover every byte, but these bytes belong to no structure.
    #[error("{len} bytes at byte {offset} belong to no structure and are not zero")]
    Unused {
        /// Their offset.
        offset: u64,
        /// Their number.
        len: u64,
    },
    /// A checksum list cannot be parsed.
    #[error("line {line} of the list of digests: {what}")]
    Sum {
        /// The line, from 1.
        line: u64,
        /// The reason.
        what: &'static str,
    },
    /// The index has more rows than the limit allows.
    #[error(
        "the index has {found} rows, at most {limit} are checked; raise the limit if you trust the file"
    )]
    Rows {
        /// The number of rows.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// The payloads decode to more than is allowed.
    #[error("the data decode to {wanted} bytes, the limit for a file of this length is {limit}")]
    Expansion {
        /// The length in bytes that they decode to.
        wanted: u64,
        /// How much is allowed.
        limit: u64,
    },
    /// Memory for a decoder could not be allocated.
    #[error("out of memory for decoding")]
    Memory,
    /// The caller canceled the operation.
    #[error("canceled")]
    Canceled,
}

impl From<tet_io::Canceled> for Error {
    fn from(_: tet_io::Canceled) -> Self {
        Error::Canceled
    }
}

impl Error {
    /// The file and the system error, if the system reported one.
    #[must_use]
    pub fn system(&self) -> Option<(&std::path::Path, &std::io::Error)> {
        match self {
            Self::Io(error) => error.system(),
            Self::File(error) => error.system(),
            _ => None,
        }
    }

    /// Who can act on the error.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Error::Io(error) => error.kind(),
            Error::File(error) => error.kind(),
            Error::Rows { .. } | Error::Expansion { .. } | Error::Memory => Kind::Limit,
            Error::Canceled => Kind::Usage,
            Error::NotSound { .. } | Error::Unused { .. } | Error::Sum { .. } => Kind::Format,
        }
    }
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
