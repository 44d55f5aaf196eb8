//! Errors of payloads, and of calls of a codec.

use tet_format::Rule;

/// Who can act on an error of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The file is damaged or hostile.
    Format,
    /// The request of the caller is invalid.
    Usage,
    /// A limit was reached.
    Limit,
}

/// An error of a codec.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No payload of this length decodes to that length.
    #[error("{codec}: {stored_len} stored bytes cannot decode to {decoded_len} bytes")]
    Lengths {
        /// The codec's name.
        codec: &'static str,
        /// The stored length in bytes.
        stored_len: u64,
        /// The decoded length stated in the row.
        decoded_len: u64,
    },
    /// The payload decodes to more bytes than the row promises.
    #[error("{codec}: payload decodes to more than the stated {decoded_len} bytes")]
    TooLong {
        /// The codec's name.
        codec: &'static str,
        /// The decoded length stated in the row.
        decoded_len: u64,
    },
    /// The payload decodes to fewer bytes than the row promises.
    #[error("{codec}: payload decodes to {found} bytes, not to the stated {decoded_len}")]
    TooShort {
        /// The codec's name.
        codec: &'static str,
        /// The decoded length of the payload.
        found: u64,
        /// The decoded length stated in the row.
        decoded_len: u64,
    },
    /// A checksum inside the payload does not match its bytes.
    #[error("{codec}: the checksum inside the payload does not match its bytes")]
    Checksum {
        /// The codec's name.
        codec: &'static str,
    },
    /// A frame needs a dictionary, which the format does not allow.
    #[error("zstd: the frame at payload byte {at} needs dictionary {id}")]
    Dictionary {
        /// The offset of the frame in the payload.
        at: u64,
        /// The id of the dictionary.
        id: u32,
    },
    /// A frame's window is larger than the format allows.
    #[error("zstd: the frame at payload byte {at} has a window of {found} bytes, over {wanted}")]
    Window {
        /// The offset of the frame in the payload.
        at: u64,
        /// Its window in bytes.
        found: u64,
        /// The largest allowed.
        wanted: u64,
    },
    /// These bytes are no frame: not encoded with this codec, or extra bytes after the last frame.
    #[error("{codec}: no frame starts at payload byte {at}")]
    NotAFrame {
        /// The codec's name.
        codec: &'static str,
        /// The offset in the payload.
        at: u64,
    },
    /// The payload is damaged.
    #[error("{codec}: the payload is damaged ({reason})")]
    Corrupt {
        /// The codec's name.
        codec: &'static str,
        /// The reason that the codec reports.
        reason: &'static str,
    },
    /// The payload is written in a way that is not supported.
    #[error("{codec}: {reason} is not supported")]
    Unsupported {
        /// The codec's name.
        codec: &'static str,
        /// The unsupported feature.
        reason: &'static str,
    },
    /// The codec decodes whole chunks only.
    #[error("{codec}: decodes whole chunks only")]
    NoRange {
        /// The codec's name.
        codec: &'static str,
    },
    /// A buffer has the wrong length.
    #[error("{codec}: a buffer of {found} bytes was given where {wanted} are needed")]
    Buffer {
        /// The codec's name.
        codec: &'static str,
        /// Its length.
        found: u64,
        /// The length it must have.
        wanted: u64,
    },
    /// The codec does not support the level.
    #[error("{codec}: there is no level {level}; levels are {min} to {max}")]
    Level {
        /// The codec's name.
        codec: &'static str,
        /// The requested level.
        level: i32,
        /// The lowest level.
        min: i32,
        /// The highest level.
        max: i32,
    },
    /// Memory for a context or a buffer could not be allocated.
    #[error("{codec}: out of memory")]
    Memory {
        /// The codec's name.
        codec: &'static str,
    },
}

impl Error {
    /// Who can act on this error.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::NoRange { .. } | Self::Buffer { .. } | Self::Level { .. } => Kind::Usage,
            Self::Memory { .. } => Kind::Limit,
            _ => Kind::Format,
        }
    }

    /// The rule of the format that a payload breaks, for an error of its decoder.
    #[must_use]
    pub const fn rule(&self) -> Rule {
        match self {
            Self::Lengths { .. } => Rule::ZstdBound,
            Self::TooLong { .. } | Self::TooShort { .. } => Rule::ZstdLen,
            Self::Dictionary { .. } | Self::Window { .. } => Rule::ZstdWindow,
            _ => Rule::ZstdFrames,
        }
    }
}

/// A filter of a file that is not supported.
///
/// ```
/// let refused = tet_codec::hdf5_stage(32017, &[], 4).unwrap_err();
/// assert_eq!(refused.to_string(), "the filter sz (HDF5 filter 32017) is not supported");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} {name} {}", what.0, what.1)]
pub struct Unsupported {
    /// The name of the filter.
    pub name: String,
    what: (&'static str, &'static str),
}

impl Unsupported {
    pub(crate) fn filter(name: String) -> Unsupported {
        Unsupported { name, what: ("the filter", "is not supported") }
    }

    pub(crate) fn options(name: &str) -> Unsupported {
        let what = ("the options of the filter", "are invalid or not supported");
        Unsupported { name: name.to_owned(), what }
    }
}

/// The result of a codec.
pub type Result<T, E = Error> = std::result::Result<T, E>;
