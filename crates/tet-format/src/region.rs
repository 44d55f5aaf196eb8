//! The regions of a file.

use core::fmt;

/// A region of a file, in file order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Region {
    /// The first 32 bytes.
    Superblock,
    /// The length of the records and the records.
    Directory,
    /// Bytes between the records and the index.
    Padding,
    /// The index header and its rows.
    Index,
    /// Stored bytes of chunks.
    Payload,
    /// Bytes after the index that belong to no payload and not to the footer.
    Gap,
    /// Spills, JSON and tail.
    Footer,
}

impl Region {
    /// The region's name, as printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Region::Superblock => "superblock",
            Region::Directory => "directory",
            Region::Padding => "padding",
            Region::Index => "index",
            Region::Payload => "payload",
            Region::Gap => "gap",
            Region::Footer => "footer",
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
