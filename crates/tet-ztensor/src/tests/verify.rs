//! The content of a report, and canceling verify.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tet_io::{Progress, Source};

use crate::testing::{Fields, array, deep, file, rules, text, with_entries, with_good, zstd};
use crate::{Error, Kind, Level, Severity, VerifyOptions, rule, verify};

#[test]
fn findings_have_their_places() {
    let entry = Fields::dense("t", 64, 8, "float32", &[2]).with("dtype", text("float7"));
    let bytes = with_good(&[7; 8], &entry);
    let report = deep(&bytes);
    let finding = &report.findings[0];
    let at = bytes.windows(7).position(|part| part == b"\x66float7").unwrap();
    assert_eq!((finding.rule(), finding.severity), (Some(&rule::DTYPE_KNOWN), Severity::Error));
    let place = &finding.place;
    assert_eq!((place.dataset, place.dataset_name.as_deref()), (Some(1), Some("t")));
    assert_eq!((place.field, place.offset, place.len), ("dtype", at as u64, 7));
    assert_eq!((report.dataset_count, report.unverified_count), (2, 1));
    assert_eq!(report.stored_len, 16);
}

#[test]
fn all_that_is_wrong_with_an_entry_is_told() {
    let entry = Fields::dense("t", 65, 9, "float32", &[1 << 40])
        .with("encoding", text("lzma"))
        .with("checksum", text("none"))
        .without("name");
    let found = rules(&with_good(&[7; 8], &entry));
    let wanted = [
        &rule::ENCODING_KNOWN,
        &rule::CHECKSUM_FORM,
        &rule::KEY_MISSING,
        &rule::BLOB_ALIGNED,
        &rule::BLOB_BOUNDS,
    ];
    assert_eq!(found, wanted);
}

#[test]
fn overlaps_are_told_apart_from_shared_blobs() {
    let dense = |name: &str, offset, size| Fields::dense(name, offset, size, "uint8", &[size]);
    let entries = [
        dense("a", 64, 192).entry(),
        dense("same", 64, 192).entry(),
        dense("inside", 128, 64).entry(),
        dense("after", 256, 64).entry(),
        dense("empty", 128, 0).entry(),
    ];
    let bytes = file(&[&[1; 256]], &array(&entries));
    let report = deep(&bytes);
    let found: Vec<_> =
        report.findings.iter().map(|it| (it.rule().unwrap(), it.place.dataset)).collect();
    assert_eq!(found, [(&rule::BLOB_SHARED, Some(1)), (&rule::OVERLAP, Some(2))]);
    assert!(report.is_ok());
}

#[test]
fn bytes_that_belong_to_no_tensor_should_be_zero() {
    let entry = Fields::dense("t", 128, 3, "uint8", &[3]).entry();
    let mut bytes = file(&[&[0; 1], &[1; 3]], &array(&[entry]));
    assert!(deep(&bytes).findings.is_empty());
    for at in [8, 63, 64, 127] {
        bytes[at] = 9;
        let report = deep(&bytes);
        assert_eq!(report.findings.len(), 1);
        let finding = &report.findings[0];
        assert_eq!(finding.rule(), Some(&rule::GAP_BYTES));
        assert_eq!((finding.place.offset, finding.found), (at as u64, 9));
        assert!(report.is_ok());
        bytes[at] = 0;
    }
    // A gap after the last blob belongs to no tensor either.
    let entry = Fields::dense("t", 64, 3, "uint8", &[3]).entry();
    let bytes = file(&[&[1, 1, 1, 0, 5]], &array(&[entry]));
    assert_eq!(rules(&bytes), [&rule::GAP_BYTES]);
}

#[test]
fn each_depth_finds_more() {
    let packed = zstd(&[1; 16]);
    let broken = &packed[..packed.len() - 1];
    let dense = Fields::dense("t", 64, broken.len() as u64, "uint8", &[16]);
    let fields = dense.with("encoding", text("zstd")).with("checksum", text("crc32c:0x1"));
    let bytes = with_good(broken, &fields);
    let at = |level| {
        let options = VerifyOptions { level, ..VerifyOptions::default() };
        let report = verify(&Source::from_bytes(bytes.as_slice()), &options).unwrap();
        report.findings.iter().filter_map(crate::Finding::rule).collect::<Vec<_>>()
    };
    assert_eq!(at(Level::Structure), [&rule::BLOB_SHARED]);
    assert_eq!(at(Level::Checksums), [&rule::BLOB_SHARED, &rule::BLOB_CHECKSUM]);
    assert_eq!(at(Level::Deep), [&rule::BLOB_SHARED, &rule::BLOB_CHECKSUM, &rule::ZSTD_FRAMES]);
}

#[test]
fn many_findings_are_counted_and_few_told() {
    let entry = Fields::dense("t", 64, 8, "float7", &[2]).entry();
    let bytes = with_entries(&[7; 8], &vec![entry; 1000]);
    let options = VerifyOptions { findings_max: 10, ..VerifyOptions::default() };
    let report = verify(&Source::from_bytes(bytes), &options).unwrap();
    let stored = report.findings.iter().filter(|it| it.rule() == Some(&rule::DTYPE_KNOWN)).count();
    let left =
        report.omitted.iter().find(|it| it.code.foreign() == Some(&rule::DTYPE_KNOWN)).unwrap();
    assert_eq!((stored, left.count), (10, 990));
    assert_eq!(report.count(Severity::Error), 1000 + 999, "the names stand twice");
}

/// Large enough for several threads.
fn large() -> Vec<u8> {
    let blob = vec![3; 1 << 20];
    let entries: Vec<Vec<u8>> = (0..8)
        .map(|at| {
            let checksum = if at % 3 == 1 { "crc32c:0x0" } else { "sha256:0" };
            let fields = Fields::dense(&format!("t{at}"), 64, 1 << 20, "bool", &[1 << 20]);
            match at % 3 {
                0 => fields.entry(),
                1 => fields.with("checksum", text(checksum)).entry(),
                _ => fields.with("checksum", text("crc32c:0xffffffff")).entry(),
            }
        })
        .collect();
    with_entries(&blob, &entries)
}

#[test]
fn findings_do_not_depend_on_threads() {
    let bytes = large();
    let with = |threads| {
        let options = VerifyOptions { level: Level::Deep, threads, ..VerifyOptions::default() };
        verify(&Source::from_bytes(bytes.as_slice()), &options).unwrap()
    };
    let alone = with(1);
    assert_eq!(alone.checked_len, 8 << 20 | 56);
    for threads in [0, 2, 5] {
        assert_eq!(with(threads), alone);
    }
}

#[test]
fn progress_is_told_and_stopping_heeded() {
    let bytes = large();
    let reported = Arc::new(AtomicU64::new(0));
    let (cancel, seen) = (Arc::new(AtomicBool::new(false)), Arc::clone(&reported));
    let mut options = VerifyOptions { level: Level::Deep, ..VerifyOptions::default() };
    let progress = Progress::new(move |done, all| {
        assert!(done <= all);
        seen.fetch_max(done, Ordering::Relaxed);
    });
    options.progress = progress.with_cancel(Arc::clone(&cancel));
    let source = Source::from_bytes(bytes);
    let report = verify(&source, &options).unwrap();
    assert_eq!(reported.load(Ordering::Relaxed), report.checked_len);
    cancel.store(true, Ordering::Relaxed);
    let error = verify(&source, &options).unwrap_err();
    assert!(matches!(error, Error::Canceled));
    assert_eq!(error.kind(), Kind::Usage);
}

/// Else a small file of many entries and one dense frame would be decoded for hours.
#[test]
fn a_blob_is_looked_at_once_however_many_tensors_share_it() {
    let packed = zstd(&vec![0; 1 << 20]);
    let of = |at: u64, len: u64| {
        let fields =
            Fields::dense(&format!("t{at} {len}"), 64, packed.len() as u64, "int8", &[len]);
        fields.with("encoding", text("zstd")).entry()
    };
    let tied: Vec<_> = (0..5000).map(|at| of(at, 1 << 20)).collect();
    let report = deep(&with_entries(&packed, &tied));
    assert!(report.is_ok());
    assert_eq!(report.checked_len, 5000 * packed.len() as u64 + 56);
    let wrong: Vec<_> = (0..3).map(|at| of(at, 100 + at / 2)).collect();
    let report = deep(&with_entries(&packed, &wrong));
    let findings = report.findings.iter().filter(|it| it.rule() == Some(&rule::ZSTD_LEN));
    assert_eq!(
        findings.map(|it| it.place.dataset).collect::<Vec<_>>(),
        [Some(0), Some(1), Some(2)]
    );
    // Each has a checksum of its own, and the same bytes.
    let sealed = |at: u64| {
        let fields = Fields::dense(&format!("{at}"), 64, 40 << 10, "uint8", &[40 << 10]);
        fields.with("checksum", text(&format!("crc32c:{at:#x}"))).entry()
    };
    let sealed: Vec<_> = (0..2000).map(sealed).collect();
    let options = VerifyOptions { level: Level::Deep, ..VerifyOptions::default() };
    let source = Source::from_bytes(with_entries(&[1; 40 << 10], &sealed));
    assert_eq!(verify(&source, &options).unwrap_err().kind(), Kind::Limit);
}

/// Blobs may lie over each other, so what each of them decodes to says nothing about all.
#[test]
fn what_all_blobs_decode_to_is_bounded() {
    let (blob, len) = (zstd(&[0; 1 << 16]), 1 << 16);
    let entry = |name: &str| {
        let size = blob.len() as u64;
        Fields::dense(name, 64, size, "uint8", &[len]).with("encoding", text("zstd"))
    };
    // A checksum of its own keeps an entry from sharing the look at its blob with another one.
    let other = entry("b").with("checksum", text("crc32c:0x00000000"));
    let bytes = with_entries(&blob, &[entry("a").entry(), other.entry()]);
    let source = Source::from_bytes(bytes);
    let options = |max: u64| VerifyOptions {
        level: Level::Deep,
        decoded_max: Some(max),
        ..VerifyOptions::default()
    };
    let error = verify(&source, &options(2 * len - 1)).unwrap_err();
    assert!(matches!(error, Error::Limit { wanted, .. } if wanted == 2 * len), "{error}");
    assert_eq!(verify(&source, &options(2 * len)).unwrap().dataset_count, 2);
}
