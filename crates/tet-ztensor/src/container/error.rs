//! Errors of this crate as errors of a container and of its catalog.

use std::path::Path;

use crate::Error as Theirs;
use tet_codec::Error as Refused;

use tet_sparse::parts::is_part_name;

use tet_container::{ContainerFault, Error, FaultCause, Format};

impl From<Theirs> for Error {
    fn from(error: Theirs) -> Self {
        let cause = match error {
            Theirs::Io(error) => return Self::Io(error),
            Theirs::Canceled => return Self::Canceled,
            Theirs::NoSuchTensor { .. } => FaultCause::NoSuchDataset,
            Theirs::Ambiguous { .. } => FaultCause::Ambiguous,
            Theirs::Unwritable { ref name, why: crate::NAME_TAKEN } if is_part_name(name) => {
                FaultCause::PartNameTaken
            }
            Theirs::Unwritable { .. } => FaultCause::Unwritable,
            Theirs::Limit { what: crate::DECODED, .. } => FaultCause::DecodedLimit,
            Theirs::Limit { .. } => FaultCause::Limit,
            _ => FaultCause::Other,
        };
        let rule = error.rule().zip(error.at());
        let fault = ContainerFault::new(Format::ZTENSOR, error.kind(), error).with_cause(cause);
        Self::from(match rule {
            Some((rule, at)) => fault.with_rule(rule, at),
            None => fault,
        })
    }
}

/// Reason why a file cannot be opened.
pub(super) fn of_file(path: &Path, error: Theirs) -> Error {
    match error {
        Theirs::Format(fault) | Theirs::Tensor { fault, .. } => Error::Foreign {
            path: path.to_path_buf(),
            format: Format::ZTENSOR,
            fault: fault.into(),
        },
        other => other.into(),
    }
}

/// The error of the format as that of a dataset.
pub(super) fn of_error(dataset: &str, error: Theirs) -> tet_query::Error {
    let dataset = dataset.to_owned();
    match error {
        Theirs::Io(error) => tet_query::Error::Io(error),
        Theirs::Format(fault) | Theirs::Tensor { fault, .. } => {
            tet_query::Error::Foreign { dataset, fault: fault.into() }
        }
        Theirs::Codec { at, fault, .. } => {
            let rule = crate::zstd_rule(&fault);
            let (found, wanted) = match fault {
                // Decoding ends where one byte more than all of them comes out.
                Refused::TooLong { decoded_len, .. } => {
                    (decoded_len.saturating_add(1), decoded_len)
                }
                Refused::TooShort { found, decoded_len, .. } => (found, decoded_len),
                _ => (0, 0),
            };
            let fault = tet_format::ForeignFault { rule, at, found, wanted };
            tet_query::Error::Foreign { dataset, fault }
        }
        Theirs::Limit { what, wanted, limit } => tet_query::Error::Limit { what, wanted, limit },
        _ => tet_query::Error::NoMemory { wanted: 0 },
    }
}
