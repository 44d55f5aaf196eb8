//! Shards: many chunks in one object, with an index at its start or end (codec `sharding_indexed`).

use serde_json::Value;
use tet_codec::Crc32c;
use tet_format::{ForeignFault, Shape, Span};

use crate::codec::ZarrCodec;
use crate::element::ZarrOrder;
use crate::error::{Broken, broken};
use crate::rule;

/// The longest index, in bytes.
const INDEX_LEN_MAX: u64 = 64 << 20;

/// The bytes of an entry: an offset and a length.
const ENTRY_LEN: u64 = 16;

/// The bytes of the checksum behind the entries.
const CHECKSUM_LEN: u64 = 4;

/// Where the index of a shard is.
///
/// ```
/// assert_ne!(tet_zarr::IndexLocation::Start, tet_zarr::IndexLocation::End);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexLocation {
    /// Before the chunks.
    Start,
    /// After the chunks.
    End,
}

/// One level of shards: how many chunks a shard has, and what its index looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardLevel {
    /// The number of chunks along each axis.
    pub counts: Vec<u64>,
    /// Where the index is.
    pub location: IndexLocation,
    /// The order of the bytes of its numbers.
    pub order: ZarrOrder,
    /// Its length in bytes, with the checksum if there is one.
    pub index_len: u64,
    /// Whether it ends with a CRC-32C.
    pub has_checksum: bool,
}

impl ShardLevel {
    /// The level that a codec `sharding_indexed` describes, and the extents of its chunks.
    pub(crate) fn read(codec: &ZarrCodec, shard: &Shape) -> Result<(ShardLevel, Shape), Broken> {
        let wrong = broken(&rule::SHARD_CHUNKS, 0, 0);
        let member = |name| codec.configuration.get(name);
        let Some(Value::Array(list)) = member("chunk_shape") else { return Err(wrong) };
        let inner = list.iter().map(Value::as_u64).collect::<Option<Vec<u64>>>().ok_or(wrong)?;
        if inner.len() != shard.rank() {
            return Err(wrong);
        }
        let mut counts = Vec::with_capacity(inner.len());
        for (&outer, &inner) in shard.iter().zip(&inner) {
            match outer.checked_rem(inner) {
                Some(0) => counts.push(outer / inner),
                _ => return Err(broken(&rule::SHARD_CHUNKS, inner, outer)),
            }
        }
        let location = match member("index_location").map(Value::as_str) {
            None | Some(Some("end")) => IndexLocation::End,
            Some(Some("start")) => IndexLocation::Start,
            Some(_) => return Err(wrong),
        };
        let (order, has_checksum) = index_codecs(member("index_codecs"))?;
        let entries = Shape::from(counts.as_slice()).element_count();
        let entries_len = entries.and_then(|count| count.checked_mul(ENTRY_LEN));
        let index_len =
            entries_len.and_then(|it| it.checked_add(if has_checksum { CHECKSUM_LEN } else { 0 }));
        match index_len.filter(|index_len| *index_len <= INDEX_LEN_MAX) {
            Some(index_len) => {
                let level = ShardLevel { counts, location, order, index_len, has_checksum };
                Ok((level, Shape::from(inner)))
            }
            None => {
                let found = index_len.unwrap_or(u64::MAX);
                Err(broken(&rule::LIMIT_SHARD, found, INDEX_LEN_MAX))
            }
        }
    }

    /// The level that the codec `sharding_indexed` of a shard of this shape describes, the shape of the chunks in it, and
    /// their codecs.
    ///
    /// # Errors
    ///
    /// The codec breaks a rule.
    pub fn of_codec(
        codec: &ZarrCodec,
        shard: &Shape,
    ) -> Result<(ShardLevel, Shape, Vec<ZarrCodec>), ForeignFault> {
        let (level, chunk) = ShardLevel::read(codec, shard)?;
        Ok((level, chunk, ZarrCodec::list_of_v3(codec.configuration.get("codecs"))?))
    }

    /// Where the chunks are in a shard of these bytes, in the order of the grid; `None` for those that are not stored.
    ///
    /// # Errors
    ///
    /// The shard is cut off, or its index is damaged.
    pub fn places(&self, shard: &[u8]) -> Result<Vec<Option<Span>>, ForeignFault> {
        let whole = Span::new(0, u64::try_from(shard.len()).unwrap_or(u64::MAX));
        let whole = whole.unwrap_or(Span::EMPTY);
        let place = self.index_span(whole)?;
        let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let bytes = shard.get(index(place.start())..index(place.end())).unwrap_or_default();
        let found = self.parse(bytes.to_vec(), place, whole)?;
        (0..found.len()).map(|number| found.entry(number)).collect()
    }

    /// The number of a chunk in the index.
    pub(crate) fn entry_number(&self, inside: &[u64]) -> Option<usize> {
        let mut pairs = self.counts.iter().zip(inside);
        let number = pairs
            .try_fold(0_u64, |number, (&count, &at)| number.checked_mul(count)?.checked_add(at))?;
        usize::try_from(number).ok()
    }

    /// Where the index is in a shard; the shard is shorter than its index otherwise.
    pub(crate) fn index_span(&self, shard: Span) -> Result<Span, Broken> {
        let start = match self.location {
            IndexLocation::Start => Some(shard.start()),
            IndexLocation::End => shard.end().checked_sub(self.index_len),
        };
        let span = start.and_then(|start| Span::new(start, self.index_len));
        span.filter(|span| shard.contains(*span)).ok_or(Broken {
            at: shard.start(),
            ..broken(&rule::SHARD_CUT, shard.len(), self.index_len)
        })
    }

    /// The index in these bytes.
    pub(crate) fn parse(
        &self,
        bytes: Vec<u8>,
        index: Span,
        shard: Span,
    ) -> Result<ShardIndex, Broken> {
        let mut entries = bytes;
        if self.has_checksum {
            let cut = entries.len().saturating_sub(4);
            let stored = entries.split_off(cut);
            let stored = stored.as_slice().try_into().map(u32::from_le_bytes).unwrap_or(0);
            let computed = Crc32c::checksum(&entries);
            if stored != computed {
                let at = index.end().saturating_sub(CHECKSUM_LEN);
                let wrong = broken(&rule::SHARD_CHECKSUM, stored.into(), computed.into());
                return Err(Broken { at, ..wrong });
            }
        }
        Ok(ShardIndex { entries, order: self.order, index, shard })
    }
}

/// The order of the numbers of an index and whether it has a checksum.
fn index_codecs(value: Option<&Value>) -> Result<(ZarrOrder, bool), Broken> {
    let other = broken(&rule::SHARD_INDEX_CODECS, 0, 0);
    let codecs = ZarrCodec::list_of_v3(value)?;
    let (bytes, rest) = codecs.split_first().ok_or(other)?;
    let order = match (bytes.is_core("bytes"), bytes.text("endian")) {
        (true, Some("little")) => ZarrOrder::Little,
        (true, Some("big")) => ZarrOrder::Big,
        _ => return Err(other),
    };
    match rest {
        [] => Ok((order, false)),
        [crc] if crc.name == "crc32c" && crc.text("location") != Some("start") => Ok((order, true)),
        _ => Err(other),
    }
}

/// The index of one shard.
#[derive(Debug)]
pub(crate) struct ShardIndex {
    entries: Vec<u8>,
    order: ZarrOrder,
    /// Where the index itself is.
    index: Span,
    shard: Span,
}

impl ShardIndex {
    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len() / 16
    }

    /// The bytes that it takes in memory.
    pub(crate) fn byte_count(&self) -> usize {
        self.entries.len()
    }

    /// Where a chunk is in the source; `None` if it is not stored.
    pub(crate) fn entry(&self, number: usize) -> Result<Option<Span>, Broken> {
        let start = number.saturating_mul(16);
        let Some(entry) = self.entries.get(start..start.saturating_add(16)) else {
            return Err(broken(&rule::SHARD_CUT, 0, 0));
        };
        let (offset, length) = entry.split_at(8);
        let (offset, length) = (self.number(offset), self.number(length));
        if offset == u64::MAX && length == u64::MAX {
            return Ok(None);
        }
        let at = self.index.start().saturating_add(u64::try_from(start).unwrap_or(0));
        let from = self.shard.start().checked_add(offset);
        let span = from.and_then(|from| Span::new(from, length));
        let Some(span) = span.filter(|span| self.shard.contains(*span)) else {
            let end = offset.saturating_add(length);
            return Err(Broken { at, ..broken(&rule::SHARD_BOUNDS, end, self.shard.len()) });
        };
        if span.overlaps(self.index) {
            let start = self.index.start().saturating_sub(self.shard.start());
            return Err(Broken { at, ..broken(&rule::SHARD_OVERLAP, offset, start) });
        }
        Ok(Some(span))
    }

    fn number(&self, bytes: &[u8]) -> u64 {
        let mut bytes: [u8; 8] = bytes.try_into().unwrap_or_default();
        if self.order == ZarrOrder::Big {
            bytes.reverse();
        }
        u64::from_le_bytes(bytes)
    }
}
