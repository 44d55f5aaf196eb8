//! Small messages with a bit flipped or the end cut off, and frames in any order. Other bytes: `tests/memory/mutate.rs` and
//! the fuzz targets of the workspace.

use proptest::prelude::*;

use crate::Level;
use crate::testing::{
    FrameDraft, buffered, check, descriptor, ids, open, spans, streamed, tensor, tensors,
};

/// Messages of every form.
fn messages() -> Vec<Vec<u8>> {
    let behind = [tensor(b"abc"), FrameDraft::tensor_behind(&descriptor(3), b"xyz")];
    let (one, two) = (buffered(&tensors()).bytes(), streamed(&tensors()).bytes());
    let three = streamed(&behind).bytes();
    vec![one.clone(), two.clone(), three.clone(), [one, two, three].concat()]
}

#[test]
fn every_cut_is_told() {
    for bytes in messages() {
        let whole = spans(&bytes).unwrap();
        let ends: Vec<u64> = {
            let file = open(&bytes).unwrap();
            (0..file.len()).map(|number| file.span(number).unwrap().end()).collect()
        };
        for len in 0..bytes.len() {
            let cut = &bytes[..len];
            let report = check(cut);
            // At the end of a message another one leaves no trace.
            let is_end = ends.contains(&(len as u64));
            assert_eq!(report.is_ok(), is_end, "{len} bytes: {:?}", report.findings);
            if let Some(found) = spans(cut) {
                assert!(whole.starts_with(&found), "{len} bytes");
            } else {
                assert!(open(cut).is_err() && (len as u64) < ends[0], "{len} bytes");
            }
        }
    }
}

/// Structure alone gives the same places or says that something is wrong; with hashes every bit counts.
#[test]
fn every_flipped_bit_is_told() {
    for bytes in messages() {
        let whole = spans(&bytes).unwrap();
        assert!(ids(&bytes).is_empty());
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let report = check(&flipped);
            assert!(!report.findings.is_empty(), "bit {bit} of byte {}", bit / 8);
            if report.is_ok() {
                // A bit that is not of a hash or a body says nothing of the bytes of objects.
                let places = |spans: &crate::testing::Spans| -> Vec<_> {
                    spans.iter().map(|it| (it.0, it.1.clone(), it.2.clone())).collect()
                };
                let found = spans(&flipped).expect("nothing is wrong");
                assert_eq!(places(&found), places(&whole), "bit {bit}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Frames of any kind, in any order, with any padding: a result, and each level finds more.
    #[test]
    fn any_frames_get_an_answer(
        parts in prop::collection::vec((0..11_u64, prop::collection::vec(any::<u8>(), 0..40), 0..4_usize), 0..8),
        stream in any::<bool>(),
    ) {
        let parts: Vec<FrameDraft> = parts.into_iter().map(|(kind, body, padding)| {
            let part = if kind == 9 { tensor(&body) } else { FrameDraft::new(kind, &body) };
            match padding {
                0 => part,
                len => part.padded(&vec![0; len * 5]),
            }
        }).collect();
        let draft = crate::testing::Draft::new(&parts);
        let bytes = if stream { draft.stream().bytes() } else { draft.bytes() };
        let count = |level| {
            let options = crate::VerifyOptions { level, ..Default::default() };
            crate::verify(&tet_io::Source::from_bytes(bytes.as_slice()), &options).unwrap().findings.len()
        };
        prop_assert!(count(Level::Structure) <= count(Level::Checksums));
        match open(&bytes) {
            Ok(file) => {
                prop_assert_eq!(file.message(0).unwrap().frames().len(), parts.len());
            }
            // Out of order, it may be two messages of which one was cut short.
            Err(error) => prop_assert!(stream && error.to_string().contains("TGM-F6"), "{error}"),
        }
    }
}
