//! One field of a dump: its dataset and row, its value, and the meaning of the value.

use tet_format::index::IndexRow;
use tet_format::map::{ByteField, Value, value};
use tet_format::superblock::FLAG_FOOTER;
use tet_format::{Codec, DType, Region, Shape};
use tet_verify::file_map::{FileMap, Segment};

use crate::escape::Escaped;
use crate::render::hex;
use crate::render::json::{AskedByte, DumpedField, FieldValue, RemarkShape};
use crate::size::{counted, grouped};

/// The most bytes of a field that are shown.
pub(super) const SHOWN_MAX: u64 = 64;

/// The dataset, row and chunk of a field, as far as they are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Owner {
    /// The position of the dataset in the directory.
    pub(super) dataset: Option<u64>,
    /// Its name.
    pub(super) name: Option<String>,
    /// The row of the index.
    pub(super) row: Option<u64>,
    /// The chunk's coordinate, when the rank is known.
    pub(super) chunk: Option<Vec<u64>>,
}

impl Owner {
    /// The owner of a segment.
    pub(super) fn for_segment(segment: &Segment, file_map: &FileMap<'_>) -> Owner {
        let dataset = match (segment.row, segment.place.region) {
            (Some((_, row)), _) => Some(row.dataset_id),
            (None, Region::Directory) => segment.place.record,
            _ => None,
        };
        let record = dataset.and_then(|id| file_map.dataset(id));
        let rank = record.as_ref().map(tet_format::directory::DatasetRecord::rank);
        let coord = segment.row.zip(rank).and_then(|((_, row), rank)| {
            let coord = row.coord.get(..rank)?;
            Some(coord.to_vec())
        });
        Owner {
            dataset,
            name: record.map(|record| record.name().to_owned()),
            row: segment
                .row
                .map(|(number, _)| number)
                .or(segment.place.record.filter(|_| matches!(segment.place.region, Region::Index))),
            chunk: coord,
        }
    }

    /// `"temp"`, or `#3` if the name is unknown.
    pub(super) fn label(&self) -> String {
        match (&self.name, self.dataset) {
            (Some(name), _) => format!("\"{}\"", Escaped(name)),
            (None, Some(dataset)) => format!("#{dataset}"),
            (None, None) => String::new(),
        }
    }

    /// `row 0: "temp" (0, 0)` or `#0 "temp"`.
    pub(super) fn heading(&self) -> String {
        let chunk = self.chunk.as_deref().map(|chunk| format!(" {}", Shape::from(chunk)));
        match (self.row, self.dataset, &self.name) {
            (Some(row), None, _) => format!("row {row}"),
            (Some(row), _, _) => {
                format!("row {row}: {}{}", self.label(), chunk.unwrap_or_default())
            }
            (None, Some(dataset), Some(_)) => format!("#{dataset} {}", self.label()),
            (None, dataset, _) => dataset.map_or_else(String::new, |id| format!("#{id}")),
        }
    }
}

/// A segment with its first bytes, ready to be printed.
#[derive(Debug)]
pub(super) struct ShownField<'a> {
    pub(super) segment: &'a Segment,
    pub(super) owner: &'a Owner,
    /// Its bytes, at most [`SHOWN_MAX`].
    pub(super) bytes: &'a [u8],
    /// Whether its bytes are zero, if it is padding.
    pub(super) fill: Fill,
}

/// The contents of padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fill {
    /// Not checked.
    Unknown,
    /// All bytes are zero.
    Zero,
    /// All checked bytes are zero.
    ZeroSoFar,
    /// Not zero at this offset of the file.
    NotZeroAt(u64),
}

/// A line of a field: offset, bytes, name, value.
pub(super) type Line<'a> = (u64, &'a [u8], String, String);

impl<'a> ShownField<'a> {
    fn place(&self) -> &ByteField {
        &self.segment.place
    }

    fn value(&self) -> Value<'a> {
        value(self.place(), self.bytes)
    }

    /// The lines of the field, each of 8 bytes or fewer.
    pub(super) fn lines(&self) -> Vec<Line<'a>> {
        let (offset, field) = (self.place().offset, self.place().field);
        let mut pieces = self.bytes.chunks(hex::LINE_LEN);
        let first = pieces.next().unwrap_or_default();
        let at = |line: usize| offset.saturating_add((line * hex::LINE_LEN) as u64);
        let mut lines = match self.value() {
            Value::Numbers(numbers) => return self.number_lines(numbers.collect()),
            Value::Text(_) => {
                let rest = pieces
                    .enumerate()
                    .map(|(line, bytes)| (at(line + 1), bytes, String::new(), String::new()));
                let mut lines = vec![(offset, first, field.to_owned(), self.value_text())];
                lines.extend(rest);
                lines
            }
            _ => return vec![(offset, first, field.to_owned(), self.value_text())],
        };
        self.push_rest(&mut lines);
        lines
    }

    /// A line for each number; the unused slots of a coordinate share one line.
    fn number_lines(&self, numbers: Vec<u64>) -> Vec<Line<'a>> {
        let ByteField { offset, field, .. } = *self.place();
        let slots = self.owner.chunk.as_ref().map_or(numbers.len(), Vec::len);
        let used = if field == "coord" { slots.min(numbers.len()) } else { numbers.len() };
        let (pieces, _) = self.bytes.as_chunks::<{ hex::LINE_LEN }>();
        let mut lines = Vec::new();
        for (axis, (number, bytes)) in numbers.iter().zip(pieces).enumerate() {
            let at = offset.saturating_add((axis * hex::LINE_LEN) as u64);
            let is_rest_zero = numbers.iter().skip(axis).all(|&number| number == 0);
            if used <= axis && is_rest_zero {
                let len = (numbers.len() - axis) * hex::LINE_LEN;
                let label = format!("{field}[{axis}..{}]", numbers.len());
                lines.push((at, &bytes[..], label, format!("{len} bytes, all zero")));
                break;
            }
            lines.push((at, &bytes[..], format!("{field}[{axis}]"), number.to_string()));
        }
        self.push_rest(&mut lines);
        lines
    }

    /// Adds a line with the number of bytes that are not shown.
    fn push_rest(&self, lines: &mut Vec<Line<'a>>) {
        let shown = self.bytes.len() as u64;
        if let Some(rest) = self.place().len.checked_sub(shown).filter(|&rest| rest > 0) {
            let at = self.place().offset.saturating_add(shown);
            lines.push((at, &[], String::new(), format!("... {} more", counted(rest, "byte"))));
        }
    }

    /// The value with its meaning, as text.
    fn value_text(&self) -> String {
        let meaning = self.meaning();
        match (self.value(), meaning) {
            (Value::Bytes(_), Some(meaning)) => meaning,
            (Value::Bytes(_), None) => counted(self.place().len, "byte"),
            (Value::Text(_), _) if self.place().field == "name" && self.owner.name.is_some() => {
                self.owner.label()
            }
            (Value::Text(text), _) => format!("\"{}\"", hex::text(text)),
            (Value::Flags(bits), Some(meaning)) => format!("{bits:#x}: {meaning}"),
            (Value::DType(tag) | Value::Codec(tag), Some(meaning)) => format!("{tag}: {meaning}"),
            (Value::Number(number), Some(meaning)) => format!("{number}: {meaning}"),
            (Value::Number(number), None) => number.to_string(),
            (Value::Flags(tag) | Value::DType(tag) | Value::Codec(tag), None) => tag.to_string(),
            (Value::Numbers(numbers), _) => Shape::from(numbers.collect::<Vec<_>>()).to_string(),
        }
    }

    /// The meaning of the value, if it needs one. Names in it are escaped.
    fn meaning(&self) -> Option<String> {
        let ByteField { field, len, .. } = *self.place();
        match self.value() {
            Value::Flags(bits) => Some(flags(bits)),
            Value::DType(tag) => {
                Some(DType::from_tet_tag(tag).map_or("unknown", DType::name).to_owned())
            }
            Value::Codec(tag) => Some(Codec::from_tag(tag).name().to_owned()),
            Value::Number(0) if field.starts_with("memory_budget") => Some("none".to_owned()),
            Value::Number(_) if field == "dataset_id" => {
                Some(self.owner.label()).filter(|label| label.starts_with('"'))
            }
            Value::Bytes(_) => match (field, self.segment.row, self.segment.spill) {
                ("stored", Some((_, row)), _) => Some(self.payload(&row)),
                (_, _, Some(key)) => Some(format!("{key}, {}", counted(len, "byte"))),
                ("name_padding" | "padding" | "unused" | "records", ..) => Some(self.filled()),
                _ => Some(format!("{}, cut off", counted(len, "byte"))),
            },
            _ => None,
        }
    }

    fn payload(&self, row: &IndexRow) -> String {
        let codec = Codec::from_tag(row.codec);
        let heading = self.owner.heading();
        let (there, stored) = (self.place().len, row.stored_len);
        if there < stored {
            let (there, stored) = (grouped(there), counted(stored, "byte"));
            return format!("{heading}, {codec}, {there} of {stored}");
        }
        format!("{heading}, {codec}, {}", counted(stored, "byte"))
    }

    fn filled(&self) -> String {
        let len = counted(self.place().len, "byte");
        match self.fill {
            Fill::Unknown => len,
            Fill::Zero => format!("{len}, all zero"),
            Fill::ZeroSoFar => format!("{len}, all checked bytes are zero"),
            Fill::NotZeroAt(at) => format!("{len}, not zero at byte {at}"),
        }
    }

    /// The field as JSON.
    pub(super) fn shape(&self, at: Option<AskedByte>) -> DumpedField {
        let place = self.place();
        let is_whole = place.len == self.bytes.len() as u64;
        let text = |text| FieldValue::Text(String::from_utf8_lossy(text).into_owned());
        let value = match self.value() {
            Value::Number(number) => Some(FieldValue::Number(number)),
            Value::Numbers(numbers) => Some(FieldValue::Numbers(numbers.collect())),
            Value::Flags(tag) | Value::DType(tag) | Value::Codec(tag) => {
                Some(FieldValue::Number(tag.into()))
            }
            Value::Text(bytes) => Some(text(bytes)),
            Value::Bytes(_) => None,
        };
        let row = self.segment.row.map(|(_, row)| row);
        let annotations = self.segment.annotations.iter().map(|annotation| RemarkShape {
            code: annotation.code.id(),
            severity: annotation.code.severity().name(),
            message: annotation.code.text(),
            offset: annotation.at,
            found: annotation.found,
            wanted: annotation.wanted,
        });
        DumpedField {
            schema: "tet.dump/1",
            region: place.region.name(),
            field: place.field,
            offset: place.offset,
            len: place.len,
            bytes: hex::packed(self.bytes),
            value: value.filter(|_| is_whole),
            meaning: self.meaning().filter(|_| !matches!(place.field, "dataset_id" | "stored")),
            dataset: self.owner.dataset,
            name: self.owner.name.clone(),
            row: self.owner.row,
            chunk: self.owner.chunk.clone(),
            codec: row.map(|row| Codec::from_tag(row.codec).to_string()),
            at,
            remarks: annotations.collect(),
        }
    }
}

fn flags(bits: u32) -> String {
    let footer = if bits & FLAG_FOOTER == 0 { "no footer" } else { "footer" };
    match bits & !FLAG_FOOTER {
        0 => footer.to_owned(),
        unknown => format!("{footer}, unknown bits {unknown:#x}"),
    }
}
