//! Ten thousand random mutations of accepted files: no panic, no hang, bounded memory.
//!
//! A hang is told without a clock: the source counts what is read from it, and a reader that goes
//! round in circles reads more than a file of that length can be asked for. `zt` and `tgm` are the
//! same for zTensor and Tensogram files.

mod tgm;
mod zt;

use std::sync::Arc;

use tet_format::Limits;
use tet_io::Source;
use tet_tests::meter::{Bytes, Meter};
use tet_tests::values::Seeded;
use tet_tests::{accept, ask};
use tet_verify::{Level, VerifyOptions};

use crate::ALLOCATOR;

const MUTATIONS: u64 = 10_000;
/// Most memory of opening, listing, reading and reducing: the budget of a read, its
/// result, and what a file of a few kilobytes needs to be open.
const HELD_MAX: usize = 48 << 20;
/// Each dataset is read once and reduced five times, each chunk of it perhaps by many rows.
const READ_FACTOR_MAX: u64 = 200;

#[test]
fn mutations_never_panic_hang_or_take_much() {
    let _alone = ALLOCATOR.alone();
    let cases = accept::cases();
    let mut opened = 0;
    for seed in 0..MUTATIONS {
        let mut seeded = Seeded(seed);
        let case = &cases[seeded.index(cases.len())];
        let bytes = mutated(&case.bytes, &mut seeded);
        let meter = Arc::new(Meter::new(Bytes(bytes.clone())));
        let source = Source::from_reader(meter.clone());
        let (done, held) = ALLOCATOR.peak_of(|| {
            let catalog = ask::open(source, Limits::default()).ok()?;
            Some(ask::everything(&catalog).len())
        });
        opened += u64::from(done.is_some());
        assert!(held <= HELD_MAX, "seed {seed} of {:?}: {held} bytes held", case.name);
        let read_max = READ_FACTOR_MAX * (bytes.len() as u64 + 4096);
        assert!(meter.read_len() <= read_max, "seed {seed}: {} bytes read", meter.read_len());
        if let Some(level) = verified(bytes) {
            assert!(level <= HELD_MAX, "seed {seed} of {:?}: {level} bytes to verify", case.name);
        }
    }
    assert!(opened > MUTATIONS / 10, "mutations are mild enough to reach what lies behind open");
    assert!(opened < MUTATIONS, "and wild enough to be noticed");
}

#[test]
fn what_verifies_is_read() {
    let _alone = ALLOCATOR.alone();
    let cases = accept::cases();
    let mut sound = 0;
    for seed in MUTATIONS..2 * MUTATIONS {
        let mut seeded = Seeded(seed);
        let case = &cases[seeded.index(cases.len())];
        let bytes = mutated(&case.bytes, &mut seeded);
        let source = Source::from_bytes(bytes.clone());
        let report = tet_verify::verify(&source, &deep()).unwrap();
        if !report.is_ok() {
            continue;
        }
        sound += 1;
        let place = format!("seed {seed} of {:?}", case.name);
        let catalog = ask::open_bytes(&bytes).unwrap_or_else(|error| panic!("{place}: {error}"));
        let errors = ask::everything(&catalog).into_iter().filter_map(Result::err);
        assert_eq!(errors.map(|error| error.to_string()).collect::<Vec<_>>(), [""; 0], "{place}");
    }
    assert!(sound > MUTATIONS / 20, "only {sound} mutations were sound");
}

/// Verifies the file and returns the bytes that took.
fn verified(bytes: Vec<u8>) -> Option<usize> {
    let source = Source::from_bytes(bytes);
    let (report, held) = ALLOCATOR.peak_of(|| tet_verify::verify(&source, &deep()));
    report.ok().map(|_| held)
}

/// Payloads too.
fn deep() -> VerifyOptions {
    VerifyOptions { level: Level::Deep, ..VerifyOptions::default() }
}

/// One to three changes, drawn towards numbers that hurt.
fn mutated(bytes: &[u8], seeded: &mut Seeded) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..=seeded.below(3) {
        if out.is_empty() {
            break;
        }
        let at = seeded.index(out.len());
        match seeded.below(8) {
            0 => out[at] ^= 1 << seeded.below(8),
            1 => out[at] = seeded.bits() as u8,
            2 => put(&mut out, at & !7, &edge(seeded).to_le_bytes()),
            3 => put(&mut out, at & !3, &(edge(seeded) as u32).to_le_bytes()),
            4 => out.truncate(at),
            5 => out.splice(at..at, (0..seeded.below(40)).map(|n| n as u8)).for_each(drop),
            6 => {
                let end = (at + seeded.index(64)).min(out.len());
                out.drain(at..end);
            }
            _ => {
                let from = seeded.index(out.len());
                let len = seeded.index(64).min(out.len() - from).min(out.len() - at);
                out.copy_within(from..from + len, at);
            }
        }
    }
    out
}

fn put(out: &mut [u8], at: usize, new: &[u8]) {
    let len = new.len().min(out.len() - at);
    out[at..at + len].copy_from_slice(&new[..len]);
}

/// A number at the edge of something.
fn edge(seeded: &mut Seeded) -> u64 {
    let power = 1_u64 << seeded.below(64);
    match seeded.below(6) {
        0 => 0,
        1 => u64::MAX,
        2 => power,
        3 => power - 1,
        4 => power.wrapping_neg(),
        _ => seeded.below(4096),
    }
}
