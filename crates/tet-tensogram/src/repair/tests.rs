//! Damaged files and what becomes of them.

mod damage;
mod files;
mod flips;
mod names;

use tet_format::Losses;
use tet_io::Source;

use super::{Plan, RepairOptions, Salvage, plan};
use crate::testing::open;
use crate::{Level, Metadata, Report, VerifyOptions, verify};

/// Options that let a repair lose what it must.
fn allowed() -> RepairOptions {
    RepairOptions { losses: Losses::Allowed, ..RepairOptions::default() }
}

/// The plan for bytes, and what comes of it.
fn repair(bytes: &[u8], salvage: Salvage) -> (Plan, Vec<u8>) {
    let source = Source::from_bytes(bytes);
    let options = RepairOptions { salvage, ..allowed() };
    let plan = plan(&source, &options).unwrap();
    let repaired = plan.repaired();
    let repaired = repaired.read_vec(0, repaired.len()).unwrap();
    (plan, repaired)
}

/// A look at everything.
fn deep(bytes: &[u8]) -> Report {
    let options = VerifyOptions { level: Level::Deep, threads: 1, ..VerifyOptions::default() };
    verify(&Source::from_bytes(bytes), &options).unwrap()
}

/// Region and descriptor of an object.
type Held = (Vec<u8>, Vec<u8>);

/// The objects of all messages.
fn objects(bytes: &[u8]) -> Vec<Held> {
    let Ok(file) = open(bytes) else { return Vec::new() };
    let mut held = Vec::new();
    for message in 0..file.len() {
        for it in file.objects(message).unwrap() {
            let bytes =
                |span: tet_format::Span| file.source().read_vec(span.start(), span.len()).unwrap();
            held.push((bytes(it.region), bytes(it.descriptor)));
        }
    }
    held
}

fn metadata_of(bytes: &[u8], message: usize) -> Metadata {
    open(bytes).unwrap().metadata(message).unwrap()
}

/// Checks every repair: its result needs no further repair, and is valid if the plan states so.
fn check(bytes: &[u8], what: &dyn Fn() -> String) -> (Plan, Vec<u8>) {
    let (plan, repaired) = repair(bytes, Salvage::None);
    let before = deep(bytes);
    assert!(!before.is_ok() || plan.is_sound(), "{}: {:?}", what(), plan.edits);
    if plan.is_whole() {
        let report = deep(&repaired);
        assert!(report.is_ok(), "{}: {:?} {:?}", what(), report.findings, plan.edits);
    } else {
        assert!(!before.is_ok(), "{}: {:?} {:?}", what(), plan.lost, plan.remaining);
    }
    if !plan.edits.is_empty() {
        let (again, same) = repair(&repaired, Salvage::None);
        assert!(again.edits.is_empty(), "{}: {:?} {:?}", what(), plan.edits, again.edits);
        assert_eq!(same, repaired);
    }
    (plan, repaired)
}
