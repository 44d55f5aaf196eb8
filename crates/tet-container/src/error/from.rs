//! Errors of other crates as errors of this one: what the environment or the caller did stays that.

use super::{ContainerFault, Error};

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

impl From<ContainerFault> for Error {
    fn from(fault: ContainerFault) -> Self {
        Self::Container(Box::new(fault))
    }
}
