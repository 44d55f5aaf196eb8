//! Frames and messages as hostile, damaged and odd programs write them.

use crate::testing::{
    Draft, FrameDraft, be64, buffered, check, descriptor, ids, message_counts, metadata, open,
    spans, step, streamed, tensor, tensors,
};

/// The fault that the walk reports for the only message.
#[track_caller]
fn fault(bytes: &[u8]) -> &'static str {
    let file = match open(bytes) {
        Ok(file) => file,
        Err(crate::Error::Format(fault)) => return fault.rule.id,
        Err(error) => panic!("{error}"),
    };
    let message = file.message(0).unwrap();
    let fault = message.fault().expect("something is wrong").rule.id;
    assert!(ids(bytes).contains(&fault), "verify says so too");
    fault
}

/// Asserts the notes on messages that can be read like the sound one.
#[track_caller]
fn only_odd(draft: &Draft, wanted: &[&str]) {
    let bytes = draft.bytes();
    let found = spans(&bytes).expect("nothing is wrong");
    let payloads: Vec<&[u8]> = found
        .iter()
        .map(|(_, region, ..)| {
            &bytes[usize::try_from(region.start).unwrap()..usize::try_from(region.end).unwrap()]
        })
        .collect();
    assert_eq!(payloads, [&[1, 2, 3, 4, 5][..], b"0123456789abcdef"]);
    assert_eq!(ids(&bytes), wanted);
}

#[test]
fn messages_made_by_hand_are_sound() {
    only_odd(&buffered(&tensors()), &[]);
    only_odd(&streamed(&tensors()), &[]);
    let unsaid = Draft { total_len: [None, Some(0)], ..buffered(&tensors()) };
    only_odd(&unsaid, &[]);
    let backfilled = Draft { total_len: [None, None], ..streamed(&tensors()) };
    only_odd(&backfilled, &[]);
}

#[test]
fn what_is_wrong_with_a_preamble_is_told() {
    let draft = buffered(&tensors());
    let len = draft.bytes().len() as u64;
    for (version, total_len, wanted) in [
        (2, None, "TGM-P2"),
        (4, None, "TGM-P2"),
        (3, Some(47), "TGM-P6"),
        (3, Some(1), "TGM-P6"),
        (3, Some(48), "TGM-P4"),
        (3, Some(len - 8), "TGM-P4"),
        (3, Some(len + 8), "TGM-P5"),
        (3, Some(u64::MAX), "TGM-P5"),
        (3, Some(u64::MAX - 7), "TGM-P5"),
    ] {
        let draft = Draft { version, total_len: [total_len, None], ..draft.clone() };
        assert_eq!(fault(&draft.bytes()), wanted, "{version} {total_len:?}");
    }
    assert_eq!(fault(b"TENSOGRX, and more than the bytes of a preamble"), "TGM-P1");
    assert_eq!(fault(b"\x89HDF\r\n\x1a\n and more than the bytes of it"), "TGM-P1");
    assert_eq!(fault(b""), "TGM-S1");
    assert_eq!(fault(b"TENSOGRM\0\x03"), "TGM-P3");
}

#[test]
fn what_is_wrong_with_a_postamble_is_told() {
    let draft = buffered(&tensors());
    let len = draft.bytes().len() as u64;
    let other = Draft { total_len: [None, Some(len + 8)], ..draft.clone() };
    assert_eq!(fault(&other.bytes()), "TGM-P7");
    assert_eq!(
        spans(&draft.bytes()).unwrap().len(),
        open(&other.bytes()).unwrap().message(0).unwrap().len()
    );
    for draft in [draft, streamed(&tensors())] {
        for footer_offset in [0, 24, len - 16, u64::MAX] {
            let draft = Draft { footer_offset: Some(footer_offset), ..draft.clone() };
            assert_eq!(fault(&draft.bytes()), "TGM-P8");
        }
    }
    let stream = Draft { total_len: [Some(0), Some(1)], ..streamed(&tensors()) };
    assert_eq!(fault(&stream.bytes()), "TGM-P7");
}

#[test]
fn lengths_of_frames_are_not_believed() {
    for draft in [buffered(&tensors()), streamed(&tensors())] {
        for part in 0..draft.parts.len() {
            let len = draft.parts[part].len();
            for stated in [0, 1, 8, 27, len - 1, len + 1, len + 8, 1 << 40, u64::MAX - 8, u64::MAX]
            {
                let mut draft = draft.clone();
                draft.parts[part].len_more = stated.wrapping_sub(len);
                let bytes = draft.bytes();
                let found = fault(&bytes);
                assert!(["TGM-F2", "TGM-F3", "TGM-F4"].contains(&found), "{stated}: {found}");
                // The objects before it are there, or counted where there is no end.
                let before = draft.parts[..part].iter().filter(|it| it.kind == 9).count();
                match open(&bytes) {
                    Ok(file) => assert_eq!(file.message(0).unwrap().len(), before),
                    Err(_) => assert_eq!(message_counts(&bytes).1, 1),
                }
            }
        }
    }
}

#[test]
fn frames_that_are_none_are_told() {
    let sound = buffered(&tensors());
    for at in sound.offsets() {
        let at = usize::try_from(at).unwrap();
        let mut bytes = sound.bytes();
        bytes[at] = b'f';
        assert_eq!(fault(&bytes), "TGM-F1");
    }
    let mut old = sound.clone();
    old.parts.insert(3, FrameDraft { flags: 0, ..FrameDraft::new(4, b"an old tensor") });
    assert_eq!(fault(&old.bytes()), "TGM-F5");
}

#[test]
fn frames_keep_their_order() {
    let sound = streamed(&tensors());
    for (one, other) in [(0, 2), (3, 4), (2, 5), (0, 4)] {
        let mut draft = sound.clone();
        let moved = draft.parts.remove(one);
        draft.parts.insert(other, moved);
        draft.total_len = [None, None];
        assert_eq!(fault(&draft.bytes()), "TGM-F6", "{one} to {other}");
    }
    // Inside a phase any order is as good.
    let mut draft = buffered(&tensors());
    draft.parts.swap(0, 2);
    assert!(spans(&draft.bytes()).is_some());
}

#[test]
fn a_preceder_has_its_tensor() {
    let sound = streamed(&tensors());
    let mut twice = sound.clone();
    twice.parts.insert(1, sound.parts[1].clone());
    assert_eq!(fault(&twice.bytes()), "TGM-F7");
    let mut dangling = sound.clone();
    let preceder = dangling.parts.remove(1);
    dangling.parts.insert(3, preceder);
    assert_eq!(fault(&dangling.bytes()), "TGM-F7");
    let mut last = buffered(&[]);
    last.parts.push(sound.parts[1].clone());
    assert_eq!(fault(&last.bytes()), "TGM-F7");
    let mut moved = sound;
    moved.parts.swap(1, 2);
    let message = open(&moved.bytes()).unwrap().message(0).unwrap();
    let preceders: Vec<_> = message.objects().iter().map(|object| object.preceder).collect();
    assert_eq!(preceders, [None, Some(2)]);
}

#[test]
fn descriptors_stand_before_or_behind() {
    let second = b"0123456789abcdef";
    let behind = [tensor(&[1, 2, 3, 4, 5]), FrameDraft::tensor_behind(&descriptor(16), second)];
    only_odd(&buffered(&behind), &[]);
    only_odd(&streamed(&behind), &[]);
    // Longer than what is read at first.
    let long = [descriptor(16), vec![0; 70_000]].concat();
    let text = crate::testing::cbor(&crate::testing::text(&"x".repeat(5000)));
    let more = [&[0x61, b'k'][..], &text].concat();
    let long_map = [&[0xA9][..], &descriptor(16)[1..], &more].concat();
    let parts = [tensor(&[1, 2, 3, 4, 5]), FrameDraft::tensor_behind(&long_map, second)];
    only_odd(&buffered(&parts), &[]);
    // Nothing may stand before it, and nothing behind it where it is the last.
    let late = FrameDraft::tensor_behind(&[&[0; 3][..], &descriptor(16)].concat(), second);
    let late = FrameDraft { descriptor_offset: Some(19), ..late };
    let bytes = buffered(&[tensor(b"x"), late]).bytes();
    assert_eq!((ids(&bytes), spans(&bytes)), (vec!["TGM-F11"], None));
    let turned = FrameDraft { flags: 3, ..FrameDraft::tensor_behind(&descriptor(16), second) };
    assert_eq!(ids(&buffered(&[tensor(b"x"), turned]).bytes()), ["TGM-F12"]);
    // Where they are not in the body, or no item, only that object is lost.
    for (offset, flags, body, wanted) in [
        (15, 3, &long[..], "TGM-F8"),
        (16 + 1, 3, b"", "TGM-F8"),
        (u64::MAX, 2, b"", "TGM-F8"),
        (1 << 40, 3, b"abc", "TGM-F8"),
        (16, 2, b"\xff\xff", "TGM-M1"),
        (16, 2, b"\xbf\x61k", "TGM-M1"),
        (16, 2, b"", "TGM-M1"),
    ] {
        let part =
            FrameDraft { flags, descriptor_offset: Some(offset), ..FrameDraft::new(9, body) };
        let bytes = buffered(&[part, tensor(second)]).bytes();
        let file = open(&bytes).unwrap();
        let message = file.message(0).unwrap();
        let faults: Vec<_> =
            message.objects().iter().map(|object| object.fault.map(|it| it.rule.id)).collect();
        assert_eq!((message.fault(), faults), (None, vec![Some(wanted), None]));
        let report = check(&bytes);
        let finding = report.findings.iter().find(|it| it.code.id() == wanted).unwrap();
        assert_eq!((finding.place.message, finding.place.object), (Some(0), Some(0)));
        assert!(file.read_descriptor(&file.object(0, 0).unwrap()).is_err());
        assert!(file.read_descriptor(&file.object(0, 1).unwrap()).is_ok());
    }
}

#[test]
fn padding_may_be_missing_more_or_odd() {
    for draft in [buffered(&tensors()), streamed(&tensors())] {
        for part in 0..draft.parts.len() {
            let pad = |padding: &[u8]| {
                let mut draft = draft.clone();
                draft.parts[part] = draft.parts[part].clone().padded(padding);
                draft
            };
            let len = usize::try_from(draft.parts[part].len().wrapping_neg() & 7).unwrap();
            let readable = |draft: &Draft| spans(&draft.bytes()).expect("it is read").len();
            for more in [0, 8, 64, 4096, 70_000] {
                assert_eq!(readable(&pad(&vec![0; len + more])), 2, "{part} {more}");
            }
            for padding in [
                &[][..],
                &[0; 3],
                b"F",
                &b"FR\0\0\0\0\0"[..len],
                b"39277777",
                &[9; 11],
                &[0, 0, 1, 0],
            ] {
                let draft = pad(padding);
                assert_eq!(
                    spans(&draft.bytes()).map(|it| it.len()),
                    Some(2),
                    "{part} {padding:?} {:?}",
                    ids(&draft.bytes())
                );
            }
            // Bytes that may have been a frame are no padding.
            assert_eq!(fault(&pad(&[9; 28]).bytes()), "TGM-F1");
        }
    }
    // An end of a message that contradicts the message is padding.
    let mut odd = streamed(&tensors());
    let len = usize::try_from(odd.parts[2].len().wrapping_neg() & 7).unwrap();
    let padding = [&vec![0; len][..], &[9; 17], b"39277777"].concat();
    odd.parts[2] = odd.parts[2].clone().padded(&padding);
    assert_eq!(spans(&odd.bytes()).map(|it| it.len()), Some(2), "{:?}", ids(&odd.bytes()));
    let mut odd = buffered(&tensors());
    odd.parts[4] = odd.parts[4].clone().padded(b"7654321\0");
    only_odd(&odd, &["TGM-N1"]);
}

#[test]
fn unknown_kinds_are_passed_over() {
    for kind in [0, 10, 77, 0xFFFF] {
        for at in 0..6 {
            let mut draft = buffered(&tensors());
            let offsets = draft.offsets();
            draft.parts.insert(at, FrameDraft::new(kind, b"something new"));
            let bytes = draft.bytes();
            assert_eq!(spans(&bytes).unwrap().len(), 2);
            let mut wanted = vec!["TGM-N3"];
            if at < 5 {
                // The index is wrong about the frames after it.
                wanted.extend(["TGM-M12", "TGM-M12"].iter().take(5 - at.max(3)));
                assert_ne!(draft.offsets(), offsets);
            }
            let mut found = ids(&bytes);
            found.sort_unstable();
            wanted.sort_unstable();
            assert_eq!(found, wanted, "{at}");
        }
    }
}

#[test]
fn what_says_nothing_is_noted() {
    let sound = buffered(&tensors());
    only_odd(&Draft { flags: 0x95 | 1 << 9, ..sound.clone() }, &["TGM-N5"]);
    for flag in 0..7 {
        only_odd(&Draft { flags: 0x95 ^ 1 << flag, ..sound.clone() }, &["TGM-N4"]);
    }
    let mut draft = sound.clone();
    draft.parts[0].version = 7;
    draft.parts[3].version = 9;
    only_odd(&draft, &["TGM-N13", "TGM-N13"]);
    let mut draft = sound;
    draft.parts[0].flags |= 1;
    only_odd(&draft, &["TGM-N5"]);
}

/// A stream may hold what looks like the end of a message, or like the start of another one.
#[test]
fn nothing_is_searched_inside_payloads() {
    let odd = [&b"39277777TENSOGRM"[..], &[0, 3], &[0; 14], b"39277777", &be64(24)].concat();
    let inner = buffered(&tensors()).bytes();
    for payload in [&odd[..], &inner, b"FR39277777"] {
        for draft in [buffered(&[tensor(payload)]), streamed(&[tensor(payload)])] {
            let bytes = draft.bytes();
            assert_eq!(spans(&bytes).unwrap().len(), 1);
            assert_eq!(ids(&bytes), [""; 0]);
            let two = [bytes.clone(), bytes].concat();
            assert_eq!(open(&two).unwrap().len(), 2);
        }
    }
}

#[test]
fn a_stream_ends_with_its_postamble() {
    let draft = streamed(&tensors());
    let bytes = draft.bytes();
    for at in draft.offsets() {
        let cut = &bytes[..usize::try_from(at).unwrap()];
        assert_eq!(fault(cut), "TGM-F9");
        // Whatever follows.
        let followed = [cut, &bytes].concat();
        let report = check(&followed);
        assert_eq!(message_counts(&followed), (1, 1));
        assert!(!report.is_ok());
        assert_eq!(fault(&[cut, &[0; 100]].concat()), "TGM-F9");
        assert_eq!(fault(&[cut, &[0; 7], &[5; 100]].concat()), "TGM-F1");
    }
}

#[test]
fn hashes_of_old_programs_are_hashes() {
    let tensors: Vec<FrameDraft> = tensors().into_iter().map(FrameDraft::unhashed).collect();
    let mut old = buffered(&tensors);
    old.parts = old.parts.into_iter().map(FrameDraft::unhashed).collect();
    only_odd(&old, &["TGM-N11"]);
    let hash = |draft: &Draft, at: usize| open(&draft.bytes()).unwrap().object(0, at).unwrap().hash;
    assert_eq!(hash(&old, 1), Some(old.parts[4].hash));
    // One frame that says so makes it a message of a new program.
    let mut mixed = old.clone();
    mixed.parts[4].flags |= 2;
    assert_eq!((hash(&mixed, 0), hash(&mixed, 1)), (None, Some(old.parts[4].hash)));
    only_odd(&mixed, &["TGM-N12"]);
    let unhashed = Draft { flags: 0x15, ..old };
    assert_eq!(hash(&unhashed, 1), None);
    only_odd(&unhashed, &[]);
}

#[test]
fn a_message_has_metadata() {
    let bare = Draft::new(&tensors());
    assert_eq!(fault(&bare.bytes()), "TGM-M9");
    let empty = Draft::new(&[metadata(1, &[])]);
    assert_eq!(ids(&empty.bytes()), [""; 0]);
    let footer = Draft::new(&[tensor(b"x"), metadata(7, &[step(1)])]);
    assert_eq!(ids(&footer.stream().bytes()), [""; 0]);
}

#[test]
fn frames_are_no_more_than_the_limit() {
    let bytes = buffered(&tensors()).bytes();
    let limits = crate::Limits::default().with_frame_count_max(4);
    let source = tet_io::Source::from_bytes(bytes);
    let file = crate::TensogramFile::open(source.clone(), &limits).unwrap();
    assert_eq!(file.message(0).unwrap_err().kind(), crate::Kind::Limit);
    let options = crate::VerifyOptions { limits, ..Default::default() };
    let report = crate::verify(&source, &options).unwrap();
    assert!(report.findings.iter().any(|it| it.code.id() == "TGM-L4"));
}
