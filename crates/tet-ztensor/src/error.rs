//! Errors of the file, of the request, and of the environment.

use std::fmt;

use tet_format::{ForeignFault, ForeignRule};
use tet_io::Kind;

use crate::rule;

/// The reason of [`Unwritable`](Error::Unwritable) for a repeated name.
pub const NAME_TAKEN: &str = "another tensor has this name";

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A broken rule: a [`ForeignFault`] that a CBOR fault converts to by `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The rule that is broken.
    pub rule: &'static ForeignRule,
    /// Where in the file, in bytes from its start.
    pub at: u64,
    /// The value in the file, or one derived from it; saturated if it does not fit.
    pub found: u64,
    /// The value that the rule requires, or its limit.
    pub wanted: u64,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ForeignFault::from(*self).fmt(f)
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for ForeignFault {
    fn from(Fault { rule, at, found, wanted }: Fault) -> Self {
        ForeignFault { rule, at, found, wanted }
    }
}

impl From<tet_cbor::Fault> for Fault {
    fn from(fault: tet_cbor::Fault) -> Self {
        let rule = match fault.broken {
            tet_cbor::Broken::Syntax => &rule::INDEX_SYNTAX,
            tet_cbor::Broken::Depth => &rule::INDEX_DEPTH,
        };
        Fault { rule, at: fault.at, found: fault.found, wanted: fault.wanted }
    }
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading the source or writing the target failed, or the file changed meanwhile.
    #[error(transparent)]
    Io(#[from] tet_io::Error),
    /// The file breaks a rule.
    #[error(transparent)]
    Format(#[from] Fault),
    /// A tensor breaks a rule; the others can be read.
    #[error("tensor {name:?}: {fault}")]
    Tensor {
        /// Its name.
        name: String,
        /// The rule, the offset and the numbers.
        fault: Fault,
    },
    /// The stored bytes of a tensor do not decode.
    #[error("tensor {name:?}, blob at byte {at}: {fault}")]
    Codec {
        /// Its name.
        name: String,
        /// The file offset of its blob.
        at: u64,
        /// The error of the codec.
        fault: tet_codec::Error,
    },
    /// No tensor has this name.
    #[error("no tensor {name:?}")]
    NoSuchTensor {
        /// The requested name.
        name: String,
    },
    /// Several tensors have this name.
    #[error("{} tensors are named {name:?}", positions.len())]
    Ambiguous {
        /// The name.
        name: String,
        /// Their positions in the index.
        positions: Vec<usize>,
    },
    /// The caller passed an invalid argument.
    #[error("{what}: {found} where {wanted} is needed")]
    Usage {
        /// The argument.
        what: &'static str,
        /// The given number.
        found: u64,
        /// The required number.
        wanted: u64,
    },
    /// The requested tensor cannot be written.
    #[error("tensor {name:?} cannot be written: {why}")]
    Unwritable {
        /// Its name.
        name: String,
        /// The reason.
        why: &'static str,
    },
    /// The write options are incompatible.
    #[error("the options do not go together: {why}")]
    Options {
        /// The reason.
        why: &'static str,
    },
    /// A limit of the caller would be exceeded.
    #[error("{what}: {wanted} are needed, the limit is {limit}")]
    Limit {
        /// The limited quantity.
        what: &'static str,
        /// The required amount.
        wanted: u64,
        /// The allowed amount.
        limit: u64,
    },
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
            _ => None,
        }
    }

    /// Who can act on the error.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Error::Io(error) => error.kind(),
            Error::Format(fault) | Error::Tensor { fault, .. } if fault.rule.is_limit() => {
                Kind::Limit
            }
            Error::Format(_) | Error::Tensor { .. } => Kind::Format,
            Error::Codec { fault, .. } => match fault.kind() {
                tet_codec::Kind::Usage => Kind::Usage,
                tet_codec::Kind::Limit => Kind::Limit,
                tet_codec::Kind::Format => Kind::Format,
            },
            Error::NoSuchTensor { .. }
            | Error::Ambiguous { .. }
            | Error::Usage { .. }
            | Error::Unwritable { .. }
            | Error::Options { .. }
            | Error::Canceled => Kind::Usage,
            Error::Limit { .. } => Kind::Limit,
        }
    }

    /// The rule that is broken, if one is.
    #[must_use]
    pub const fn rule(&self) -> Option<&'static ForeignRule> {
        match self {
            Error::Format(fault) | Error::Tensor { fault, .. } => Some(fault.rule),
            Error::Codec { fault, .. } => Some(zstd_rule(fault)),
            _ => None,
        }
    }

    /// Where in the file a rule is broken, in bytes from its start, if one is.
    #[must_use]
    pub const fn at(&self) -> Option<u64> {
        match self {
            Error::Format(fault) | Error::Tensor { fault, .. } => Some(fault.at),
            Error::Codec { at, .. } => Some(*at),
            _ => None,
        }
    }
}

/// The rule that a zstd blob breaks, for an error of its decoder.
#[must_use]
pub const fn zstd_rule(fault: &tet_codec::Error) -> &'static ForeignRule {
    match fault {
        tet_codec::Error::Lengths { .. } => &rule::ZSTD_BOUND,
        tet_codec::Error::TooLong { .. } | tet_codec::Error::TooShort { .. } => &rule::ZSTD_LEN,
        _ => &rule::ZSTD_FRAMES,
    }
}
