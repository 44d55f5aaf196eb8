//! Checks an HDF5 file: all its faults as findings.

use std::collections::BTreeSet;

use crate::{Error as ReadError, Hdf5File, rule};
use tet_io::Source;
use tet_verify::{ForeignFindings, ForeignFound, ForeignSeen, Integrity, Report, VerifyOptions};

use super::{catalog, environment};
use tet_container::Result;
use tet_container::read::chunk_check::{ChunkRules, DecodedTotal, check_chunks};

/// Checks a file: its structure; the place of every chunk; and, where elements are checked too, that
/// every chunk decodes.
pub(super) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut findings = ForeignFindings::new(options);
    let mut seen = ForeignSeen {
        file_len: source.len(),
        integrity: Integrity::Unprotected,
        ..ForeignSeen::default()
    };
    let mut found = BTreeSet::new();
    let read = Hdf5File::open(source.clone()).and_then(|file| {
        file.check(&mut |it| {
            found.insert((it.fault.rule.id, it.fault.at, it.attribute.clone()));
            catalog::take(&mut findings, it);
        })?;
        // The check does not read the values of attributes that are elsewhere.
        let contents = catalog::contents(&file, &mut |it| {
            if !found.contains(&(it.fault.rule.id, it.fault.at, it.attribute.clone())) {
                catalog::take(&mut findings, it);
            }
        })?;
        let listed = catalog::catalog(&file, &contents);
        listed.types.findings().for_each(|it| catalog::take(&mut findings, it));
        Ok(listed.catalog)
    });
    match read {
        Ok(catalog) => {
            let mut total = DecodedTotal::new(options, source.len());
            for dataset in catalog.datasets() {
                if let Some(tet_query::Error::Foreign { fault, .. }) = dataset.why()
                    && found.contains(&(fault.rule.id, fault.at, None))
                {
                    seen.dataset_count += 1;
                    continue;
                }
                let (decodes, too_long) = (&rule::PAYLOAD_DECODES, &rule::LIMIT_CHUNK);
                let rules = ChunkRules { options, decodes, too_long };
                check_chunks(dataset, rules, &mut findings, &mut seen, &mut total)?;
            }
            catalog.check_unchanged()?;
        }
        Err(ReadError::Fault(fault)) => {
            findings.take(ForeignFound { fault, field: fault.rule.region, len: 0, dataset: None });
        }
        Err(error) => return Err(environment(error)),
    }
    source.check_unchanged()?;
    Ok(findings.report(&seen))
}
