//! Checks of a `.npy` file, and of the arrays of an archive.

use std::io::{self, Read};
use std::path::Path;

use tet_format::{ForeignFault, ForeignRule, Span};
use tet_io::Source;
use tet_verify::{
    ForeignFindings, ForeignFound, ForeignSeen, Integrity, Level, Report, VerifyOptions,
};

use super::header::Header;
use tet_container::NpyFault;
use tet_container::read::spool::SourceReader;
use tet_container::{Error, Result};

tet_format::foreign_rules! { pub(crate),
    "NPY-H1" HEADER "header" Error Structure Hidden:
        "an array must begin with a header of descr, fortran_order and shape, as NumPy writes it",
        "the header is damaged: fetch or copy the file again";
    "NPY-H2" VERSION "header" Error Structure Hidden:
        "the version of the header must be 1.0, 2.0 or 3.0",
        "a newer program may read this array";
    "NPY-E1" ELEMENTS "elements" Error Structure Decimal:
        "the elements must fill all bytes behind the header",
        "bytes are missing or were appended: fetch or copy the file again";
}

/// Checks a file. Nothing shows whether its elements are those that were written: they are read, so
/// that a disk that cannot read them is noticed.
pub(crate) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut findings = ForeignFindings::new(options);
    let found = header(&mut SourceReader::new(source, 0), source.len(), 0).map_err(|error| {
        let name = source.path().and_then(Path::file_name).unwrap_or_default();
        let (array, fault) = (name.to_string_lossy().into_owned(), NpyFault::Read(error));
        Error::Array { array, fault }
    })?;
    let seen = ForeignSeen {
        file_len: source.len(),
        integrity: Integrity::Unprotected,
        dataset_count: 1,
        chunk_count: 1,
        stored_len: source.len(),
        decoded_len: source.len(),
        payload_len: if options.level == Level::Deep { source.len() } else { 0 },
        gap_len: 0,
    };
    if let Some(fault) = found {
        let field = fault.rule.region;
        findings.take(ForeignFound { fault, field, len: 0, dataset: None });
    }
    if let (Level::Deep, Some(all)) = (options.level, Span::new(0, source.len())) {
        let progress = options.progress.begin(all.len());
        progress.pieces::<Error>(source, all, &mut Vec::new(), |_, _| true)?;
    }
    source.check_unchanged()?;
    Ok(findings.report(&seen))
}

/// Checks the header of an array of `len` bytes, which begins at byte `at` of the file;
/// what is only not supported here is not wrong.
pub(crate) fn header(input: &mut dyn Read, len: u64, at: u64) -> io::Result<Option<ForeignFault>> {
    let found = Header::read(input).and_then(|header| header.check_len(len).map(|()| header));
    let broken = |rule: &'static ForeignRule, within: u64, found, wanted| {
        Ok(Some(ForeignFault { rule, at: at.saturating_add(within), found, wanted }))
    };
    match found {
        Ok(_) | Err(NpyFault::Dtype { .. }) => Ok(None),
        Err(NpyFault::Read(error)) => Err(error),
        Err(NpyFault::Truncated { found, wanted } | NpyFault::Trailing { found, wanted }) => {
            broken(&ELEMENTS, len.saturating_sub(found), found, wanted)
        }
        Err(NpyFault::Malformed { at, .. }) => broken(&HEADER, at, 0, 0),
        Err(NpyFault::Version { .. }) => broken(&VERSION, 6, 0, 0),
        Err(_) => broken(&HEADER, 0, 0, 0),
    }
}
