//! The options that a writer may have no use for.

use std::borrow::Cow;
use std::fmt;

use crate::write::storage::{Checksum, Filter, PayloadCodec};

/// An option of a conversion that only some outputs have.
///
/// # Examples
///
/// ```
/// use tet_container::{PayloadCodec, WriteOption};
///
/// assert_eq!(WriteOption::Codec(PayloadCodec::Gzip).to_string(), "codec gzip");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteOption {
    /// Chunk shapes.
    Chunks,
    /// Names of axes.
    Dims,
    /// Labels of axes.
    Labels,
    /// Attributes.
    Attrs,
    /// The name of the only dataset.
    Name,
    /// Digests, or none.
    Digests,
    /// Statistics of chunks, or none.
    Statistics,
    /// A history, or none.
    History,
    /// Room in the index.
    ReservedRows,
    /// A codec.
    Codec(PayloadCodec),
    /// A level of the codec.
    Level,
    /// Shuffled bytes.
    Filter,
    /// A checksum.
    Checksum(Checksum),
    /// Packed values, or none.
    Packing,
    /// Masks of NaN and infinities.
    Masks,
    /// An alignment.
    Align(u64),
    /// The shortest dataset that is aligned so.
    AlignAbove,
    /// Shards of chunks.
    Shards,
    /// The size of a file of several.
    ShardLen,
    /// Sparse tensors as one tensor each.
    NativeSparse,
    /// A version of the format, or the readers that it is written for.
    Variant(Cow<'static, str>),
}

impl fmt::Display for WriteOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            WriteOption::Chunks => "chunks",
            WriteOption::Dims => "dims",
            WriteOption::Labels => "labels",
            WriteOption::Attrs => "attributes",
            WriteOption::Name => "name",
            WriteOption::Digests => "digests",
            WriteOption::Statistics => "statistics",
            WriteOption::History => "history",
            WriteOption::ReservedRows => "reserved rows",
            WriteOption::Codec(codec) => return write!(f, "codec {}", codec.name()),
            WriteOption::Level => "level",
            WriteOption::Filter => "filter",
            WriteOption::Checksum(checksum) => return write!(f, "checksum {}", checksum.name()),
            WriteOption::Packing => "packing",
            WriteOption::Masks => "masks",
            WriteOption::Align(align) => return write!(f, "align {align}"),
            WriteOption::AlignAbove => "align above",
            WriteOption::Shards => "shards",
            WriteOption::ShardLen => "shard size",
            WriteOption::NativeSparse => "sparse native",
            WriteOption::Variant(variant) => return write!(f, "variant {variant}"),
        };
        f.write_str(name)
    }
}

impl Checksum {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Checksum::None => "none",
            Checksum::Crc32c => "crc32c",
            Checksum::Sha256 => "sha256",
        }
    }
}

impl Filter {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Filter::None => "none",
            Filter::Shuffle => "shuffle",
        }
    }
}
