//! Checks a Zarr hierarchy: all its faults as findings.

use std::collections::HashSet;

use crate::{Error as ReadError, Store, ZarrFault, rule};
use tet_io::Source;
use tet_query::Dataset;
use tet_verify::{
    ForeignFindings, ForeignFound, ForeignSeen, Integrity, Level, Report, VerifyOptions,
};

use super::{DOCUMENTS, catalog, hierarchy, of_file};
use tet_container::Result;
use tet_container::read::chunk_check::{ChunkRules, DecodedTotal, check_chunks};
use tet_container::read::opened::path_of;

/// Checks a hierarchy: its documents, the indexes of its shards, the place of every chunk; and, where
/// elements are checked too, that every chunk decodes.
pub(super) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut findings = ForeignFindings::new(options);
    let mut seen = ForeignSeen {
        file_len: source.len(),
        integrity: Integrity::Unprotected,
        ..ForeignSeen::default()
    };
    let path = path_of(source);
    let mut known = HashSet::new();
    let mut take = |findings: &mut ForeignFindings<'_>, it: ZarrFault| {
        // A fault of a member of a zip file is found again as that of a chunk, and reported once.
        if !known.insert((it.fault.rule.id, it.key.clone(), it.fault.at, it.fault.found)) {
            return;
        }
        let dataset = it.path.map(|path| (0, path));
        let (fault, field) = (it.fault, it.fault.rule.region);
        findings.take_in(&it.key, ForeignFound { fault, field, len: 0, dataset });
    };
    let opened = match hierarchy(source) {
        Ok(opened) => opened,
        Err(ReadError::Fault { fault, key }) => {
            take(&mut findings, ZarrFault { fault, key, path: None });
            return Ok(findings.report(&seen));
        }
        Err(error) => return Err(of_file(&path, error)),
    };
    let failed = |error| of_file(&path, error);
    opened.findings().iter().for_each(|it| take(&mut findings, it.clone()));
    opened.check_consolidated(&mut |it| take(&mut findings, it)).map_err(failed)?;
    let mut total = DecodedTotal::new(options, source.len());
    if options.level == Level::Deep {
        let store = opened.objects().store();
        let checked = check_members(store, &mut total, &mut |it| take(&mut findings, it));
        checked.map_err(|error| match error {
            MemberError::Read(error) => failed(error),
            MemberError::Total(error) => error,
        })?;
    }
    let catalog = catalog::catalog(&path, source, &opened);
    let mut check_elements =
        |dataset: &Dataset, findings: &mut ForeignFindings<'_>| -> Result<()> {
            // The faults of metadata are reported above.
            if !dataset.dtype_name.is_empty() || dataset.why().is_none() || dataset.is_text() {
                let (decodes, too_long) = (&rule::PAYLOAD_DECODES, &rule::LIMIT_CHUNK);
                let rules = ChunkRules { options, decodes, too_long };
                return check_chunks(dataset, rules, findings, &mut seen, &mut total);
            }
            seen.dataset_count += 1;
            Ok(())
        };
    // Chunks are read while their files are still open.
    let mut datasets = catalog.datasets().iter().peekable();
    for array in opened.arrays() {
        let finder = opened.finder(array);
        let checked = crate::check(&finder, &mut |it| take(&mut findings, it));
        match checked {
            Ok(_) => {}
            Err(ReadError::Fault { fault, key }) => {
                take(&mut findings, ZarrFault { fault, key, path: Some(array.path.clone()) });
            }
            Err(error) => return Err(failed(error)),
        }
        let name = catalog::name_of(&path, &array.path);
        while let Some(dataset) = datasets.next_if(|it| it.name <= name) {
            check_elements(dataset, &mut findings)?;
        }
    }
    datasets.try_for_each(|dataset| check_elements(dataset, &mut findings))?;
    catalog.check_unchanged()?;
    // Of a folder the source is one document.
    if path.file_name().is_some_and(|name| DOCUMENTS.iter().any(|document| name == *document)) {
        seen.file_len = seen.file_len.saturating_add(seen.stored_len);
    }
    Ok(findings.report(&seen))
}

/// Checks the members of a zip file, which add to what is decoded.
fn check_members(
    store: &Store,
    total: &mut DecodedTotal,
    take: &mut dyn FnMut(ZarrFault),
) -> std::result::Result<(), MemberError> {
    let Store::Zip(zip) = store else { return Ok(()) };
    zip.check_members(&mut |len| total.add(len).map_err(MemberError::Total), take)
}

/// Why members of a zip file are not checked.
enum MemberError {
    Read(ReadError),
    Total(tet_container::Error),
}

impl From<ReadError> for MemberError {
    fn from(error: ReadError) -> Self {
        MemberError::Read(error)
    }
}
