//! What can be wrong with a message, with what was asked for, or with the world.

use tet_io::Kind;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Bytes that break a rule: a value, so that tests compare it.
pub use tet_format::ForeignFault as Fault;
use tet_format::ForeignRule;

/// A request that has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The source could not be read or the target not be written, or the file changed meanwhile.
    #[error(transparent)]
    Io(#[from] tet_io::Error),
    /// The bytes break a rule.
    #[error(transparent)]
    Format(#[from] Fault),
    /// A codec or a method that this build does not have: the object cannot be read, others can.
    #[error("codec {codec} is not built into this tet [{}] at byte {}", fault.rule.id, fault.at)]
    NotBuilt {
        /// Its name, as the descriptor has it.
        codec: Box<str>,
        /// The rule, and where the name stands.
        fault: Fault,
    },
    /// An element that is stored only under a mask, where none is allowed.
    #[error("element {element} is {value}, which needs a mask: allow one")]
    NotFinite {
        /// Its position, in row-major order.
        element: u64,
        /// What it is.
        value: &'static str,
    },
    /// Memory for a buffer is not to be had.
    #[error("out of memory for {len} bytes")]
    Memory {
        /// Its length.
        len: u64,
    },
    /// A limit of the caller would be passed.
    #[error("{what}: {wanted} are needed, the limit is {limit}")]
    Limit {
        /// What is limited.
        what: &'static str,
        /// How much is needed.
        wanted: u64,
        /// How much is allowed.
        limit: u64,
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
    #[error("cannot be written: {why}")]
    Unwritable {
        /// Why not.
        why: &'static str,
    },
    /// A key, or a value under it, that is not taken.
    #[error("key {key:?}: {why}")]
    Key {
        /// The key.
        key: Box<str>,
        /// Why not.
        why: &'static str,
    },
    /// Messages say different things under one key.
    #[error("messages say different things under the key {key:?}")]
    Clash {
        /// The key.
        key: Box<str>,
    },
    /// A message that cannot be written anew without a loss.
    #[error("the message cannot be written anew: {why}, at byte {at}")]
    Uncarried {
        /// Where that is in the file.
        at: u64,
        /// Why not.
        why: &'static str,
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
            Error::Format(fault) if fault.rule.is_limit() => Kind::Limit,
            Error::Format(_) | Error::NotBuilt { .. } | Error::Uncarried { .. } => Kind::Format,
            Error::Memory { .. } | Error::Limit { .. } => Kind::Limit,
            Error::NotFinite { .. }
            | Error::Usage { .. }
            | Error::Unwritable { .. }
            | Error::Key { .. }
            | Error::Clash { .. }
            | Error::Canceled => Kind::Usage,
        }
    }

    /// The fault in the bytes, if that is what the error is.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Error::Format(fault) | Error::NotBuilt { fault, .. } => Some(fault),
            _ => None,
        }
    }
}

/// Is told of everything that is wrong or odd, with the number of the object it is about.
pub(crate) type Sink<'s> = &'s mut dyn FnMut(Fault, Option<usize>);

/// A fault that is about no numbers.
pub(crate) const fn no_numbers(rule: &'static ForeignRule, at: u64) -> Fault {
    Fault { rule, at, found: 0, wanted: 0 }
}
