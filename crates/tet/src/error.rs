//! Errors, from whichever crate they come.

use std::path::Path;

use tet_io::Kind;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error that says what, where and, where somebody can act on it, what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, written or converted.
    #[error(transparent)]
    File(#[from] tet_convert::Error),
    /// A dataset could not be found, selected of, or read.
    #[error(transparent)]
    Query(#[from] tet_query::Error),
    /// A query document is wrong, or does not fit the file.
    #[error(transparent)]
    Document(#[from] tet_document::Error),
}

impl Error {
    /// Who can act on the error: the caller, the administrator of the system, or the owner of the file.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Error::File(error) => error.kind(),
            Error::Query(error) => error.kind(),
            Error::Document(error) => error.kind(),
        }
    }

    /// The file and the error of the system, where the system refused something.
    #[must_use]
    pub fn system(&self) -> Option<(&Path, &std::io::Error)> {
        match self {
            Error::File(error) => error.system(),
            Error::Query(error) | Error::Document(tet_document::Error::Query(error)) => {
                error.system()
            }
            Error::Document(_) => None,
        }
    }
}

impl From<tet_io::Error> for Error {
    fn from(error: tet_io::Error) -> Self {
        Error::File(error.into())
    }
}
