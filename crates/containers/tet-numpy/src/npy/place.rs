//! Where a `.npy` file is.

use tet_io::Source;
use tet_query::Sealed;

/// Where a `.npy` file is: the file itself, or a member of an archive.
#[derive(Debug)]
pub struct Place {
    /// The file, or the one of which it is a member.
    pub source: Source,
    /// Where it begins.
    pub at: u64,
    /// The checksum of all of it.
    pub seal: Option<Sealed>,
}
