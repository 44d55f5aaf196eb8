//! Errors of `tet-ztensor` as errors of a catalog.

use std::path::Path;

use tet_codec::Error as Refused;
use tet_ztensor::Error as Theirs;

use crate::{Error, Format};

/// What keeps a file from being opened.
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

/// What keeps a tensor from being read.
pub(super) fn of_error(dataset: &str, error: Theirs) -> tet_query::Error {
    let dataset = dataset.to_owned();
    match error {
        Theirs::Io(error) => tet_query::Error::Io(error),
        Theirs::Format(fault) | Theirs::Tensor { fault, .. } => {
            tet_query::Error::Foreign { dataset, fault: fault.into() }
        }
        Theirs::Codec { at, fault, .. } => {
            let rule = tet_ztensor::zstd_rule(&fault);
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
