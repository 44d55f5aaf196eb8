//! A flipped bit that is put back, and damage that no bit explains.

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};

use tet_format::{ForeignRule, Shape};

use super::limits::SEARCH_WORK_MAX;
use crate::container::CheckedRegion;

/// One flipped bit that is put back; it loses nothing.
pub type BitEdit = tet_report::Edit<FlipBit, Infallible, FlippedByte>;

/// The action of an edit.
///
/// # Examples
///
/// ```
/// use tet_convert::FlipBit;
///
/// let flip = FlipBit { bit: 3, object: None };
/// assert_eq!(flip.to_string(), "flip bit 3 back");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlipBit {
    /// Its number in the byte, from the lowest.
    pub bit: u8,
    /// The file in a folder; `None` for a container of one file.
    pub object: Option<PathBuf>,
}

impl fmt::Display for FlipBit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "flip bit {} back", self.bit)?;
        match &self.object {
            Some(object) => write!(f, " in {}", tet_io::shown(object)),
            None => Ok(()),
        }
    }
}

/// The byte that an edit writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlippedByte {
    /// The number of the file among those of the plan.
    pub(super) file: usize,
    /// The offset of the byte in the file.
    pub(super) at: u64,
    /// Its value without the flipped bit.
    pub(super) byte: u8,
}

/// Stored bytes that do not match their checksum and cannot be repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrepaired {
    /// The rule that they break.
    pub rule: &'static ForeignRule,
    /// The dataset, or the part of the file, as stored: escape it for printing.
    pub dataset: String,
    /// The coordinate of the chunk; empty for what is no chunk.
    pub chunk: Vec<u64>,
    /// The file in a folder; `None` for a container of one file.
    pub object: Option<PathBuf>,
    /// The offset of their first byte.
    pub offset: u64,
    /// Their number.
    pub len: u64,
    /// Why.
    pub cause: UnrepairedCause,
}

/// Why damage cannot be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnrepairedCause {
    /// No single flipped bit explains it.
    NoBit,
    /// Several bits explain it and the checksum does not tell which, or another checksum denies it.
    SeveralBits,
    /// The bytes are too many for the checksum to prove a bit, or to try each.
    Long {
        /// The most bytes.
        len_max: u64,
    },
    /// The memory limit is smaller than the bytes.
    Memory,
    /// More bytes would have to be compared than [`SEARCH_WORK_MAX`].
    Work,
    /// The bit that makes the bytes match does not make them decode.
    Undecoded,
}

impl Unrepaired {
    pub(super) fn new(
        region: &CheckedRegion,
        object: Option<&Path>,
        cause: UnrepairedCause,
    ) -> Self {
        Unrepaired {
            rule: region.rule,
            dataset: region.dataset.clone(),
            chunk: region.chunk.clone(),
            object: object.map(Path::to_path_buf),
            offset: region.payload.start(),
            len: region.payload.len(),
            cause,
        }
    }
}

impl fmt::Display for Unrepaired {
    /// One line. Names are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unrepaired { rule, dataset, chunk, object, offset, len, cause } = self;
        write!(f, "{dataset:?}")?;
        if !chunk.is_empty() {
            write!(f, ", chunk {}", Shape::from(chunk.as_slice()))?;
        }
        write!(f, ", {len} bytes at byte {offset}")?;
        if let Some(object) = object {
            write!(f, " of {}", tet_io::shown(object))?;
        }
        write!(f, " ({}): {cause}", rule.id)
    }
}

impl fmt::Display for UnrepairedCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnrepairedCause::NoBit => f.write_str("no single flipped bit explains the checksum"),
            UnrepairedCause::SeveralBits => {
                f.write_str("several bits explain the checksum, which does not tell them apart")
            }
            UnrepairedCause::Long { len_max } => {
                write!(f, "a flipped bit is searched for in at most {len_max} bytes")
            }
            UnrepairedCause::Memory => f.write_str("it needs more memory than the limit"),
            UnrepairedCause::Work => write!(
                f,
                "the search for flipped bits of the file ends after {} GiB",
                SEARCH_WORK_MAX >> 30
            ),
            UnrepairedCause::Undecoded => {
                f.write_str("the bit that explains the checksum does not make it readable")
            }
        }
    }
}
