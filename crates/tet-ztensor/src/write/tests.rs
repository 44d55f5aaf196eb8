//! The writer writes the files of 0.1.x, in bounded memory, and never half of one.

mod bounds;
mod golden;
mod refusals;
mod roundtrip;

use std::path::PathBuf;

use super::*;

/// A sample file of the programs of 0.1.x.
fn sample(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/rivals/zt");
    std::fs::read(PathBuf::from(folder).join(name)).unwrap()
}

/// Bytes that zstd makes smaller, but not much.
fn elements(len: usize) -> Vec<u8> {
    (0..len as u64).map(|at| ((at * at) >> 9) as u8).collect()
}
