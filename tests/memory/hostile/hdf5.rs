//! Hostile HDF5 files: each breaks its rule, in bounded memory and work, and its other dataset is read.

use std::sync::Arc;

use tet_convert::OpenOptions;
use tet_io::Source;
use tet_query::{Axis, AxisSlice, Hyperslab, Kind};
use tet_tests::ask;
use tet_tests::h5::{HostileFile, hostile_files};
use tet_tests::meter::{Bytes, Meter};
use tet_verify::{Level, Severity, VerifyOptions};

use crate::ALLOCATOR;

/// Memory on top of a multiple of the file: a million values of an attribute are JSON for a moment.
const HELD_MAX: usize = 64 << 20;
const HELD_FACTOR: usize = 64;
/// Bytes that are read on top of a multiple of the file: opening walks all objects and reads their attributes, and a check
/// does so once more, each time bounded by 64 MiB and 16 times the file.
const READ_MAX: u64 = 8 * (64 << 20);
const READ_FACTOR: u64 = 8 * 16;

#[test]
fn every_hostile_hdf5_file_breaks_its_rule() {
    let _alone = ALLOCATOR.alone();
    let mut wrong = Vec::new();
    for file in hostile_files() {
        let meter = Arc::new(Meter::new(Bytes(file.bytes.clone())));
        let source = Source::from_reader(meter.clone());
        let (found, held) = ALLOCATOR.peak_of(|| compare(&source, &file));
        wrong.extend(found.err().map(|found| format!("{}: {found}", file.name)));
        let len = file.bytes.len();
        assert!(held <= HELD_MAX + HELD_FACTOR * len, "{}: {held} bytes were held", file.name);
        let read_max = READ_MAX + READ_FACTOR * len as u64;
        assert!(meter.read_len() <= read_max, "{}: {} bytes", file.name, meter.read_len());
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Whether check and catalog agree with the rule of the file.
fn compare(source: &Source, file: &HostileFile) -> Result<(), String> {
    let options = VerifyOptions { level: Level::Deep, threads: 1, ..VerifyOptions::default() };
    let report = tet_convert::verify(source, &options).map_err(|error| error.to_string())?;
    let ids: Vec<&str> = report.findings.iter().map(|it| it.code.id()).collect();
    if file.rule.is_some_and(|rule| !ids.contains(&rule)) {
        return Err(format!("finds {ids:?}, not {:?}", file.rule));
    }
    let worst = report.findings.iter().any(|it| it.severity == Severity::Error);
    if worst && file.rule.is_none() {
        return Err(format!("nothing is wrong, but it finds {ids:?}"));
    }
    let opened = tet_convert::open_source(source.clone(), &OpenOptions::default());
    let catalog = opened.map_err(|error| error.to_string())?.catalog;
    let good = catalog.datasets().iter().find(|it| it.name == "good").ok_or("good is lost")?;
    let values = ask::read_all(good).map_err(|error| error.to_string())?;
    assert_eq!(values, [1, 2, 3, 4], "{}", file.name);
    for dataset in catalog.datasets() {
        // The first element is a value or an error.
        let first = AxisSlice { start: 0, stop: 1, step: 1, axis: Axis::Kept };
        let slab = Hyperslab::new(vec![first; dataset.shape().len()], dataset.shape());
        let Some(slab) = slab else { continue };
        if let Err(error) = dataset.read(&slab, &ask::small()) {
            let is_known = matches!(error.kind(), Kind::Format | Kind::Limit | Kind::Usage);
            assert!(is_known, "{}: {error}", file.name);
        }
    }
    Ok(())
}
