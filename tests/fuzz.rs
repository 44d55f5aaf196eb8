//! Every fuzz target takes every known file, and every known document.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fs;
use std::path::Path;

use tet_tests::fuzz::TARGETS;
use tet_tests::values::Seeded;
use tet_tests::{accept, reject, zoo};

/// Bytes of no form, in lengths that reach into every target.
const NOISE_COUNT: u64 = 2_000;

#[test]
fn every_target_takes_every_known_file() {
    let mut files: Vec<Vec<u8>> = accept::cases().into_iter().map(|case| case.bytes).collect();
    files.extend(reject::cases().into_iter().map(|case| case.bytes));
    files.extend(zoo::animals().into_iter().map(|animal| animal.bytes));
    files.extend(documents());
    for seed in 0..NOISE_COUNT {
        let mut seeded = Seeded(seed);
        let len = seeded.index(300);
        files.push(tet_tests::values::noise(seed, len));
    }
    assert!(files.len() > 2_300, "{}", files.len());
    for (_, target) in TARGETS {
        files.iter().for_each(|bytes| target(bytes));
    }
}

/// The documents that stand in the pages of the project.
fn documents() -> Vec<Vec<u8>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/query.md");
    let page = fs::read_to_string(page).unwrap();
    let blocks = page.split("```").skip(1).step_by(2);
    let bodies = blocks.filter_map(|block| Some(block.split_once('\n')?.1.as_bytes().to_vec()));
    let documents: Vec<Vec<u8>> = bodies.collect();
    assert!(documents.len() > 20);
    documents
}
