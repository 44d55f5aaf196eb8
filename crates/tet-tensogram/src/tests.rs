//! Tests of the whole crate, as its users see it.

mod descriptors;
mod fidelity;
mod files;
mod frames;
mod hostile;
mod masks;
mod metadata;
mod mutations;
mod objects;
mod packing;
mod passes;
mod ranges;
mod round_trips;
mod rules;
mod samples;
mod scanning;
mod sz3;
mod szip;
mod verify;
mod zfp;
