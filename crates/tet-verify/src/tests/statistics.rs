//! Findings about statistics.

use std::sync::Arc;

use tet_file::edit::{FooterEdit, Member, with_footer};
use tet_file::write::{CodecChoice, StatisticsChoice, WriteOptions};
use tet_file::{StatisticsCheck, StatisticsKey, statistics_block};
use tet_format::{ChunkStatistics, Limits};
use tet_io::{Image, Progress};

use super::integrity::{assert_every_flip_is_found, deep, written_as};
use super::*;

const ENCODERS: [CodecChoice; 2] = [CodecChoice::Raw, CodecChoice::Zstd { level: 3 }];

/// A file with statistics: int16 in three chunks, float32 in one.
fn with_statistics(encoder: CodecChoice) -> Vec<u8> {
    let specs = vec![
        DatasetSpec::new("a", DType::Int16, [5], [2]),
        DatasetSpec::new("b", DType::Float32, [3, 1], [3, 1]),
    ];
    let statistics = StatisticsChoice::Written;
    written_as(specs, &WriteOptions { encoder, statistics, ..WriteOptions::default() }, 10)
}

fn open(bytes: &[u8]) -> TetFile {
    TetFile::open(Source::from_bytes(bytes), &OpenOptions::default()).unwrap()
}

/// The file with other statistics, whose digests match.
fn stating(bytes: &[u8], block: Vec<u8>) -> Vec<u8> {
    let file = open(bytes);
    let mut footer = FooterEdit::from_file(&file, &Limits::default()).unwrap().unwrap();
    footer.members.retain(|(key, _)| key != "statistics");
    footer.members.push(("statistics".to_owned(), Member::Statistics(block.into())));
    let image = Image::from_source(&Source::from_bytes(bytes));
    let image = with_footer(&image, Some(&footer), &Limits::default(), &Progress::default());
    image.unwrap().to_source().read_vec(0, image_len(bytes, &footer)).unwrap()
}

fn image_len(bytes: &[u8], footer: &FooterEdit) -> u64 {
    let image = Image::from_source(&Source::from_bytes(bytes));
    with_footer(&image, Some(footer), &Limits::default(), &Progress::default()).unwrap().len()
}

fn records(bytes: &[u8]) -> Vec<ChunkStatistics> {
    let file = open(bytes);
    let statistics = file.statistics().unwrap();
    (0..4).map(|row| statistics.of_row(row, StatisticsCheck::Compared).unwrap()).collect()
}

#[test]
fn right_statistics_are_verified() {
    for encoder in ENCODERS {
        let bytes = with_statistics(encoder);
        for (report, wanted) in
            [(report_of(&bytes), Integrity::Unchecked), (deep(&bytes), Integrity::Verified)]
        {
            assert_eq!((finding_lines(&report), report.integrity), (vec![], wanted));
        }
        let same = stating(&bytes, statistics_block(&records(&bytes)));
        assert_eq!((finding_lines(&deep(&same)), records(&same)), (vec![], records(&bytes)));
    }
}

/// Whatever number of whichever record is wrong, deep checks report its chunk.
#[test]
fn a_wrong_record_is_reported_with_its_chunk() {
    let chunks = ["#0 [0]", "#0 [1]", "#0 [2]", "#1 [0, 0]"];
    for encoder in ENCODERS {
        let bytes = with_statistics(encoder);
        for (row, chunk) in chunks.into_iter().enumerate() {
            for word in 0..4 {
                let mut wrong = records(&bytes);
                let record = &mut wrong[row];
                match word {
                    0 => record.min ^= 1,
                    1 => record.max ^= 1 << 9,
                    _ => record.totals[word - 2] ^= 1 << 63,
                }
                let bad = stating(&bytes, statistics_block(&wrong));
                let report = deep(&bad);
                assert_eq!(finding_lines(&report), [format!("TET-Z2 footer spill {chunk}")]);
                assert!(!report.is_ok());
                let structure = report_of(&bad);
                assert!(structure.is_ok(), "only payloads tell: {:?}", finding_lines(&structure));
            }
        }
    }
}

#[test]
fn every_flipped_bit_is_found() {
    for encoder in ENCODERS {
        assert_every_flip_is_found(&with_statistics(encoder));
    }
}

#[test]
fn a_block_of_another_form_is_reported() {
    let bytes = with_statistics(CodecChoice::Raw);
    let good = statistics_block(&records(&bytes));
    let mut magic = good.clone();
    magic[0] = b't';
    let blocks: [Arc<[u8]>; 3] = [magic.into(), good[..good.len() - 1].into(), good[..16].into()];
    for block in blocks {
        for report in
            [report_of(&stating(&bytes, block.to_vec())), deep(&stating(&bytes, block.to_vec()))]
        {
            assert_eq!(finding_lines(&report), ["TET-Z1 footer spill"], "{} bytes", block.len());
        }
    }
}

/// Payloads that another program changed and digests that are made anew: statistics are not used, which is reported.
#[test]
fn stale_statistics_are_noted() {
    let bytes = with_statistics(CodecChoice::Raw);
    let stale = bytes.windows(11).position(|it| it == b"\"integrity\"").unwrap();
    let end = usize::try_from(open(&bytes).footer().json_at).unwrap();
    let json = &bytes[end..stale - 1];
    let mut other = bytes[..end].to_vec();
    other.extend(json);
    other.push(b'}');
    let json_len = json.len() as u64 + 1;
    other.extend(tet_format::footer::Tail { json_len, version: 1 }.encode());
    assert_eq!(open(&other).footer().statistics, StatisticsKey::Stale);
    for report in [report_of(&other), deep(&other)] {
        assert_eq!(finding_lines(&report), ["TET-N23 footer json", "TET-N16 footer digests"]);
        assert_eq!(report.integrity, Integrity::Stale);
    }
}
