//! Why a file cannot be written.

use crate::dtype::DType;
use core::fmt;

/// Why a file cannot be written. `dataset` is the dataset's position in the declaration.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// v1 has no tag for this type.
    NoTag {
        /// The dataset.
        dataset: usize,
        /// Its type.
        dtype: DType,
    },
    /// A dataset has 1 to 8 axes, and its chunks as many.
    Rank {
        /// The dataset.
        dataset: usize,
        /// The rank of its shape.
        rank: usize,
        /// The rank of its chunk shape.
        chunk_rank: usize,
    },
    /// A chunk extent is 0.
    ChunkExtent {
        /// The dataset.
        dataset: usize,
        /// The axis.
        axis: usize,
    },
    /// An extent is 0, and the declaration does not allow that.
    ExtentZero {
        /// The dataset.
        dataset: usize,
        /// The axis.
        axis: usize,
    },
    /// A name is empty or longer than 4096 bytes.
    NameLen {
        /// The dataset.
        dataset: usize,
        /// The name's length in bytes.
        name_len: u64,
    },
    /// Two datasets have the same name.
    NameTwice {
        /// The dataset.
        dataset: usize,
        /// The earlier dataset.
        first: usize,
    },
    /// More datasets than a file can count.
    TooManyDatasets,
    /// A dataset's bytes, or the file's, do not fit in 64 bits.
    TooLarge,
    /// The length of a chunk does not match its dataset's grid.
    RawLen {
        /// The dataset.
        dataset: usize,
        /// The given length.
        found: u64,
        /// The length according to the grid.
        wanted: u64,
    },
    /// The stored length of a raw chunk differs from its length.
    StoredLen {
        /// The dataset.
        dataset: usize,
        /// The given stored length.
        found: u64,
        /// The length of the chunk.
        wanted: u64,
    },
    /// v1 does not support the codec.
    Codec {
        /// Its tag.
        tag: u32,
    },
    /// No bytes of a chunk can be there.
    Place {
        /// The offset.
        at: u64,
        /// The number of bytes.
        len: u64,
    },
    /// All chunks have been written already.
    Complete,
    /// Some chunks are missing.
    Incomplete {
        /// The number of chunks written.
        written: u64,
        /// The number of chunks declared.
        declared: u64,
    },
    /// A footer has version 1 or 2.
    FooterVersion {
        /// The given version.
        version: u32,
    },
    /// The system reported an error.
    #[cfg(feature = "std")]
    Io(std::io::Error),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::NoTag { dataset, dtype } => {
                write!(f, "dataset #{dataset}: .tet v1 cannot hold {dtype}; convert it first")
            }
            WriteError::Rank { dataset, rank, chunk_rank } => write!(
                f,
                "dataset #{dataset}: a shape has 1 to 8 axes and the chunk shape as many; \
                 found {rank} and {chunk_rank}"
            ),
            WriteError::ChunkExtent { dataset, axis } => {
                write!(f, "dataset #{dataset}: chunk extent of axis {axis} is 0")
            }
            WriteError::ExtentZero { dataset, axis } => {
                write!(f, "dataset #{dataset}: extent of axis {axis} is 0, so it has no elements")
            }
            WriteError::NameLen { dataset, name_len } => {
                write!(f, "dataset #{dataset}: a name has 1 to 4096 bytes; found {name_len}")
            }
            WriteError::NameTwice { dataset, first } => {
                write!(f, "dataset #{dataset} has the same name as #{first}")
            }
            WriteError::TooManyDatasets => f.write_str("more than 4294967295 datasets"),
            WriteError::TooLarge => f.write_str("the file would not fit in 64 bits"),
            WriteError::RawLen { dataset, found, wanted } => {
                write!(f, "dataset #{dataset}: chunk has {found} bytes, its grid requires {wanted}")
            }
            WriteError::StoredLen { dataset, found, wanted } => {
                write!(f, "dataset #{dataset}: {found} bytes stored of a raw chunk of {wanted}")
            }
            WriteError::Codec { tag } => write!(f, ".tet v1 does not support codec {tag}"),
            WriteError::Place { at, len } => {
                write!(f, "no chunk of {len} bytes can stay at byte {at}")
            }
            WriteError::Complete => f.write_str("all chunks are written already"),
            WriteError::Incomplete { written, declared } => {
                write!(f, "{written} of {declared} chunks are written")
            }
            WriteError::FooterVersion { version } => {
                write!(f, "a footer has version 1 or 2; found {version}")
            }
            #[cfg(feature = "std")]
            WriteError::Io(error) => write!(f, "{error}"),
        }
    }
}

impl core::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            #[cfg(feature = "std")]
            WriteError::Io(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(feature = "std")]
impl From<std::io::Error> for WriteError {
    fn from(error: std::io::Error) -> WriteError {
        WriteError::Io(error)
    }
}
