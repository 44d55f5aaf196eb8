//! Errors of whole files.

use std::error::Error as StdError;

use tet_format::write::WriteError;
use tet_io::Kind;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system reported an error.
    #[error(transparent)]
    Io(#[from] tet_io::Error),
    /// The file breaks a rule of the format, or a limit of the reader.
    #[error(transparent)]
    Format(#[from] tet_format::Error),
    /// The datasets cannot be written.
    #[error(transparent)]
    Layout(WriteError),
    /// A chunk could not be encoded.
    #[error(transparent)]
    Codec(#[from] tet_codec::Error),
    /// This build does not have the codec.
    #[error("this build has no {codec}")]
    NoCodec {
        /// The codec's name.
        codec: &'static str,
    },
    /// Datasets must be written in the order of their declaration.
    #[error("dataset #{found} was written where dataset #{wanted} is next")]
    DatasetOrder {
        /// The dataset that was written.
        found: usize,
        /// The next dataset; the number of datasets if all are written.
        wanted: usize,
    },
    /// A chunk was filled with the wrong number of bytes.
    #[error("chunk {coord:?} of dataset #{dataset} takes {wanted} bytes, but was given {found}")]
    ChunkLen {
        /// The dataset.
        dataset: usize,
        /// The chunk's coordinate in the grid.
        coord: Vec<u64>,
        /// The bytes it was given.
        found: u64,
        /// The bytes it needs.
        wanted: u64,
    },
    /// The caller could not provide the elements of a chunk.
    #[error("cannot fill chunk {coord:?} of dataset #{dataset}")]
    Fill {
        /// The dataset.
        dataset: usize,
        /// The chunk's coordinate in the grid.
        coord: Vec<u64>,
        /// The error of the caller.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// A member given as JSON is not JSON that readers accept.
    #[error("the value of {key:?} is not sound JSON at byte {offset}: {what}")]
    Json {
        /// The member.
        key: String,
        /// The offset in its text.
        offset: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// The footer would exceed the limits of readers.
    #[error("the footer's {what} takes {found}, but readers take no more than {wanted}")]
    FooterLimit {
        /// What is too large, with its unit.
        what: &'static str,
        /// Its size.
        found: u64,
        /// The largest allowed size.
        wanted: u64,
    },
    /// The footer lists a spill without a known reference, so the spill cannot be moved.
    #[error("the footer lists a spill of {len} bytes at byte {offset} that is not known here")]
    UnknownSpill {
        /// The offset of the spill.
        offset: u64,
        /// Its length.
        len: u64,
    },
    /// The caller canceled the operation.
    #[error("canceled")]
    Canceled,
    /// A thread that encoded chunks ended early.
    #[error("an encoding thread ended early")]
    Thread,
}

impl From<tet_io::Canceled> for Error {
    fn from(_: tet_io::Canceled) -> Self {
        Error::Canceled
    }
}

impl Error {
    /// Who can act on this error.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Io(error) => error.kind(),
            Self::Format(error) if error.rule.is_limit() => Kind::Limit,
            Self::Format(_) => Kind::Format,
            Self::Codec(error) => codec_kind(error),
            Self::FooterLimit { .. } | Self::Thread => Kind::Limit,
            Self::Fill { .. } => Kind::Io,
            _ => Kind::Usage,
        }
    }

    /// The file and the system error, if the system reported one.
    #[must_use]
    pub fn system(&self) -> Option<(&std::path::Path, &std::io::Error)> {
        match self {
            Self::Io(error) => error.system(),
            _ => None,
        }
    }

    /// The broken rule of the format, if the error is one.
    #[must_use]
    pub fn as_format(&self) -> Option<&tet_format::Error> {
        match self {
            Self::Format(error) => Some(error),
            _ => None,
        }
    }
}

/// Who can act on an error of a codec, for all crates.
#[must_use]
pub const fn codec_kind(error: &tet_codec::Error) -> Kind {
    match error.kind() {
        tet_codec::Kind::Format => Kind::Format,
        tet_codec::Kind::Usage => Kind::Usage,
        tet_codec::Kind::Limit => Kind::Limit,
    }
}

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
