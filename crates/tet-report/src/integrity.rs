//! Whether the bytes of a file are those that were written, as far as was looked.

use std::collections::BTreeMap;
use std::fmt;

use tet_format::ForeignRule;

use crate::code::Code;

/// Whether the bytes of a file are those that were written, as far as was looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Integrity {
    /// Every byte was compared with its digest, and matched.
    Verified,
    /// Some bytes were not compared: payloads, or what a fault hides.
    #[default]
    Unchecked,
    /// Bytes do not match their digest.
    Mismatch,
    /// The file has no digests: nothing tells when its bytes change.
    Unprotected,
    /// The file has digests that its footer no longer names.
    Stale,
}

impl Integrity {
    /// The state of a container whose checksums never cover all bytes: whether some break this rule,
    /// and how many datasets of all have no checksum.
    #[must_use]
    pub fn of(
        counts: &BTreeMap<Code, u64>,
        checksum: &'static ForeignRule,
        (bare_count, dataset_count): (u64, u64),
    ) -> Self {
        if counts.contains_key(&Code::Foreign(checksum)) {
            Integrity::Mismatch
        } else if dataset_count <= bare_count {
            Integrity::Unprotected
        } else {
            Integrity::Unchecked
        }
    }

    /// The state's name, as printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Integrity::Verified => "verified",
            Integrity::Unchecked => "unchecked",
            Integrity::Mismatch => "mismatch",
            Integrity::Unprotected => "unprotected",
            Integrity::Stale => "stale",
        }
    }
}

impl fmt::Display for Integrity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
