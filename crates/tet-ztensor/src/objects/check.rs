//! Checks a file: every rule that it breaks, each with its offset.
//!
//! ```text
//!   container -> manifest -> objects -> places -> shards -> blobs -> sparse tensors
//! ```

mod blob;
mod report;

use std::collections::HashMap;

use tet_format::{Integrity, usual_decoded_max};
use tet_io::{Progress, Source};
use tet_report::{Collector, Finding, ForeignFound, Level, Pool, Report};

use self::blob::{BlobCheck, Shared};
use super::file::ObjectFile;
use super::object::ManifestObject;
use super::rule;
use super::shard::OpenShard;
use crate::check::{DECODED, VerifyOptions};
use crate::checksum::{Checksum, Comparison};
use crate::error::{Error, Fault, Result};

/// Bytes of blobs that are checked for each byte of the files, and an additional amount.
const WORK_FACTOR: u64 = 16;
const WORK_LEN_MIN: u64 = 1 << 20;

/// How often the stored elements of a sparse tensor are in memory while they are checked.
const HELD: u64 = 3;

/// Checks a whole file, and its shards.
///
/// # Errors
///
/// Returns [`Error::Io`] when a file cannot be read or changes meanwhile, [`Error::Canceled`] when the caller
/// cancels, and [`Error::Limit`] when parts decode to more than [`VerifyOptions::decoded_max`]. Faults of the
/// file are in the report.
pub fn verify(source: &Source, options: &VerifyOptions, open: OpenShard<'_>) -> Result<Report> {
    let mut out: Collector<Finding> = Collector::new(options.findings_max);
    let file = match ObjectFile::open(source.clone(), &options.limits, open) {
        Ok(file) => file,
        Err(Error::Format(fault)) => {
            out.push(finding(fault, None));
            source.check_unchanged()?;
            let (findings, counts) = out.into_parts();
            let (integrity, file_len) = (Integrity::Unchecked, source.len());
            return Ok(Report { integrity, file_len, ..Report::new(options, findings, &counts) });
        }
        Err(error) => return Err(error),
    };
    entries(&file, &mut out);
    let checked_len = match options.level {
        Level::Structure => 0,
        Level::Checksums | Level::Deep => blobs(&file, options, &mut out)?,
    };
    let shards = file.shards().iter().filter_map(|shard| shard.source.as_ref());
    for source in shards.chain([source]) {
        source.check_unchanged()?;
    }
    Ok(report::report(&file, options, out, checked_len))
}

/// A finding about a file, or about one of its objects.
fn finding(fault: Fault, object: Option<(usize, &ManifestObject)>) -> Finding {
    let dataset =
        object.map(|(at, object)| (u64::try_from(at).unwrap_or(u64::MAX), object.name.clone()));
    let field = match fault.rule.region {
        "blob" => "bytes",
        "manifest" => "entry",
        region => region,
    };
    ForeignFound { fault: fault.into(), field, len: 0, dataset }.into()
}

/// Reports the faults of entries, and what is not supported.
fn entries(file: &ObjectFile, out: &mut Collector<Finding>) {
    if file.manifest().is_none() {
        let at = file.footer().map_or(0, tet_format::Span::start);
        let fault = Fault { rule: &rule::DATA_SHARD, at, found: 0, wanted: 0 };
        out.push(finding(fault, None));
    }
    for shard in file.shards() {
        if let Some(fault) = shard.fault {
            out.push(in_shard(finding(fault, None), &shard.name));
        }
    }
    for (at, object) in file.objects().iter().enumerate() {
        let named = Some((at, object));
        if let Some(fault) = object.fault {
            out.push(finding(fault, named));
            continue;
        }
        if object.unsupported().is_some() {
            out.push(finding(object.broken(&rule::UNSUPPORTED, 0, 0), named));
        }
        if object.parts.iter().any(|part| part.digest == Some(Checksum::Unknown)) {
            out.push(finding(object.broken(&rule::DIGEST_UNKNOWN, 0, 0), named));
        }
    }
}

/// Moves the finding to another file.
fn in_shard(mut finding: Finding, shard: &str) -> Finding {
    finding.place.shard = Some(shard.to_owned());
    finding
}

/// Checks shards, blobs and sparse tensors. Returns the number of bytes that were checked.
fn blobs(file: &ObjectFile, options: &VerifyOptions, out: &mut Collector<Finding>) -> Result<u64> {
    let is_deep = options.level == Level::Deep;
    let (mut tasks, mut turns) = (Vec::new(), Vec::new());
    let mut firsts: HashMap<Shared, usize> = HashMap::new();
    for (at, object) in file.objects().iter().enumerate() {
        let parts = object.parts.iter().filter(|_| object.fault.is_none());
        for task in parts.filter_map(|part| BlobCheck::for_part(file, object, part, options.level))
        {
            let next = tasks.len();
            let first = *firsts.entry(task.shared()).or_insert(next);
            turns.push((at, first));
            if first == next {
                tasks.push(task);
            }
        }
    }
    let shards: Vec<_> = file.shards().iter().filter(|shard| shard.fault.is_none()).collect();
    let shards_len = shards.iter().fold(0_u64, |sum, shard| sum.saturating_add(shard.size));
    let stored_len = tasks.iter().fold(0_u64, |sum, task| sum.saturating_add(task.len()));
    let decoded_len = tasks.iter().map(BlobCheck::decoded_len).fold(0, u64::saturating_add);
    let files_len = shards_len.saturating_add(file.source().len());
    let limit = files_len.saturating_mul(WORK_FACTOR).saturating_add(WORK_LEN_MIN);
    check_limit("bytes of blobs that several parts share", stored_len, limit)?;
    let limit = options.decoded_max.unwrap_or_else(|| usual_decoded_max(files_len));
    check_limit(DECODED, decoded_len, limit)?;
    let all = stored_len.saturating_add(if is_deep { shards_len } else { 0 });
    let progress = options.progress.begin(all);
    for shard in shards.iter().filter(|_| is_deep) {
        let Some(source) = &shard.source else { continue };
        if let Some((found, wanted)) = whole(source, shard.digest, &progress)? {
            let fault = Fault { rule: &rule::SHARD_DIGEST, at: shard.at, found, wanted };
            out.push(in_shard(finding(fault, None), &shard.name));
        }
    }
    // A decoder may need a window of 2^27 bytes.
    let affordable = (options.memory_budget / 2) >> tet_codec::WINDOW_LOG_MAX;
    let affordable = usize::try_from(affordable).unwrap_or(usize::MAX).max(1);
    let pool = Pool::new(options.threads, affordable.min(tasks.len()), all);
    let found =
        pool.map(&tasks, blob::Scratch::default, |scratch, task| task.run(scratch, &progress))?;
    for (at, task) in turns {
        let object = file.objects().get(at).map(|object| (at, object));
        let shard = tasks.get(task).and_then(BlobCheck::shard_name);
        for fault in found.get(task).into_iter().flatten() {
            let finding = finding(*fault, object);
            out.push(shard.map_or(finding.clone(), |name| in_shard(finding.clone(), name)));
        }
    }
    if is_deep {
        sparse(file, options, out)?;
    }
    Ok(all)
}

fn check_limit(what: &'static str, wanted: u64, limit: u64) -> Result<()> {
    if wanted <= limit { Ok(()) } else { Err(Error::Limit { what, wanted, limit }) }
}

/// How all bytes of a file differ from their checksum, if they do.
fn whole(source: &Source, digest: Checksum, progress: &Progress) -> Result<Option<(u64, u64)>> {
    let Some(span) = tet_format::Span::new(0, source.len()) else { return Ok(None) };
    let mut comparison = Comparison::new(digest);
    progress.pieces::<Error>(source, span, &mut Vec::new(), |_, bytes| {
        comparison.update(bytes);
        true
    })?;
    Ok(comparison.differs())
}

/// Checks the places of sparse tensors, in memory.
fn sparse(file: &ObjectFile, options: &VerifyOptions, out: &mut Collector<Finding>) -> Result<()> {
    let len_max = options.memory_budget / HELD;
    for (at, object) in file.objects().iter().enumerate() {
        let is_readable = object.fault.is_none() && object.unsupported().is_none();
        let is_whole = object.values().and_then(|part| part.element).is_some_and(|it| it.bits >= 8);
        if !object.layout.is_sparse() || !is_readable || !is_whole {
            continue;
        }
        let is_large = file.parts_len(object).is_some_and(|len| len_max < len);
        let read = if is_large { None } else { Some(file.read_sparse(object, len_max)) };
        let fault = match read {
            Some(Ok(_)) => continue,
            Some(Err(Error::Tensor { fault, .. })) => fault,
            None | Some(Err(Error::Limit { .. })) => {
                let found = file.parts_len(object).unwrap_or(u64::MAX);
                object.broken(&rule::SPARSE_LARGE, found, len_max)
            }
            Some(Err(error)) => return Err(error),
        };
        // Faults of its blobs have been reported.
        if ![&rule::ZSTD_BOUND, &rule::ZSTD_FRAMES, &rule::ZSTD_LEN].contains(&fault.rule) {
            out.push(finding(fault, Some((at, object))));
        }
    }
    Ok(())
}
