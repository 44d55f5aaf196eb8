//! Inputs that are cut, flipped or odd: an edit refuses, or makes a sound file of what is there.

use super::*;
use crate::testing::{
    Draft as Parts, FrameDraft, buffered, descriptor, metadata, step, streamed, tensor, tensors,
};
use crate::{Error, Result};

/// Messages of every form.
fn inputs() -> Vec<Vec<u8>> {
    let behind = [tensor(b"abc"), FrameDraft::tensor_behind(&descriptor(3), b"xyz")];
    let (one, two) = (buffered(&tensors()).bytes(), streamed(&tensors()).bytes());
    let three = streamed(&behind).bytes();
    vec![one.clone(), two.clone(), [one, two, three].concat()]
}

/// The bytes of an edit of a file, if it can be opened.
fn edited(bytes: &[u8]) -> Option<Result<Vec<u8>>> {
    let opened = TensogramFile::open(Source::from_bytes(bytes), &Limits::default()).ok()?;
    Some(set(&opened, &[("a.b", text("c"))]).map(|image| image.bytes()))
}

#[test]
fn every_cut_is_refused_or_whole() {
    for bytes in inputs() {
        let whole = frames(&bytes).0;
        let ends: Vec<u64> = {
            let file = file(&bytes);
            (0..file.len()).map(|number| file.span(number).unwrap().end()).collect()
        };
        for len in 0..bytes.len() {
            let Some(made) = edited(&bytes[..len]) else { continue };
            assert_eq!(made.is_ok(), ends.contains(&(len as u64)), "{len} bytes");
            let Ok(made) = made else { continue };
            assert!(check(&made).is_ok());
            let found = frames(&made).0;
            assert!(whole.starts_with(&found) && !found.is_empty(), "{len} bytes");
        }
    }
}

#[test]
fn flipped_bits_are_refused_or_told_as_before() {
    for bytes in inputs() {
        for bit in (0..bytes.len() * 8).step_by(5) {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let before = check(&flipped);
            let Some(Ok(made)) = edited(&flipped) else { continue };
            let after = check(&made);
            assert!(!before.is_ok() || after.is_ok(), "bit {bit}");
            // Faults of a tensor are not repaired.
            let rules = |report: &crate::Report| {
                let errors = report.findings.iter().filter(|it| it.place.object.is_some());
                errors.filter(|it| it.code.id() == "TGM-F10").count()
            };
            assert!(rules(&before) <= rules(&after), "bit {bit}");
        }
    }
}

#[test]
fn damaged_metadata_gets_no_new_hash() {
    for name in ["dt_float32_be", "legacy_0_17_0_f32_hash", "stream_finish_hash"] {
        let mut bytes = sample(name);
        let at = bytes.windows(9).rposition(|it| it == b"tensogram").unwrap();
        bytes[at] = b'x';
        let refused = set(&file(&bytes), &[("a", text("b"))]).unwrap_err();
        assert_eq!(refused.fault().map(|it| it.rule.id), Some("TGM-F10"), "{name}");
    }
}

/// A message with an end but with a damaged frame: no edit accepts its file.
#[test]
fn a_damaged_frame_is_refused_by_all() {
    for bytes in inputs() {
        for frame in file(&bytes).message(0).unwrap().frames() {
            // The type of the frame, and how long it is.
            for (at, value) in [(2, 0xff), (3, 0xff), (8, 0xff), (15, 1)] {
                let mut damaged = bytes.clone();
                damaged[frame.at() as usize + at] = value;
                let behind = [damaged, bytes.clone()].concat();
                let Ok(opened) =
                    TensogramFile::open(Source::from_bytes(&*behind), &Limits::default())
                else {
                    continue;
                };
                let standing = (0..opened.len()).all(|number| {
                    let message = opened.message(number).unwrap();
                    message.fault().is_none()
                        && message.objects().iter().all(|it| it.fault.is_none())
                });
                let is_whole = standing && opened.damages().is_empty();
                assert_eq!(check_sound(&opened).is_ok(), is_whole);
                assert!(is_whole || edited(&behind).unwrap().is_err());
            }
        }
    }
}

#[test]
fn what_nobody_knows_is_not_dropped() {
    let parts = [metadata(1, &[step(1)]), FrameDraft::new(77, b"later"), tensor(b"abc")];
    let bytes = Parts::new(&parts).bytes();
    let edited = set(&file(&bytes), &[("a", text("b"))]);
    assert!(matches!(edited, Err(Error::NotRewritable { .. })));
    let mut junk = bytes.clone();
    junk.extend(b"some other bytes, which may be of value");
    assert_eq!(check_sound(&file(&junk)).unwrap_err().fault().unwrap().rule.id, "TGM-S2");
    let zeros = [bytes.clone(), vec![0; 40], bytes.clone()].concat();
    let mut image = Image::for_file(&file(&zeros));
    (0..2).for_each(|number| image.copy(&file(&zeros), number).unwrap());
    assert!(image.bytes() == [bytes.clone(), bytes].concat());
}

/// Frames that stand at no multiple of 8, junk between them, an index that is wrong.
#[test]
fn odd_messages_become_tidy_ones() {
    let odd = [
        metadata(1, &[step(1)]).padded(&[]),
        tensor(b"abc").padded(b"\0\0junk"),
        FrameDraft::tensor_behind(&descriptor(3), b"xyz").padded(&[0; 40]),
        tensor(b"defg"),
    ];
    let bytes = Parts::new(&odd).bytes();
    assert!(check(&bytes).is_ok() && !ids(&bytes).is_empty());
    let made = set(&file(&bytes), &[]).unwrap().bytes();
    assert!(ids(&made).is_empty(), "{:?}", ids(&made));
    assert!(frames(&made) == frames(&bytes));
}
