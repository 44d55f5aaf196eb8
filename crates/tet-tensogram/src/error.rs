//! Errors of the bytes, of the request, and of the environment.

use tet_io::Kind;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A broken rule as a value, so that tests can compare it.
pub use tet_format::ForeignFault as Fault;
use tet_format::ForeignRule;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading the source or writing the target failed, or the file changed meanwhile.
    #[error(transparent)]
    Io(#[from] tet_io::Error),
    /// The bytes break a rule.
    #[error(transparent)]
    Format(#[from] Fault),
    /// This build does not have the codec or method: this object cannot be read, others can.
    #[error("codec {codec} is not built into this tet [{}] at byte {}", fault.rule.id, fault.at)]
    NotBuilt {
        /// The codec name in the descriptor.
        codec: Box<str>,
        /// The rule, and the offset of the name.
        fault: Fault,
    },
    /// An element that can only be stored under a mask, but no mask is allowed.
    #[error("element {element} is {value}, which needs a mask: allow one")]
    NotFinite {
        /// Its position, in row-major order.
        element: u64,
        /// Its value.
        value: &'static str,
    },
    /// A buffer could not be allocated.
    #[error("out of memory for {len} bytes")]
    Memory {
        /// Its length.
        len: u64,
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
    /// The requested output cannot be written.
    #[error("cannot be written: {why}")]
    Unwritable {
        /// The reason.
        why: &'static str,
    },
    /// A key, or a value under it, is not allowed.
    #[error("key {key:?}: {why}")]
    Key {
        /// The key.
        key: Box<str>,
        /// The reason.
        why: &'static str,
    },
    /// A message cannot be rewritten without a loss.
    #[error("the message cannot be rewritten: {why}, at byte {at}")]
    NotRewritable {
        /// The offset of the cause in the file.
        at: u64,
        /// The reason.
        why: &'static str,
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
            Error::Format(fault) if fault.rule.is_limit() => Kind::Limit,
            Error::Format(_) | Error::NotBuilt { .. } | Error::NotRewritable { .. } => Kind::Format,
            Error::Memory { .. } | Error::Limit { .. } => Kind::Limit,
            Error::NotFinite { .. }
            | Error::Usage { .. }
            | Error::Unwritable { .. }
            | Error::Key { .. }
            | Error::Canceled => Kind::Usage,
        }
    }

    /// The fault in the bytes, if the error is one.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Error::Format(fault) | Error::NotBuilt { fault, .. } => Some(fault),
            _ => None,
        }
    }
}

/// Receives every fault, with the number of its object.
pub(crate) type Sink<'s> = &'s mut dyn FnMut(Fault, Option<usize>);

/// A fault without numbers.
pub(crate) const fn no_numbers(rule: &'static ForeignRule, at: u64) -> Fault {
    Fault { rule, at, found: 0, wanted: 0 }
}
