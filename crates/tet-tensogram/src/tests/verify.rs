//! Reports of verify: their content, their detail, their callbacks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tet_format::Severity;
use tet_io::{Progress, Source};

use crate::testing::{FrameDraft, buffered, check, checksums, ids, streamed, tensor, tensors};
use crate::{Error, Level, Report, VerifyOptions, verify};

fn at_level(bytes: &[u8], level: Level) -> Report {
    let options = VerifyOptions { level, ..checksums() };
    verify(&Source::from_bytes(bytes), &options).unwrap()
}

/// Every frame with a hash is compared, not only tensors.
#[test]
fn every_body_is_covered_by_its_hash() {
    for draft in [buffered(&tensors()), streamed(&tensors())] {
        for (part, at) in draft.parts.iter().zip(draft.offsets()) {
            let mut bytes = draft.bytes();
            let last = usize::try_from(at + part.len()).unwrap() - 12;
            bytes[last] ^= 1;
            let report = check(&bytes);
            let finding = report.findings.iter().find(|it| it.code.id() == "TGM-F10").unwrap();
            assert_eq!((finding.place.offset, finding.found), (last as u64, part.hash));
            assert_eq!(finding.place.len, part.body.len() as u64);
            assert_eq!(finding.place.object.is_some(), part.kind == 9);
            assert!(at_level(&bytes, Level::Structure).is_ok());
        }
    }
}

#[test]
fn levels_look_closer_and_closer() {
    let mut draft = buffered(&tensors());
    draft.parts[3].body[2] ^= 1;
    let bytes = draft.bytes();
    assert!(at_level(&bytes, Level::Structure).is_ok());
    let report = at_level(&bytes, Level::Checksums);
    assert_eq!(ids(&bytes), ["TGM-F10"]);
    let [finding] = report.findings.as_slice() else { panic!("one thing is wrong") };
    assert_eq!((finding.place.message, finding.place.object), (Some(0), Some(0)));
    let len: u64 = draft.parts.iter().map(|part| part.body.len() as u64).sum();
    assert_eq!(report.checked_len, len);
    assert_eq!((report.dataset_count, report.unverified_count), (2, 0));
    let mut draft = buffered(&tensors());
    draft.parts[1].body[0] = 0x80;
    assert!(!at_level(&draft.bytes(), Level::Structure).is_ok());
}

#[test]
fn tensors_without_hashes_are_counted() {
    let mut parts = tensors();
    parts[1] = parts[1].clone().unhashed();
    let report = check(&buffered(&parts).bytes());
    assert_eq!(report.unverified_count, 1);
    assert_eq!(report.findings[0].code.id(), "TGM-N12");
}

#[test]
fn findings_of_one_rule_are_told_up_to_a_number() {
    let many: Vec<FrameDraft> =
        (0..100_u8).map(|byte| FrameDraft { hash: 0, ..tensor(&[byte]) }).collect();
    let bytes = buffered(&many).bytes();
    let report = check(&bytes);
    assert_eq!(report.findings.len(), 64);
    assert_eq!((report.omitted[0].code.id(), report.omitted[0].count), ("TGM-F10", 36));
    assert_eq!(report.count(Severity::Error), 100);
}

#[test]
fn the_answer_does_not_depend_on_threads() {
    let mut parts: Vec<FrameDraft> = (0..9_u8).map(|byte| tensor(&vec![byte; 1 << 20])).collect();
    parts[3].hash ^= 1;
    parts[7].body[9] ^= 1;
    let source = Source::from_bytes([buffered(&parts).bytes(), streamed(&parts).bytes()].concat());
    let report = |threads| {
        let options = VerifyOptions { threads, ..checksums() };
        verify(&source, &options).unwrap()
    };
    assert_eq!(report(1), report(2));
    assert_eq!(report(1), report(7));
    assert_eq!(report(3).count(Severity::Error), 4);
    let objects: Vec<_> =
        report(3).findings.iter().map(|it| (it.place.message, it.place.object)).collect();
    let wanted = [(0, 3), (0, 7), (1, 3), (1, 7)].map(|(a, b)| (Some(a), Some(b)));
    assert_eq!(objects, wanted);
}

#[test]
fn a_caller_may_watch_and_stop() {
    let source = Source::from_bytes(buffered(&[tensor(&vec![1; 3 << 20])]).bytes());
    let reported = Arc::new(AtomicU64::new(0));
    let (seen, len) = (Arc::clone(&reported), source.len());
    let options = VerifyOptions {
        progress: Progress::new(move |done, all| {
            assert!(done <= all && all == len);
            seen.fetch_max(done, Ordering::Relaxed);
        }),
        ..checksums()
    };
    let report = verify(&source, &options).unwrap();
    assert_eq!(reported.load(Ordering::Relaxed), report.checked_len);
    let progress = Progress::default().with_cancel(Arc::new(AtomicBool::new(true)));
    let options = VerifyOptions { progress, ..checksums() };
    assert!(matches!(verify(&source, &options), Err(Error::Canceled)));
}
