//! The catalog of a GGUF file: its tensors, read in place; and what is wrong with one.

use std::path::Path;

use tet_format::Span;
use tet_io::Source;
use tet_query::Catalog;
use tet_verify::{ForeignFindings, ForeignSeen, Report, VerifyOptions};

use super::{header, rule};
use crate::container::entry;
use crate::read::opened::{FileRegion, Opened};
use crate::{Error, Format, Note, Result};

/// Opens the file at `path`.
pub(super) fn open(path: &Path, source: Source) -> Result<Opened> {
    let options = VerifyOptions::default();
    let mut findings = ForeignFindings::new(&options);
    let header = header::read(&source, &mut |found| findings.take(found))?;
    let header = header.map_err(|fault| Error::Foreign {
        path: path.to_path_buf(),
        format: Format::GGUF,
        fault,
    })?;
    let data_at = header.data_at.min(source.len());
    let datasets = header.entries.into_iter().map(|it| it.dataset(&source)).collect();
    let region = |name, span: Option<Span>, holds| Some(FileRegion { name, span: span?, holds });
    let regions = [
        region("header", Span::new(0, data_at), String::new()),
        region("data", Span::from_range(data_at..source.len()), "elements".to_owned()),
    ];
    let regions = regions.into_iter().flatten().collect();
    let (what, count) = ("the values of long lists", header.hidden_count);
    let left = Note::LeftBehind { dataset: String::new(), what, count };
    let notes = if count == 0 { Vec::new() } else { vec![left] };
    let catalog = Catalog::new(source, Format::GGUF.name(), datasets).with_attrs(header.attrs);
    let findings = findings.report(&ForeignSeen::default()).findings;
    Ok(Opened { findings, regions, notes, ..Opened::new(Format::GGUF, catalog) })
}

/// Checks a file. Nothing shows whether its elements are those that were written: they are read, so
/// that a disk that cannot read them is noticed.
pub(super) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut findings = ForeignFindings::new(options);
    let header = header::read(source, &mut |found| findings.take(found))?;
    let listed = header.as_ref().map(|it| it.entries.as_slice()).map_err(|fault| *fault);
    entry::check(source, options, findings, listed, Some(&rule::DATA_OVERLAP))
}
