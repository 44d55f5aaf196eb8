//! Good files damaged in one way at a time, and what comes of them.

use tet_file::write::{ChunkAt, CodecChoice, DatasetSpec, DigestChoice, WriteOptions, Writer};
use tet_file::{AttrValue, HistoryRow, Metadata, OpenOptions, TetFile};
use tet_format::DType;
use tet_io::{Progress, Source};

use super::*;

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
        writer.write_dataset(id, fill, &Progress::default()).unwrap();
    }
    let mut metadata = Metadata::new();
    let about = metadata.datasets.entry("wide".to_owned()).or_default();
    for part in 0..attr_len.div_ceil(1000) {
        about.attrs.insert(format!("n{part}"), AttrValue::from("x".repeat(attr_len.min(1000))));
    }
    writer.finish(&metadata, &[HistoryRow::new("test", "none", "1")]).unwrap();
    std::fs::read(path).unwrap()
}

/// Options that let a repair lose what it must.
fn allowed() -> RepairOptions {
    RepairOptions { losses: Losses::Allowed, ..RepairOptions::default() }
}

fn plan_with(bytes: &[u8], options: &RepairOptions) -> Plan {
    plan(&Source::from_bytes(bytes), options).unwrap()
}

fn plan_of(bytes: &[u8]) -> Plan {
    plan_with(bytes, &allowed())
}

fn bytes_of(plan: &Plan) -> Vec<u8> {
    let source = plan.repaired();
    let mut bytes = vec![0; usize::try_from(source.len()).unwrap()];
    source.read_exact_at(0, &mut bytes).unwrap();
    bytes
}

/// One line an edit: code, action, losses.
fn edit_lines(plan: &Plan) -> Vec<String> {
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
    let edits = edit_lines(&plan);
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
            assert!(plan.is_sound(), "{:?}", edit_lines(&plan));
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

/// Bits of every byte in turn: without digests much cannot be detected, but nothing gets worse.
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
        let repaired = bytes_of(&plan);
        exact += usize::from(repaired == good);
        let is_payload = index_end <= at / 8 && at / 8 < json_at;
        if is_payload && repaired != good {
            continue;
        }
        // No reader can distinguish other changes from the original.
        assert!(plan_of(&repaired).edits.is_empty(), "byte {}: {:?}", at / 8, edit_lines(&plan));
        if plan.is_whole() && repaired.len() == good.len() {
            let there = repaired[index_end..json_at] == good[index_end..json_at];
            let is_told = plan.losses().next().is_some();
            assert!(
                there || is_told,
                "byte {} bit {}: payloads stay, {:?}",
                at / 8,
                at % 8,
                edit_lines(&plan)
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
        let options = RepairOptions { salvage, ..allowed() };
        for len in 0..good.len() {
            let bad = &good[..len];
            let plain = plan_of(bad);
            let plan = plan_with(bad, &options);
            let repaired = bytes_of(&plan);
            if len < file.index_end() as usize {
                assert!(!plan.is_whole(), "{len}");
                continue;
            }
            assert!(plan.is_whole(), "{len}: {:?} {:?}", edit_lines(&plan), plan.remaining);
            assert!(plan_of(&repaired).is_sound(), "{len}: {:?}", edit_lines(&plan_of(&repaired)));
            assert_eq!(last <= len as u64, plain.is_whole(), "{len}");
            let new = open(&repaired);
            let mut new_rows = Vec::new();
            new.index().rows(0..new.index().row_count(), &mut new_rows).unwrap();
            for (old, new) in rows.iter().zip(&new_rows) {
                let there = |bytes: &[u8], it: &tet_format::index::IndexRow| {
                    let at = it.payload_offset as usize;
                    bytes[at..at + it.stored_len as usize].to_vec()
                };
                let is_intact = old.payload_offset + old.stored_len <= len as u64;
                assert!(!is_intact || there(&good, old) == there(&repaired, new), "{len}");
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
    let plan = plan(&source, options).unwrap();
    apply(&plan, &Chosen::All, Output::InPlace(path), &publish())
}

#[test]
fn a_sound_file_is_not_touched_and_a_damaged_one_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.tet");
    let good = written(SEALED);
    std::fs::write(&path, &good).unwrap();
    let stamp = Source::open(&path).unwrap().stamp();
    assert_eq!(repaired(&path, &allowed()).unwrap().edit_count, 0);
    assert_eq!(Source::open(&path).unwrap().stamp(), stamp, "bytes, times and number");
    let mut bad = good.clone();
    bad[41] ^= 4;
    bad.truncate(bad.len() - 7);
    std::fs::write(&path, &bad).unwrap();
    assert_eq!(repaired(&path, &allowed()).unwrap().edit_count, 2);
    assert!(std::fs::read(&path).unwrap() == good);
    let stamp = Source::open(&path).unwrap().stamp();
    assert_eq!(repaired(&path, &allowed()).unwrap().edit_count, 0);
    assert_eq!(Source::open(&path).unwrap().stamp(), stamp);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_stays_broken_gets_what_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("t.tet"), folder.path().join("o.tet"));
    let mut bad = written(SEALED);
    let at = open(&bad).index_end() as usize + 60;
    bad[at..at + 4].fill(0);
    bad[0] = b'?';
    std::fs::write(&path, &bad).unwrap();
    let source = Source::open(&path).unwrap();
    let options = allowed();
    let plan = plan(&source, &options).unwrap();
    assert_eq!((plan.lost.len(), plan.lost[0].coord.as_slice()), (1, [1, 0].as_slice()));
    apply(&plan, &Chosen::All, Output::NewFile(&other), &publish()).unwrap();
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
    assert_eq!(edit_lines(&plan).len(), 2, "{:?}", edit_lines(&plan));
    let codes = Chosen::Codes(vec![crate::Code::Rule(tet_format::Rule::Magic)]);
    let applied = apply(&plan, &codes, Output::NewFile(&path), &publish()).unwrap();
    assert_eq!((applied.edit_count, applied.remaining.len()), (1, 1));
    bad[0] = b'T';
    assert!(std::fs::read(&path).unwrap() == bad);
}

/// Damage to a file, and the edits that result; the file is as it was then.
type Case = (&'static str, fn(&mut Vec<u8>), &'static [&'static str]);

const EXACT: &[Case] = &[
    (
        "the whole superblock",
        |it| it[..32].fill(0xff),
        &[
            "TET-S2 superblock set magic from the rest of the file",
            "TET-S3 superblock set layout_version from the rest of the file",
            "TET-D2 superblock set dataset_count from the rest of the file",
            "TET-D1 superblock set index_offset from the rest of the file",
            "TET-I4 superblock set index_len from the rest of the file",
        ],
    ),
    (
        "the length of the records",
        |it| it[32..40].fill(0x77),
        &["TET-D4 directory set records_len from the rest of the file"],
    ),
    (
        "reserved bytes and padding",
        |it| (it[52], it[61]) = (3, 3),
        &["TET-N3 directory write zeros", "TET-N4 directory write zeros"],
    ),
    (
        "the chunk of a row",
        |it| {
            let at = open(it).index().row_at(2) as usize;
            it[at..at + 72].fill(0x11);
        },
        &["TET-I6 index set row 2 from its position"],
    ),
    (
        "the tail",
        |it| {
            let end = it.len();
            it[end - 16..].fill(b'?');
        },
        &["TET-H2 footer rewrite the tail"],
    ),
    ("a cut tail", |it| it.truncate(it.len() - 9), &["TET-H2 footer rewrite the tail"]),
    (
        "bytes behind the tail",
        |it| it.extend(b"junk"),
        &["TET-H2 footer cut off what follows (4 bytes at byte END that belong to no structure)"],
    ),
    ("a cleared flag", |it| it[12] = 0, &["TET-N2 superblock set the flag of the existing footer"]),
];

#[test]
fn what_stands_twice_is_mended_without_digests() {
    let good = written(PLAIN);
    for (what, damage, edits) in EXACT {
        let mut bad = good.clone();
        damage(&mut bad);
        let plan = plan_of(&bad);
        let end = good.len().to_string();
        let edits: Vec<String> = edits.iter().map(|line| line.replace("END", &end)).collect();
        if *what == "the whole superblock" {
            // Unknown flags may have been set.
            let mut repaired = bytes_of(&plan);
            assert_eq!(repaired[13..16], [0xff; 3]);
            repaired[13..16].fill(0);
            repaired[12] = 1;
            assert!(repaired == good);
            assert_eq!(edit_lines(&plan), edits, "{what}");
            continue;
        }
        assert_eq!(edit_lines(&plan), edits, "{what}");
        check_exact(&good, &bad, what);
    }
}

#[test]
fn all_these_are_mended_with_digests() {
    let good = written(SEALED);
    for (what, damage, _) in EXACT.iter().filter(|(what, ..)| *what != "the whole superblock") {
        let mut bad = good.clone();
        damage(&mut bad);
        check_exact(&good, &bad, what);
    }
    // Where a compressed payload ends before the padding of the next dataset, only its row says.
    for (good, rows) in [(good, vec![0, 1, 2, 3, 4, 5, 6]), (written(ZSTD), vec![0, 1, 2, 4, 5, 6])]
    {
        let (mut bad, file) = (good.clone(), open(&good));
        for row in rows {
            let at = file.index().row_at(row) as usize;
            for byte in [0, 0x11] {
                let mut bad = good.clone();
                bad[at..at + 104].fill(byte);
                check_exact(&good, &bad, &format!("row {row}"));
            }
            bad[at..at + 72].fill(0x11);
        }
        check_exact(&good, &bad, "the chunks of all rows");
    }
}

#[test]
fn what_is_left_of_a_footer_is_kept() {
    for digests in [DigestChoice::Left, DigestChoice::Written] {
        let good = written(Made { attr_len: 70_000, digests, ..PLAIN });
        let at = good.windows(4).rposition(|it| it == b"\"op\"").unwrap();
        let mut bad = good.clone();
        bad[at..at + 4].fill(0);
        let plan = plan_of(&bad);
        let losses: Vec<Loss> = plan.losses().collect();
        assert!(losses.contains(&Loss::Footer("members that cannot be read")), "{losses:?}");
        let repaired = open(&bytes_of(&plan));
        assert_eq!((repaired.history().len(), repaired.metadata().datasets.len()), (0, 1));
        assert_eq!(repaired.metadata(), open(&good).metadata());
        assert_eq!(repaired.protection().digests().is_some(), digests == DigestChoice::Written);
        assert!(plan.is_whole() && plan_of(&bytes_of(&plan)).is_sound());
    }
    // Metadata after the damage.
    let good = written(PLAIN);
    let at = good.windows(4).rposition(|it| it == b"\"op\"").unwrap();
    let mut bad = good.clone();
    bad[at..at + 4].fill(0);
    assert_eq!(open(&bytes_of(&plan_of(&bad))).metadata(), open(&good).metadata());
}

#[test]
fn chunks_come_from_another_file() {
    let good = written(SEALED);
    let file = open(&good);
    let mut rows = Vec::new();
    file.index().rows(0..1, &mut rows).unwrap();
    let at = rows[0].payload_offset as usize;
    let mut bad = good.clone();
    bad[at..at + 9].fill(3);
    let from = |bytes: &[u8], trust| {
        let from = Some(Source::from_bytes(bytes));
        RepairOptions { from, trust, ..allowed() }
    };
    let other = written(ZSTD);
    for other in [&good, &other] {
        let plan = plan_with(&bad, &from(other, Trust::Digest));
        assert_eq!(edit_lines(&plan), ["TET-G6 payload copy the payload from the other file"]);
        assert!(plan.is_whole() && bytes_of(&plan) == good);
    }
    // A copy that is damaged there too does not help.
    let options = from(&bad, Trust::Other);
    assert!(plan_with(&bad, &options).lost.len() == 1);
    // Without digests it takes trust.
    let plain = written(PLAIN);
    let cut = &plain[..at + 9];
    assert_eq!(plan_with(cut, &from(&good, Trust::Digest)).lost.len(), 7);
    let plan = plan_with(cut, &from(&good, Trust::Other));
    assert!(plan.is_whole(), "{:?}", edit_lines(&plan));
    let json_at = open(&plain).footer().json_at as usize;
    assert!(bytes_of(&plan)[16..] == plain[16..json_at]);
}

#[test]
fn integers_are_not_made_up() {
    let good = written(SEALED);
    let file = open(&good);
    let mut rows = Vec::new();
    file.index().rows(0..7, &mut rows).unwrap();
    let salvage = |fill| RepairOptions { salvage: Some(Salvage { fill }), ..allowed() };
    let mut bad = good.clone();
    for row in [1, 5] {
        let at = rows[row].payload_offset as usize;
        bad[at..at + 4].fill(2);
    }
    // New digests would vouch for the chunk that is not filled: both stay as they are.
    let plan = plan_with(&bad, &salvage(None));
    assert_eq!((plan.edits.len(), plan.lost.len()), (0, 2), "{:?}", edit_lines(&plan));
    assert_eq!((plan.lost[1].dataset, plan.lost[1].coord.as_slice()), (1, [1].as_slice()));
    assert_eq!((plan.lost[0].need, plan.lost[1].need), (Need::Copy, Need::Fill));
    let plan = plan_with(&bad, &salvage(Some(-7)));
    assert!(plan.is_whole(), "{:?}", edit_lines(&plan));
    let repaired = bytes_of(&plan);
    assert!(plan_of(&repaired).is_sound());
    let at = |row: usize| rows[row].payload_offset as usize;
    assert_eq!(repaired[at(5)..at(5) + 4], [0xf9, 0xff, 0xf9, 0xff]);
    assert!(f32::from_le_bytes(*repaired[at(1)..].first_chunk().unwrap()).is_nan());
    assert!(!plan_with(&bad, &salvage(Some(40_000))).is_whole(), "it must fit");
    // A file that grows would show zeros where integers are missing.
    let plan = plan_with(&written(PLAIN)[..at(1)], &salvage(None));
    assert!(!plan.is_whole() && bytes_of(&plan).len() < at(4), "{:?}", edit_lines(&plan));
    let lost: Vec<_> = plan.lost.iter().filter(|it| it.dataset == 1).map(|it| it.need).collect();
    assert_eq!(lost, [Need::Fill; 3]);
}

/// The floats of a file that is cut short are filled, and the integers stay missing.
#[test]
fn floats_are_filled_where_integers_are_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.tet");
    let spec = |name, dtype| DatasetSpec::new(name, dtype, [4_u64, 1000], [1_u64, 1000]);
    let specs = vec![spec("a", DType::Float32), spec("m", DType::Int16), spec("z", DType::Float32)];
    let options = WriteOptions { digests: DigestChoice::Left, ..WriteOptions::default() };
    let options = WriteOptions { encoder: CodecChoice::Raw, ..options };
    let mut writer = Writer::create(&path, specs, &options).unwrap();
    for id in 0..3 {
        let fill = &mut |chunk: ChunkAt<'_>, out: &mut Vec<u8>| {
            out.extend((0..chunk.decoded_len).map(|at| (at * 7 + chunk.linear) as u8 | 1));
            Ok(())
        };
        writer.write_dataset(id, fill, &Progress::default()).unwrap();
    }
    writer.finish(&Metadata::new(), &[]).unwrap();
    let good = std::fs::read(path).unwrap();
    let salvage = RepairOptions { salvage: Some(Salvage { fill: None }), ..allowed() };
    let plan = plan_with(&good[..14_000], &salvage);
    let fills = plan.edits.iter().filter(|it| it.action == Action::Fill);
    assert_eq!(fills.count(), 5, "{:?}", edit_lines(&plan));
    assert_eq!(
        plan.lost.iter().map(|it| (it.dataset, it.need)).collect::<Vec<_>>(),
        [(1, Need::Fill); 4]
    );
    let again = plan_with(&bytes_of(&plan), &salvage);
    assert!(again.edits.is_empty() && again.lost.len() == 4, "{:?}", edit_lines(&again));
}

#[test]
fn stale_digests_are_made_anew_unless_payloads_changed() {
    let good = written(SEALED);
    let plain = written(PLAIN);
    let file = open(&good);
    let json_at = open(&plain).footer().json_at as usize;
    let mut stale = good[..file.footer().json_at as usize].to_vec();
    stale.extend(&plain[json_at..]);
    let plan = plan_of(&stale);
    assert_eq!(edit_lines(&plan), ["TET-N16 footer compute digests of the current content"]);
    assert!(bytes_of(&plan) == good);
    let mut rows = Vec::new();
    file.index().rows(0..1, &mut rows).unwrap();
    let mut bad = stale.clone();
    bad[rows[0].payload_offset as usize] ^= 8;
    check_exact(&good, &bad, "one bit");
    bad[rows[0].payload_offset as usize + 7] ^= 0xff;
    let plan = plan_of(&bad);
    assert_eq!((plan.edits.len(), plan.lost.len()), (0, 1), "{:?}", edit_lines(&plan));
}
