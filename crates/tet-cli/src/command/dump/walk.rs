//! Prints the whole file, or the requested regions, in file order.

use tet_format::index::{IndexRow, ROW_LEN};
use tet_format::map::{ByteField, Places};
use tet_format::{Region, Span, superblock};
use tet_verify::file_map::{Annotation, Segment};

use super::field::Owner;
use super::{Dump, usage};
use crate::args::RegionName;
use crate::escape::Escaped;
use crate::exit::{Failure, Result};
use crate::render::hex;

/// Bytes of JSON on a line.
const TEXT_LEN: u64 = 64;

/// Prints all requested fields of the file.
pub(super) fn walk(dump: &mut Dump<'_, '_, '_>) -> Result<()> {
    let dataset = match dump.args.dataset.as_deref() {
        Some(name) => Some(find(dump, name)?),
        None => None,
    };
    let map = dump.file_map.map();
    let body = map.body_span();
    let (owner, row_annotations) = (Owner::default(), Vec::new());
    let mut walk = Walk {
        dump,
        dataset,
        part: None,
        count: 0,
        record: None,
        owner,
        row: None,
        row_annotations,
    };
    let mut places = map.places();
    walk.structure(&mut places, body.start())?;
    walk.body(body)?;
    places.skip_to(body.end());
    walk.structure(&mut places, u64::MAX)
}

/// The position of the dataset of this name, or of `#N`.
fn find(dump: &Dump<'_, '_, '_>, name: &str) -> Result<u64> {
    let count = dump.file_map.dataset_count();
    let is_named = |&id: &u64| dump.file_map.dataset(id).is_some_and(|it| it.name() == name);
    let mut named = (0..count).filter(is_named);
    match (named.next(), named.next()) {
        (Some(id), None) => return Ok(id),
        (Some(first), Some(second)) => {
            let text = format!("several datasets are named \"{}\"", Escaped(name));
            let hint = format!("ask for one by its position: #{first}, #{second}");
            return Err(usage("ambiguous", text).hint(hint));
        }
        _ => {}
    }
    let number = name.strip_prefix('#').and_then(|number| number.parse().ok());
    number.filter(|&id| id < count).ok_or_else(|| {
        let known = (0..count).filter_map(|id| dump.file_map.dataset(id));
        let known = known.map(|record| record.name().to_owned()).collect();
        let name = name.to_owned();
        Failure::from(tet_query::Error::NoSuchDataset { name, known, suggestion: None })
    })
}

/// The state of a walk through the fields of a file.
struct Walk<'w, 'a, 'c, 's> {
    dump: &'w mut Dump<'a, 'c, 's>,
    /// The requested dataset; `None` for all.
    dataset: Option<u64>,
    /// The current region.
    part: Option<RegionName>,
    /// The number of records, rows, payloads or lines printed of this region.
    count: u64,
    /// The current record and its owner.
    record: Option<u64>,
    owner: Owner,
    row: Option<(u64, IndexRow)>,
    /// The annotations on the current row.
    row_annotations: Vec<Annotation>,
}

impl Walk<'_, '_, '_, '_> {
    /// Prints the fields of superblock, directory, index and footer that start before `end`.
    fn structure(&mut self, places: &mut Places<'_>, end: u64) -> Result<()> {
        while let Some(place) = places.next() {
            self.dump.context.check_cancelled()?;
            if end <= place.offset {
                return Ok(());
            }
            let part = part_of(place.region);
            if self.is_asked(part) {
                self.enter(part, &place)?;
                match self.choose(&place)? {
                    Choice::Print if place.field == "json" => self.json(&place)?,
                    Choice::Print => self.print_place(&place)?,
                    Choice::Skip => {}
                    Choice::SkipRow => places.skip_to(place.offset.saturating_add(ROW_LEN)),
                    Choice::SkipPart => places.skip_to(self.end_of(part)),
                }
            } else {
                places.skip_to(self.end_of(part));
            }
        }
        Ok(())
    }

    /// Whether to print a field. At the start of a record it reads the owner and the row.
    fn choose(&mut self, place: &ByteField) -> Result<Choice> {
        if place.record.is_none() {
            (self.record, self.owner, self.row) = (None, Owner::default(), None);
            return Ok(if self.dataset.is_some() { Choice::Skip } else { Choice::Print });
        }
        if place.record == self.record {
            return Ok(Choice::Print);
        }
        let row = match (place.region, place.record) {
            (Region::Index, Some(number)) => self.row_at(number, place)?,
            _ => None,
        };
        let segment = Segment { place: *place, row, spill: None, annotations: Vec::new() };
        let owner = Owner::for_segment(&segment, self.dump.file_map);
        if self.dataset.is_some() && self.dataset != owner.dataset {
            let is_row = place.region == Region::Index;
            return Ok(if is_row { Choice::SkipRow } else { Choice::Skip });
        }
        if self.is_full()? {
            return Ok(Choice::SkipPart);
        }
        self.dump.print_heading(&format!("  {}", owner.heading()))?;
        if let Some((number, row)) = row {
            self.row_annotations = self.dump.file_map.row_annotations(number, &row)?;
        }
        (self.record, self.owner, self.row) = (place.record, owner, row);
        Ok(Choice::Print)
    }

    /// The row that starts at a place, if the file contains all of it.
    fn row_at(&mut self, number: u64, place: &ByteField) -> Result<Option<(u64, IndexRow)>> {
        let at = tet_format::layout::row_at(self.dump.file_map.map().index_span().start(), number);
        if place.offset != at || self.dump.file_map.row_count() <= number {
            return Ok(None);
        }
        let bytes = self.dump.window.bytes(at, ROW_LEN)?;
        Ok(bytes.first_chunk().map(|bytes| (number, IndexRow::decode(bytes))))
    }

    fn print_place(&mut self, place: &ByteField) -> Result<()> {
        let all = if self.row.is_some() {
            &self.row_annotations
        } else {
            self.dump.file_map.annotations()
        };
        let annotations = all.iter().filter(|it| place.holds(it.at)).copied().collect();
        let segment = Segment { place: *place, row: self.row, spill: None, annotations };
        self.dump.print(&segment, &self.owner, None)
    }

    /// Prints payloads, gaps and spills.
    fn body(&mut self, span: Span) -> Result<()> {
        let asked = [RegionName::Payloads, RegionName::Footer].map(|part| self.is_asked(part));
        if asked == [false, false] {
            return Ok(());
        }
        let file_map = self.dump.file_map;
        let body = match self.dataset {
            Some(dataset) => file_map.body().of_dataset(dataset),
            None => file_map.body(),
        };
        for segment in body {
            self.dump.context.check_cancelled()?;
            let mut segment = segment?;
            let part = part_of(segment.place.region);
            if !self.is_asked(part) {
                continue;
            }
            match part {
                RegionName::Footer => self.enter(part, &segment.place)?,
                _ => self.enter_span(part, span)?,
            }
            if self.is_full()? {
                return Ok(());
            }
            let annotations = file_map.annotations().iter().filter(|it| segment.place.holds(it.at));
            segment.annotations.extend(annotations);
            let owner = Owner::for_segment(&segment, file_map);
            self.dump.print(&segment, &owner, None)?;
        }
        Ok(())
    }

    /// Prints the JSON of the footer as text, or as one object.
    fn json(&mut self, place: &ByteField) -> Result<()> {
        if self.dump.args.json {
            return self.print_place(place);
        }
        let mut at = place.offset;
        while at < place.end() {
            self.dump.context.check_cancelled()?;
            if self.is_full()? {
                break;
            }
            let bytes = self.dump.window.bytes(at, TEXT_LEN.min(place.end() - at))?;
            let len = hex::whole_text_len(bytes).max(1);
            let text = hex::text(bytes.get(..len).unwrap_or_default());
            let line = self.dump.text_line(at, &text);
            self.dump.context.line(line)?;
            at = at.saturating_add(len as u64);
        }
        let annotations = self.dump.file_map.annotations().iter();
        let annotations: Vec<_> = annotations.filter(|it| place.holds(it.at)).copied().collect();
        self.dump.print_annotations(&annotations)
    }

    /// Counts one more record, row, payload or line; returns whether the limit was reached before it.
    fn is_full(&mut self) -> Result<bool> {
        let max = self.dump.args.count_max;
        let is_full = max != 0 && max <= self.count;
        if is_full && self.count == max {
            self.dump.print_more()?;
        }
        self.count = self.count.saturating_add(1);
        Ok(is_full)
    }

    fn is_asked(&self, part: RegionName) -> bool {
        let only = &self.dump.args.only;
        let of_dataset = matches!(part, RegionName::Superblock | RegionName::Footer);
        (only.is_empty() || only.contains(&part)) && !(of_dataset && self.dataset.is_some())
    }

    /// Starts a region: prints its heading.
    fn enter(&mut self, part: RegionName, place: &ByteField) -> Result<()> {
        let map = self.dump.file_map.map();
        let start = match part {
            RegionName::Superblock => 0,
            RegionName::Directory => superblock::LEN,
            RegionName::Index => map.index_span().start(),
            RegionName::Payloads | RegionName::Footer => place.offset,
        };
        let end = self.end_of(part).min(self.dump.file_len);
        self.enter_span(part, Span::from_range(start..end.max(start)).unwrap_or(map.body_span()))
    }

    fn enter_span(&mut self, part: RegionName, span: Span) -> Result<()> {
        if self.part == Some(part) {
            return Ok(());
        }
        if self.part.is_some() && !self.dump.args.json {
            self.dump.context.line("")?;
        }
        (self.part, self.count) = (Some(part), 0);
        let name = match part {
            RegionName::Superblock => "superblock",
            RegionName::Directory => "directory",
            RegionName::Index => "index",
            RegionName::Payloads => "payloads",
            RegionName::Footer => "footer",
        };
        self.dump.print_heading(&format!("{name}, bytes {} to {}", span.start(), span.end()))
    }

    /// The end of a region.
    fn end_of(&self, part: RegionName) -> u64 {
        let map = self.dump.file_map.map();
        match part {
            RegionName::Superblock => superblock::LEN,
            RegionName::Directory => map.index_span().start(),
            RegionName::Index => map.index_span().end(),
            RegionName::Payloads => map.body_span().end(),
            RegionName::Footer => self.dump.file_len,
        }
    }
}

/// Treatment of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Print,
    Skip,
    SkipRow,
    SkipPart,
}

/// The option value that contains a region.
fn part_of(region: Region) -> RegionName {
    match region {
        Region::Superblock => RegionName::Superblock,
        Region::Directory | Region::Padding => RegionName::Directory,
        Region::Index => RegionName::Index,
        Region::Footer => RegionName::Footer,
        _ => RegionName::Payloads,
    }
}
