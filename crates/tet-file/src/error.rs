//! What can go wrong with a whole file.

use std::error::Error as StdError;

use tet_format::write::WriteError;
use tet_io::Kind;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The world did not let us.
    #[error(transparent)]
    Io(#[from] tet_io::Error),
    /// The file breaks a rule of the format, or a limit of the reader.
    #[error(transparent)]
    Format(#[from] tet_format::Error),
    /// The datasets to be written cannot be.
    #[error(transparent)]
    Layout(WriteError),
    /// A chunk could not be encoded.
    #[error(transparent)]
    Codec(#[from] tet_codec::Error),
    /// This build has no such codec.
    #[error("this build has no {codec}")]
    NoCodec {
        /// The codec's name.
        codec: &'static str,
    },
    /// The datasets of a file are written in the order they were declared.
    #[error("dataset #{found} was written where dataset #{wanted} is next")]
    DatasetOrder {
        /// The dataset that was written.
        found: usize,
        /// The one that is next; the number of datasets when all are written.
        wanted: usize,
    },
    /// A chunk was filled with the wrong number of bytes.
    #[error("chunk {coord:?} of dataset #{dataset} takes {wanted} bytes, but was given {found}")]
    ChunkLen {
        /// The dataset.
        dataset: usize,
        /// The chunk's place in the grid.
        coord: Vec<u64>,
        /// Bytes it was given.
        found: u64,
        /// Bytes it takes.
        wanted: u64,
    },
    /// The caller could not give the elements of a chunk.
    #[error("cannot fill chunk {coord:?} of dataset #{dataset}")]
    Fill {
        /// The dataset.
        dataset: usize,
        /// The chunk's place in the grid.
        coord: Vec<u64>,
        /// What the caller says.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// A member given as JSON is not JSON that readers take.
    #[error("the value of {key:?} is not sound JSON at byte {offset}: {what}")]
    Json {
        /// The member.
        key: String,
        /// Where in its text.
        offset: usize,
        /// What is asked of it.
        what: &'static str,
    },
    /// The footer would be larger than readers take.
    #[error("the footer's {what} takes {found}, but readers take no more than {wanted}")]
    FooterLimit {
        /// What is too large, with its unit.
        what: &'static str,
        /// How large it is.
        found: u64,
        /// How large it may be.
        wanted: u64,
    },
    /// The footer lists a spill to which no key that is known here refers: it cannot be moved.
    #[error("the footer lists a spill of {len} bytes at byte {offset} that is not known here")]
    UnknownSpill {
        /// Where the spill starts.
        offset: u64,
        /// How long it is.
        len: u64,
    },
    /// The caller wanted no more.
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

    /// The file and the error of the system, where the system refused something.
    #[must_use]
    pub fn system(&self) -> Option<(&std::path::Path, &std::io::Error)> {
        match self {
            Self::Io(error) => error.system(),
            _ => None,
        }
    }

    /// The breach of the format, if that is what it is.
    #[must_use]
    pub fn as_format(&self) -> Option<&tet_format::Error> {
        match self {
            Self::Format(error) => Some(error),
            _ => None,
        }
    }
}

/// Who can act on an error of a codec, in the words all crates share.
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
