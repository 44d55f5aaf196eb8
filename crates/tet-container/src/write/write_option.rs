//! The options that a writer may have no use for.

use std::borrow::Cow;
use std::fmt;

use tet_file::write::{DigestChoice, StatisticsChoice};

use crate::write::conversion::ConvertOptions;
use crate::write::storage::{
    Checksum, ChunkChoice, ChunkRule, Filter, PayloadCodec, ShardChoice, SparseLayout,
};

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

impl ConvertOptions {
    /// The first of the options that differ from their defaults and that a writer with these has no use for.
    pub fn useless(&self, has: &[WriteOption]) -> Option<WriteOption> {
        // Files without codecs are raw.
        let is_raw = |it: &WriteOption| *it == WriteOption::Codec(PayloadCodec::Raw);
        self.chosen_options().into_iter().find(|option| !is_raw(option) && !has.contains(option))
    }

    /// The options that differ from their defaults.
    fn chosen_options(&self) -> Vec<WriteOption> {
        let (tet, storage) = (&self.tet, &self.storage);
        let is_chosen = |it: &ChunkRule| it.chunks != ChunkChoice::Auto;
        let flags = [
            (WriteOption::Name, tet.name.is_some()),
            (WriteOption::Chunks, tet.chunks.iter().any(is_chosen)),
            (WriteOption::Dims, !tet.dims.is_empty()),
            (WriteOption::Labels, !tet.labels.is_empty()),
            (WriteOption::Attrs, !tet.attrs.is_empty()),
            (WriteOption::Digests, tet.digests != DigestChoice::Written),
            (WriteOption::Statistics, tet.statistics == StatisticsChoice::Left),
            (WriteOption::ReservedRows, tet.reserved_rows != 0),
            (
                WriteOption::Level,
                storage.level.is_some() || self.codecs.iter().any(|it| it.level.is_some()),
            ),
            (WriteOption::Filter, storage.filter.is_some()),
            (WriteOption::Packing, storage.packing.is_some()),
            (WriteOption::Masks, storage.masks.is_some()),
            (WriteOption::AlignAbove, storage.align_above != 0),
            (WriteOption::Shards, storage.shards != ShardChoice::Kept),
            (WriteOption::ShardLen, self.shard_len.is_some()),
            (WriteOption::NativeSparse, storage.sparse == SparseLayout::Native),
        ];
        let codecs = storage.codec.into_iter().chain(self.codecs.iter().filter_map(|it| it.codec));
        let mut chosen: Vec<WriteOption> = codecs.map(WriteOption::Codec).collect();
        chosen
            .extend(flags.into_iter().filter(|(_, is_given)| *is_given).map(|(option, _)| option));
        chosen.extend(storage.align.map(WriteOption::Align));
        chosen.extend(storage.checksum.map(WriteOption::Checksum));
        chosen.extend(storage.variant.clone().map(|it| WriteOption::Variant(Cow::Owned(it))));
        chosen
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
