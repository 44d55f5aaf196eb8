//! Good files damaged in one way at a time, and what comes of them.

use std::ops::ControlFlow;

use tet_file::write::{ChunkAt, CodecChoice, DatasetSpec, DigestChoice, WriteOptions, Writer};
use tet_file::{AttrValue, HistoryRow, Metadata, OpenOptions, TetFile};
use tet_format::DType;
use tet_io::Source;

use super::*;

fn go_on(_: u64, _: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// How a test file is written.
#[derive(Clone, Copy)]
struct Made {
    codec: CodecChoice,
    digests: DigestChoice,
    attr_len: usize,
}

const PLAIN: Made = Made { codec: CodecChoice::Raw, digests: DigestChoice::Left, attr_len: 10 };
const SEALED: Made = Made { digests: DigestChoice::Written, ..PLAIN };
const ZSTD: Made = Made { codec: CodecChoice::Zstd { level: 3 }, ..SEALED };

/// A float dataset of four chunks and an integer one of three.
fn written(made: Made) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.tet");
    let specs = vec![
        DatasetSpec::new("wide", DType::Float32, [4_u64, 6], [2_u64, 4]),
        DatasetSpec::new("tiny", DType::Int16, [5_u64], [2_u64]),
    ];
    let Made { codec: encoder, digests, attr_len } = made;
    let options = WriteOptions { encoder, digests, ..WriteOptions::default() };
    let mut writer = Writer::create(&path, specs, &options).unwrap();
    for id in 0..2 {
        let fill = &mut |chunk: ChunkAt<'_>, out: &mut Vec<u8>| {
            let bytes = (0..chunk.decoded_len).map(|at| (at * 7 + chunk.linear * 50) as u8 | 1);
            out.extend(bytes);
            Ok(())
        };
        writer.write_dataset(id, fill, &mut |_| ()).unwrap();
    }
    let mut metadata = Metadata::new();
    let about = metadata.datasets.entry("wide".to_owned()).or_default();
    for part in 0..attr_len.div_ceil(1000) {
        about.attrs.insert(format!("n{part}"), AttrValue::from("x".repeat(attr_len.min(1000))));
    }
    writer.finish(&metadata, &[HistoryRow::new("test", "none", "1")]).unwrap();
    std::fs::read(path).unwrap()
}

fn plan_with(bytes: &[u8], options: &RepairOptions) -> Plan {
    plan(&Source::from_bytes(bytes), options, &mut go_on).unwrap()
}

fn plan_of(bytes: &[u8]) -> Plan {
    plan_with(bytes, &RepairOptions::default())
}

fn bytes_of(plan: &Plan) -> Vec<u8> {
    let source = plan.repaired();
    let mut bytes = vec![0; usize::try_from(source.len()).unwrap()];
    source.read_exact_at(0, &mut bytes).unwrap();
    bytes
}

/// One line an edit: code, action, losses.
fn told(plan: &Plan) -> Vec<String> {
    let line = |edit: &Edit| {
        let losses: Vec<String> = edit.losses.iter().map(ToString::to_string).collect();
        let losses =
            if losses.is_empty() { String::new() } else { format!(" ({})", losses.join("; ")) };
        format!("{} {} {}{losses}", edit.code, edit.region, edit.action)
    };
    plan.edits.iter().map(line).collect()
}

/// The file is as it was.
fn check_exact(good: &[u8], bad: &[u8], what: &str) {
    let plan = plan_of(bad);
    let edits = told(&plan);
    assert!(bytes_of(&plan) == good, "{what}: {edits:?}, lost {:?}", plan.lost);
    assert!(plan.is_whole(), "{what}: {edits:?} {:?}", plan.remaining);
    assert!(plan_of(&bytes_of(&plan)).is_sound(), "{what}: nothing is left to do");
}

fn open(bytes: &[u8]) -> TetFile {
    TetFile::open(Source::from_bytes(bytes), &OpenOptions::default()).unwrap()
}

#[test]
fn sound_files_need_nothing() {
    for attr_len in [0, 10, 70_000] {
        for made in [PLAIN, SEALED, ZSTD] {
            let plan = plan_of(&written(Made { attr_len, ..made }));
            assert!(plan.is_sound(), "{:?}", told(&plan));
        }
    }
}

#[test]
fn every_flipped_bit_of_a_file_with_digests_is_flipped_back() {
    for (made, step) in [(SEALED, 1), (ZSTD, 5)] {
        let good = written(made);
        for at in (0..good.len() * 8).step_by(step) {
            let mut bad = good.clone();
            bad[at / 8] ^= 1 << (at % 8);
            check_exact(&good, &bad, &format!("byte {} bit {}", at / 8, at % 8));
        }
    }
}

/// Bits of every byte in turn: without digests much cannot be told, but nothing gets worse.
#[test]
fn a_file_without_digests_is_mended_where_the_rest_tells() {
    let good = written(PLAIN);
    let file = open(&good);
    let (index_end, json_at) = (file.index_end() as usize, file.footer().json_at as usize);
    let mut exact = 0;
    for at in (0..good.len() * 8).step_by(3) {
        let mut bad = good.clone();
        bad[at / 8] ^= 1 << (at % 8);
        let plan = plan_of(&bad);
        let mended = bytes_of(&plan);
        exact += usize::from(mended == good);
        let is_payload = index_end <= at / 8 && at / 8 < json_at;
        if is_payload && mended != good {
            continue;
        }
        // What is changed besides is what no reader can tell from the original.
        assert!(plan_of(&mended).edits.is_empty(), "byte {}: {:?}", at / 8, told(&plan));
        if plan.is_whole() && mended.len() == good.len() {
            let there = mended[index_end..json_at] == good[index_end..json_at];
            let is_told = plan.losses().next().is_some();
            assert!(
                there || is_told,
                "byte {} bit {}: payloads stay, {:?}",
                at / 8,
                at % 8,
                told(&plan)
            );
        }
    }
    assert!(exact * 2 > good.len() * 8 / 3, "{exact} of {}", good.len() * 8 / 3);
}

#[test]
fn every_truncation_keeps_what_is_there() {
    for made in [PLAIN, SEALED, ZSTD] {
        let good = written(made);
        let file = open(&good);
        let mut rows = Vec::new();
        file.index().rows(0..file.index().row_count(), &mut rows).unwrap();
        let last = rows.iter().map(|row| row.payload_offset + row.stored_len).max().unwrap();
        let salvage = Some(Salvage { fill: Some(-1) });
        let options = RepairOptions { salvage, ..RepairOptions::default() };
        for len in 0..good.len() {
            let bad = &good[..len];
            let plain = plan_of(bad);
            let plan = plan_with(bad, &options);
            let mended = bytes_of(&plan);
            if len < file.index_end() as usize {
                assert!(!plan.is_whole(), "{len}");
                continue;
            }
            assert!(plan.is_whole(), "{len}: {:?} {:?}", told(&plan), plan.remaining);
            assert!(plan_of(&mended).is_sound(), "{len}: {:?}", told(&plan_of(&mended)));
            assert_eq!(last <= len as u64, plain.is_whole(), "{len}");
            let new = open(&mended);
            let mut new_rows = Vec::new();
            new.index().rows(0..new.index().row_count(), &mut new_rows).unwrap();
            for (old, new) in rows.iter().zip(&new_rows) {
                let there = |bytes: &[u8], it: &tet_format::index::IndexRow| {
                    let at = it.payload_offset as usize;
                    bytes[at..at + it.stored_len as usize].to_vec()
                };
                let is_intact = old.payload_offset + old.stored_len <= len as u64;
                assert!(!is_intact || there(&good, old) == there(&mended, new), "{len}");
            }
        }
    }
}

fn publish() -> tet_io::Publish {
    tet_io::Publish { sync: tet_io::publish::Sync::None, ..tet_io::Publish::default() }
}

/// Plans and applies everything to the file itself.
fn repaired(path: &std::path::Path, options: &RepairOptions) -> Result<Applied, crate::Error> {
    let source = Source::open(path).unwrap();
    let plan = plan(&source, options, &mut go_on).unwrap();
    apply(&plan, &Chosen::All, Output::InPlace(path), &publish(), &mut go_on)
}

#[test]
fn a_sound_file_is_not_touched_and_a_damaged_one_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.tet");
    let good = written(SEALED);
    std::fs::write(&path, &good).unwrap();
    let stamp = Source::open(&path).unwrap().stamp();
    assert_eq!(repaired(&path, &RepairOptions::default()).unwrap().edit_count, 0);
    assert_eq!(Source::open(&path).unwrap().stamp(), stamp, "bytes, times and number");
    let mut bad = good.clone();
    bad[41] ^= 4;
    bad.truncate(bad.len() - 7);
    std::fs::write(&path, &bad).unwrap();
    assert_eq!(repaired(&path, &RepairOptions::default()).unwrap().edit_count, 2);
    assert!(std::fs::read(&path).unwrap() == good);
    let stamp = Source::open(&path).unwrap().stamp();
    assert_eq!(repaired(&path, &RepairOptions::default()).unwrap().edit_count, 0);
    assert_eq!(Source::open(&path).unwrap().stamp(), stamp);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_stays_broken_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("t.tet"), folder.path().join("o.tet"));
    let mut bad = written(SEALED);
    let at = open(&bad).index_end() as usize + 60;
    bad[at..at + 4].fill(0);
    bad[0] = b'?';
    std::fs::write(&path, &bad).unwrap();
    let error = repaired(&path, &RepairOptions::default()).unwrap_err();
    assert!(matches!(error, crate::Error::StillBroken { lost: 1, .. }), "{error}");
    assert!(std::fs::read(&path).unwrap() == bad);
    let source = Source::open(&path).unwrap();
    let options = RepairOptions::default();
    let plan = plan(&source, &options, &mut go_on).unwrap();
    assert_eq!((plan.lost.len(), plan.lost[0].coord.as_slice()), (1, [1, 0].as_slice()));
    apply(&plan, &Chosen::All, Output::Beside(&other), &publish(), &mut go_on).unwrap();
    bad[0] = b'T';
    assert!(std::fs::read(&other).unwrap() == bad);
}

#[test]
fn chosen_edits_are_made_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o.tet");
    let good = written(SEALED);
    let mut bad = good.clone();
    bad[0] = b'?';
    let end = bad.len();
    bad[end - 1] ^= 1;
    let plan = plan_of(&bad);
    assert_eq!(told(&plan).len(), 2, "{:?}", told(&plan));
    let codes = Chosen::Codes(vec![crate::Code::Rule(tet_format::Rule::Magic)]);
    let applied = apply(&plan, &codes, Output::Beside(&path), &publish(), &mut go_on).unwrap();
    assert_eq!((applied.edit_count, applied.remaining.len()), (1, 1));
    bad[0] = b'T';
    assert!(std::fs::read(&path).unwrap() == bad);
}
