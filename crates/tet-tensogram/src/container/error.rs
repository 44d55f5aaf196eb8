//! Errors of this crate as errors of a container.

use std::path::Path;

use crate::Error as Theirs;

use tet_container::{ContainerFault, Error, FaultCause, Format};

impl From<Theirs> for Error {
    fn from(error: Theirs) -> Self {
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

/// Reason why a file cannot be opened.
pub(super) fn of_file(path: &Path, error: Theirs) -> Error {
    match error {
        Theirs::Format(fault) | Theirs::NotBuilt { fault, .. } => {
            Error::Foreign { path: path.to_path_buf(), format: Format::TENSOGRAM, fault }
        }
        other => other.into(),
    }
}
