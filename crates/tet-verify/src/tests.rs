//! Findings of files that break one thing at a time.

mod deep;
mod integrity;
mod statistics;

use std::io::Cursor;
use std::sync::Arc;

use tet_file::{OpenOptions, TetFile};
use tet_format::index::{IndexRow, ROW_LEN};
use tet_format::write::{DatasetSpec, Declaration, FileWriter, FooterParts};
use tet_format::{Codec, DType, NoteCode, Rule, Superblock, layout};
use tet_io::{ReadAt, Source};

use super::*;

const JSON: &[u8] = br#"{"history":[{"op":"a","source":"b","at":"1"}],"metadata":{"datasets":{"wide":{"dim_names":["y","x"],"coords":{"y":{"labels":["p","q","r","s"]}}}}}}"#;

/// Two datasets, 4 x 6 float32 in chunks of 2 x 4 and 3 uint8 in chunks of 2, and a footer.
fn file_with(json: &[u8], spill: &[u8]) -> Vec<u8> {
    let specs = [
        DatasetSpec::new("wide", DType::Float32, [4, 6], [2, 4]),
        DatasetSpec::new("tiny", DType::UInt8, [3], [2]),
    ];
    let layout = Declaration::new(specs).layout().unwrap();
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), layout).unwrap();
    for len in [32, 16, 32, 16, 2, 1] {
        writer.push(Codec::Raw, len, &vec![7; usize::try_from(len).unwrap()]).unwrap();
    }
    let footer = FooterParts { block: &[], spill, json, version: 1 };
    writer.finish(Some(footer)).unwrap().into_inner()
}

fn file() -> Vec<u8> {
    file_with(JSON, &[])
}

fn report_of(bytes: &[u8]) -> Report {
    verify(&Source::from_bytes(bytes), &VerifyOptions::default()).unwrap()
}

fn superblock(bytes: &[u8]) -> Superblock {
    Superblock::read(bytes, bytes.len() as u64).unwrap()
}

fn put(bytes: &mut [u8], at: u64, new: &[u8]) {
    let at = usize::try_from(at).unwrap();
    bytes[at..at + new.len()].copy_from_slice(new);
}

/// Changes row number `row`.
fn with_row(bytes: &mut [u8], row: u64, change: impl FnOnce(&mut IndexRow)) {
    let at = layout::row_at(superblock(bytes).index_offset, row);
    let start = usize::try_from(at).unwrap();
    let mut wire = IndexRow::decode(bytes[start..].first_chunk().unwrap());
    change(&mut wire);
    put(bytes, at, &wire.encode());
}

/// One line a finding: code, region, field, `#dataset`, chunk.
fn finding_lines(report: &Report) -> Vec<String> {
    let line = |finding: &Finding| {
        let Location { region, field, dataset, chunk, .. } = &finding.place;
        let dataset = dataset.map(|dataset| format!(" #{dataset}")).unwrap_or_default();
        let chunk = chunk.as_ref().map(|chunk| format!(" {chunk:?}")).unwrap_or_default();
        format!("{} {region} {field}{dataset}{chunk}", finding.code)
    };
    report.findings.iter().map(line).collect()
}

#[test]
fn a_sound_file_has_no_findings() {
    let report = report_of(&file());
    assert_eq!(finding_lines(&report), [""; 0]);
    assert!(report.is_ok());
    assert_eq!((report.dataset_count, report.row_count), (2, 6));
    let empty = FileWriter::new(Cursor::new(vec![]), Declaration::new([]).layout().unwrap());
    assert_eq!(
        finding_lines(&report_of(&empty.unwrap().finish(None).unwrap().into_inner())),
        [""; 0]
    );
}

/// Damage to a file, and the findings that result.
type Case = (&'static str, fn(&mut Vec<u8>), &'static [&'static str]);

const HEAD_CASES: &[Case] = &[
    ("magic", |it| it[0] = b'X', &["TET-S2 superblock magic"]),
    ("everything in the superblock", |it| it[..32].fill(0xff), &["TET-S2 superblock magic"]),
    ("version", |it| it[4] = 9, &["TET-S3 superblock layout_version"]),
    ("index past the end", |it| it.truncate(300), &["TET-S4 superblock index_offset"]),
    ("unknown flag", |it| it[12] |= 4, &["TET-N1 superblock flags"]),
    ("one dataset too many", |it| it[8] = 3, &["TET-D3 directory records"]),
    ("dtype", |it| it[44] = 77, &["TET-D10 directory dtype #0"]),
    ("reserved", |it| it[52] = 1, &["TET-N3 directory reserved #0"]),
    ("padding", |it| it[61] = 1, &["TET-N4 directory name_padding #0"]),
    ("control in a name", |it| it[56] = 0x1b, &["TET-N7 directory name #0"]),
    ("not UTF-8", |it| it[56] = 0xff, &["TET-D6 directory name #0"]),
    ("chunk of nothing", |it| put(it, 80, &[0]), &["TET-D7 directory chunk_shape #0"]),
];

const INDEX_CASES: &[Case] = &[
    (
        "index magic",
        |it| {
            let at = superblock(it).index_offset;
            put(it, at, b"X");
        },
        &["TET-I2 index magic"],
    ),
    (
        "row count",
        |it| {
            let at = superblock(it).index_offset;
            put(it, at + 8, &[7]);
        },
        &["TET-I4 index row_count"],
    ),
    (
        "index reserved",
        |it| {
            let at = superblock(it).index_offset;
            put(it, at + 24, &[7]);
        },
        &["TET-N10 index reserved_tail"],
    ),
    (
        "row of no dataset",
        |it| with_row(it, 5, |row| row.dataset_id = 2),
        &["TET-I6 index row #2", "TET-I5 directory record #1"],
    ),
    (
        "coordinate outside",
        |it| with_row(it, 1, |row| row.coord[1] = 2),
        &["TET-I7 index coord #0 [0, 2]"],
    ),
    (
        "one chunk twice",
        |it| with_row(it, 2, |row| row.coord[0] = 0),
        &["TET-I8 index row #0 [0, 0]"],
    ),
    (
        "raw_len",
        |it| with_row(it, 4, |row| (row.raw_len, row.stored_len) = (1, 1)),
        &["TET-I9 index raw_len #1 [0]"],
    ),
    ("codec", |it| with_row(it, 4, |row| row.codec = 9), &["TET-I10 index codec #1 [0]"]),
    (
        "stored_len",
        |it| with_row(it, 5, |row| row.stored_len = 0),
        &["TET-I11 index stored_len #1 [1]"],
    ),
    ("unused slot", |it| with_row(it, 5, |row| row.coord[7] = 1), &["TET-N12 index coord #1 [1]"]),
    (
        "row reserved",
        |it| with_row(it, 5, |row| row.reserved = 1),
        &["TET-N11 index reserved #1 [1]"],
    ),
];

const REST_CASES: &[Case] = &[
    (
        "payload past its end",
        |it| {
            let len = it.len() as u64;
            with_row(it, 0, |row| row.payload_offset = len);
        },
        &["TET-P1 index payload_offset #0 [0, 0]"],
    ),
    (
        "payload in the index",
        |it| with_row(it, 1, |row| row.payload_offset = 40),
        &["TET-P2 index payload_offset #0 [0, 1]"],
    ),
    (
        "payloads overlap",
        |it| with_row(it, 0, |row| row.payload_offset += 1),
        &["TET-P3 index payload_offset #0 [0, 1]"],
    ),
    (
        "payloads shared",
        |it| {
            let at = layout::row_at(superblock(it).index_offset, 0) + 72;
            let shared = it[usize::try_from(at).unwrap()..][..8].to_vec();
            put(it, at + 2 * ROW_LEN, &shared);
        },
        &["TET-N14 index payload_offset #0 [1, 0]", "TET-N15 gap unused"],
    ),
    (
        "zstd cannot hold it",
        |it| {
            with_row(it, 4, |row| (row.codec, row.stored_len) = (1, 0));
        },
        &["TET-N15 gap unused"],
    ),
    (
        "no tail",
        |it| {
            it.pop();
        },
        &["TET-H2 footer magic"],
    ),
    (
        "footer version",
        |it| {
            let at = it.len() - 8;
            it[at] = 3;
        },
        &["TET-H3 footer footer_version"],
    ),
    (
        "JSON too long",
        |it| {
            let at = it.len() - 12;
            it[at] = 3;
        },
        &["TET-H4 footer json_len"],
    ),
    (
        "JSON broken",
        |it| {
            let at = it.len() - 20;
            it[at] = b'x';
        },
        &["TET-M1 footer json"],
    ),
    ("flag clear", |it| it[12] = 0, &["TET-N2 footer tail"]),
];

#[test]
fn one_broken_thing_is_one_finding() {
    for (claim, change, wanted) in [HEAD_CASES, INDEX_CASES, REST_CASES].concat() {
        let mut bytes = file();
        change(&mut bytes);
        let report = report_of(&bytes);
        assert_eq!(finding_lines(&report), wanted, "{claim}: {:#?}", report.findings);
        let has_rule = report.findings.iter().any(|it| matches!(it.code, Code::Rule(_)));
        assert_eq!(report.is_ok(), !has_rule, "{claim}");
    }
}

#[test]
fn metadata_is_held_against_its_datasets() {
    let inline = |datasets: &str| format!("{{\"metadata\":{{\"datasets\":{{{datasets}}}}}}}");
    for (json, wanted) in [
        (inline(r#""wide":{"dim_names":["y"]}"#), &["TET-M8 footer json"][..]),
        (inline(r#""wide":{"coords":{"z":{"labels":["a"]}}}"#), &["TET-M9 footer json"]),
        (inline(r#""wide":{"coords":{"1":{"labels":["a"]}}}"#), &["TET-M10 footer json"]),
        (inline(r#""other":{"dim_names":["y"]}"#), &[]),
        (r#"{"history":[["a","b"]]}"#.to_owned(), &["TET-M7 footer json"]),
        (r#"{"history":1}"#.to_owned(), &["TET-M3 footer json"]),
        (r#"{"a":1,"a":2}"#.to_owned(), &["TET-M2 footer json"]),
        (r#"{"metadata_ref":{"offset":1,"len":1}}"#.to_owned(), &["TET-H5 footer json"]),
        (r#"{"metadata_ref":{"offset":-1,"len":1}}"#.to_owned(), &["TET-M4 footer json"]),
    ] {
        let report = report_of(&file_with(json.as_bytes(), &[]));
        assert_eq!(finding_lines(&report), wanted, "{json}");
    }
}

#[test]
fn a_spill_in_a_payload_is_found() {
    let spill = br#"{"file":{}}"#;
    let at = file_with(b"", spill).len() as u64 - 16 - spill.len() as u64;
    let json = |offset: u64, rest: &str| {
        format!("{{\"metadata_ref\":{{\"offset\":{offset},\"len\":{}}}{rest}}}", spill.len())
    };
    let good = file_with(json(at, "").as_bytes(), spill);
    assert_eq!(finding_lines(&report_of(&good)), [""; 0]);
    let twice = file_with(json(at, ",\"metadata\":{}").as_bytes(), spill);
    assert_eq!(finding_lines(&report_of(&twice)), ["TET-M5 footer json"]);
    let inside = report_of(&file_with(json(at - 1, "").as_bytes(), spill));
    assert_eq!(
        finding_lines(&inside),
        ["TET-M6 footer spill"],
        "the byte before the spill is no JSON"
    );
    let mut bytes = file_with(json(at - 11, "").as_bytes(), spill);
    put(&mut bytes, at - 11, spill);
    let report = report_of(&bytes);
    assert_eq!(
        report.findings[0].code,
        Code::Rule(Rule::SpillBounds),
        "{:?}",
        finding_lines(&report)
    );
}

/// True when the file opens with every dataset in order, as far as this crate can check without a
/// query.
fn opens(bytes: &[u8]) -> bool {
    let opened = TetFile::open(Source::from_bytes(bytes), &OpenOptions::default());
    opened.is_ok_and(|file| file.datasets().iter().all(|dataset| dataset.fault.is_none()))
}

#[test]
fn every_prefix_is_an_error() {
    let bytes = file();
    for len in 0..bytes.len() {
        let report = report_of(&bytes[..len]);
        assert!(!report.is_ok(), "{len}");
        let is_foreign =
            matches!(report.findings[0].code, Code::Rule(Rule::Magic | Rule::Truncated));
        assert_eq!(is_foreign, len < 32, "{len}");
    }
}

#[test]
fn whatever_a_byte_becomes_no_error_means_that_the_file_opens() {
    let good = file();
    for at in 0..good.len() {
        for new in [0x00, 0x01, 0x7f, 0x80, 0xff, good[at] ^ 1, good[at].wrapping_add(1)] {
            let mut bytes = good.clone();
            bytes[at] = new;
            if report_of(&bytes).is_ok() {
                assert!(opens(&bytes), "byte {at} as {new:#x}");
            }
        }
    }
}

#[test]
fn findings_show_in_one_escaped_line() {
    let mut bytes = file();
    bytes[56] = 0x1b;
    with_row(&mut bytes, 1, |row| row.coord[1] = 2);
    let lines: Vec<String> = report_of(&bytes).findings.iter().map(Finding::to_string).collect();
    let at = layout::row_at(superblock(&bytes).index_offset, 1) + 16;
    assert_eq!(
        lines,
        [
            "warning TET-N7: a name holds control or bidirectional formatting characters, dataset \
         \"\\u{1b}ide\", directory name at byte 56: found 27"
                .to_owned(),
            format!(
                "error TET-I7: a row's `coord` must lie in the grid of its dataset, dataset \
         \"\\u{{1b}}ide\", chunk (0, 2), index coord at byte {}: found 2, wanted 1",
                at - 8
            ),
        ]
    );
}

/// Many rows that are all wrong, made as they are read.
#[derive(Debug)]
struct Endless {
    head: Vec<u8>,
    row_count: u64,
}

impl Endless {
    fn new(row_count: u64) -> Self {
        let spec = DatasetSpec::new("a", DType::UInt8, [row_count], [1]);
        let layout = Declaration::new([spec]).layout().unwrap();
        let head = layout.head_bytes(0);
        Endless { head, row_count }
    }
}

impl ReadAt for Endless {
    fn len(&self) -> u64 {
        self.head.len() as u64 + self.row_count * ROW_LEN
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        let start = usize::try_from(offset).unwrap().min(self.head.len());
        let known = &self.head[start..];
        let len = known.len().min(out.len());
        out[..len].copy_from_slice(&known[..len]);
        out[len..].fill(0xee);
        Ok(())
    }
}

#[test]
fn a_flood_of_findings_is_counted() {
    let source = Source::from_reader(Arc::new(Endless::new(100_000)));
    let report = verify(&source, &VerifyOptions::default()).unwrap();
    let per_code = VerifyOptions::default().findings_max;
    assert!(report.findings.len() <= 10 * per_code, "{}", report.findings.len());
    assert_eq!(report.count(Severity::Error) / 100_000, 2, "{:?}", report.omitted);
    let rows = report.omitted.iter().find(|it| it.code == Code::Rule(Rule::RowDataset)).unwrap();
    assert_eq!(rows.count, 100_000 - per_code as u64);
}

#[test]
fn rows_past_the_limit_are_a_limit() {
    let source = Source::from_reader(Arc::new(Endless::new(1000)));
    let options = VerifyOptions { row_count_max: 999, ..VerifyOptions::default() };
    let error = verify(&source, &options).unwrap_err();
    assert_eq!(error.kind(), Kind::Limit);
}

#[test]
fn gaps_are_looked_at_up_to_the_limit() {
    let mut bytes = file();
    let end = superblock(&bytes).index_end();
    let first = (end..end + 64).find(|&at| bytes[usize::try_from(at).unwrap()] == 7).unwrap();
    assert!(end < first, "the first payload is aligned");
    put(&mut bytes, end, &[9]);
    let report = report_of(&bytes);
    assert_eq!(finding_lines(&report), ["TET-N15 gap unused"]);
    assert_eq!(report.findings[0].code, Code::Note(NoteCode::BytesUnused));
    assert_eq!((report.findings[0].place.offset, report.findings[0].found), (end, 9));
    let options = VerifyOptions { gap_len_max: 0, ..VerifyOptions::default() };
    let report = verify(&Source::from_bytes(bytes), &options).unwrap();
    assert_eq!(finding_lines(&report), [""; 0]);
    assert!(0 < report.gap_len_left);
}
