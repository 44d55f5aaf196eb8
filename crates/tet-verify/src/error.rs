//! Why a file could not be looked over.

use tet_io::Kind;
use tet_report::Finding;

/// Why a file could not be looked over.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The source cannot be read, or changed meanwhile.
    #[error(transparent)]
    Io(#[from] tet_io::Error),
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] tet_file::Error),
    /// A file with errors is not put under digests.
    #[error("the file does not verify: {first}")]
    NotSound {
        /// The first error.
        first: Box<Finding>,
    },
    /// Digests leave no byte out, and these belong to nothing.
    #[error("{len} bytes at byte {offset} belong to no structure and are not zero")]
    Unused {
        /// Where they start.
        offset: u64,
        /// How many there are.
        len: u64,
    },
    /// A list of digests is not one that can be read.
    #[error("line {line} of the list of digests: {what}")]
    Sum {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The index has more rows than are looked at.
    #[error(
        "the index has {found} rows, at most {limit} are looked at; raise the limit if you trust the file"
    )]
    Rows {
        /// How many rows there are.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// There is no memory for a decoder.
    #[error("out of memory for decoding")]
    Memory,
    /// The caller asked to stop.
    #[error("canceled")]
    Canceled,
}

impl From<tet_io::Canceled> for Error {
    fn from(_: tet_io::Canceled) -> Self {
        Error::Canceled
    }
}

impl Error {
    /// The file and the error of the system, where the system refused something.
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
            Error::Rows { .. } | Error::Memory => Kind::Limit,
            Error::Canceled => Kind::Usage,
            Error::NotSound { .. } | Error::Unused { .. } | Error::Sum { .. } => Kind::Format,
        }
    }
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
