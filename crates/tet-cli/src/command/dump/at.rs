//! Describes one byte of the file.

use tet_format::index::IndexRow;
use tet_format::{Codec, DType, Grid, Region, Shape};
use tet_verify::file_map::Segment;

use super::field::Owner;
use super::{Dump, usage};
use crate::exit::Result;
use crate::render::hex;
use crate::render::json::AskedByte;
use crate::render::table::{Side, Table};
use crate::size::counted;

/// The number of bytes of text shown around a byte, and of those before it.
const TEXT_LEN: u64 = 64;
const TEXT_BEFORE: u64 = 24;

/// Describes the byte at `offset`.
pub(super) fn print_byte(dump: &mut Dump<'_, '_, '_>, offset: u64) -> Result<()> {
    let Some(segment) = dump.file_map.at(offset)? else {
        let len = counted(dump.file_len, "byte");
        return Err(usage("past-end", format!("there is no byte {offset}: the file has {len}")));
    };
    let owner = Owner::for_segment(&segment, dump.file_map);
    let within = offset.saturating_sub(segment.place.offset);
    let byte = dump.window.bytes(offset, 1)?.first().copied().unwrap_or(0);
    let element = element(dump, &segment, &owner, within);
    if dump.args.json {
        let element = element.map(|(element, _)| element);
        return dump.print(&segment, &owner, Some(AskedByte { offset, within, byte, element }));
    }
    let table = facts(&segment, &owner, offset, byte, element.as_ref());
    for line in table.lines(None, dump.context.paint) {
        dump.context.line(line)?;
    }
    dump.context.line("")?;
    if matches!(segment.place.region, Region::Payload | Region::Gap)
        || matches!(segment.place.field, "json" | "spill" | "records")
    {
        print_around(dump, &segment, offset)?;
        return dump.print_annotations(&segment.annotations);
    }
    dump.print(&segment, &owner, None)
}

/// The facts about the byte, as a table.
fn facts(
    segment: &Segment,
    owner: &Owner,
    offset: u64,
    byte: u8,
    element: Option<&(Vec<u64>, u64)>,
) -> Table {
    let place = &segment.place;
    let within = offset.saturating_sub(place.offset);
    let mut table = Table::new(&[("", Side::Left), ("", Side::Left)]);
    table.row(["byte", &format!("{offset} ({offset:#x}): {byte:#04x}")]);
    table.row(["region", place.region.name()]);
    if let Some(dataset) = owner.dataset {
        let name = owner.name.as_ref().map_or_else(String::new, |name| format!(" \"{name}\""));
        table.row(["dataset", &format!("#{dataset}{name}")]);
    }
    if let Some(row) = owner.row {
        table.row(["row", &row.to_string()]);
    }
    if let Some(chunk) = &owner.chunk {
        table.row(["chunk", &Shape::from(chunk.as_slice()).to_string()]);
    }
    let span = format!("{}, bytes {} to {}", place.field, place.offset, place.end());
    table.row(["field", &span]);
    table.row(["within", &format!("{within} of {}", counted(place.len, "byte"))]);
    if let Some(key) = segment.spill {
        table.row(["referred to by", key]);
    }
    if let Some((_, row)) = segment.row.filter(|_| place.region == Region::Payload) {
        table.row(["codec", &Codec::from_tag(row.codec).to_string()]);
    }
    if let Some((element, at)) = element {
        table.row(["element", &format!("{}, byte {at} of it", Shape::from(element.as_slice()))]);
    }
    table
}

/// The element that contains a byte of a raw payload, and the offset of the byte in it.
fn element(
    dump: &Dump<'_, '_, '_>,
    segment: &Segment,
    owner: &Owner,
    within: u64,
) -> Option<(Vec<u64>, u64)> {
    let (_, row) = segment.row.filter(|_| segment.place.region == Region::Payload)?;
    let record = dump.file_map.dataset(owner.dataset?)?;
    let size = record.dtype().and_then(DType::size)?;
    if Codec::from_tag(row.codec) != Codec::Raw || size == 0 {
        return None;
    }
    let element = element_of(&record.grid()?, &row, within / size)?;
    Some((element, within % size))
}

/// The position in the dataset of element number `linear` of a chunk.
fn element_of(grid: &Grid, row: &IndexRow, linear: u64) -> Option<Vec<u64>> {
    let coord = row.coord.get(..grid.rank())?;
    grid.linear(coord)?;
    if grid.chunk_elements(coord)? <= linear {
        return None;
    }
    let (extents, mut origin) = (grid.extents_of(coord), grid.origin_of(coord));
    let mut rest = linear;
    for (at, &extent) in origin.iter_mut().zip(&extents).rev() {
        *at = at.checked_add(rest.checked_rem(extent)?)?;
        rest = rest.checked_div(extent)?;
    }
    Some(origin)
}

/// Prints the text around a byte of JSON, or the bytes around another one.
fn print_around(dump: &mut Dump<'_, '_, '_>, segment: &Segment, offset: u64) -> Result<()> {
    let place = &segment.place;
    if place.field == "json" || place.field == "spill" {
        let start = offset.saturating_sub(TEXT_BEFORE).max(place.offset);
        let len = TEXT_LEN.min(place.end().saturating_sub(start));
        let text = hex::text(dump.window.bytes(start, len)?);
        let line = dump.text_line(start, &text);
        return dump.context.line(line);
    }
    let line_len = hex::LINE_LEN as u64;
    let start = (offset - offset % line_len).max(place.offset);
    let end = (offset - offset % line_len).saturating_add(line_len).min(place.end());
    let bytes = hex::spaced(dump.window.bytes(start, end.saturating_sub(start))?);
    let line = dump.line(start, &bytes, place.field, "");
    dump.context.line(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_clipped_chunks_are_counted_within_them() {
        let grid = Grid::new([5, 7].into(), [2, 4].into()).unwrap();
        let row = |coord: [u64; 2]| {
            let mut row = IndexRow::decode(&[0; 104]);
            row.coord[..2].copy_from_slice(&coord);
            row
        };
        let cases = [
            ([0, 0], 5, Some(vec![1, 1])),
            ([0, 1], 3, Some(vec![1, 4])),
            ([2, 1], 2, Some(vec![4, 6])),
            ([2, 1], 3, None),
            ([3, 0], 0, None),
        ];
        for (coord, linear, want) in cases {
            assert_eq!(element_of(&grid, &row(coord), linear), want, "{linear} of {coord:?}");
        }
    }
}
