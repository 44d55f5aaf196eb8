//! Tests of the whole crate, as its users see it.

mod files;
mod frames;
mod metadata;
mod mutations;
mod rules;
mod samples;
mod scanning;
mod verify;
