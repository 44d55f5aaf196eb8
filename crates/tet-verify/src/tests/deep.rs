//! Findings about what payloads hold.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use tet_codec::{Encode, ZstdEncoder};
use tet_file::write::{CodecChoice, DigestChoice, WriteOptions};

use super::integrity::{deep, protected, written, written_as};
use super::*;

fn encoded(decoded: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    ZstdEncoder::new(3).unwrap().encode(decoded, &mut out).unwrap();
    out
}

/// A file of one dataset of 40 bytes in one zstd chunk, and its findings.
fn of_frame(stored: &[u8]) -> Vec<u8> {
    let specs = [DatasetSpec::new("z", DType::UInt8, [40], [40])];
    let layout = Declaration::new(specs).layout().unwrap();
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), layout).unwrap();
    writer.push(Codec::Zstd, 40, stored).unwrap();
    writer.finish(None).unwrap().into_inner()
}

#[test]
fn payloads_are_bounded_before_they_are_decoded() {
    let source = Source::from_bytes(of_frame(&encoded(&[7; 40])));
    for (level, decoded_max, is_within) in
        [(Level::Deep, 40, true), (Level::Deep, 39, false), (Level::Structure, 39, true)]
    {
        let options =
            VerifyOptions { level, decoded_max: Some(decoded_max), ..VerifyOptions::default() };
        let verified = verify(&source, &options);
        assert_eq!(verified.is_ok(), is_within, "{level:?} {decoded_max}");
        if let Err(error) = verified {
            assert!(matches!(error, Error::Expansion { wanted: 40, limit: 39 }), "{error}");
        }
    }
}

#[test]
fn payloads_that_lie_are_found() {
    let good = encoded(&[7; 40]);
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9];
    let mut rotten = good.clone();
    *rotten.last_mut().unwrap() ^= 1;
    let mut dictionary = good.clone();
    dictionary[4] |= 1;
    let wide = [&[0x28, 0xB5, 0x2F, 0xFD, 0, 17 << 3 | 1][..], &[1, 0, 0]].concat();
    let is_note = |code: &str| code.starts_with("TET-N");
    for (claim, stored, wanted) in [
        ("whole", good.clone(), None),
        ("two frames", [encoded(&[7; 9]), encoded(&[7; 31])].concat(), None),
        ("too short", encoded(&[7; 39]), Some("TET-P5")),
        ("too long", encoded(&[7; 41]), Some("TET-P5")),
        ("far too long", encoded(&vec![7; 1 << 20]), Some("TET-P5")),
        ("nothing", encoded(&[]), Some("TET-P5")),
        ("trailing bytes", [&good[..], &[0]].concat(), Some("TET-P6")),
        ("no frame", vec![7; 40], Some("TET-P6")),
        ("cut", good[..good.len() - 1].to_vec(), Some("TET-P6")),
        ("checksum", rotten, Some("TET-P6")),
        ("dictionary", dictionary, Some("TET-P7")),
        ("window", wide, Some("TET-P7")),
        ("skippable", [&skippable[..], &good].concat(), Some("TET-N19")),
    ] {
        let bytes = of_frame(&stored);
        let report = deep(&bytes);
        let line = wanted.map(|code| format!("{code} payload stored #0 [0]"));
        assert_eq!(finding_lines(&report), Vec::from_iter(line), "{claim}");
        assert_eq!(report.is_ok(), wanted.is_none_or(is_note), "{claim}");
        for finding in &report.findings {
            let place = &finding.place;
            assert_eq!((finding.level, place.len), (Level::Deep, stored.len() as u64), "{claim}");
        }
        assert_eq!(finding_lines(&report_of(&bytes)), [""; 0], "{claim}: no look at payloads");
    }
}

/// A window over what all threads may hold at once is decoded by one.
#[test]
fn wide_windows_are_decoded_alone() {
    // Magic, no flags, a window of 2^27, one last raw block of 40 bytes.
    let frame = [&[0x28, 0xB5, 0x2F, 0xFD, 0, 17 << 3, 0x41, 1, 0][..], &[7; 40]].concat();
    assert_eq!(finding_lines(&deep(&of_frame(&frame))), [""; 0]);
}

#[test]
fn a_payload_that_changed_is_found_by_its_digest() {
    for encoder in [CodecChoice::Raw, CodecChoice::Zstd { level: 3 }] {
        let mut bytes = protected(encoder);
        let mut at = 0;
        with_row(&mut bytes, 1, |row| at = row.payload_offset + row.stored_len - 1);
        bytes[usize::try_from(at).unwrap()] ^= 4;
        let report = deep(&bytes);
        let first = &report.findings[0];
        assert_eq!(finding_lines(&report), ["TET-G6 payload stored #0 [1]"]);
        assert_eq!(first.place.offset + first.place.len, at + 1);
        assert_eq!(report.integrity, Integrity::Mismatch);
        assert_eq!(report_of(&bytes).integrity, Integrity::Unchecked);
    }
}

#[test]
fn shared_payloads_are_read_once_and_told_of_each_row() {
    let spec = DatasetSpec::new("a", DType::UInt8, [2000], [20]);
    let zstd = CodecChoice::Zstd { level: 3 };
    let (encoder, digests) = (zstd, DigestChoice::Left);
    let options = WriteOptions { encoder, digests, ..WriteOptions::default() };
    let mut bytes = written_as(vec![spec], &options, 0);
    let mut first = None;
    for row in 0..100 {
        with_row(&mut bytes, row, |row| {
            let (offset, len) = *first.get_or_insert((row.payload_offset, row.stored_len));
            (row.payload_offset, row.stored_len) = (offset, len);
        });
    }
    let shared = deep(&bytes);
    assert!(shared.is_ok(), "{:?}", finding_lines(&shared));
    let (_, len) = first.unwrap();
    assert_eq!((shared.stored_len, shared.payload_len, shared.decoded_len), (len, len, 2000));
    let (offset, len) = first.unwrap();
    bytes[usize::try_from(offset + len - 1).unwrap()] ^= 1;
    let counted = |report: &Report, wanted: Rule| {
        let found = report.findings.iter().filter(|it| it.code == Code::Rule(wanted)).count();
        let rest = report.omitted.iter().find(|it| it.code == Code::Rule(wanted));
        found as u64 + rest.map_or(0, |it| it.count)
    };
    assert_eq!(counted(&deep(&bytes), Rule::ZstdFrames), 100);
    // A raw file cannot hold more than it is long.
    let mut raw = file();
    let mut first = 0;
    with_row(&mut raw, 0, |row| first = row.payload_offset);
    with_row(&mut raw, 2, |row| row.payload_offset = first);
    assert_eq!(counted(&deep(&raw), Rule::RawSum), 0);
}

#[test]
fn few_bytes_for_many_raw_rows_are_an_error() {
    let spec = DatasetSpec::new("a", DType::UInt8, [60_000], [20_000]);
    let options = WriteOptions { digests: DigestChoice::Left, ..WriteOptions::default() };
    let mut bytes = written_as(vec![spec], &options, 0);
    let mut first = 0;
    with_row(&mut bytes, 0, |row| first = row.payload_offset);
    for row in 1..3 {
        with_row(&mut bytes, row, |row| row.payload_offset = first);
    }
    bytes[12] = 0;
    bytes.truncate(usize::try_from(first).unwrap() + 20_000);
    let shared = ["TET-N14 index payload_offset #0 [1]", "TET-N14 index payload_offset #0 [2]"];
    let lines = [&shared[..], &["TET-P8 index rows"]].concat();
    assert_eq!(finding_lines(&deep(&bytes)), lines);
    let more = vec![0; 60_000 - bytes.len()];
    assert_eq!(finding_lines(&deep(&[bytes, more].concat())), shared);
}

#[test]
fn threads_change_nothing_and_progress_ends_at_all() {
    let specs = vec![
        DatasetSpec::new("a", DType::Float64, [1 << 20], [10_000]),
        DatasetSpec::new("b", DType::UInt8, [1 << 20], [1 << 20]),
    ];
    let mut bytes = written_as(specs, &WriteOptions::default(), 0);
    let mut flipped = Vec::new();
    for row in [3, 70, 100, 104] {
        with_row(&mut bytes, row, |row| flipped.push(row.payload_offset + row.stored_len / 2));
    }
    flipped.iter().for_each(|&at| bytes[usize::try_from(at).unwrap()] ^= 1);
    let source = Source::from_bytes(bytes);
    let reports = [1, 2, 5].map(|threads| {
        let last = Arc::new(Mutex::new((0, 0)));
        let found = Arc::clone(&last);
        let progress = Progress::new(move |done, all| {
            let mut last = found.lock().unwrap();
            *last = (*last).max((done, all));
        });
        let level = Level::Deep;
        let options = VerifyOptions { level, threads, progress, ..VerifyOptions::default() };
        let report = verify(&source, &options).unwrap();
        let (done, all) = *last.lock().unwrap();
        assert!(done == all && report.payload_len <= all, "{done} of {all}");
        report
    });
    assert_eq!(reports[0].findings.len(), 4);
    assert!(reports.iter().all(|report| *report == reports[0]));
}

#[test]
fn a_caller_may_stop() {
    let cancel = Arc::new(AtomicBool::new(false));
    let (stop, level) = (Arc::clone(&cancel), Level::Deep);
    let progress = Progress::new(move |_, _| stop.store(true, Ordering::Relaxed));
    let progress = progress.with_cancel(cancel);
    let options = VerifyOptions { level, progress, ..VerifyOptions::default() };
    let bytes = written(CodecChoice::Raw, 0, DigestChoice::Written);
    let stopped = verify(&Source::from_bytes(bytes), &options);
    assert!(matches!(stopped, Err(Error::Canceled)), "{stopped:?}");
}

#[test]
fn warnings_are_errors_to_the_strict() {
    let mut bytes = file();
    bytes[12] |= 4;
    let strictness = Strictness::Strict;
    for (findings_max, found) in [(64, 1), (0, 0)] {
        let options = VerifyOptions { strictness, findings_max, ..VerifyOptions::default() };
        let report = verify(&Source::from_bytes(&*bytes), &options).unwrap();
        assert_eq!((report.findings.len(), report.count(Severity::Error)), (found, 1));
        assert_eq!((report.is_ok(), report.count(Severity::Warning)), (false, 0));
    }
    assert!(report_of(&bytes).is_ok());
}

#[test]
fn names_that_stand_twice_are_noted() {
    for (about, wanted) in [
        (r#""dim_names":["y","y"]"#, &["TET-N21 footer json"][..]),
        (r#""dim_names":["y","x"]"#, &[]),
        (r#""coords":{"0":{"labels":["p","q","p","q"]}}"#, &["TET-N20 footer json"]),
        (r#""coords":{"0":{"labels":["p","q","P","Q"]}}"#, &[]),
    ] {
        let json = format!("{{\"metadata\":{{\"datasets\":{{\"wide\":{{{about}}}}}}}}}");
        assert_eq!(finding_lines(&report_of(&file_with(json.as_bytes(), &[]))), wanted, "{about}");
    }
    let mut bytes = file();
    let at = superblock(&bytes).index_offset + 16;
    put(&mut bytes, at, &10_001_u16.to_le_bytes());
    assert_eq!(finding_lines(&report_of(&bytes)), ["TET-N18 index memory_budget_bps"]);
}

/// A megabyte of zeros that the writer never wrote, on file systems that can leave them out.
#[cfg(target_os = "linux")]
#[test]
fn holes_in_payloads_are_told() {
    use std::os::unix::fs::{FileExt, MetadataExt};
    const LEN: u64 = 1 << 20;
    let specs = [DatasetSpec::new("z", DType::UInt8, [LEN], [LEN])];
    let layout = Declaration::new(specs).layout().unwrap();
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), layout).unwrap();
    writer.push(Codec::Raw, LEN, &vec![0; usize::try_from(LEN).unwrap()]).unwrap();
    let bytes = writer.finish(None).unwrap().into_inner();
    let folder = tempfile::tempdir().unwrap();
    let found = |name: &str, written: &[u8]| {
        let path = folder.path().join(name);
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(bytes.len() as u64).unwrap();
        file.write_all_at(written, 0).unwrap();
        let options = VerifyOptions { level: Level::Deep, ..VerifyOptions::default() };
        let report = verify(&Source::open(&path).unwrap(), &options).unwrap();
        let codes: Vec<&str> = report.findings.iter().map(|finding| finding.code.id()).collect();
        (codes.concat(), file.metadata().unwrap().blocks() * 512 < LEN)
    };
    assert_eq!(found("dense", &bytes).0, "");
    let (codes, is_sparse) = found("sparse", &bytes[..4096]);
    assert_eq!(codes, if is_sparse { "TET-N22" } else { "" });
}
