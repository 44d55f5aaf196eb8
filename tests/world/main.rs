//! Suites of the world around the engine: every container, the command, folders, servers.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

mod bad_reads;
mod bucket;
mod commands;
mod faults;
mod fuzz;
mod joins;
mod killed_edits;
mod remote;
mod rivals;
mod shake;
mod uploads;
mod vanish;
