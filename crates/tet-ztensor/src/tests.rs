//! Tests of the whole crate, as its users see it.

mod blobs;
mod cbor;
mod entries;
mod files;
mod footer;
mod frames;
mod mutations;
mod parts;
mod ranges;
mod rules;
mod samples;
mod sparse;
mod verify;
