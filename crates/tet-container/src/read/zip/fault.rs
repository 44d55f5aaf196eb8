//! The faults of zip archives.

use std::io;

use thiserror::Error;
use zip::result::ZipError;

/// How the zip reader says that the end of an archive is missing.
const NO_END: &str = "Could not find EOCD";
/// Why an archive without an end cannot be read.
pub(super) const NO_DIRECTORY: &str =
    "its directory, which is at the end, is missing: the file was cut off";

/// A fault of a zip archive.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ZipFault {
    /// The archive cannot be read.
    #[error("cannot be read: {0}")]
    Read(#[source] io::Error),
    /// The archive's structure is broken.
    #[error("the zip archive is damaged: {reason}")]
    Damaged {
        /// The message of the zip reader.
        reason: String,
    },
    /// Two members have one name.
    #[error("two members of the archive have the name {name:?}")]
    DuplicateNames {
        /// The name.
        name: String,
    },
    /// A member has one name in the directory and another one in front of its bytes.
    #[error("the directory calls the member {entry:?}, and its header {header:?}")]
    Misnamed {
        /// The name in the directory.
        entry: String,
        /// The name in the header of the member.
        header: String,
    },
    /// The members and the directory at the end do not fill the file.
    #[error(
        "the file is several zip archives in a row, or has bytes before the archive that its end belongs to \
         (.distcp files of torch.distributed.checkpoint are such files)"
    )]
    Several,
    /// Members share bytes, which no writer does and zip bombs do.
    #[error("members of the archive overlap")]
    Overlap,
    /// A member is encrypted.
    #[error("the member is encrypted")]
    Encrypted,
    /// A member is compressed in a way NumPy never does.
    #[error("the member is compressed by {method}, not by deflate: write it anew with NumPy")]
    Method {
        /// The method.
        method: String,
    },
    /// A member's sizes contradict each other.
    #[error("the archive says the member has {size} bytes in {stored_len}, which cannot be")]
    Size {
        /// Its bytes, as the archive lists.
        size: u64,
        /// Its compressed bytes.
        stored_len: u64,
    },
}

impl From<ZipError> for ZipFault {
    fn from(error: ZipError) -> Self {
        match error {
            ZipError::Io(error) => Self::Read(error),
            other if other.to_string().ends_with(NO_END) => {
                Self::Damaged { reason: NO_DIRECTORY.to_owned() }
            }
            other => {
                let reason = other.to_string().chars().flat_map(char::escape_debug).collect();
                Self::Damaged { reason }
            }
        }
    }
}
