//! Errors of other crates as errors of this one: what the environment or the caller did stays that.

use super::Error;

impl From<tet_io::Canceled> for Error {
    fn from(_: tet_io::Canceled) -> Self {
        Error::Canceled
    }
}

impl From<tet_file::Error> for Error {
    fn from(error: tet_file::Error) -> Self {
        match error {
            tet_file::Error::Canceled => Self::Canceled,
            other => Self::File(other),
        }
    }
}

impl From<tet_query::Error> for Error {
    fn from(error: tet_query::Error) -> Self {
        match error {
            tet_query::Error::Canceled => Self::Canceled,
            other => Self::Query(other),
        }
    }
}

impl From<tet_ztensor::Error> for Error {
    fn from(error: tet_ztensor::Error) -> Self {
        match error {
            tet_ztensor::Error::Io(error) => Self::Io(error),
            tet_ztensor::Error::Canceled => Self::Canceled,
            other => Self::ZTensor(other),
        }
    }
}

impl From<tet_tensogram::Error> for Error {
    fn from(error: tet_tensogram::Error) -> Self {
        match error {
            tet_tensogram::Error::Io(error) => Self::Io(error),
            tet_tensogram::Error::Canceled => Self::Canceled,
            other => Self::Tensogram(other),
        }
    }
}
