//! Errors of the hierarchy and of the environment.

use tet_format::{ForeignFault, ForeignRule};

/// Why a part of a hierarchy cannot be read.
///
/// # Examples
///
/// ```
/// use tet_format::ForeignFault;
/// use tet_zarr::{Error, rule};
///
/// let fault = ForeignFault { rule: &rule::JSON, at: 0, found: 0, wanted: 0 };
/// let error = Error::Fault { fault, key: "a/.zarray".to_owned() };
/// assert!(error.to_string().contains("a/.zarray"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] tet_io::Error),
    /// An object of the hierarchy breaks a rule.
    #[error("{}: {fault}", key.escape_debug())]
    Fault {
        /// The broken rule, and the byte in the object.
        fault: ForeignFault,
        /// The key of the object.
        key: String,
    },
}

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A finding: the broken rule, and the object that it concerns.
///
/// # Examples
///
/// ```
/// use tet_format::ForeignFault;
/// use tet_zarr::{ZarrFault, rule};
///
/// let fault = ForeignFault { rule: &rule::STRAY_KEY, at: 0, found: 0, wanted: 0 };
/// let found = ZarrFault { fault, key: "a/9.9".to_owned(), path: Some("a".to_owned()) };
/// assert_eq!(found.fault.rule.id, "ZR-K3");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZarrFault {
    /// The broken rule, and the byte in the object.
    pub fault: ForeignFault,
    /// The key of the object.
    pub key: String,
    /// The path of the array or group; `None` for the whole hierarchy.
    pub path: Option<String>,
}

/// A broken rule without the key, which the caller knows.
pub(crate) type Broken = ForeignFault;

/// A broken rule at the start of an object.
pub(crate) fn broken(rule: &'static ForeignRule, found: u64, wanted: u64) -> Broken {
    ForeignFault { rule, at: 0, found, wanted }
}

/// The error for a broken rule in the object of a key.
pub(crate) fn fault_in(key: &str, fault: Broken) -> Error {
    Error::Fault { fault, key: key.to_owned() }
}

/// A length as a number for faults.
pub(crate) fn len(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
