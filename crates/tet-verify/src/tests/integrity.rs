//! Findings about digests.

use tet_file::integrity::IntegrityKey;
use tet_file::write::{ChunkAt, CodecChoice, DigestChoice, WriteOptions, Writer};
use tet_file::{HistoryRow, Metadata};
use tet_format::digest::PAGE_ROW_COUNT;
use tet_format::footer::{TAIL_LEN, Tail};
use tet_io::Progress;

use super::*;

/// A file of our writer: int16 in three chunks, float32 in one; so many bytes of attributes.
pub(super) fn written(encoder: CodecChoice, attr_len: usize, digests: DigestChoice) -> Vec<u8> {
    let specs = vec![
        DatasetSpec::new("a", DType::Int16, [5], [2]),
        DatasetSpec::new("b", DType::Float32, [3, 1], [3, 1]),
    ];
    written_as(specs, &WriteOptions { encoder, digests, ..WriteOptions::default() }, attr_len)
}

pub(super) fn written_as(
    specs: Vec<DatasetSpec>,
    options: &WriteOptions,
    attr_len: usize,
) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.tet");
    let count = specs.len();
    let mut writer = Writer::create(&path, specs, options).unwrap();
    for id in 0..count {
        let fill = &mut |chunk: ChunkAt<'_>, out: &mut Vec<u8>| {
            out.extend((0..chunk.decoded_len).map(|at| (at + chunk.linear) as u8 | 1));
            Ok(())
        };
        writer.write_dataset(id, fill, &Progress::default()).unwrap();
    }
    let mut metadata = Metadata::new();
    let about = metadata.datasets.entry("a".to_owned()).or_default();
    for part in 0..attr_len.div_ceil(1000) {
        about.attrs.insert(format!("n{part}"), "x".repeat(attr_len.min(1000)).into());
    }
    writer.finish(&metadata, &[HistoryRow::new("test", "none", "1")]).unwrap();
    std::fs::read(path).unwrap()
}

pub(super) fn protected(encoder: CodecChoice) -> Vec<u8> {
    written(encoder, 10, DigestChoice::Written)
}

pub(super) fn deep(bytes: &[u8]) -> Report {
    let options = VerifyOptions { level: Level::Deep, ..VerifyOptions::default() };
    verify(&Source::from_bytes(bytes), &options).unwrap()
}

fn key(bytes: &[u8]) -> IntegrityKey {
    let file = TetFile::open(Source::from_bytes(bytes), &OpenOptions::default()).unwrap();
    file.protection().digests().unwrap().key().clone()
}

const ZSTD: CodecChoice = CodecChoice::Zstd { level: 3 };

#[test]
fn what_our_writer_writes_is_verified() {
    for encoder in [CodecChoice::Raw, ZSTD] {
        for attr_len in [0, 10, 70_000] {
            let bytes = written(encoder, attr_len, DigestChoice::Written);
            let report = report_of(&bytes);
            assert_eq!((finding_lines(&report), report.integrity), (vec![], Integrity::Unchecked));
            let report = deep(&bytes);
            assert_eq!((finding_lines(&report), report.integrity), (vec![], Integrity::Verified));
            assert_eq!((report.payload_len, report.decoded_len), (report.stored_len, 22));
            let bytes = written(encoder, attr_len, DigestChoice::Left);
            let reports = [report_of(&bytes), deep(&bytes)];
            for report in reports {
                assert_eq!(
                    (finding_lines(&report), report.integrity),
                    (vec![], Integrity::Unprotected)
                );
            }
        }
    }
    for extents in [[0], [1]] {
        let spec = DatasetSpec::new("a", DType::UInt8, extents, [2]);
        let zero_extents = tet_format::write::ZeroExtents::Allow;
        let options = WriteOptions { zero_extents, ..WriteOptions::default() };
        let report = deep(&written_as(vec![spec], &options, 0));
        assert_eq!((report.is_ok(), report.integrity), (true, Integrity::Verified));
    }
    let none = deep(&written_as(vec![], &WriteOptions::default(), 0));
    assert_eq!((finding_lines(&none), none.integrity), (vec![], Integrity::Verified));
}

/// Where to flip a bit, and what is reported.
type Flip = (&'static str, fn(&[u8], &IntegrityKey) -> u64, &'static [&'static str]);

const FLIPS: &[Flip] = &[
    (
        "a reserved field of a record",
        |_, _| 52,
        &["TET-N3 directory reserved #0", "TET-G3 superblock head"],
    ),
    (
        "an extent of a chunk shape",
        |_, _| 72,
        &[
            "TET-I9 index raw_len #0 [0]",
            "TET-I7 index coord #0 [2]",
            "TET-I5 directory record #0",
            "TET-G3 superblock head",
        ],
    ),
    ("a hint", |bytes, _| superblock(bytes).index_offset + 16, &["TET-G3 superblock head"]),
    (
        "a reserved field of a row",
        |bytes, _| layout::row_at(superblock(bytes).index_offset, 2) + 100,
        &["TET-N11 index reserved #0 [2]", "TET-G4 index page"],
    ),
    ("the block", |_, key| key.block.offset, &["TET-G9 footer digests"]),
    ("the digest of a page", |_, key| key.block.offset + 24, &["TET-G5 footer digests"]),
    ("the digest of a payload", |_, key| key.block.offset + 36, &["TET-G7 footer digests"]),
    ("the spill", |_, key| key.spills[0].spill.offset + 100, &["TET-G8 footer spill"]),
    ("the JSON", |bytes, _| bytes.len() as u64 - TAIL_LEN - 10, &["TET-G2 footer json"]),
    ("a gap", |bytes, _| superblock(bytes).index_end() + 1, &["TET-G10 gap unused"]),
    ("the flag", |_, _| 12, &["TET-G11 superblock flags"]),
];

#[test]
fn one_flipped_bit_is_one_finding() {
    let good = written(CodecChoice::Raw, 70_000, DigestChoice::Written);
    let key = key(&good);
    for (claim, at, wanted) in FLIPS {
        let mut bad = good.clone();
        bad[usize::try_from(at(&good, &key)).unwrap()] ^= 1;
        for report in [report_of(&bad), deep(&bad)] {
            assert_eq!(finding_lines(&report), *wanted, "{claim}");
            assert_eq!(report.integrity, Integrity::Mismatch, "{claim}");
        }
    }
}

/// The promise of the digests: no bit of a file can change without `verify --deep` telling.
#[test]
fn every_flipped_bit_of_a_protected_file_is_told() {
    for encoder in [CodecChoice::Raw, ZSTD] {
        assert_every_flip_is_found(&protected(encoder));
    }
}

/// Flips one bit of a file after the other: `verify --deep` finds each.
pub(super) fn assert_every_flip_is_found(good: &[u8]) {
    for bit in 0..good.len() * 8 {
        let mut bad = good.to_vec();
        bad[bit / 8] ^= 1 << (bit % 8);
        let report = deep(&bad);
        assert_ne!(report.integrity, Integrity::Verified, "bit {bit}");
        assert!(!report.is_ok(), "bit {bit}");
    }
}

/// Without digests, the checksums of frames are all there is: they keep payloads, and nothing else.
#[test]
fn flipped_bits_of_an_unprotected_file_may_be_silent() {
    let share = |encoder, range: fn(&[u8]) -> std::ops::Range<u64>| {
        let good = written(encoder, 10, DigestChoice::Left);
        let range = range(&good);
        let (mut silent, mut all) = (0_u64, 0_u64);
        for bit in range.start * 8..range.end * 8 {
            let mut bad = good.clone();
            bad[usize::try_from(bit / 8).unwrap()] ^= 1 << (bit % 8);
            (silent, all) = (silent + u64::from(deep(&bad).is_ok()), all + 1);
        }
        silent * 100 / all
    };
    let payloads = |bytes: &[u8]| {
        let file = TetFile::open(Source::from_bytes(bytes), &OpenOptions::default()).unwrap();
        let mut rows = Vec::new();
        file.index().rows(0..4, &mut rows).unwrap();
        rows[3].payload_offset..rows[3].payload_offset + rows[3].stored_len
    };
    let whole = |bytes: &[u8]| 0..bytes.len() as u64;
    let [raw, zstd] = [CodecChoice::Raw, ZSTD].map(|it| [share(it, payloads), share(it, whole)]);
    assert_eq!(raw[0], 100, "raw bytes are any bytes");
    assert!(zstd[0] <= 1, "{} % of the bits of a frame are silent", zstd[0]);
    // Padding, hints and metadata are most of so small a file.
    assert!(zstd[1] <= 50 && raw[1] <= 60, "silent: {} % of zstd, {} % of raw", zstd[1], raw[1]);
}

#[test]
fn digests_of_another_footer_or_version_are_told() {
    let good = protected(CodecChoice::Raw);
    let key = key(&good);
    // As a program leaves it that writes the footer anew without the key.
    let end = usize::try_from(key.block.offset + key.block.len).unwrap();
    let mut stale = good[..end].to_vec();
    stale.extend(br#"{"history":[]}"#);
    stale.extend(Tail { json_len: 14, version: 2 }.encode());
    for report in [report_of(&stale), deep(&stale)] {
        assert_eq!(finding_lines(&report), ["TET-N16 footer digests"]);
        assert!(!report.is_ok());
        assert_eq!(report.integrity, Integrity::Stale);
    }
    let mut newer = good.clone();
    let version = good.windows(4).rposition(|it| it == b"\"v\":").unwrap() + 4;
    newer[version] = b'2';
    for report in [report_of(&newer), deep(&newer)] {
        assert_eq!(finding_lines(&report), ["TET-N17 footer json"]);
        assert!(!report.is_ok());
        assert_eq!(report.integrity, Integrity::Unchecked);
    }
}

#[test]
fn a_damaged_page_is_told_once_and_alone() {
    let spec = DatasetSpec::new("a", DType::UInt8, [3 * PAGE_ROW_COUNT], [1]);
    let good = written_as(vec![spec], &WriteOptions::default(), 0);
    assert_eq!(deep(&good).integrity, Integrity::Verified);
    let mut bad = good.clone();
    for row in 0..100 {
        // A row that is in order, of a chunk at another position.
        with_row(&mut bad, PAGE_ROW_COUNT + row, |row| row.reserved = 1);
    }
    let report = report_of(&bad);
    let errors: Vec<&Finding> =
        report.findings.iter().filter(|it| it.severity == Severity::Error).collect();
    let at = layout::row_at(superblock(&good).index_offset, PAGE_ROW_COUNT);
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].code, Code::Rule(Rule::PageDigest));
    assert_eq!((errors[0].place.offset, errors[0].place.len), (at, PAGE_ROW_COUNT * ROW_LEN));
}
