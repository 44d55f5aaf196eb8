//! Files of several messages: what is sound stays byte for byte.

use tet_io::{Output, Publish, Source};

use super::allowed;
use super::{Salvage, check, deep, objects, repair};
use crate::repair::{apply, plan};
use crate::testing::{Draft, FrameDraft, buffered, map, streamed, tensor, tensors, text};

#[test]
fn junk_between_messages_is_left_out() {
    let (one, two) = (buffered(&tensors()).bytes(), streamed(&tensors()).bytes());
    for junk in [&b"x"[..], b"TENSOGRM", &[7; 5000], b"FR\0\x09\0\x01\0\x03", &[0, 0, 0, 1]] {
        let bytes = [junk, &one, junk, &two, &one, junk].concat();
        let (plan, repaired) = check(&bytes, &|| format!("{junk:?}"));
        assert!(plan.is_whole());
        let rest = [&one[..], &two, &one].concat();
        assert!(repaired == rest, "{junk:?}: {:?}", plan.edits);
    }
    // Zeros may be there on purpose.
    let bytes = [&one[..], &[0; 64], &two].concat();
    let (plan, repaired) = check(&bytes, &String::new);
    assert!(plan.is_sound() && repaired == bytes);
}

/// What an append left that did not come to its end.
#[test]
fn a_message_without_a_whole_object_is_left_out() {
    let (one, two) = (buffered(&tensors()).bytes(), streamed(&[tensor(&[7; 300])]).bytes());
    for len in 1..two.len() - 400 {
        let bytes = [&one[..], &two[..len]].concat();
        let (plan, repaired) = check(&bytes, &|| format!("{len} bytes"));
        assert!(plan.is_whole() && repaired == one, "{len} bytes: {:?}", plan.edits);
    }
}

/// A message without objects says something all the same.
#[test]
fn a_message_without_objects_is_kept() {
    let part = FrameDraft::cbor(1, &map(&[("_extra_", map(&[("who", text("me"))]))]));
    let bytes = Draft::new(&[part]).bytes();
    assert!(deep(&bytes).is_ok());
    for at in (0..8).chain(bytes.len() - 16..bytes.len()) {
        let mut bad = bytes.clone();
        bad[at] ^= 0x55;
        let (plan, repaired) = check(&bad, &|| format!("byte {at}"));
        assert!(plan.is_whole() && repaired == bytes, "byte {at}: {:?}", plan.edits);
    }
}

/// A payload may be a file of messages: where the message around it is damaged, nothing is lost unasked.
#[test]
fn messages_in_a_payload_cost_no_object() {
    let inner = buffered(&tensors()).bytes();
    let parts = [tensor(&inner.repeat(3)), tensor(b"more"), tensor(&inner)];
    let drafts = [buffered(&parts), streamed(&parts), Draft::new(&streamed(&parts).parts)];
    for intact in drafts.iter().map(Draft::bytes) {
        for behind in [&b""[..], &inner] {
            let bytes = [&intact, behind].concat();
            let ends = (0..10).chain(intact.len() - 24..intact.len());
            for (at, bit) in ends.flat_map(|at| (0..8).map(move |bit| (at, bit))) {
                let mut bad = bytes.clone();
                bad[at] ^= 1 << bit;
                let plan = plan(&Source::from_bytes(&*bad), &Default::default()).unwrap();
                let repaired = plan.repaired().read_vec(0, plan.repaired().len()).unwrap();
                let what = format!("bit {bit} of byte {at}: {:?} {:?}", plan.edits, plan.lost);
                assert!(repaired == bytes || repaired == bad, "{what}");
                assert!(repaired == bad || plan.is_whole(), "{what}");
            }
        }
    }
}

/// Damage in one message leaves the others as they are.
#[test]
fn damage_stays_where_it_is() {
    let (one, two) = (buffered(&tensors()).bytes(), streamed(&tensors()).bytes());
    for bad in [&one, &two] {
        for at in (0..bad.len()).step_by(3) {
            let mut bad = bad.clone();
            bad[at] ^= 0xFF;
            let bytes = [&one[..], &bad, &two].concat();
            let (_, repaired) = check(&bytes, &|| format!("byte {at}"));
            assert!(repaired.starts_with(&one) && repaired.ends_with(&two), "byte {at}");
        }
    }
}

#[test]
fn what_is_no_file_of_messages_is_left_alone() {
    for bytes in [&b""[..], b"x", &[0; 100], b"TENSOGRM", b"TENSOGRM\0\x03\0\0"] {
        let (plan, repaired) = repair(bytes, Salvage::Objects);
        assert!(plan.edits.is_empty() && !plan.remaining.is_empty() && repaired == bytes);
    }
    // Another version is for another program.
    let mut old = buffered(&tensors());
    let one = old.bytes();
    (old.version, old.total_len[0]) = (2, Some(one.len() as u64 - 8));
    let mut old = old.bytes();
    old.drain(one.len() - 16..one.len() - 8);
    let bytes = [&one[..], &old, b"junk"].concat();
    let (plan, repaired) = repair(&bytes, Salvage::None);
    assert!(!plan.is_whole() && repaired == bytes[..bytes.len() - 4], "{:?}", plan.edits);
}

#[test]
fn a_plan_becomes_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("a.tgm"), folder.path().join("b.tgm"));
    let intact = streamed(&tensors()).bytes();
    let bytes = [&intact[..], &intact[..intact.len() - 30]].concat();
    std::fs::write(&path, &bytes).unwrap();
    let make = |output: Output<'_>| {
        let source = Source::open(&path).unwrap();
        let plan = plan(&source, &allowed()).unwrap();
        let applied = apply(&plan, output, &Publish::default());
        (plan, applied)
    };
    let (plan, applied) = make(Output::NewFile(&other));
    assert_eq!(applied.unwrap().edit_count, plan.edits.len());
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    let repaired = std::fs::read(&other).unwrap();
    assert!(deep(&repaired).is_ok() && repaired.starts_with(&intact));
    assert_eq!(objects(&repaired).len(), 4);
    assert!(make(Output::NewFile(&other)).1.is_err(), "what is there stays");
    assert!(make(Output::InPlace(&path)).1.is_ok());
    assert_eq!(std::fs::read(&path).unwrap(), repaired);
    assert_eq!(make(Output::InPlace(&path)).1.unwrap().edit_count, 0);
}
