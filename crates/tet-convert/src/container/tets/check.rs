//! Checks of a folder of parts: its manifest, and every part.

use std::sync::Arc;

use tet_format::ForeignFault;
use tet_io::{Source, at_once};
use tet_verify::{
    ForeignFindings, ForeignFound, ForeignSeen, Integrity, Level, Report, VerifyOptions,
};

use super::files::{Files, PartError};
use super::manifest::Manifest;
use super::series::catalog;
use crate::Result;
use tet_container::read::chunk_check::DecodedTotal;
use tet_container::read::opened::OpenOptions;

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
    let files = Arc::new(Files::new(source.folder()?, &opening, &manifest));
    let mut states = Vec::new();
    for (nth, verified) in verified(&files, options)?.into_iter().enumerate() {
        let (source, report) = match verified {
            Ok(verified) => verified,
            Err((file, fault)) => {
                findings.take_in(&file, found(fault));
                continue;
            }
        };
        seen.add_lengths(&report);
        states.push(report.integrity);
        findings.take_report(&files.part(nth).file, report);
        if let Err((file, fault)) = sound(files.open_source(nth, source))? {
            findings.take_in(&file, found(fault));
        }
    }
    if options.level != Level::Structure {
        // Each part was bounded when it was checked, and here all of them are.
        DecodedTotal::new(options, seen.file_len).add(seen.decoded_len)?;
    }
    if files.opened().count() == files.parts().len() {
        match sound(catalog(source, &manifest, &files))? {
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

/// Checks each part as a `.tet` file is checked; on a server several at the same time.
fn verified(files: &Files, options: &VerifyOptions) -> Result<Vec<Sound<(Source, Report)>>> {
    at_once(files.parts().len(), files.depth(), |nth| {
        options.progress.check().map_err(tet_verify::Error::from)?;
        Ok(match sound(files.source(nth))? {
            Ok(source) => {
                let report = tet_verify::verify(&source, options)?;
                Ok((source, report))
            }
            Err(fault) => Err(fault),
        })
    })
}

/// The result of opening a part, or its name and the rule that it breaks.
type Sound<T> = std::result::Result<T, (String, ForeignFault)>;

fn sound<T>(opened: std::result::Result<T, PartError>) -> Result<Sound<T>> {
    match opened {
        Ok(sound) => Ok(Ok(sound)),
        Err(PartError::Fault(part, fault)) => Ok(Err((part, fault))),
        Err(PartError::Failed(error)) => Err(error.into()),
    }
}
