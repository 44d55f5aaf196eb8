//! Damaged files of every kind, mended: what comes back, and what is said of the rest.

use std::collections::BTreeSet;

use tet_file::write::{CodecChoice, WriteOptions};
use tet_format::write::DatasetSpec;
use tet_format::{DType, NoteCode, Rule};
use tet_io::{Kind, Source};
use tet_tests::assemble::{Dataset, Sheet, Stored, put};
use tet_tests::fuzz::{self, change::mutant};
use tet_tests::values::{Seeded, noise};
use tet_tests::written::{self, Written};
use tet_verify::Code;
use tet_verify::repair::{Plan, RepairOptions, Salvage};

const SPILL: &[u8] = br#"{"file":{"title":"far"},"datasets":{}}"#;
const SPILLED: &str = r#"{"metadata_ref":{"offset":@0@,"len":#0#}}"#;

/// Options that let a repair lose what it must.
fn allowed() -> RepairOptions {
    RepairOptions { losses: tet_format::Losses::Allowed, ..RepairOptions::default() }
}

/// The plan for a file; none when it passes a limit.
fn plan_with(bytes: &[u8], options: &RepairOptions) -> Option<Plan> {
    match tet_verify::repair::plan(&Source::from_bytes(bytes), options) {
        Err(error) if error.kind() == Kind::Limit => None,
        plan => Some(plan.unwrap()),
    }
}

fn plan(bytes: &[u8]) -> Plan {
    plan_with(bytes, &allowed()).unwrap()
}

fn bytes_of(plan: &Plan) -> Vec<u8> {
    plan.repaired().read_vec(0, plan.repaired().len()).unwrap()
}

/// The file is as it was, and nothing is lost.
fn check_exact(good: &[u8], bad: &[u8], what: &str) {
    let plan = plan(bad);
    assert!(bytes_of(&plan) == good, "{what}: {:?}, lost {:?}", plan.edits, plan.lost);
    assert!(plan.is_whole() && plan.losses().count() == 0, "{what}: {:?}", plan.remaining);
}

fn flipped(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[bit / 8] ^= 1 << (bit % 8);
    bytes
}

/// Two datasets with a spill in their footer, raw and zstd, with digests and without; and none.
fn sheets() -> Vec<Vec<u8>> {
    let mut files = vec![Sheet::new(&[]).footer("{}").assemble().bytes];
    for stored in [Stored::Raw, Stored::Frame] {
        let wide = Dataset::new("a", 1, 4, &[4, 3]).chunked(&[2, 2]).stored(stored);
        let tiny = Dataset::new("b", 3, 4, &[5]).chunked(&[2]).stored(stored);
        let sheet = Sheet::new(&[wide, tiny]).footer_of(1, SPILLED, &[SPILL]);
        files.push(sheet.assemble().bytes);
        files.push(sheet.sealed().assemble().bytes);
    }
    files
}

/// Codes by which something is done to files that are damaged in many ways.
fn codes_of_edits() -> BTreeSet<Code> {
    let mut codes = BTreeSet::new();
    let mut take = |bytes: &[u8], options: &RepairOptions| {
        let edits = plan_with(bytes, options).map_or_else(Vec::new, |plan| plan.edits);
        codes.extend(edits.iter().map(|edit| edit.code));
    };
    let plain = allowed();
    let salvage = Some(Salvage { fill: Some(1) });
    let salvaged = RepairOptions { salvage, ..allowed() };
    for file in fuzz::known().iter().filter(|file| file.len() < 100_000) {
        [&plain, &salvaged].into_iter().for_each(|options| take(file, options));
    }
    for good in sheets() {
        let from = Some(Source::from_bytes(good.clone()));
        let copied = RepairOptions { from, ..allowed() };
        (0..good.len() * 8).for_each(|bit| take(&flipped(&good, bit), &plain));
        for at in 0..good.len() {
            take(&good[..at], &plain);
            let rest = (good.len() - at).min(8);
            let zeroed = put(&good, at as u64, &[0; 8][..rest]);
            [&plain, &salvaged, &copied].into_iter().for_each(|options| take(&zeroed, options));
        }
        let (files, mut seeded) = (vec![good], Seeded(3));
        (0..3_000).for_each(|_| take(&mutant(&files, &mut seeded), &plain));
    }
    codes
}

#[test]
fn the_table_of_remedies_is_what_is_done() {
    let rules = Rule::ALL.iter().map(|&rule| Code::Rule(rule));
    let all = rules.chain(NoteCode::ALL.iter().map(|&note| Code::Note(note)));
    let told: BTreeSet<Code> = all.filter(|code| !code.remedy().is_empty()).collect();
    let done = codes_of_edits();
    let not_done: Vec<_> = told.difference(&done).map(|code| code.id()).collect();
    let not_told: Vec<_> = done.difference(&told).map(|code| code.id()).collect();
    assert!(not_done.is_empty() && not_told.is_empty(), "{not_done:?}, {not_told:?}");
}

/// 20,000 chunks of a byte each: an index of three pages.
fn long_index() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let spec = DatasetSpec::new("long", DType::UInt8, [200, 100], [1, 1]);
    let datasets = [Written { spec, elements: noise(5, 20_000) }];
    let path = written::write(folder.path(), "long.tet", &datasets, CodecChoice::Raw);
    std::fs::read(path).unwrap()
}

#[test]
fn every_page_of_a_long_index_is_mended() {
    let good = long_index();
    let file = tet_tests::ask::tet(&good);
    let row_at = |row: u64| usize::try_from(file.index().row_at(row)).unwrap();
    let block = good.windows(4).position(|four| four == b"TDIG").unwrap();
    for row in [0, 8191, 8192, 16_383, 16_384, 19_999] {
        let at = row_at(row);
        for byte in [0, 8, 23, 72, 80, 88, 96, 100] {
            check_exact(&good, &flipped(&good, (at + byte) * 8 + 3), &format!("row {row}, {byte}"));
        }
        let zeroed = put(&good, at as u64, &[0; 104]);
        check_exact(&good, &zeroed, &format!("row {row}"));
    }
    // Rows of all pages at once, and digests of pages and payloads.
    let mut bad = good.clone();
    [7, 9_000, 17_000].into_iter().for_each(|row| bad[row_at(row) + 9] ^= 0x40);
    check_exact(&good, &bad, "a row of each page");
    for at in
        [block + 24, block + 24 + 12, block + 24 + 24 + 5, block + 60, block + 60 + 12 * 9_000]
    {
        check_exact(&good, &flipped(&good, at * 8), &format!("byte {at} of the block"));
    }
}

#[test]
fn footers_of_version_2_are_mended() {
    let json = r#"{"metadata":{"file":{"t":"x"}},"history_ref":{"offset":@0@,"len":#0#}}"#;
    let rows: &[u8] = br#"[{"op":"o","source":"s","at":"1"}]"#;
    let dataset = Dataset::new("a", 1, 4, &[4, 3]).chunked(&[2, 2]);
    for sheet in [
        Sheet::new(std::slice::from_ref(&dataset)).footer_of(
            2,
            r#"{"metadata":{"file":{"t":"x"}}}"#,
            &[],
        ),
        Sheet::new(&[dataset]).footer_of(2, json, &[rows]),
    ] {
        let good = sheet.clone().sealed().assemble();
        assert!(plan(&good.bytes).is_sound());
        assert!(plan(&sheet.assemble().bytes).is_sound());
        for bit in 0..good.bytes.len() * 8 {
            check_exact(&good.bytes, &flipped(&good.bytes, bit), &format!("byte {}", bit / 8));
        }
        for len in usize::try_from(good.marks.tail).unwrap()..good.bytes.len() {
            check_exact(&good.bytes, &good.bytes[..len], &format!("cut at {len}"));
        }
    }
}

#[test]
fn a_bit_of_a_long_payload_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let spec = DatasetSpec::new("long", DType::Float32, [2048, 2048], [1024, 2048]);
    let datasets = [Written { spec, elements: noise(6, 16 << 20) }];
    let options = WriteOptions::default();
    let path = written::write_with(options, folder.path(), "long.tet", &datasets);
    let good = std::fs::read(path).unwrap();
    for byte in [5_000, 8 << 20, (16 << 20) - 1] {
        check_exact(&good, &flipped(&good, byte * 8 + 6), &format!("byte {byte}"));
    }
}
