//! What is wrong with a folder of parts: with its manifest, and with every part.

use tet_file::TetFile;
use tet_format::ForeignFault;
use tet_io::Source;
use tet_verify::{ForeignFindings, ForeignFound, ForeignSeen, Integrity, Report, VerifyOptions};

use super::manifest::Manifest;
use super::series::{Parts, catalog, folder_of};
use crate::Result;
use crate::read::opened::OpenOptions;

/// Checks the manifest and all parts, each as a `.tet` file is checked.
pub(super) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut findings = ForeignFindings::new(options);
    let mut seen = ForeignSeen {
        file_len: source.len(),
        integrity: Integrity::Unchecked,
        ..ForeignSeen::default()
    };
    let found = |fault: ForeignFault| ForeignFound {
        fault,
        field: fault.rule.region,
        len: 0,
        dataset: None,
    };
    let manifest = match Manifest::read(source)? {
        Ok(manifest) => manifest,
        Err(fault) => {
            findings.take(found(fault));
            return Ok(findings.report(&seen));
        }
    };
    let opening = OpenOptions { limits: options.limits, ..OpenOptions::default() };
    let files = Parts::new(folder_of(source)?, &opening);
    let (mut opened, mut states) = (Vec::<TetFile>::new(), Vec::new());
    for part in &manifest.parts {
        options.progress.check().map_err(tet_verify::Error::from)?;
        match files.source(part)? {
            Ok(source) => {
                let report = tet_verify::verify(&source, options)?;
                add(&mut seen, &report);
                states.push(report.integrity);
                findings.take_report(&part.file, report);
            }
            Err((file, fault)) => {
                findings.take_in(&file, found(fault));
                continue;
            }
        }
        match files.open(part)? {
            Ok(file) => opened.push(file),
            Err((file, fault)) => findings.take_in(&file, found(fault)),
        }
    }
    if opened.len() == manifest.parts.len() {
        match catalog(source, &manifest, &opened)? {
            Ok(catalog) => {
                seen.dataset_count = u64::try_from(catalog.datasets().len()).unwrap_or(u64::MAX);
            }
            Err((file, fault)) => findings.take_in(&file, found(fault)),
        }
    }
    source.check_unchanged()?;
    let is_verified = states.iter().all(|state| *state == Integrity::Verified);
    seen.integrity = match () {
        () if states.contains(&Integrity::Mismatch) => Integrity::Mismatch,
        () if is_verified && findings.is_sound() => Integrity::Verified,
        () => Integrity::Unchecked,
    };
    Ok(findings.report(&seen))
}

/// Adds what was seen of a part.
fn add(seen: &mut ForeignSeen, report: &Report) {
    let sums = [
        (&mut seen.file_len, report.file_len),
        (&mut seen.chunk_count, report.row_count),
        (&mut seen.stored_len, report.stored_len),
        (&mut seen.decoded_len, report.decoded_len),
        (&mut seen.payload_len, report.payload_len),
    ];
    for (sum, len) in sums {
        *sum = sum.saturating_add(len);
    }
}
