//! The catalog of a FITS file: its images, read in place, and its other units, listed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tet_codec::Swapped;
use tet_format::{DType, Grid, Span};
use tet_io::Source;
use tet_query::{AttrText, Catalog, ChunkTable, Dataset, Sealed};
use tet_verify::{ForeignFindings, ForeignSeen, VerifyOptions};

use super::pixels::TurnedSlabs;
use super::scale;
use super::sum::DataSum;
use super::tiles::{Tiles, is_card_of_table};
use super::unit::{self, Kind, Unit};
use tet_container::read::opened::{FileRegion, Opened};
use tet_container::read::slabs::{Slabs, grid, no_bytes, too_deep, unread};
use tet_container::{Error, Format, Result};

/// Cards that describe the form of a unit, which are no attributes.
const FORM: [&str; 10] = [
    "SIMPLE", "XTENSION", "BITPIX", "NAXIS", "EXTEND", "PCOUNT", "GCOUNT", "GROUPS", "CHECKSUM",
    "DATASUM",
];

/// Opens the file at `path`.
pub(super) fn open(path: &Path, source: Source) -> Result<Opened> {
    let options = VerifyOptions::default();
    let mut findings = ForeignFindings::new(&options);
    let units = unit::read(&source, &mut |found| findings.take(found))?;
    let units = units.map_err(|fault| Error::Foreign {
        path: path.to_path_buf(),
        format: Format::FITS,
        fault,
    })?;
    let mut regions = Vec::new();
    for unit in &units.units {
        unit.check_cards(&mut |found| findings.take(found));
        let data = Span::from_range(unit.header.end()..unit.padded_end().min(source.len()));
        for (name, span) in [("header", Span::new(unit.header.at, unit.header.len)), ("data", data)]
        {
            let span = span.filter(|span| !span.is_empty());
            regions.extend(span.map(|span| FileRegion { name, span, holds: unit.name.clone() }));
        }
    }
    let attrs = match units.units.first() {
        Some(unit) if unit.shape.is_empty() => attributes(unit),
        _ => BTreeMap::new(),
    };
    let listed = units.datasets().map(|unit| dataset(unit, &source, seal(unit, source.len())));
    let mut datasets: Vec<Dataset> = listed.collect();
    if let Some(fault) = units.lost {
        let name = units.lost_name();
        let cause = tet_query::Error::Foreign { dataset: name.clone(), fault };
        datasets.push(Dataset::unreadable(source.clone(), name, cause));
    }
    let catalog = Catalog::new(source, Format::FITS.name(), datasets).with_attrs(attrs);
    let findings = findings.report(&ForeignSeen::default()).findings;
    Ok(Opened { findings, regions, ..Opened::new(Format::FITS, catalog) })
}

/// The values of a header, without those of its form; lines of comments are one text.
fn attributes(unit: &Unit) -> BTreeMap<String, AttrText> {
    let mut attrs = BTreeMap::new();
    for (name, value, _) in &unit.header.values {
        let is_axis =
            name.strip_prefix("NAXIS").is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()));
        let is_of_table = unit.kind == Kind::Compressed && is_card_of_table(name);
        if !is_axis && !is_of_table && !FORM.contains(&name.as_str()) {
            attrs.entry(name.clone()).or_insert_with(|| value.attr());
        }
    }
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    for (name, line) in unit.header.lines.iter().filter(|(_, line)| !line.is_empty()) {
        let text = texts.entry(if name.is_empty() { "COMMENT" } else { name }).or_default();
        text.push_str(if text.is_empty() { "" } else { "\n" });
        text.push_str(line.strip_prefix(' ').unwrap_or(line));
    }
    for (name, text) in texts {
        attrs.entry(name.to_owned()).or_insert(AttrText::Text(text));
    }
    attrs
}

/// The dataset of a unit whose data have this checksum.
pub(super) fn dataset(unit: &Unit, source: &Source, sealed: Option<Sealed>) -> Dataset {
    let mut attrs = attributes(unit);
    if unit.kind == Kind::Image || matches!(unit.tiles, Some(Ok(_))) {
        scale::describe(unit, &mut attrs);
        if let Some(text) = unit.header.text("BUNIT") {
            attrs.entry("units".to_owned()).or_insert_with(|| AttrText::Text(text.to_owned()));
        }
    }
    let (dtype, dtype_name) = element(unit);
    let name = unit.name.clone();
    let broken = |fault| tet_query::Error::Foreign { dataset: name.clone(), fault };
    let fault = too_deep(&unit.shape).or_else(|| unit.fault.map(broken));
    let fault =
        fault.or_else(|| Some(tet_query::Error::Unsupported { why: unread_because(unit)? }));
    let chunks = if fault.is_none() { chunks(unit, source, sealed) } else { None };
    let (grid, chunks) = chunks.unwrap_or_else(|| unread(&unit.shape, None));
    let fault = fault.map(Arc::new);
    Dataset {
        dtype,
        attrs,
        fault,
        ..Dataset::unknown(source.clone(), name, dtype_name, grid, chunks)
    }
}

/// The type of the elements, and its name.
fn element(unit: &Unit) -> (Option<DType>, String) {
    let name = match &unit.kind {
        Kind::Compressed if !matches!(unit.tiles, Some(Ok(_))) => "compressed",
        Kind::Image | Kind::Compressed => {
            let dtype = scale::pixel_type(unit).0;
            return (Some(dtype), dtype.name().to_owned());
        }
        Kind::Groups => "groups",
        Kind::Table(_) => "table",
        Kind::Other(_) => "extension",
    };
    (None, name.to_owned())
}

/// Why a sound unit is not read.
fn unread_because(unit: &Unit) -> Option<String> {
    let name = &unit.name;
    Some(match &unit.kind {
        Kind::Image | Kind::Compressed if unit.shape.is_empty() => {
            format!("{name:?} is a header without an image: NAXIS is 0")
        }
        Kind::Image => return None,
        Kind::Groups => {
            format!("{name:?} is of random groups, which are not read: astropy.io.fits reads them")
        }
        Kind::Compressed => {
            let Some(Err(why)) = &unit.tiles else { return None };
            format!(
                "{name:?} is a compressed image: {why}; \
                 funpack writes the file without compression"
            )
        }
        Kind::Table(what) => format!(
            "{name:?} is a {what}, which is not read: save its columns with astropy.table and numpy.savez"
        ),
        Kind::Other(what) => {
            format!("{name:?} is an extension of the type {what:?}, which is not read")
        }
    })
}

/// Where the pixels of a sound image are.
fn chunks(
    unit: &Unit,
    source: &Source,
    sealed: Option<Sealed>,
) -> Option<(Grid, Arc<dyn ChunkTable>)> {
    if let Some(tiles) = &unit.tiles {
        let data = Span::new(unit.header.end(), unit.data_len)?;
        let tiles = Tiles::new(&unit.name, source, tiles.as_ref().ok()?, data, sealed);
        let tiles = if scale::pixel_type(unit).1 { tiles.turned() } else { tiles };
        return Some((tiles.grid().clone(), Arc::new(tiles)));
    }
    let size = unit.bitpix.unsigned_abs() / 8;
    let len = unit.image_len();
    let stored = if len == 0 { no_bytes() } else { Span::new(unit.header.end(), len)? };
    let grid = grid(&unit.shape, size.checked_mul(8)?)?;
    let slabs = Slabs::new(grid.clone(), size.checked_mul(8)?, stored);
    let slabs = slabs.sealed(sealed).swapped(Swapped::new(size));
    if scale::pixel_type(unit).1 {
        return Some((grid, Arc::new(TurnedSlabs::new(slabs, size))));
    }
    Some((grid, Arc::new(slabs)))
}

/// The sum of the data with their padding, where it is stated and all of them are there.
fn seal(unit: &Unit, file_len: u64) -> Option<Sealed> {
    let end = unit.padded_end();
    let span = Span::from_range(unit.header.end()..end).filter(|span| !span.is_empty())?;
    let wanted = unit.data_sum().filter(|_| end <= file_len)?;
    Some(Sealed::new(DataSum { span, wanted }))
}
