use tet_format::NoteCode;
use tet_format::digest::head_end;
use tet_format::footer::{TAIL_LEN, Tail};
use tet_format::statistics::BLOCK_HEADER_LEN;
use tet_io::{Image, Progress};

use super::*;
use crate::edit::{FileDraft, FooterEdit, Member, with_footer};
use crate::integrity::self_digest;
use crate::open::{OpenOptions, TetFile};
use crate::testing::{written, written_as};
use crate::warning::Warning;
use crate::write::{CodecChoice, DigestChoice, StatisticsChoice, WriteOptions};

const ZSTD: CodecChoice = CodecChoice::Zstd { level: 3 };

fn options(encoder: CodecChoice, threads: usize) -> WriteOptions {
    let statistics = StatisticsChoice::Written;
    WriteOptions { encoder, threads, statistics, ..WriteOptions::default() }
}

fn open(bytes: &[u8]) -> Result<TetFile> {
    TetFile::open(Source::from_bytes(bytes.to_vec()), &OpenOptions::default())
}

/// The statistics of all rows, which both ways of reading give.
fn records(file: &TetFile) -> Vec<ChunkStatistics> {
    let statistics = file.statistics().expect("the file has statistics");
    let all = |check| {
        let rows = 0..file.index().row_count();
        rows.map(|row| statistics.of_row(row, check).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(all(StatisticsCheck::Compared), all(StatisticsCheck::Trusted));
    all(StatisticsCheck::Compared)
}

/// The statistics of all rows, computed from their payloads.
fn computed(file: &TetFile) -> Vec<ChunkStatistics> {
    let mut rows = Vec::new();
    file.index().rows(0..file.index().row_count(), &mut rows).unwrap();
    let of = |row: &tet_format::index::IndexRow| {
        let stored = file.source().read_vec(row.payload_offset, row.stored_len).unwrap();
        let mut elements = vec![0; row.raw_len as usize];
        let codec = tet_format::Codec::from_tag(row.codec);
        tet_codec::decoder(codec).unwrap().decode(&stored, &mut elements).unwrap();
        let dtype = file.datasets()[row.dataset_id as usize].dtype.unwrap();
        tet_codec::statistics(dtype, &elements).unwrap()
    };
    rows.iter().map(of).collect()
}

#[test]
fn statistics_are_those_of_the_elements() {
    for encoder in [CodecChoice::Raw, ZSTD] {
        let files = [1, 4].map(|threads| written_as(10, &options(encoder, threads)));
        assert_eq!(files[0], files[1], "threads change nothing");
        for attr_len in [0, 70_000] {
            let file = open(&written_as(attr_len, &options(encoder, 2))).unwrap();
            assert_eq!(file.warnings(), []);
            assert_eq!(records(&file), computed(&file));
        }
    }
}

#[test]
fn small_files_are_as_they_were() {
    let fitting = WriteOptions { encoder: CodecChoice::Raw, ..WriteOptions::default() };
    let left = WriteOptions { statistics: StatisticsChoice::Left, ..fitting.clone() };
    let bare = WriteOptions { digests: DigestChoice::Left, ..options(CodecChoice::Raw, 1) };
    assert_eq!(written_as(10, &fitting), written_as(10, &left));
    let file = open(&written_as(10, &bare)).unwrap();
    assert!(file.statistics().is_none() && file.warnings().is_empty(), "no digests, none");
}

/// Every flipped bit of the block is found when it is compared, and none of a record by those who trust it.
#[test]
fn a_flipped_bit_is_refused() {
    let bytes = written_as(10, &options(CodecChoice::Raw, 1));
    let spill = open(&bytes).unwrap().footer().statistics.spill().unwrap();
    for at in spill.offset..spill.offset + spill.len {
        for bit in 0..8 {
            let mut bad = bytes.clone();
            bad[at as usize] ^= 1 << bit;
            let file = open(&bad).unwrap();
            let statistics = file.statistics().unwrap();
            let is_header = at < spill.offset + BLOCK_HEADER_LEN;
            let rule = if is_header { Rule::StatisticsBlock } else { Rule::SpillDigest };
            let Err(Error::Format(fault)) = statistics.of_row(0, StatisticsCheck::Compared) else {
                panic!("byte {at}, bit {bit} is used");
            };
            assert_eq!(fault.rule, rule);
            let trusted = statistics.of_row(0, StatisticsCheck::Trusted);
            assert_eq!(trusted.is_err(), is_header);
        }
    }
}

/// Replaces the footer JSON by another one that matches its `self`.
fn with_json(bytes: &[u8], change: impl Fn(&str) -> String) -> Vec<u8> {
    let (before, tail) = bytes.split_at(bytes.len() - TAIL_LEN as usize);
    let json_len = u64::from_le_bytes(tail[..8].try_into().unwrap()) as usize;
    let (before, json) = before.split_at(before.len() - json_len);
    let json = change(str::from_utf8(json).unwrap());
    let tail = Tail { json_len: json.len() as u64, version: 1 }.encode();
    let json = match self_digest(json.as_bytes(), &tail) {
        Some(sealed) => {
            let stated = sealed.stated.to_string();
            json.replace(&stated, &sealed.found.to_string())
        }
        None => json,
    };
    [before, json.as_bytes(), &tail].concat()
}

#[test]
fn statistics_that_are_not_bound_are_stale() {
    let bytes = written_as(10, &options(CodecChoice::Raw, 1));
    let spill = open(&bytes).unwrap().footer().statistics.spill().unwrap();
    let own = format!("\"offset\":{},\"len\":{},\"chunks\"", spill.offset, spill.len);
    let stale = [
        ("other payloads", own.clone(), own.clone() + ":\"0\",\"old\""),
        ("moved", own.clone(), own.replace(&spill.offset.to_string(), "1")),
        ("a huge length", own.clone(), own.replace(&spill.len.to_string(), &u64::MAX.to_string())),
        ("no number", own.clone(), own.replace(&spill.len.to_string(), "\"x\"")),
        ("no digests", "\"integrity\"".to_owned(), "\"was_integrity\"".to_owned()),
    ];
    for (what, from, to) in stale {
        let file = open(&with_json(&bytes, |json| json.replace(&from, &to))).unwrap();
        assert!(file.statistics().is_none(), "{what}");
        let codes = file.warnings().iter().map(|warning| match warning {
            Warning::Note(note) => note.code,
            Warning::Fault(fault) => panic!("{fault}"),
        });
        let codes: Vec<NoteCode> = codes.collect();
        assert!(codes.contains(&NoteCode::StatisticsStale), "{what}: {codes:?}");
        assert_eq!(codes.contains(&NoteCode::DigestsStale), what == "no digests", "{what}");
        // An edit leaves them out.
        let footer = FooterEdit::from_file(&file, &Limits::default());
        if let Ok(Some(footer)) = footer {
            let image = Image::from_source(file.source());
            let limits = Limits::default();
            let edited = with_footer(&image, Some(&footer), &limits, &Progress::default()).unwrap();
            let edited = TetFile::open(edited.to_source(), &OpenOptions::default()).unwrap();
            assert_eq!(edited.footer().statistics, StatisticsKey::Absent, "{what}");
        }
    }
    for foreign in ["7", "{\"v\":2,\"x\":[]}", "null", "{\"offset\":1}"] {
        let bytes = written(10, DigestChoice::Written);
        let with_key = |json: &str| json.replacen('{', &format!("{{\"statistics\":{foreign},"), 1);
        let file = open(&with_json(&bytes, with_key)).unwrap();
        assert!(file.statistics().is_none() && file.warnings().is_empty(), "{foreign}");
        let footer = FooterEdit::from_file(&file, &Limits::default()).unwrap().unwrap();
        let is_kept = |(key, member): &(String, Member)| {
            key == KEY && matches!(member, Member::Text(text) if text == foreign)
        };
        assert!(footer.members.iter().any(is_kept), "{foreign} is kept");
    }
}

#[test]
fn edits_keep_statistics_of_the_same_payloads_alone() {
    let file = open(&written_as(10, &options(ZSTD, 1))).unwrap();
    let wanted = records(&file);
    let mut draft = FileDraft::new(&file).unwrap();
    draft.rename(0, "new").unwrap();
    let edited = draft.image(&Progress::default()).unwrap();
    let edited = TetFile::open(edited.to_source(), &OpenOptions::default()).unwrap();
    assert_eq!(records(&edited), wanted, "a new name leaves the rows as they are");
    draft.remove(1).unwrap();
    let edited = draft.image(&Progress::default()).unwrap();
    let edited = TetFile::open(edited.to_source(), &OpenOptions::default()).unwrap();
    assert_eq!(edited.footer().statistics, StatisticsKey::Absent);
    assert_eq!(edited.warnings(), []);
    // A payload that another program changed, and digests that are made anew.
    let mut bytes = file.source().read_vec(0, file.file_len()).unwrap();
    let at = head_end(file.superblock()).max(file.index_end()) as usize + 100;
    bytes[at] ^= 1;
    let footer = FooterEdit::from_file(&file, &Limits::default()).unwrap().unwrap();
    let image = Image::from_source(&Source::from_bytes(bytes));
    let edited = with_footer(&image, Some(&footer), &Limits::default(), &Progress::default());
    let edited = TetFile::open(edited.unwrap().to_source(), &OpenOptions::default()).unwrap();
    assert!(edited.protection().digests().is_some() && edited.statistics().is_none());
}

/// An edit copies a block with its digest: damage is found after it as it was before.
#[test]
fn damage_to_a_block_is_found_after_an_edit() {
    let mut bytes = written_as(10, &options(ZSTD, 1));
    let at = open(&bytes).unwrap().footer().statistics.spill().unwrap().offset as usize;
    bytes[at + BLOCK_HEADER_LEN as usize + 2] ^= 1;
    let file = open(&bytes).unwrap();
    let mut draft = FileDraft::new(&file).unwrap();
    draft.rename(0, "new").unwrap();
    let edited = draft.image(&Progress::default()).unwrap();
    let edited = TetFile::open(edited.to_source(), &OpenOptions::default()).unwrap();
    for file in [file, edited] {
        let found = file.statistics().unwrap().of_row(0, StatisticsCheck::Compared);
        let error = found.unwrap_err().to_string();
        assert!(error.contains(Rule::SpillDigest.id()), "{error}");
    }
}
