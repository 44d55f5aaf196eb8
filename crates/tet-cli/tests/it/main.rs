//! The command on files, in this process and in its own.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

#[path = "../fixtures/mod.rs"]
mod fixtures;
mod tgm;

mod decoding;
mod denied;
mod dump;
mod edit_tensogram;
mod environment;
mod formats;
mod outputs;
mod plot;
mod process;
mod repair;
mod repair_others;
mod schema;
mod selections;
mod series;
mod stops;
mod write_tensogram;
