//! The catalog of a file of version 1 or 2: its objects, read in place.

use std::sync::Arc;

use crate::objects::{ObjectFile, Version, rule};
use crate::{Error as ReadError, Limits};
use tet_format::{ForeignFault, Span};
use tet_query::Catalog;
use tet_verify::{ForeignFindings, ForeignFound, ForeignSeen, VerifyOptions};

use super::object::{Reading, of_pairs};
use super::{format_of, open_shard, parts};
use tet_container::Input;
use tet_container::read::opened::{FileRegion, OpenOptions, Opened};
use tet_container::{Error, Result};

/// A file with more damaged objects is not opened: each takes memory, and few bytes of the file.
const DAMAGED_MAX: usize = 50_000;

/// Parts of all objects of one file, at most: further objects are offered without.
const PARTS_MAX: usize = 100_000;

/// Opens a file.
pub(super) fn open(input: Input<'_>, version: Version, options: &OpenOptions) -> Result<Opened> {
    let Input { path, source } = input;
    let format = format_of(version);
    let open = |shard: &str| open_shard(&source, shard, options);
    let file = ObjectFile::open(source.clone(), &Limits::default(), &open);
    let file = Arc::new(file.map_err(|error| match error {
        ReadError::Format(fault) => {
            Error::Foreign { path: path.to_path_buf(), format, fault: fault.into() }
        }
        other => other.into(),
    })?);
    let damaged = file.objects().iter().filter(|object| object.fault.is_some());
    if let Some(object) = damaged.clone().nth(DAMAGED_MAX) {
        let fault = object.fault.map_or(ForeignFault::from(no_fault()), ForeignFault::from);
        return Err(Error::Foreign { path: path.to_path_buf(), format, fault });
    }
    let verifying = VerifyOptions::default();
    let mut findings = ForeignFindings::new(&verifying);
    let reading = Reading::new(&file, options.memory_budget);
    let (mut datasets, mut held) = (Vec::new(), Vec::new());
    for (number, (at, object)) in (0_u64..).zip(file.objects().iter().enumerate()) {
        if let Some(fault) = object.fault {
            let (dataset, field) = (Some((number, object.name.clone())), fault.rule.region);
            findings.take(ForeignFound { fault: fault.into(), field, len: 0, dataset });
        }
        let (dataset, stored) = reading.dataset(at, object)?;
        if object.fault.is_none() && held.len() < PARTS_MAX {
            held.extend(parts::datasets(&reading, object, &dataset, stored.as_ref()));
        }
        datasets.push(dataset);
    }
    if file.manifest().is_none() {
        let at = file.footer().map_or(0, Span::start);
        let fault = ForeignFault { rule: &rule::DATA_SHARD, at, found: 0, wanted: 0 };
        findings.take(ForeignFound { fault, field: "footer", len: 0, dataset: None });
    }
    let shards = file.shards().iter().filter_map(|shard| shard.source.clone()).collect();
    let catalog =
        Catalog::new(source, format.name(), datasets).with_attrs(of_pairs(file.attributes()));
    let catalog = catalog.with_parts(held).with_shards(shards);
    let findings = findings.report(&ForeignSeen::default()).findings;
    Ok(Opened { findings, regions: regions(&file), ..Opened::new(format, catalog) })
}

/// The fault of nothing: a damaged object has one of its own.
fn no_fault() -> crate::Fault {
    crate::Fault { rule: &rule::OBJECT_FORM, at: 0, found: 0, wanted: 0 }
}

/// The regions of a file, in order.
fn regions(file: &ObjectFile) -> Vec<FileRegion> {
    let region = |name, span: Option<Span>, holds: &str| {
        Some(FileRegion { name, span: span?, holds: holds.to_owned() })
    };
    let data_end = file.manifest().or(file.footer()).map_or(0, Span::start);
    let regions = [
        region("magic", Span::new(0, 8), "the format and its version"),
        region("blobs", Span::from_range(8..data_end), "elements"),
        region("manifest", file.manifest(), "CBOR"),
        region("footer", file.footer(), "the place of the manifest"),
    ];
    regions.into_iter().flatten().collect()
}
