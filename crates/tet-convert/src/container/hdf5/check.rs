//! What is wrong with an HDF5 file, all of it.

use tet_hdf5::{Error as ReadError, Hdf5File};
use tet_io::Source;
use tet_query::{Axis, AxisSlice, ChunkPlace, Dataset, Error as QueryError, Execution, Hyperslab};
use tet_verify::{
    ForeignFindings, ForeignFound, ForeignSeen, Integrity, Level, Report, VerifyOptions,
};

use super::{catalog, environment};
use crate::Result;

/// Checks a file: its structure; the place of every chunk; and, where elements are checked too, that
/// every chunk decodes.
pub(super) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut findings = ForeignFindings::new(options);
    let mut seen = ForeignSeen {
        file_len: source.len(),
        integrity: Integrity::Unprotected,
        ..ForeignSeen::default()
    };
    let read = Hdf5File::open(source.clone()).and_then(|file| {
        let contents = catalog::contents(&file, &mut |found| findings.take(found))?;
        Ok(catalog::catalog(&file, &contents))
    });
    match read {
        Ok(catalog) => {
            for dataset in catalog.datasets() {
                one(dataset, options, &mut findings, &mut seen)?;
            }
        }
        Err(ReadError::Fault(fault)) => {
            findings.take(ForeignFound { fault, field: fault.rule.region, len: 0, dataset: None });
        }
        Err(error) => return Err(environment(error)),
    }
    source.check_unchanged()?;
    Ok(findings.report(&seen))
}

/// Chunks that are looked up together.
const BATCH: u64 = 8192;
/// The most chunks that are looked up where the file has fewer bytes.
const COUNT_MAX: u64 = 1 << 23;

/// Checks a dataset.
fn one(
    dataset: &Dataset,
    options: &VerifyOptions,
    findings: &mut ForeignFindings<'_>,
    seen: &mut ForeignSeen,
) -> Result<()> {
    seen.dataset_count += 1;
    match dataset.why() {
        Some(QueryError::Foreign { fault, .. }) => {
            let dataset = Some((dataset.index as u64, dataset.name.clone()));
            let field = fault.rule.region;
            findings.take(ForeignFound { fault: *fault, field, len: 0, dataset });
            return Ok(());
        }
        Some(_) => return Ok(()),
        None => {}
    }
    let count = dataset.grid.chunk_count();
    let limit = dataset.source.len().max(COUNT_MAX);
    if limit < count {
        let what = "chunks that are looked up";
        return Err(QueryError::Limit { what, wanted: count, limit }.into());
    }
    let progress = options.progress.begin(0);
    let mut start = 0;
    while start < count {
        let end = count.min(start + BATCH);
        for linear in start..end {
            chunk(dataset, linear, options.level, (findings, seen))?;
        }
        progress.advance(0).map_err(tet_verify::Error::from)?;
        start = end;
    }
    Ok(())
}

/// Looks up a chunk; decodes it where elements are checked.
fn chunk(
    dataset: &Dataset,
    linear: u64,
    level: Level,
    (findings, seen): (&mut ForeignFindings<'_>, &mut ForeignSeen),
) -> Result<()> {
    let mut places: Vec<ChunkPlace> = Vec::new();
    let located = dataset.chunks.locate(&[linear], &mut places);
    let mut report = |fault: tet_format::ForeignFault| {
        let dataset = Some((dataset.index as u64, dataset.name.clone()));
        findings.take(ForeignFound { fault, field: fault.rule.region, len: 0, dataset });
    };
    match located {
        Err(QueryError::Foreign { fault, .. }) => {
            report(fault);
            return Ok(());
        }
        Err(error) => return Err(error.into()),
        Ok(()) => {}
    }
    for place in places.iter().filter(|place| !place.is_absent()) {
        seen.chunk_count += 1;
        seen.stored_len = seen.stored_len.saturating_add(place.stored.len());
        seen.decoded_len = seen.decoded_len.saturating_add(place.decoded_len);
        if level != Level::Deep {
            continue;
        }
        seen.payload_len = seen.payload_len.saturating_add(place.stored.len());
        match read(dataset, linear, place) {
            Ok(()) => {}
            Err(QueryError::Foreign { fault, .. }) => report(fault),
            Err(QueryError::Codec { at, .. }) => {
                let rule = &tet_hdf5::rule::PAYLOAD_DECODES;
                report(tet_format::ForeignFault { rule, at, found: 0, wanted: 0 });
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Reads a chunk; decodes it where it is not stored as it is.
fn read(dataset: &Dataset, linear: u64, place: &ChunkPlace) -> tet_query::Result<()> {
    if dataset.chunks.decoder(linear, place).is_identity() {
        let mut window = Vec::new();
        return dataset
            .source
            .for_windows(place.stored.range(), &mut window, |_, _| Ok::<bool, QueryError>(true));
    }
    let coord = dataset.grid.coord_of(linear);
    let (mut origin, mut extents) = (coord.clone(), coord.clone());
    dataset.grid.origin(&coord, &mut origin);
    dataset.grid.extents(&coord, &mut extents);
    let slices = origin.iter().zip(&extents).map(|(&start, &extent)| {
        let stop = start.saturating_add(extent);
        AxisSlice { start, stop, step: 1, axis: Axis::Kept }
    });
    let Some(slab) = Hyperslab::new(slices.collect(), dataset.shape()) else { return Ok(()) };
    dataset.read(&slab, &Execution::default()).map(drop)
}
