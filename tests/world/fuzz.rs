//! Every fuzz target takes every known file, every known document and its corpus.

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

#[test]
fn every_target_takes_its_corpus() {
    for (name, target) in TARGETS {
        let corpus = fuzz::corpus(name);
        assert!(corpus.len() > 20, "{name} has {}", corpus.len());
        corpus.iter().for_each(|bytes| target(bytes));
    }
}
