//! Cuts, and more damage than a bit.

use super::{Salvage, check, deep, metadata_of, objects, repair};
use crate::repair::{Action, Loss};
use crate::testing::{Draft, FrameDraft, buffered, step, streamed, tensor, tensors};

fn three() -> Vec<FrameDraft> {
    vec![tensor(b"first"), tensor(b"the second one"), tensor(b"3rd")]
}

/// IntactFrame objects before a cut are recovered, with their metadata.
#[test]
fn a_cut_costs_what_was_cut() {
    for draft in [buffered(&three()), streamed(&three())] {
        let bytes = draft.bytes();
        let held = objects(&bytes);
        let ends: Vec<u64> = draft
            .parts
            .iter()
            .zip(draft.offsets())
            .filter(|(part, _)| part.kind == 9)
            .map(|(part, at)| at + part.len())
            .collect();
        for len in 0..bytes.len() {
            let (plan, repaired) = check(&bytes[..len], &|| format!("{len} bytes"));
            let count = ends.iter().filter(|end| **end <= len as u64).count();
            assert_eq!(objects(&repaired).len(), count, "{len} bytes: {:?}", plan.edits);
            assert!(held.starts_with(&objects(&repaired)), "{len} bytes");
            assert_eq!(!plan.remaining.is_empty(), count == 0, "{len} bytes");
            if count == 0 {
                assert!(plan.edits.is_empty() && repaired == bytes[..len]);
                continue;
            }
            assert_eq!(plan.kept.len(), count);
            assert!(plan.kept.iter().all(|it| it.is_verified));
            if draft.parts[0].body.len() > 1 {
                let base = metadata_of(&repaired, 0).base;
                assert_eq!(base, metadata_of(&bytes, 0).base[..count], "{len} bytes");
            }
        }
    }
}

/// A cut at the start: the rest of the first object is gone, the others are not.
#[test]
fn a_lost_start_costs_no_object_behind_it() {
    for draft in [buffered(&three()), streamed(&three())] {
        let bytes = draft.bytes();
        let held = objects(&bytes);
        for len in (1..bytes.len() - 24).step_by(3) {
            let (_, repaired) = check(&bytes[len..], &|| format!("{len} bytes"));
            let starts = draft.parts.iter().zip(draft.offsets());
            let starts = starts.filter(|(part, at)| part.kind == 9 && len as u64 <= *at);
            let count = starts.count();
            assert_eq!(objects(&repaired), held[3 - count..], "{len} bytes");
        }
    }
}

/// Objects after a lost frame keep their metadata.
#[test]
fn entries_stay_with_their_objects() {
    for draft in [buffered(&three()), streamed(&three())] {
        let (mut bytes, offsets) = (draft.bytes(), draft.offsets());
        let tensors = draft.parts.iter().zip(&offsets).filter(|(part, _)| part.kind == 9);
        let second = usize::try_from(*tensors.map(|(_, at)| at).nth(1).unwrap()).unwrap();
        let before = bytes.clone();
        bytes[second..second + 14].fill(0xA5);
        let (plan, repaired) = check(&bytes, &String::new);
        assert!(plan.is_whole() && deep(&repaired).is_ok());
        let (found, wanted) = (metadata_of(&repaired, 0).base, metadata_of(&before, 0).base);
        assert_eq!(found, [wanted[0].clone(), wanted[2].clone()]);
        let held = objects(&before);
        assert_eq!(objects(&repaired), [held[0].clone(), held[2].clone()]);
        assert!(plan.losses().any(|loss| matches!(loss, Loss::Bytes { .. })));
    }
}

/// Bytes that do not match their hash stay, unless they are to go.
#[test]
fn damaged_objects_stay_or_go() {
    for draft in [buffered(&three()), streamed(&three())] {
        let (mut bytes, offsets) = (draft.bytes(), draft.offsets());
        let at = draft.parts.iter().position(|part| part.kind == 9).unwrap() + 1;
        let second = usize::try_from(offsets[at]).unwrap() + 16;
        let before = bytes.clone();
        bytes[second..second + 5].fill(0xA5);
        let (plan, repaired) = check(&bytes, &String::new);
        assert!(plan.edits.is_empty() && repaired == bytes && !plan.is_whole());
        assert!(matches!(plan.lost[..], [Loss::Object { rule, .. }] if rule.id == "TGM-F10"));
        let (plan, repaired) = repair(&bytes, Salvage::Objects);
        assert!(plan.is_whole() && deep(&repaired).is_ok(), "{:?}", deep(&repaired).findings);
        assert!(plan.edits.iter().any(|it| it.action == Action::DropObjects));
        let held = objects(&before);
        assert_eq!(objects(&repaired), [held[0].clone(), held[2].clone()]);
        let (found, wanted) = (metadata_of(&repaired, 0).base, metadata_of(&before, 0).base);
        assert_eq!(found, [wanted[0].clone(), wanted[2].clone()]);
    }
}

/// Metadata of which more than a bit is gone: what is left counts, else there is none.
#[test]
fn lost_metadata_is_made_anew() {
    for draft in [buffered(&tensors()), streamed(&tensors())] {
        for (part, at) in draft.parts.iter().zip(draft.offsets()) {
            if part.kind == 9 {
                continue;
            }
            let mut bytes = draft.bytes();
            let start = usize::try_from(at).unwrap() + 16;
            bytes[start..start + part.body.len()].fill(0xFF);
            let (plan, repaired) = check(&bytes, &|| format!("type {}", part.kind));
            assert!(plan.is_whole(), "type {}: {:?}", part.kind, plan.lost);
            assert_eq!(objects(&repaired), objects(&draft.bytes()));
        }
    }
}

/// Readable metadata that does not match its hash is reported, and copied on request.
#[test]
fn tampered_metadata_is_told() {
    let mut bytes = buffered(&tensors()).bytes();
    let at = bytes.windows(3).position(|it| it == b"who").unwrap();
    bytes[at..at + 3].copy_from_slice(b"why");
    bytes[at + 4..at + 6].copy_from_slice(b"us");
    let (plan, repaired) = check(&bytes, &String::new);
    assert!(plan.edits.is_empty() && repaired == bytes);
    assert!(matches!(plan.lost[..], [Loss::Metadata { rule, .. }] if rule.id == "TGM-F10"));
    let (plan, repaired) = repair(&bytes, Salvage::Objects);
    assert!(plan.is_whole() && deep(&repaired).is_ok());
    assert_eq!(metadata_of(&repaired, 0), metadata_of(&bytes, 0));
    assert_eq!(metadata_of(&repaired, 0).base.len(), 2);
}

/// Frames in no order, preceders of nothing, objects of version 2.
#[test]
fn frames_are_put_in_their_order() {
    let draft = buffered(&three());
    let mut parts = draft.parts.clone();
    parts.swap(0, 3);
    let bytes = Draft::new(&parts).bytes();
    let (plan, repaired) = check(&bytes, &String::new);
    assert!(plan.is_whole(), "{:?}", plan.lost);
    assert_eq!(objects(&repaired), objects(&draft.bytes()));
    let alone = FrameDraft::cbor(
        8,
        &crate::testing::map(&[("base", tet_cbor::Value::Array(vec![step(9)]))]),
    );
    let mut parts = draft.parts.clone();
    parts.push(alone);
    let (plan, repaired) = check(&Draft::new(&parts).bytes(), &String::new);
    assert!(plan.is_whole());
    assert_eq!(objects(&repaired), objects(&draft.bytes()));
    let mut parts = draft.parts;
    parts.insert(3, FrameDraft { kind: 4, ..tensor(b"old") });
    let (plan, repaired) = check(&Draft::new(&parts).bytes(), &String::new);
    assert!(plan.is_whole(), "{:?}", plan.lost);
    assert_eq!(objects(&repaired).len(), 3);
}
