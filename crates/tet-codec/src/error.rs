//! What can be wrong with a payload, or with what was asked of a codec.

use tet_format::Rule;

/// Who can act on an error of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The file is damaged or hostile.
    Format,
    /// The caller asked for something that cannot be.
    Usage,
    /// A bound was reached.
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
        /// Bytes in the file.
        stored_len: u64,
        /// Bytes the row promises.
        decoded_len: u64,
    },
    /// The payload decodes to more bytes than the row promises.
    #[error("{codec}: payload decodes to more than the stated {decoded_len} bytes")]
    TooLong {
        /// The codec's name.
        codec: &'static str,
        /// Bytes the row promises.
        decoded_len: u64,
    },
    /// The payload decodes to fewer bytes than the row promises.
    #[error("{codec}: payload decodes to {found} bytes, not to the stated {decoded_len}")]
    TooShort {
        /// The codec's name.
        codec: &'static str,
        /// Bytes that came out.
        found: u64,
        /// Bytes the row promises.
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
        /// Where in the payload the frame starts.
        at: u64,
        /// The dictionary it names.
        id: u32,
    },
    /// A frame's window is larger than the format allows.
    #[error("zstd: the frame at payload byte {at} has a window of {found} bytes, over {wanted}")]
    Window {
        /// Where in the payload the frame starts.
        at: u64,
        /// Its window in bytes.
        found: u64,
        /// The largest allowed.
        wanted: u64,
    },
    /// These bytes are no frame: not encoded with this codec, or bytes trail the last frame.
    #[error("{codec}: no frame starts at payload byte {at}")]
    NotAFrame {
        /// The codec's name.
        codec: &'static str,
        /// Where in the payload.
        at: u64,
    },
    /// The payload is damaged.
    #[error("{codec}: the payload is damaged ({reason})")]
    Corrupt {
        /// The codec's name.
        codec: &'static str,
        /// What the codec says about it.
        reason: &'static str,
    },
    /// The codec decodes whole chunks only.
    #[error("{codec}: decodes whole chunks only")]
    NoRange {
        /// The codec's name.
        codec: &'static str,
    },
    /// A buffer is not of the length that was asked for.
    #[error("{codec}: a buffer of {found} bytes was given where {wanted} are needed")]
    Buffer {
        /// The codec's name.
        codec: &'static str,
        /// Its length.
        found: u64,
        /// The length it must have.
        wanted: u64,
    },
    /// The level is outside what the codec knows.
    #[error("{codec}: there is no level {level}; levels are {min} to {max}")]
    Level {
        /// The codec's name.
        codec: &'static str,
        /// What was asked for.
        level: i32,
        /// The lowest level.
        min: i32,
        /// The highest level.
        max: i32,
    },
    /// Memory for a context or a buffer is not to be had.
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

    /// The rule of the format that a payload breaks when its decoder says this.
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

/// The result of a codec.
pub type Result<T, E = Error> = std::result::Result<T, E>;
