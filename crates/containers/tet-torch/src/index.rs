//! A checkpoint in several files: an index says which tensor is in which of them, as that of safetensors files does.
//!
//! ```text
//!   {"metadata": {"total_size": 123}, "weight_map": {"tensor": "pytorch_model-00001-of-00002.bin"}}
//! ```

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use tet_format::ForeignFault;
use tet_io::Source;
use tet_query::{AttrText, Catalog, Dataset};
use tet_verify::{ForeignFindings, ForeignFound, ForeignSeen, Integrity, Report, VerifyOptions};

use super::{catalog, check};
use tet_container::read::opened::{OpenOptions, Opened, path_of};
use tet_container::{Container, Head, Input};
use tet_container::{Error, Format, Result};
use tet_safetensors::index::{self, MAP_KEY, Named, ShardIndex, at_index};
use tet_safetensors::rule;

/// Bytes of JSON in which the key of an index and the names of files are looked for.
const OBJECT_LEN: u64 = 64 << 10;

/// The container of checkpoints in several files.
#[derive(Debug)]
pub struct Index;

impl Container for Index {
    fn holds_models(&self) -> bool {
        true
    }

    fn format(&self) -> Format {
        Format::TORCH_INDEX
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["bin.index.json", "pt.index.json"]
    }

    /// An index whose files are none of safetensors.
    fn matches(&self, head: &Head<'_>) -> Result<bool> {
        if head.bytes.trim_ascii_start().first() != Some(&b'{') {
            return Ok(false);
        }
        let object = head.source.read_vec(0, head.source.len().min(OBJECT_LEN))?;
        let has = |text: &str| object.windows(text.len()).any(|it| it == text.as_bytes());
        let is_torch = || [".bin\"", ".pt\"", ".pth\""].into_iter().any(has);
        Ok(has(&format!("\"{MAP_KEY}\"")) && !has(".safetensors\"") && is_torch())
    }

    fn open(&self, input: Input<'_>, options: &OpenOptions) -> Result<Opened> {
        open(input.path, input.source, options)
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        verify(source, options)
    }
}

/// A file of the index, or why it cannot be read.
type Shard = std::result::Result<Opened, ForeignFault>;

/// Opens the checkpoint whose index is at `path`.
fn open(path: &Path, source: Source, options: &OpenOptions) -> Result<Opened> {
    let of_check = VerifyOptions::default();
    let mut findings = ForeignFindings::new(&of_check);
    let index = index::read(&source, &mut |it| findings.take(it))?;
    let (path, format) = (path.to_path_buf(), Format::TORCH_INDEX);
    let index = index.map_err(|fault| Error::Foreign { path, format, fault })?;
    let mut shards = Vec::with_capacity(index.shards.len());
    for named in &index.shards {
        shards.push(shard(&source, named, options)?);
    }
    // An index is removed before its files are replaced, so that all are of one checkpoint while it is there.
    source.check_in_place()?;
    let datasets = listed(&source, &index, &shards, &mut findings);
    let (mut attrs, mut sources, mut parts) = (BTreeMap::new(), Vec::new(), Vec::new());
    let (mut notes, mut of_shards) = (Vec::new(), Vec::new());
    for (named, shard) in index.shards.iter().zip(shards) {
        let Ok(opened) = shard else { continue };
        for (key, value) in opened.catalog.attrs() {
            attrs.entry(key.clone()).or_insert_with(|| value.clone());
        }
        sources.push(opened.catalog.source().clone());
        parts.extend(opened.catalog.parts().iter().cloned());
        notes.extend(opened.notes);
        of_shards.extend(opened.findings.into_iter().map(|mut finding| {
            finding.place.shard = Some(named.name.clone());
            finding
        }));
    }
    for (key, value) in index.about {
        attrs.entry(key).or_insert(AttrText::Json(value));
    }
    let catalog = Catalog::new(source, format.name(), datasets).with_parts(parts);
    let catalog = catalog.with_attrs(attrs).with_shards(sources);
    let mut findings = findings.report(&ForeignSeen::default()).findings;
    findings.extend(of_shards);
    Ok(Opened { findings, notes, ..Opened::new(format, catalog) })
}

/// Opens a file of the index.
fn shard(source: &Source, named: &Named, options: &OpenOptions) -> Result<Shard> {
    let opened = match options.beside(source, &named.name) {
        Ok(opened) => opened,
        Err(tet_io::Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Err(at_index(&rule::SHARD_MISSING, named.at)));
        }
        Err(tet_io::Error::NotRegular { .. }) => {
            return Ok(Err(at_index(&rule::SHARD_FORMAT, named.at)));
        }
        Err(error) => return Err(error.into()),
    };
    match catalog::open(&path_of(&opened), opened, options) {
        Err(Error::Foreign { fault, .. }) => Ok(Err(fault)),
        opened => opened.map(Ok),
    }
}

/// The tensors of the map, in its order; what it and the files do not have in common is reported.
fn listed(
    source: &Source,
    index: &ShardIndex,
    shards: &[Shard],
    findings: &mut ForeignFindings<'_>,
) -> Vec<Dataset> {
    let mut datasets = Vec::with_capacity(index.tensors.len());
    let mut taken: Vec<HashSet<usize>> = vec![HashSet::new(); shards.len()];
    for (mapped, number) in index.tensors.iter().zip(0..) {
        let named = &index.shards[mapped.shard];
        let missing = || at_index(&rule::TENSOR_MISSING, mapped.at);
        let found = match &shards[mapped.shard] {
            Ok(opened) => opened.catalog.only_named(&mapped.name).ok_or_else(missing),
            Err(fault) => Err(*fault),
        };
        datasets.push(match found {
            Ok(dataset) => {
                taken[mapped.shard].insert(dataset.index);
                dataset.clone()
            }
            Err(fault) => {
                let dataset = Some((number, mapped.name.clone()));
                let it = ForeignFound { fault, field: "key", len: 1, dataset };
                findings.take_in(&named.name, it);
                let (dataset, shard) = (mapped.name.clone(), named.name.clone());
                let cause = tet_query::Error::Shard { dataset, shard, fault };
                Dataset::unreadable(source.clone(), mapped.name.clone(), cause)
            }
        });
    }
    for ((named, shard), taken) in index.shards.iter().zip(shards).zip(taken) {
        let datasets = shard.iter().flat_map(|opened| opened.catalog.datasets());
        for dataset in datasets.filter(|it| !taken.contains(&it.index)) {
            let fault = at_index(&rule::TENSOR_UNNAMED, 0);
            let number = u64::try_from(dataset.index).unwrap_or(u64::MAX);
            let dataset = Some((number, dataset.name.clone()));
            findings.take_in(&named.name, ForeignFound { fault, field: "key", len: 1, dataset });
        }
    }
    datasets
}

/// Checks a checkpoint: its index, every file, and whether they agree.
fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    if source.path().is_none() {
        let format = Format::TORCH_INDEX;
        return Err(Error::NotVerifiable { path: path_of(source), format });
    }
    let mut findings = ForeignFindings::new(options);
    let mut seen = ForeignSeen {
        file_len: source.len(),
        integrity: Integrity::Unprotected,
        ..ForeignSeen::default()
    };
    let Ok(index) = index::read(source, &mut |it| findings.take(it))? else {
        return Ok(findings.report(&seen));
    };
    let (opening, mut shards, mut reports) = (OpenOptions::default(), Vec::new(), Vec::new());
    // The limit is that of all files together.
    let mut left = options.clone();
    for named in &index.shards {
        let shard = shard(source, named, &opening)?;
        if let Ok(opened) = &shard {
            let report = check::verify(opened.catalog.source(), &left)?;
            left.decoded_max = left.decoded_max.map(|it| it.saturating_sub(report.decoded_len));
            reports.push((named, report));
        }
        shards.push(shard);
    }
    listed(source, &index, &shards, &mut findings);
    let integrity = reports.iter().map(|(_, report)| report.integrity).reduce(Integrity::and);
    seen.integrity = integrity.unwrap_or(Integrity::Unprotected);
    for (named, report) in reports {
        seen.add_lengths(&report);
        seen.dataset_count = seen.dataset_count.saturating_add(report.dataset_count);
        findings.take_report(&named.name, report);
    }
    source.check_unchanged()?;
    Ok(findings.report(&seen))
}
