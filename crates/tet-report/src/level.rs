//! How thoroughly a file is checked.

use std::fmt;

/// How thoroughly a file is checked. Later levels include the earlier ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Headers, indices, metadata, and payload positions; no payload is read.
    #[default]
    Structure,
    /// Payloads are compared with their checksums. A `.tet` file is checked as [`Level::Deep`] does.
    Checksums,
    /// Every payload is decoded too, and bytes between payloads are read.
    Deep,
}

impl Level {
    /// The level's name, as printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Level::Structure => "structure",
            Level::Checksums => "checksums",
            Level::Deep => "deep",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
