//! Checks the block of statistics (format section 6.3): its form here, its records with the payloads they are of.

use std::ops::Range;

use tet_file::{StatisticsKey, check_statistics};
use tet_format::footer::Spill;
use tet_format::statistics::{RECORD_LEN, record_at};
use tet_format::{ChunkStatistics, Error as Fault, Faults, Note, NoteCode, Rule};
use tet_io::Source;

use super::footer::Bounds;
use super::index::Index;
use super::subject::Subject;
use crate::collect::Collector;
use crate::error::Result;

/// Statistics whose records can be compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Statistics {
    spill: Spill,
}

/// Checks the form of the statistics, if they are of the payloads that the file has.
pub(super) fn check(
    subject: &Subject<'_>,
    index: Option<Index>,
    bounds: &Bounds,
    out: &mut Collector,
) -> Result<Option<Statistics>> {
    let Some((_, footer)) = &bounds.footer else { return Ok(None) };
    let spill = match (footer.statistics, index) {
        (StatisticsKey::Bound(spill), Some(index)) => {
            match check_statistics(subject.source, spill, index.row_count) {
                Ok(()) => spill,
                Err(tet_file::Error::Format(fault)) => {
                    out.fault(fault).map_err(tet_file::Error::from)?;
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            }
        }
        (StatisticsKey::Stale, _) => {
            let at = footer.json_at;
            out.push(Note { code: NoteCode::StatisticsStale, at, found: 0 }.into());
            return Ok(None);
        }
        _ => return Ok(None),
    };
    // Records that do not match their digest are wrong for another reason.
    Ok((out.count(Rule::SpillDigest) == 0).then_some(Statistics { spill }))
}

impl Statistics {
    /// The records of some rows, at most those of a page.
    pub(super) fn records(
        &self,
        source: &Source,
        rows: Range<u64>,
    ) -> Result<Vec<ChunkStatistics>> {
        let len = rows.end.saturating_sub(rows.start).saturating_mul(RECORD_LEN);
        let bytes = source.read_vec(record_at(self.spill.offset, rows.start), len)?;
        Ok(bytes.as_chunks().0.iter().map(ChunkStatistics::decode).collect())
    }

    /// The first number of a record that is not that of the elements.
    pub(super) fn differing(
        &self,
        row: u64,
        found: &ChunkStatistics,
        wanted: &ChunkStatistics,
    ) -> Option<Fault> {
        let words = |record: &ChunkStatistics| {
            let [first, second] = record.totals;
            [record.min, record.max, first, second]
        };
        let pairs = (0_u64..).zip(words(found).into_iter().zip(words(wanted)));
        let mut pairs = pairs.filter(|(_, (found, wanted))| found != wanted);
        let (nth, (found, wanted)) = pairs.next()?;
        let at = record_at(self.spill.offset, row).saturating_add(8 * nth);
        Some(Fault { rule: Rule::StatisticsRecord, at, found, wanted })
    }
}
