//! What the checks find, before it has a place.

use tet_report::{Code, Coded};

use crate::error::Fault;

/// A fault or a note, as it was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) fault: Fault,
    /// The tensor it is about.
    pub(super) position: Option<usize>,
    /// The key of the field it is about.
    pub(super) field: &'static str,
}

/// The sink of all checks.
pub(super) type Collector = tet_report::Collector<Found>;

impl Coded for Found {
    fn code(&self) -> Code {
        Code::Foreign(self.fault.rule)
    }
}
