//! Errors that only one family of containers has.

use std::error::Error as StdError;
use std::fmt;

use tet_format::ForeignRule;
use tet_io::Kind;

use crate::Format;

/// An error of the crate of one family of containers: what a program can act on, and the error itself.
///
/// # Examples
///
/// ```
/// use tet_container::{ContainerFault, Error, FaultCause, Format};
/// use tet_io::Kind;
///
/// let format = Format::new("letters", "a file of letters");
/// let fault = ContainerFault::new(format, Kind::Limit, "too many letters").with_cause(FaultCause::Limit);
/// let error = Error::from(fault.in_dataset("a"));
/// assert_eq!(error.to_string(), "dataset \"a\": too many letters");
/// assert_eq!(error.kind(), Kind::Limit);
/// ```
#[derive(Debug)]
pub struct ContainerFault {
    format: Format,
    kind: Kind,
    cause: FaultCause,
    rule: Option<&'static ForeignRule>,
    at: Option<u64>,
    dataset: Option<String>,
    inner: Box<dyn StdError + Send + Sync>,
}

/// Cause of a fault, as far as programs tell causes apart whatever the family.
///
/// # Examples
///
/// ```
/// use tet_container::FaultCause;
///
/// assert_eq!(FaultCause::default(), FaultCause::Other);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultCause {
    /// No dataset has the name.
    NoSuchDataset,
    /// Several datasets have the name.
    Ambiguous,
    /// A dataset of an output has the name that a part of a sparse tensor would have.
    PartNameTaken,
    /// Elements are NaN or infinite, which cannot be stored as was asked.
    NotFinite,
    /// A dataset cannot be stored as was asked.
    Unwritable,
    /// The limit of decoded bytes is exceeded.
    DecodedLimit,
    /// Another limit is exceeded.
    Limit,
    /// Only the message says.
    #[default]
    Other,
}

impl ContainerFault {
    /// The fault of an error, by who can act on it.
    pub fn new(
        format: Format,
        kind: Kind,
        error: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        let (cause, inner) = (FaultCause::Other, error.into());
        ContainerFault { format, kind, cause, rule: None, at: None, dataset: None, inner }
    }

    /// With the cause.
    #[must_use]
    pub fn with_cause(self, cause: FaultCause) -> Self {
        ContainerFault { cause, ..self }
    }

    /// With the rule that is broken, and the byte where.
    #[must_use]
    pub fn with_rule(self, rule: &'static ForeignRule, at: u64) -> Self {
        ContainerFault { rule: Some(rule), at: Some(at), ..self }
    }

    /// With the dataset, which the message names.
    #[must_use]
    pub fn in_dataset(self, dataset: &str) -> Self {
        ContainerFault { dataset: Some(dataset.to_owned()), ..self }
    }

    /// The format.
    #[must_use]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Who can act on it.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The cause.
    #[must_use]
    pub const fn cause(&self) -> FaultCause {
        self.cause
    }

    /// The rule that is broken, if one is.
    #[must_use]
    pub const fn rule(&self) -> Option<&'static ForeignRule> {
        self.rule
    }

    /// Where in the file a rule is broken, in bytes from its start.
    #[must_use]
    pub const fn at(&self) -> Option<u64> {
        self.at
    }

    /// The dataset that the message names.
    #[must_use]
    pub fn dataset(&self) -> Option<&str> {
        self.dataset.as_deref()
    }

    /// The error of the family's crate.
    #[must_use]
    pub fn get_ref(&self) -> &(dyn StdError + Send + Sync + 'static) {
        &*self.inner
    }
}

impl fmt::Display for ContainerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(dataset) = &self.dataset {
            write!(f, "dataset {dataset:?}: ")?;
        }
        self.inner.fmt(f)
    }
}

impl StdError for ContainerFault {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.inner.source()
    }
}
