//! Errors of other crates as errors of this one: what the environment or the caller did stays that.

use super::{ContainerFault, Error, FaultCause};
use crate::Format;

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

impl From<tet_tensogram::Error> for Error {
    fn from(error: tet_tensogram::Error) -> Self {
        use tet_tensogram::Error as Theirs;
        let cause = match error {
            Theirs::Io(error) => return Self::Io(error),
            Theirs::Canceled => return Self::Canceled,
            Theirs::NotFinite { .. } => FaultCause::NotFinite,
            Theirs::Unwritable { .. } => FaultCause::Unwritable,
            Theirs::Limit { .. } => FaultCause::DecodedLimit,
            _ => FaultCause::Other,
        };
        let rule = error.fault().map(|fault| (fault.rule, fault.at));
        let fault = ContainerFault::new(Format::TENSOGRAM, error.kind(), error).with_cause(cause);
        Self::from(match rule {
            Some((rule, at)) => fault.with_rule(rule, at),
            None => fault,
        })
    }
}
