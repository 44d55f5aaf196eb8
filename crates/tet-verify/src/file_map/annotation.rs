//! Annotations of the file map: broken rules and notes about a byte.

use std::fmt;

use tet_format::Rule;
use tet_report::Code;

use crate::collect::{Collector, Entry};

/// A broken rule or a note, at the first byte that shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The rule or note.
    pub code: Code,
    /// The offset in the file.
    pub at: u64,
    /// The value in the file, or one derived from it.
    pub found: u64,
    /// The value that the rule requires; notes have none.
    pub wanted: Option<u64>,
}

impl Annotation {
    /// The broken rule; `None` for a note.
    #[must_use]
    pub fn fault(&self) -> Option<tet_format::Error> {
        let Annotation { code, at, found, wanted } = *self;
        let Code::Rule(rule) = code else { return None };
        Some(tet_format::Error { rule, at, found, wanted: wanted? })
    }
}

impl fmt::Display for Annotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Annotation { code, found, wanted, .. } = self;
        write!(f, "{code}: {}: ", code.text())?;
        let is_magic = matches!(code, Code::Rule(Rule::Magic | Rule::IndexMagic | Rule::TailMagic));
        match wanted {
            Some(wanted) if is_magic => write!(f, "found {found:#010x}, wanted {wanted:#010x}"),
            Some(wanted) => write!(f, "found {found}, wanted {wanted}"),
            None => write!(f, "found {found}"),
        }
    }
}

/// The collected annotations, in file order.
pub(super) fn annotations_of(collector: Collector) -> Vec<Annotation> {
    let (entries, _) = collector.into_parts();
    let annotation = |Entry { code, at, found, wanted, .. }| Annotation { code, at, found, wanted };
    let mut annotations: Vec<Annotation> = entries.into_iter().map(annotation).collect();
    annotations.sort_by_key(|annotation| annotation.at);
    annotations
}
