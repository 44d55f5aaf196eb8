//! Damaged chunks: a value or an error, never a panic, never more than the room.

use super::cases::all;
use crate::{Decode, Error, Room};

#[test]
fn every_prefix_gets_an_answer() {
    for case in all() {
        let mut out = vec![0; case.decoded_len];
        let step = case.stored.len() / 60 + 1;
        for len in (0..case.stored.len()).step_by(step) {
            drop(case.pipeline.decode(&case.stored[..len], &mut out));
        }
    }
}

#[test]
fn damaged_bytes_get_an_answer() {
    let mut seed = 1_u64;
    let mut next = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below.max(1) as u64) as usize
    };
    for case in all() {
        let mut out = vec![0; case.decoded_len];
        for _ in 0..60 {
            let mut stored = case.stored.clone();
            for _ in 0..=next(4) {
                let (at, start) = (next(stored.len()), next(stored.len().min(40)));
                match next(4) {
                    0 => stored[start] = next(256) as u8,
                    1 => stored[at] ^= 1 << next(8),
                    2 => stored[start] = 0xFF,
                    _ => stored[at] = 0,
                }
            }
            drop(case.pipeline.decode(&stored, &mut out));
            for stage in case.pipeline.stages() {
                let mut some = Vec::new();
                let room = Room::AtMost(next(2 * case.decoded_len) as u64);
                if stage.undo(&stored, room, &mut some).is_ok() {
                    assert!(some.len() as u64 <= room.max(), "{}", case.name);
                }
            }
        }
    }
}

#[test]
fn random_bytes_get_an_answer() {
    let mut word = 7_u32;
    for case in all() {
        let stored: Vec<u8> = (0..200)
            .map(|_| {
                word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (word >> 24) as u8
            })
            .collect();
        drop(case.pipeline.decode(&stored, &mut vec![0; case.decoded_len]));
    }
}

/// Whatever is decoded exactly is refused for a chunk of another length.
#[test]
fn another_decoded_length_is_refused() {
    for case in all() {
        for len in [0, case.decoded_len - 1, case.decoded_len + 1, case.decoded_len * 2] {
            let mut out = vec![0; len];
            let done = case.pipeline.decode(&case.stored, &mut out);
            let error = done.expect_err(case.name);
            assert!(!matches!(error, Error::Memory { .. }), "{}: {error}", case.name);
        }
    }
}
