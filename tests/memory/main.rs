//! Suites that count what is held: an allocator beside the tests sees that memory stays bounded, so each test that
//! measures runs alone.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

mod counting;

mod cost;
mod damage;
mod hostile;
mod mutate;
mod repack;

/// The allocator that counts for all of them.
#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting::new();
