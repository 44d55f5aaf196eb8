//! Statistics of chunks: the footer key `statistics`, and the block to which it refers (format section 6.3).
//!
//! ```text
//!   statistics.chunks == integrity.chunks      they are of these payloads; otherwise they are stale
//!   integrity.spills lists the block           so damage is found when the block is compared
//! ```

use std::sync::{Arc, OnceLock};

use tet_codec::digest;
use tet_format::footer::Spill;
use tet_format::statistics::{
    RECORD_LEN, WireStatisticsBlock, block_len, check_header, header, record_at,
};
use tet_format::{ChunkStatistics, Digest, Error as Fault, Limits, Rule, Strict};
use tet_io::Source;

use crate::error::{Error, Result};
use crate::footer::Value;
use crate::integrity::{IntegrityKey, Listed};
use crate::page_cache::PageCache;

/// The name of the key.
pub(crate) const KEY: &str = "statistics";
/// The version of the key.
const VERSION: u64 = 1;
/// Records that are read together where they are not compared with their digest.
const PAGE_RECORDS: u64 = 8192;
/// Statistics take at most one byte for this many bytes of payloads, unless they are asked for.
const SHARE: u64 = 500;
/// Approximate length of their footer JSON.
const JSON_LEN: u64 = 256;

/// The `statistics` key of a footer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatisticsKey {
    /// The footer has none, or one of another program.
    #[default]
    Absent,
    /// Statistics that are not bound to the digests of the payloads: the file changed since they were written.
    Stale,
    /// Statistics of the payloads: where their block is.
    Bound(Spill),
}

impl StatisticsKey {
    /// Reads the key of a footer JSON, whose digests are `integrity`.
    pub(crate) fn read(root: Value<'_>, integrity: Option<&IntegrityKey>) -> Self {
        let value = root.member(KEY);
        let version = value.and_then(|value| value.member("v")).and_then(Value::unsigned);
        let Some(value) = value.filter(|_| version == Some(VERSION)) else { return Self::Absent };
        let chunks = value.member("chunks").and_then(Value::string);
        let chunks = chunks.and_then(|chunks| Digest::from_hex(&chunks));
        let is_of = |key: &IntegrityKey, spill: Spill| {
            chunks == Some(key.chunks) && key.spills.iter().any(|listed| listed.spill == spill)
        };
        match (value.spill(), integrity) {
            (Some(spill), Some(key)) if is_of(key, spill) => Self::Bound(spill),
            _ => Self::Stale,
        }
    }

    /// The block of statistics that are bound to the payloads.
    #[must_use]
    pub fn spill(self) -> Option<Spill> {
        match self {
            Self::Bound(spill) => Some(spill),
            _ => None,
        }
    }
}

/// The value of the key for the payloads with this digest.
pub(crate) fn key_text(spill: Spill, chunks: Digest) -> String {
    let Spill { offset, len } = spill;
    format!("{{\"v\":{VERSION},\"offset\":{offset},\"len\":{len},\"chunks\":\"{chunks}\"}}")
}

/// Whether a value of the key is of the payloads with this digest.
pub(crate) fn is_of(text: &str, chunks: Digest) -> bool {
    text.contains(&format!("\"{chunks}\""))
}

/// Whether a value of the key is one of this version, and not of another program.
pub(crate) fn is_ours(text: &str) -> bool {
    let limits = Limits::default();
    let value = Value::read(text.as_bytes(), 0, &limits, Rule::JsonSyntax, &mut Strict);
    let version = value.ok().flatten().and_then(|value| value.member("v")?.unsigned());
    version == Some(VERSION)
}

/// The block of these records.
#[must_use]
pub fn statistics_block(records: &[ChunkStatistics]) -> Vec<u8> {
    let mut block = header(records.len() as u64).to_vec();
    block.extend(records.iter().flat_map(ChunkStatistics::encode));
    block
}

/// Whether statistics of `row_count` chunks are at most 0.2 % of `payload_len` bytes: then they are written unless
/// the options forbid it.
///
/// ```
/// assert!(tet_file::statistics_fit(1, 1 << 20));
/// assert!(!tet_file::statistics_fit(1000, 1 << 20));
/// ```
#[must_use]
pub fn statistics_fit(row_count: u64, payload_len: u64) -> bool {
    let len = block_len(row_count).and_then(|len| len.checked_add(JSON_LEN)?.checked_mul(SHARE));
    row_count != 0 && len.is_some_and(|len| len <= payload_len)
}

/// How statistics are compared before they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatisticsCheck {
    /// The whole block with its digest, once.
    Compared,
    /// Not at all.
    Trusted,
}

/// The statistics of an opened file, whose digests name them. Clones are cheap and share what is in memory.
#[derive(Clone, Debug)]
pub struct Statistics(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    source: Source,
    listed: Listed,
    row_count: u64,
    /// The block, once it was compared with its digest.
    block: OnceLock<Vec<u8>>,
    /// Records that were not compared.
    pages: PageCache<Vec<u8>>,
}

impl Statistics {
    /// The statistics whose block is at `spill`, which `key` lists. Nothing is read.
    pub(crate) fn new(
        source: &Source,
        spill: Spill,
        key: &IntegrityKey,
        row_count: u64,
    ) -> Option<Self> {
        let listed = *key.spills.iter().find(|listed| listed.spill == spill)?;
        let (source, block, pages) = (source.clone(), OnceLock::new(), PageCache::default());
        Some(Statistics(Arc::new(Inner { source, listed, row_count, block, pages })))
    }

    /// The length of the block.
    #[must_use]
    pub fn block_len(&self) -> u64 {
        self.0.listed.spill.len
    }

    /// The record of a row of the index.
    ///
    /// # Errors
    ///
    /// Returns [`Rule::StatisticsBlock`] when the block is none, [`Rule::SpillDigest`] when it differs from its digest,
    /// and errors of the source.
    pub fn of_row(&self, row: u64, check: StatisticsCheck) -> Result<ChunkStatistics> {
        let Inner { listed, row_count, .. } = &*self.0;
        let past_end = || fault(listed.spill.offset, row, *row_count);
        if *row_count <= row {
            return Err(past_end());
        }
        let record = match check {
            StatisticsCheck::Compared => {
                let at = record_at(0, row);
                record_in(self.compared()?, at)
            }
            StatisticsCheck::Trusted => {
                let page = row / PAGE_RECORDS;
                let held = self.0.pages.get(page, || self.page(page))?;
                record_in(&held, (row % PAGE_RECORDS).saturating_mul(RECORD_LEN))
            }
        };
        record.ok_or_else(past_end)
    }

    /// The block, after it was compared with its digest.
    fn compared(&self) -> Result<&[u8]> {
        let Inner { source, listed, block, .. } = &*self.0;
        if let Some(block) = block.get() {
            return Ok(block);
        }
        self.check_block()?;
        let Spill { offset, len } = listed.spill;
        // A record for each row, and a row is longer than a record.
        let bytes = source.read_vec(offset, len)?;
        if let Some((found, wanted)) = digest(&bytes).differs(listed.digest) {
            return Err(Fault { rule: Rule::SpillDigest, at: offset, found, wanted }.into());
        }
        Ok(block.get_or_init(|| bytes))
    }

    /// The records of a page, as they are.
    fn page(&self, page: u64) -> Result<Vec<u8>> {
        self.check_block()?;
        let first = page.saturating_mul(PAGE_RECORDS);
        let count = self.0.row_count.saturating_sub(first).min(PAGE_RECORDS);
        let at = record_at(self.0.listed.spill.offset, first);
        Ok(self.0.source.read_vec(at, count.saturating_mul(RECORD_LEN))?)
    }

    /// Checks length and header of the block.
    fn check_block(&self) -> Result<()> {
        let Inner { source, listed, row_count, .. } = &*self.0;
        check_statistics(source, listed.spill, *row_count)
    }
}

/// Checks length and header of the block of statistics of an index with `row_count` rows.
///
/// # Errors
///
/// Returns [`Rule::StatisticsBlock`], and errors of the source.
pub fn check_statistics(source: &Source, spill: Spill, row_count: u64) -> Result<()> {
    let Spill { offset, len } = spill;
    let wanted = block_len(row_count).unwrap_or(u64::MAX);
    if len != wanted {
        return Err(fault(offset, len, wanted));
    }
    let mut bytes = [0; WireStatisticsBlock::LEN];
    source.read_exact_at(offset, &mut bytes)?;
    Ok(check_header(&bytes, offset, row_count)?)
}

fn record_in(bytes: &[u8], at: u64) -> Option<ChunkStatistics> {
    let record = bytes.get(usize::try_from(at).ok()?..)?.first_chunk()?;
    Some(ChunkStatistics::decode(record))
}

fn fault(at: u64, found: u64, wanted: u64) -> Error {
    Fault { rule: Rule::StatisticsBlock, at, found, wanted }.into()
}

#[cfg(test)]
mod tests;
