//! What can be wrong with a file, with what was asked for, or with the world.

use std::fmt;

use tet_format::{ForeignFault, ForeignRule};
use tet_io::Kind;

use crate::rule;

/// Why a tensor is [`Unwritable`](Error::Unwritable) whose name is another one's.
pub const NAME_TAKEN: &str = "another tensor has this name";

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Bytes that break a rule: a [`ForeignFault`] that a fault of the CBOR becomes by `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The rule that is broken.
    pub rule: &'static ForeignRule,
    /// Where in the file, in bytes from its start.
    pub at: u64,
    /// What the file says, or what follows from it; saturated where it does not fit.
    pub found: u64,
    /// What the rule asks for, or the limit it sets.
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

/// A request that has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The source could not be read or the target not be written, or the file changed meanwhile.
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
        /// The rule, the place and the numbers.
        fault: Fault,
    },
    /// The stored bytes of a tensor do not decode.
    #[error("tensor {name:?}, blob at byte {at}: {fault}")]
    Codec {
        /// Its name.
        name: String,
        /// Where its blob starts in the file.
        at: u64,
        /// What the codec says.
        fault: tet_codec::Error,
    },
    /// No tensor has this name.
    #[error("no tensor {name:?}")]
    NoSuchTensor {
        /// What was asked for.
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
    /// The request cannot be met for the caller's sake.
    #[error("{what}: {found} where {wanted} is needed")]
    Usage {
        /// What is wrong.
        what: &'static str,
        /// What was given.
        found: u64,
        /// What is needed.
        wanted: u64,
    },
    /// What is asked for cannot be written.
    #[error("tensor {name:?} cannot be written: {why}")]
    Unwritable {
        /// Its name.
        name: String,
        /// Why not.
        why: &'static str,
    },
    /// The ways in which a file is to be written do not go together.
    #[error("the options do not go together: {why}")]
    Options {
        /// Why not.
        why: &'static str,
    },
    /// A bound of the caller would be passed.
    #[error("{what}: {wanted} are needed, the limit is {limit}")]
    Limit {
        /// What is bounded.
        what: &'static str,
        /// How much is needed.
        wanted: u64,
        /// How much is allowed.
        limit: u64,
    },
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
}

/// The rule that a zstd blob breaks when its decoder says this.
#[must_use]
pub const fn zstd_rule(fault: &tet_codec::Error) -> &'static ForeignRule {
    match fault {
        tet_codec::Error::Lengths { .. } => &rule::ZSTD_BOUND,
        tet_codec::Error::TooLong { .. } | tet_codec::Error::TooShort { .. } => &rule::ZSTD_LEN,
        _ => &rule::ZSTD_FRAMES,
    }
}
