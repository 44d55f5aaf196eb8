//! The findings of the checks, before they are mapped to the file.

use tet_report::{Code, Coded};

use crate::error::Fault;

/// A fault or a note as found.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldFault {
    pub(super) fault: Fault,
    /// The position of its tensor in the index.
    pub(super) position: Option<usize>,
    /// The key of its field.
    pub(super) field: &'static str,
}

/// The sink of all checks.
pub(super) type Collector = tet_report::Collector<FieldFault>;

impl Coded for FieldFault {
    fn code(&self) -> Code {
        Code::Foreign(self.fault.rule)
    }
}
