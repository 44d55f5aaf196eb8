//! Checks of a whole FITS file: headers, places, and the sums that cards state.

use std::ops::Range;

use tet_format::{ForeignFault, ForeignRule, Span};
use tet_io::{Progress, Source};
use tet_query::Dataset;
use tet_verify::{
    ForeignFindings, ForeignFound, ForeignSeen, Integrity, Level, Report, VerifyOptions,
};

use super::catalog;
use super::rule;
use super::sum::{Sum, is_same};
use super::unit::{self, Unit, Units};
use tet_container::read::chunk_check::{ChunkRules, DecodedTotal, check_chunks};
use tet_container::{Error, Result};

/// Checks a file. Data without a sum are read, so that a disk that cannot read them is noticed.
pub(super) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut findings = ForeignFindings::new(options);
    let file_len = source.len();
    let integrity = Integrity::Unprotected;
    let mut seen = ForeignSeen { file_len, integrity, ..ForeignSeen::default() };
    match unit::read(source, &mut |found| findings.take(found))? {
        Err(fault) => {
            findings.take(ForeignFound { fault, field: fault.rule.region, len: 0, dataset: None });
        }
        Ok(units) => {
            let listed: Vec<&Unit> = units.datasets().collect();
            let count = u64::try_from(listed.len()).unwrap_or(u64::MAX);
            (seen.dataset_count, seen.chunk_count) = (count, count);
            let stored = |len: u64, unit: &Unit| len.saturating_add(unit.data_len);
            seen.stored_len = units.units.iter().fold(0, stored);
            seen.decoded_len = seen.stored_len;
            let end = units.units.last().map_or(0, Unit::padded_end);
            seen.gap_len = file_len.saturating_sub(end);
            structure(&units, &mut |found| findings.take(found));
            tiles(source, &units, options, &mut findings, &mut seen)?;
            seen.integrity = if options.level == Level::Deep {
                sums(source, &units, options, &mut |found| findings.take(found))?
            } else {
                stated(&units)
            };
        }
    }
    if options.level == Level::Deep {
        seen.payload_len = seen.stored_len;
    }
    source.check_unchanged()?;
    Ok(findings.report(&seen))
}

/// The units, each with its position among those that are listed.
fn numbered(units: &Units) -> impl Iterator<Item = (&Unit, Option<(u64, String)>)> {
    let skipped =
        u64::try_from(units.units.len().saturating_sub(units.datasets().count())).unwrap_or(0);
    units.units.iter().zip(0_u64..).map(move |(unit, position)| {
        let number = position.checked_sub(skipped);
        (unit, number.map(|number| (number, unit.name.clone())))
    })
}

fn structure(units: &Units, found: &mut dyn FnMut(ForeignFound)) {
    for (unit, dataset) in numbered(units) {
        unit.check_cards(found);
        if let Some(fault) = unit.fault {
            found(ForeignFound { fault, field: fault.rule.region, len: 0, dataset });
        }
    }
    if let Some(fault) = units.lost {
        let dataset = Some((units.datasets().count() as u64, units.lost_name()));
        found(ForeignFound { fault, field: "header", len: 0, dataset });
    }
}

/// Looks up the tiles of compressed images, and decodes them where elements are checked.
fn tiles(
    source: &Source,
    units: &Units,
    options: &VerifyOptions,
    findings: &mut ForeignFindings<'_>,
    seen: &mut ForeignSeen,
) -> Result<()> {
    let mut total = DecodedTotal::new(options, source.len());
    for (unit, index) in units.datasets().zip(0..) {
        if !matches!(unit.tiles, Some(Ok(_))) || unit.fault.is_some() {
            continue;
        }
        // The sum of all of its data is compared with the others.
        let dataset = Dataset { index, ..catalog::dataset(unit, source, None) };
        let (decodes, too_long) = (&rule::TILE_DECODES, &rule::LIMIT_TILE);
        let rules = ChunkRules { options, decodes, too_long };
        let mut of_tiles = ForeignSeen::default();
        check_chunks(&dataset, rules, findings, &mut of_tiles, &mut total)?;
        let more = of_tiles.chunk_count.saturating_sub(1);
        seen.chunk_count = seen.chunk_count.saturating_add(more);
        let others = seen.decoded_len.saturating_sub(unit.data_len);
        seen.decoded_len = others.saturating_add(of_tiles.decoded_len);
    }
    Ok(())
}

/// Integrity that is known without reading the data.
fn stated(units: &Units) -> Integrity {
    let has_sum = |unit: &Unit| unit.data_sum().is_some() || unit.has_check_sum();
    if units.units.iter().any(has_sum) { Integrity::Unchecked } else { Integrity::Unprotected }
}

/// Reads all bytes, and compares the sums that are stated.
fn sums(
    source: &Source,
    units: &Units,
    options: &VerifyOptions,
    found: &mut dyn FnMut(ForeignFound),
) -> Result<Integrity> {
    let file_len = source.len();
    let progress = options.progress.begin(file_len);
    let mut integrity: Option<Integrity> = None;
    let mut end = 0;
    for (unit, dataset) in numbered(units) {
        end = unit.padded_end().min(file_len);
        let data = unit.header.end();
        sum_of(source, unit.header.at..data, &progress)?;
        let sum = sum_of(source, data..end, &progress)?;
        let is_whole = unit.fault.is_none() && unit.padded_end() <= file_len;
        let mut is_compared = false;
        let mut is_right = true;
        if let Some(wanted) = unit.data_sum().filter(|_| is_whole) {
            let value = sum.value();
            let fault = broken(&rule::DATA_SUM, data, value, wanted);
            is_compared = true;
            if !is_same(value, wanted) {
                is_right = false;
                found(ForeignFound {
                    fault,
                    field: "data",
                    len: end - data,
                    dataset: dataset.clone(),
                });
            }
        }
        if unit.has_check_sum() && is_whole {
            let value = unit.header.sum.with(sum).value();
            let fault = broken(&rule::CHECK_SUM, unit.header.at, value, u32::MAX);
            is_compared = true;
            if !is_same(value, u32::MAX) {
                is_right = false;
                found(ForeignFound { fault, field: "unit", len: end - unit.header.at, dataset });
            }
        }
        let each = match (is_compared, is_right) {
            (_, false) => Integrity::Mismatch,
            (true, true) => Integrity::Verified,
            (false, true) => Integrity::Unprotected,
        };
        integrity = Some(integrity.map_or(each, |all| all.and(each)));
    }
    sum_of(source, end..file_len, &progress)?;
    // No sum covers bytes that belong to no unit.
    if end < file_len {
        integrity = integrity.map(|all| all.and(Integrity::Unprotected));
    }
    Ok(integrity.unwrap_or(Integrity::Unprotected))
}

fn broken(rule: &'static ForeignRule, at: u64, found: u32, wanted: u32) -> ForeignFault {
    ForeignFault { rule, at, found: found.into(), wanted: wanted.into() }
}

/// The sum of a stretch of the file.
fn sum_of(source: &Source, range: Range<u64>, progress: &Progress) -> Result<Sum> {
    let mut sum = Sum::default();
    if let Some(span) = Span::from_range(range).filter(|span| !span.is_empty()) {
        let mut add = |_, bytes: &[u8]| {
            sum.update(bytes);
            true
        };
        progress.pieces::<Error>(source, span, &mut Vec::new(), &mut add)?;
    }
    Ok(sum)
}
