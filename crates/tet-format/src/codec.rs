//! How a chunk is stored.

use core::fmt;

/// How a chunk is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Codec {
    /// The elements, uncompressed.
    Raw,
    /// zstd frames.
    Zstd,
    /// A tag that v1 does not define: the chunk cannot be read, the rest of the file can.
    Unknown(u32),
}

impl Codec {
    /// The codec with this tag in an index row.
    #[must_use]
    pub const fn from_tag(tag: u32) -> Codec {
        match tag {
            0 => Codec::Raw,
            1 => Codec::Zstd,
            tag => Codec::Unknown(tag),
        }
    }

    /// The tag of the codec in an index row.
    #[must_use]
    pub const fn tag(self) -> u32 {
        match self {
            Codec::Raw => 0,
            Codec::Zstd => 1,
            Codec::Unknown(tag) => tag,
        }
    }

    /// The name of the codec.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Codec::Raw => "raw",
            Codec::Zstd => "zstd",
            Codec::Unknown(_) => "unknown",
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Codec::Unknown(tag) => write!(f, "unknown codec {tag}"),
            codec => f.pad(codec.name()),
        }
    }
}

/// The most bytes that `stored_len` bytes of zstd frames can decode to, saturated.
///
/// A block of a frame takes at least 4 bytes and holds at most 128 KiB (rule TET-P4). A reader
/// compares with this before it allocates.
#[must_use]
pub const fn zstd_decoded_max(stored_len: u64) -> u64 {
    (stored_len / 4).saturating_add(1).saturating_mul(131_072)
}

/// The usual limit for the decoded data of a file of `file_len` bytes: 16 GiB, or 65,536 times its
/// length if that is more.
///
/// The densest zstd payload decodes to 32,768 times its length, so a file exceeds this only with
/// payloads that several arrays share, or with arrays without a payload.
#[must_use]
pub const fn usual_decoded_max(file_len: u64) -> u64 {
    let (least, times_len) = (1 << 34, file_len.saturating_mul(1 << 16));
    if times_len < least { least } else { times_len }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_go_both_ways() {
        for tag in 0..5 {
            assert_eq!(Codec::from_tag(tag).tag(), tag);
        }
        assert_eq!([0, 1, 2].map(|tag| Codec::from_tag(tag).name()), ["raw", "zstd", "unknown"]);
    }

    #[test]
    fn the_zstd_bound_saturates() {
        assert_eq!([0, 3, 4].map(zstd_decoded_max), [131_072, 131_072, 262_144]);
        assert_eq!(zstd_decoded_max(u64::MAX), u64::MAX);
    }
}
