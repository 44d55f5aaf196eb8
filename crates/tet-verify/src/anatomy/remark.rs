//! What is said about a byte beside its name.

use std::fmt;

use tet_format::Rule;
use tet_report::Code;

use crate::collect::{Collector, Entry};

/// A broken rule or an oddity, at the first byte that shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remark {
    /// What it is about.
    pub code: Code,
    /// Where, in bytes from the file's start.
    pub at: u64,
    /// What the file says there, or what follows from it.
    pub found: u64,
    /// What the rule asks for; an oddity asks for nothing.
    pub wanted: Option<u64>,
}

impl Remark {
    /// The broken rule, if it is one.
    #[must_use]
    pub fn fault(&self) -> Option<tet_format::Error> {
        let Remark { code, at, found, wanted } = *self;
        let Code::Rule(rule) = code else { return None };
        Some(tet_format::Error { rule, at, found, wanted: wanted? })
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Remark { code, found, wanted, .. } = self;
        write!(f, "{code}: {}: ", code.text())?;
        let is_magic = matches!(code, Code::Rule(Rule::Magic | Rule::IndexMagic | Rule::TailMagic));
        match wanted {
            Some(wanted) if is_magic => write!(f, "found {found:#010x}, wanted {wanted:#010x}"),
            Some(wanted) => write!(f, "found {found}, wanted {wanted}"),
            None => write!(f, "found {found}"),
        }
    }
}

/// What was collected, in file order.
pub(super) fn remarks_of(collector: Collector) -> Vec<Remark> {
    let (entries, _) = collector.into_parts();
    let remark = |Entry { code, at, found, wanted, .. }| Remark { code, at, found, wanted };
    let mut remarks: Vec<Remark> = entries.into_iter().map(remark).collect();
    remarks.sort_by_key(|remark| remark.at);
    remarks
}
