//! Why a file could not be looked over.

use tet_io::Kind;

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

impl Error {
    /// Who can act on the error.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Error::Io(error) => error.kind(),
            Error::File(error) => error.kind(),
            Error::Rows { .. } | Error::Memory => Kind::Limit,
            Error::Canceled => Kind::Usage,
        }
    }
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
