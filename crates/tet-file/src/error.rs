//! Errors of whole files.

use std::error::Error as StdError;
use std::path::PathBuf;

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
        /// The reason.
        what: &'static str,
    },
    /// The footer would exceed the limits of readers.
    #[error("the footer's {what} takes {found}, but readers take no more than {wanted}")]
    FooterLimit {
        /// The quantity, with its unit.
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
    /// A plan of a file cannot be followed.
    #[error("the plan of the file is not sound: {what}")]
    Plan {
        /// The reason.
        what: String,
    },
    /// A file cannot be edited.
    #[error("the file cannot be edited: {what}")]
    Edit {
        /// Why not.
        what: String,
    },
    /// A file is not a complete part of the plan.
    #[error("{}, at byte {at}, {what}", tet_io::shown(path))]
    Part {
        /// The file.
        path: PathBuf,
        /// Where.
        at: u64,
        /// The reason.
        what: &'static str,
    },
    /// A region is not in its dataset, or has another number of bytes.
    #[error(
        "a region of {extents:?} elements at {start:?} with {len} bytes does not fit {dataset:?} of shape {shape:?}"
    )]
    Region {
        /// The name of the dataset.
        dataset: String,
        /// Its extents.
        shape: Vec<u64>,
        /// The first element of the region.
        start: Vec<u64>,
        /// The extents of the region.
        extents: Vec<u64>,
        /// The bytes that were given.
        len: u64,
    },
    /// There is no memory for a chunk.
    #[error("a chunk of {dataset:?} takes {len} bytes, which there is no memory for")]
    ChunkMemory {
        /// The name of the dataset.
        dataset: String,
        /// The bytes of the chunk.
        len: u64,
    },
    /// Too many chunks are incomplete at the same time.
    #[error(
        "chunks of {dataset:?} of which only some elements are written take more than {limit} bytes: write regions \
         that cover whole chunks, choose smaller chunks, or allow more memory"
    )]
    PartialMemory {
        /// The name of the dataset.
        dataset: String,
        /// The limit.
        limit: u64,
    },
    /// Some elements of a chunk are not written.
    #[error(
        "{left} elements of chunk {coord:?} of {dataset:?} are not written: write them, let regions cover whole \
         chunks, or give a fill value"
    )]
    Incomplete {
        /// The name of the dataset.
        dataset: String,
        /// The chunk's coordinate in the grid.
        coord: Vec<u64>,
        /// How many.
        left: u64,
    },
    /// Chunks are not written.
    #[error("{}", missing(named, *count))]
    Missing {
        /// The first of them: the name of the dataset, and the coordinate in the grid.
        named: Vec<(String, Vec<u64>)>,
        /// How many.
        count: u64,
    },
    /// Two parts have different bytes for the same chunk.
    #[error(
        "chunk {coord:?} of {dataset:?} is in {} and, with other bytes, in {}: delete the part that is wrong",
        tet_io::shown(&paths[0]),
        tet_io::shown(&paths[1])
    )]
    Conflict {
        /// The name of the dataset.
        dataset: String,
        /// The chunk's coordinate in the grid.
        coord: Vec<u64>,
        /// The two parts.
        paths: [PathBuf; 2],
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
            Self::Part { .. } => Kind::Format,
            Self::ChunkMemory { .. } | Self::PartialMemory { .. } => Kind::Limit,
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

/// The message for chunks that are not written.
fn missing(named: &[(String, Vec<u64>)], count: u64) -> String {
    let are = if count == 1 { "chunk is" } else { "chunks are" };
    let names: Vec<String> =
        named.iter().map(|(name, coord)| format!("{coord:?} of {name:?}")).collect();
    let more = if count > named.len() as u64 { ", ..." } else { "" };
    format!("{count} {are} not written: {}{more}", names.join(", "))
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
