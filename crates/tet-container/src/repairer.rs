//! Repairs: a container lists the stored bytes that its checksums are of.

use std::fmt;

use tet_format::{ForeignRule, Shape, Span};
use tet_io::Source;

use crate::Result;
use crate::stored_checksum::StoredChecksum;

/// Lists the checked regions of files of one container. Repairs look for the flipped bit of a region themselves.
pub trait Repairer: Sync {
    /// Calls `take` with every region of a file that has a checksum, as far as the structure of the file leads to it.
    ///
    /// # Errors
    /// The file cannot be read, a part of it breaks a rule that hides the regions behind it, and what `take` returns.
    fn regions(&self, source: &Source, take: &mut TakeRegion<'_>) -> Result<()>;
}

/// A function that is called with each region.
pub type TakeRegion<'a> = dyn FnMut(CheckedRegion) -> Result<()> + 'a;

/// Stored bytes, and the checksum that they should have.
#[derive(Clone, Debug)]
pub struct CheckedRegion {
    /// The file that they are in: in a folder that of an object.
    pub file: Source,
    /// Their place in the file.
    pub payload: Span,
    /// The checksum.
    pub checksum: StoredChecksum,
    /// Where the checksum is stored as a number in the same file, if it is.
    pub field: Option<ChecksumField>,
    /// The rule that other bytes break.
    pub rule: &'static ForeignRule,
    /// The name of the dataset, or of the part of the file, as stored: escape it for printing.
    pub dataset: String,
    /// The coordinate of the chunk; empty for what is no chunk.
    pub chunk: Vec<u64>,
}

impl CheckedRegion {
    /// The stored bytes of a whole dataset, or of another part of a file.
    #[must_use]
    pub fn new(
        file: &Source,
        payload: Span,
        checksum: StoredChecksum,
        rule: &'static ForeignRule,
        dataset: impl Into<String>,
    ) -> CheckedRegion {
        let (file, dataset) = (file.clone(), dataset.into());
        let (field, chunk) = (None, Vec::new());
        CheckedRegion { file, payload, checksum, field, rule, dataset, chunk }
    }
}

impl fmt::Display for CheckedRegion {
    /// The dataset and the chunk, escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.dataset)?;
        if self.chunk.is_empty() {
            return Ok(());
        }
        write!(f, ", chunk {}", Shape::from(self.chunk.as_slice()))
    }
}

/// Where a checksum is stored as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChecksumField {
    /// The offset of its first byte in the file.
    pub at: u64,
    /// The order of its bytes.
    pub order: ChecksumOrder,
}

/// The order of the bytes of a stored checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumOrder {
    /// The lowest byte comes first.
    Little,
    /// The lowest byte comes last.
    Big,
}
