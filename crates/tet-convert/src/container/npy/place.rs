//! Where a `.npy` file is.

use tet_io::Source;
use tet_query::Sealed;

/// Where a `.npy` file is: the file itself, or a member of an archive.
pub(crate) struct Place {
    pub(crate) source: Source,
    /// Where it begins.
    pub(crate) at: u64,
    /// The checksum of all of it.
    pub(crate) seal: Option<Sealed>,
}
