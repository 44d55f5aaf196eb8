//! The catalog of a GGUF file: its tensors, read in place; and what is wrong with one.

use std::path::Path;

use tet_format::Span;
use tet_io::Source;
use tet_query::Catalog;
use tet_verify::{ForeignFindings, ForeignFound, ForeignSeen, Integrity, Report, VerifyOptions};

use super::{rule, split};
use tet_container::entry;
use tet_container::read::opened::{FileRegion, OpenOptions, Opened};
use tet_container::{Error, Format, Note, Result};

/// Opens the file at `path`, and the other parts of its model.
pub(super) fn open(path: &Path, source: Source, opening: &OpenOptions) -> Result<Opened> {
    let options = VerifyOptions::default();
    let mut findings = ForeignFindings::new(&options);
    let model = split::read(&source, opening, &mut |shard, it| take(&mut findings, shard, it))?;
    let model = model.map_err(|fault| Error::Foreign {
        path: path.to_path_buf(),
        format: Format::GGUF,
        fault,
    })?;
    let (mut datasets, mut shards, mut regions) = (Vec::new(), Vec::new(), Vec::new());
    let mut count = 0_usize;
    for (name, part, header) in model.parts {
        count = count.saturating_add(header.hidden_count);
        datasets.extend(header.entries.into_iter().map(|it| it.dataset(&part)));
        match name {
            Some(_) => shards.push(part),
            None => regions = regions_of(header.data_at, &part),
        }
    }
    let what = "the values of long lists";
    let left = Note::LeftBehind { dataset: String::new(), what, count };
    let notes = if count == 0 { Vec::new() } else { vec![left] };
    let catalog = Catalog::new(source, Format::GGUF.name(), datasets);
    let catalog = catalog.with_attrs(model.attrs).with_shards(shards);
    let findings = findings.report(&ForeignSeen::default()).findings;
    Ok(Opened { findings, regions, notes, ..Opened::new(Format::GGUF, catalog) })
}

/// The regions of a file whose tensors begin at `data_at`.
fn regions_of(data_at: u64, source: &Source) -> Vec<FileRegion> {
    let data_at = data_at.min(source.len());
    let region = |name, span: Option<Span>, holds| Some(FileRegion { name, span: span?, holds });
    let regions = [
        region("header", Span::new(0, data_at), String::new()),
        region("data", Span::from_range(data_at..source.len()), "elements".to_owned()),
    ];
    regions.into_iter().flatten().collect()
}

fn take(findings: &mut ForeignFindings<'_>, shard: Option<&str>, found: ForeignFound) {
    match shard {
        Some(shard) => findings.take_in(shard, found),
        None => findings.take(found),
    }
}

/// Checks a file and the other parts of its model. Nothing shows whether elements are those that were written: they
/// are read, so that a disk that cannot read them is noticed.
pub(super) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut findings = ForeignFindings::new(options);
    let opening = OpenOptions::default();
    let model = split::read(source, &opening, &mut |shard, it| take(&mut findings, shard, it))?;
    let mut seen = ForeignSeen { integrity: Integrity::Unprotected, ..ForeignSeen::default() };
    match model {
        Err(fault) => {
            seen.file_len = source.len();
            findings.take(ForeignFound { fault, field: fault.rule.region, len: 0, dataset: None });
        }
        Ok(model) => {
            for (name, part, header) in &model.parts {
                let mut found = |it| take(&mut findings, name.as_deref(), it);
                let overlap = Some(&rule::DATA_OVERLAP);
                entry::check(part, options, &header.entries, overlap, &mut seen, &mut found)?;
            }
        }
    }
    Ok(findings.report(&seen))
}
