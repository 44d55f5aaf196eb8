//! How closely a file is looked at.

use std::fmt;

/// How closely a file is looked at. Later levels include the earlier ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// Superblock, directory, index, footer, and where payloads lie; no payload is read.
    #[default]
    Structure,
    /// Every payload too: decoded, and compared with its digest where it has one.
    Deep,
}

impl Level {
    /// The level's name, as printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Level::Structure => "structure",
            Level::Deep => "deep",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
