//! Maps a fault to its place: byte -> region, field, dataset, chunk.

use tet_format::digest::PAGE_ROW_COUNT;
use tet_format::directory::RECORD_HEADER_LEN;
use tet_format::index::{HEADER_LEN, IndexRow, ROW_LEN};
use tet_format::map::Map;
use tet_format::superblock::WireSuperblock;
use tet_format::{NoteCode, Region, Rule};
use tet_io::Source;
use tet_report::{Code, Finding, Location};

use crate::check::Seen;
use crate::collect::Entry;
use crate::error::Result;

/// Whether a rule is about the content of a spill, wherever that is.
fn is_in_spill(rule: Rule, region: Region) -> bool {
    rule.region() == Region::Footer && region != Region::Footer && rule != Rule::TailRoom
}

/// Maps faults of one file.
pub(crate) struct Places<'a> {
    source: &'a Source,
    seen: &'a Seen,
    map: Map<'a>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(source: &'a Source, seen: &'a Seen) -> Self {
        Places { source, seen, map: Map::new(&seen.head, &seen.tail, source.len()) }
    }

    /// The finding of a fault, with its place.
    pub(crate) fn finding(&self, entry: &Entry) -> Result<Finding> {
        let Entry { code, found, wanted, .. } = *entry;
        let place = self.place(entry)?;
        let (severity, level) = (code.severity(), code.level());
        Ok(Finding { code, severity, level, place, found, wanted })
    }

    fn place(&self, entry: &Entry) -> Result<Location> {
        let mut place = Location {
            region: entry.code.region(),
            field: "end of file",
            offset: entry.at,
            ..Location::default()
        };
        if let Some(row) = entry.row {
            (place.region, place.field) = (Region::Payload.name(), "stored");
            place.len = self.row(row, &mut place)?.map_or(0, |row| row.stored_len);
            if entry.code == Code::Rule(Rule::StatisticsRecord) {
                (place.region, place.field) = (Region::Footer.name(), "spill");
                place.len = size_of::<u64>() as u64;
            }
            return Ok(place);
        }
        let Some(located) = self.map.locate(entry.at) else { return Ok(place) };
        place.region = located.region.name();
        (place.field, place.offset, place.len) = (located.field, located.offset, located.len);
        match (located.region, located.record) {
            (Region::Directory, Some(dataset)) => self.name(dataset, &mut place),
            (Region::Index, Some(row)) => drop(self.row(row, &mut place)?),
            _ => {}
        }
        self.widen(entry, located.region, &mut place);
        Ok(place)
    }

    /// Extends a place for faults that are about more than one field.
    fn widen(&self, entry: &Entry, region: Region, place: &mut Location) {
        match entry.code {
            Code::Rule(Rule::RowCount) => place.field = "record",
            // A record past the end of the directory.
            Code::Rule(Rule::RecordBounds) if region != Region::Directory => {
                (place.region, place.field, place.len) = (Region::Directory.name(), "records", 0);
                unnamed(place);
            }
            Code::Rule(Rule::RecordBounds) => {
                (place.field, place.len) = ("record", RECORD_HEADER_LEN);
            }
            Code::Rule(Rule::RawSum) => {
                (place.field, place.len) = ("rows", self.index_end().saturating_sub(entry.at));
                unnamed(place);
            }
            Code::Rule(Rule::HeadDigest) => {
                (place.region, place.field) = (Region::Superblock.name(), "head");
                (place.offset, place.len) = (0, self.head_len());
            }
            Code::Rule(Rule::PageDigest) => {
                (place.field, place.len) = ("page", PAGE_ROW_COUNT.saturating_mul(ROW_LEN));
                place.len = place.len.min(self.index_end().saturating_sub(place.offset));
                unnamed(place);
            }
            Code::Rule(Rule::DigestBlock | Rule::PagesDigest | Rule::ChunksDigest)
            | Code::Note(NoteCode::DigestsStale)
                if region != Region::Footer =>
            {
                (place.region, place.field) = (Region::Footer.name(), "digests");
                (place.offset, place.len) = (entry.at, 1);
            }
            // The map does not contain the positions of spills.
            Code::Rule(rule) if is_in_spill(rule, region) => {
                (place.region, place.field) = (Region::Footer.name(), "spill");
                (place.offset, place.len) = (entry.at, 1);
            }
            Code::Rule(Rule::RowUnique | Rule::RowDataset) => {
                (place.field, place.len) = ("row", ROW_LEN);
            }
            Code::Note(NoteCode::RowOrder) => {
                place.field = "rows";
                unnamed(place);
                place.len = entry.found.saturating_mul(ROW_LEN);
            }
            Code::Note(NoteCode::UndeclaredTail) => {
                (place.region, place.field) = (Region::Footer.name(), "tail");
                (place.offset, place.len) = (entry.at, tet_format::footer::TAIL_LEN);
            }
            // Without all rows the map cannot find the start of a gap.
            Code::Note(NoteCode::BytesUnused) | Code::Rule(Rule::GapZero) => {
                (place.region, place.field) = (Region::Gap.name(), "unused");
                (place.offset, place.len) = (entry.at, 1);
            }
            _ => {}
        }
    }

    fn name(&self, dataset: u64, place: &mut Location) {
        place.dataset = Some(dataset);
        let at = usize::try_from(dataset).ok();
        let named = at.and_then(|at| self.seen.datasets.get(at));
        place.dataset_name = named.map(|dataset| dataset.name.clone());
    }

    /// Adds the dataset and the chunk of a row, if the row can be read.
    fn row(&self, number: u64, place: &mut Location) -> Result<Option<IndexRow>> {
        let Some(row_at) = self.row_at(number) else { return Ok(None) };
        let mut bytes = [0; IndexRow::LEN];
        if row_at.checked_add(ROW_LEN).is_none_or(|end| self.source.len() < end) {
            return Ok(None);
        }
        self.source.read_exact_at(row_at, &mut bytes)?;
        let row = IndexRow::decode(&bytes);
        self.name(row.dataset_id, place);
        let id = usize::try_from(row.dataset_id).ok();
        if let Some(dataset) = id.and_then(|id| self.seen.datasets.get(id)) {
            place.chunk = row.coord.get(..dataset.grid.rank()).map(<[u64]>::to_vec);
        }
        Ok(Some(row))
    }

    fn row_at(&self, number: u64) -> Option<u64> {
        let wire = self.superblock()?;
        Some(tet_format::layout::row_at(wire.index_offset, number))
    }

    /// The end of the bytes covered by the head digest.
    fn head_len(&self) -> u64 {
        let len =
            |wire: WireSuperblock| wire.index_offset.saturating_add(wire.index_len.min(HEADER_LEN));
        self.superblock().map_or(0, len)
    }

    fn index_end(&self) -> u64 {
        let end = |wire: WireSuperblock| wire.index_offset.saturating_add(wire.index_len);
        self.superblock().map_or(0, end)
    }

    fn superblock(&self) -> Option<WireSuperblock> {
        self.seen.head.first_chunk().map(WireSuperblock::decode)
    }
}

/// Removes the chunk from a finding about many chunks.
fn unnamed(place: &mut Location) {
    (place.dataset, place.dataset_name, place.chunk) = (None, None, None);
}
