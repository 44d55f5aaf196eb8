//! Damaged chunks: a value or an error, never a panic, never more than the room.

use super::cases::all;
use crate::{Decode, Error, Room, hdf5_stage};

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

#[test]
fn random_options_get_an_answer() {
    let ids = [1, 2, 3, 4, 5, 6, 32_000, 32_001, 32_004, 32_008, 32_015, 32_026];
    let mut word = 3_u32;
    let mut next = || {
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        word >> 8
    };
    let stored: Vec<u8> = (0..=255).collect();
    for round in 0..4_000 {
        let id = ids[round % ids.len()];
        let mut values: Vec<u32> = (0..next() % 24)
            .map(|_| match next() % 8 {
                0 => next() << 8,
                1 => u32::MAX,
                _ => next() % 40,
            })
            .collect();
        if id == 5 && !values.is_empty() {
            values[0] = values.len() as u32;
        }
        let Ok(stage) = hdf5_stage(id, &values, 4) else { continue };
        let mut out = Vec::new();
        drop(stage.undo(&stored, Room::AtMost(5000), &mut out));
        drop(stage.undo_into(&stored, &mut [0; 64]));
        let most = stage.decoded_max(stored.len() as u64);
        if stage.undo(&stored, Room::AtMost(5000), &mut out).is_ok() {
            assert!(out.len() as u64 <= most, "filter {id} with {values:?}");
        }
    }
}

/// A compound without members would take time for no bits.
#[test]
fn a_type_without_bits_is_refused() {
    assert!(hdf5_stage(5, &[6, 0, 9, 3, 4, 0], 4).is_err());
    assert!(hdf5_stage(5, &[8, 0, 9, 1, 4, 0, 0, 0], 4).is_err());
    assert!(hdf5_stage(5, &[8, 0, 9, 1, 4, 0, 1, 0], 4).is_ok());
}
