//! The options of a conversion that differ from their defaults.

use std::borrow::Cow;

use tet_file::write::{DigestChoice, StatisticsChoice};

use crate::write::conversion::ConvertOptions;
use crate::write::storage::{ChunkChoice, ChunkRule, PayloadCodec, ShardChoice, SparseLayout};
use crate::write::write_option::WriteOption;

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
        // For all datasets any output may choose.
        let is_chosen = |it: &ChunkRule| match it.chunks {
            ChunkChoice::Kept => false,
            ChunkChoice::Auto => it.dataset.is_some(),
            ChunkChoice::Shape(_) | ChunkChoice::Axes(_) => true,
        };
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
