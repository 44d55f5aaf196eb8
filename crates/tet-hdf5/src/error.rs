//! Errors of the file and of the environment.

use tet_format::{ForeignFault, ForeignRule};

/// Why a part of a file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] tet_io::Error),
    /// The file breaks a rule.
    #[error("{0}")]
    Fault(ForeignFault),
    /// The file cannot be edited so.
    #[error("{what}")]
    Edit {
        /// Why.
        what: String,
    },
}

impl From<ForeignFault> for Error {
    fn from(fault: ForeignFault) -> Self {
        Error::Fault(fault)
    }
}

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error for a rule that is broken at this byte.
pub(crate) fn fault(rule: &'static ForeignRule, at: u64, found: u64, wanted: u64) -> Error {
    Error::Fault(ForeignFault { rule, at, found, wanted })
}

/// The error of an edit that cannot be made.
pub(crate) fn refused(what: impl Into<String>) -> Error {
    Error::Edit { what: what.into() }
}

/// A finding: what is wrong, and the path of the object that it concerns.
///
/// # Examples
///
/// ```
/// use tet_format::ForeignFault;
/// use tet_hdf5::{StoredFault, rule};
///
/// let fault = ForeignFault { rule: &rule::SOFT_LINK, at: 800, found: 0, wanted: 0 };
/// let found = StoredFault { fault, path: Some("group/link".to_owned()), attribute: None };
/// assert_eq!(found.fault.rule.id, "H5-G3");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFault {
    /// The broken rule and the byte.
    pub fault: ForeignFault,
    /// The object; `None` for the file.
    pub path: Option<String>,
    /// The name of its attribute, if the finding is about one; empty where the name cannot be read.
    pub attribute: Option<String>,
}
