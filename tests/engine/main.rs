//! Suites of the engine: the bytes of `.tet`, files, reads, reductions, checks and repairs.
//!
//! `cargo test -p tet-tests --test engine SUITE::` runs one of them.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

mod conformance;
mod crash;
mod delivery;
mod flips;
mod integrity;
mod laws;
mod oracle;
mod publishing;
mod reads;
mod repair;
mod roundtrip;
mod simfs;
mod statistics;
mod truncate;
mod worlds;
