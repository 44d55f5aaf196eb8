//! Every fuzz target takes every known file, and every known document.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

use tet_tests::fuzz::{self, TARGETS};
use tet_tests::values::{Seeded, noise};

/// Bytes of no form, in lengths that reach into every target.
const NOISE_COUNT: u64 = 2_000;

#[test]
fn every_target_takes_every_known_file() {
    let mut files = fuzz::known();
    for seed in 0..NOISE_COUNT {
        files.push(noise(seed, Seeded(seed).index(300)));
    }
    assert!(files.len() > 2_300, "{}", files.len());
    for (_, target) in TARGETS {
        files.iter().for_each(|bytes| target(bytes));
    }
}
