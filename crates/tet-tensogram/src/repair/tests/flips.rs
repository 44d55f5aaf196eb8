//! Every bit of small messages, flipped.

use super::{check, deep, metadata_of, objects};
use crate::testing::objects::samples;
use crate::testing::{FrameDraft, buffered, descriptor, streamed, tensor, tensors};

/// Messages of every form.
fn messages() -> Vec<Vec<u8>> {
    let behind = [tensor(b"abc"), FrameDraft::tensor_behind(&descriptor(3), b"xyz")];
    let (one, two) = (buffered(&tensors()).bytes(), streamed(&tensors()).bytes());
    vec![one, two, streamed(&behind).bytes()]
}

/// Without hashes a flipped bit costs the object that it is in at most.
#[test]
fn without_hashes_a_bit_costs_no_other_object() {
    let parts: Vec<FrameDraft> = tensors().into_iter().map(FrameDraft::unhashed).collect();
    let bare = |mut draft: crate::testing::Draft| {
        draft.parts =
            draft.parts.into_iter().map(|it| FrameDraft { hash: 0, ..it.unhashed() }).collect();
        draft.parts.retain(|it| ![2, 3, 5, 6].contains(&it.kind));
        draft.flags &= !(0x80 | 0x10 | 0x20 | 4 | 8);
        draft
    };
    for draft in [bare(buffered(&parts)), bare(streamed(&parts))] {
        let bytes = draft.bytes();
        let held = objects(&bytes);
        let frames: Vec<_> = draft
            .parts
            .iter()
            .zip(draft.offsets())
            .filter(|(part, _)| part.kind == 9)
            .map(|(part, at)| {
                usize::try_from(at).unwrap()..usize::try_from(at + part.len()).unwrap()
            })
            .collect();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let what = || format!("bit {bit} of byte {}", bit / 8);
            let (plan, repaired) = check(&flipped, &what);
            let found = objects(&repaired);
            for (held, frame) in held.iter().zip(&frames) {
                let is_kept = frame.contains(&(bit / 8)) || found.contains(held);
                assert!(is_kept, "{}: {plan:?} {:?}", what(), deep(&flipped).findings);
            }
        }
    }
}

/// Whether a bit is of the type of an index frame: header and footer have the same, and no hash covers it.
fn is_index_type(bytes: &[u8], bit: usize) -> bool {
    let file = crate::testing::open(bytes).unwrap();
    (0..file.len()).any(|number| {
        let message = file.message(number).unwrap();
        let mut frames = message.frames().iter();
        frames.any(|it| {
            let at = usize::try_from(it.at()).unwrap() + 2;
            (at..at + 2).contains(&(bit / 8)) && [2, 6].contains(&it.kind().code())
        })
    })
}

/// What breaks a rule is put right byte for byte, and nothing is lost; what breaks none is reported.
fn assert_same(bytes: &[u8], bit: usize, what: &dyn Fn() -> String) {
    let mut flipped = bytes.to_vec();
    flipped[bit / 8] ^= 1 << (bit % 8);
    let (plan, repaired) = check(&flipped, what);
    assert!(plan.is_whole(), "{}: {:?} {:?}", what(), plan.lost, plan.remaining);
    assert!(plan.losses().next().is_none(), "{}: {:?}", what(), plan.edits);
    if plan.is_sound() {
        assert!(!deep(&flipped).findings.is_empty(), "{}", what());
    } else if is_index_type(bytes, bit) {
        assert_eq!(objects(&repaired), objects(bytes), "{}", what());
        assert_eq!(metadata_of(&repaired, 0), metadata_of(bytes, 0), "{}", what());
    } else {
        assert!(repaired == bytes, "{}: {:?}", what(), plan.edits);
    }
}

/// With hashes every bit is corrected: all objects, and all metadata.
#[test]
fn a_message_is_as_it_was() {
    for (number, bytes) in messages().iter().enumerate() {
        for bit in 0..bytes.len() * 8 {
            let what = || format!("{number}: bit {bit} of byte {}", bit / 8);
            assert_same(bytes, bit, &what);
        }
    }
}

/// Files of every release, of several messages and codecs.
#[test]
fn samples_are_as_they_were() {
    for sample in samples() {
        if 1500 < sample.bytes.len() || !deep(&sample.bytes).is_ok() {
            continue;
        }
        for bit in (0..sample.bytes.len() * 8).step_by(13) {
            let what = || format!("{}: bit {bit} of byte {}", sample.name, bit / 8);
            assert_same(&sample.bytes, bit, &what);
        }
    }
}
