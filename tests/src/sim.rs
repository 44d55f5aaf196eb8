//! A simulated disk: one folder in memory that remembers what was done to it, in which order.
//!
//! ```text
//! SimFs      what programs see: every operation takes effect at once, or fails when told to
//! Replay     what a power cut leaves of it: the states the log allows after each operation
//! ```

mod fs;
mod replay;

use std::path::PathBuf;

pub use fs::{Fault, SimFs};
pub use replay::{Image, Replay};

/// The number of a file.
pub type Ino = usize;

/// Operations on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// A file without a name and without bytes.
    Create(Ino),
    /// A name for a file.
    Link(PathBuf, Ino),
    /// A file has the second name instead of the first.
    Rename(PathBuf, PathBuf, Ino),
    /// A name is gone.
    Unlink(PathBuf),
    /// Bytes in a file, from an offset on.
    Write(Ino, usize, Vec<u8>),
    /// The bytes of a file are durable.
    Sync(Ino),
    /// They are not, and the system counts them as written.
    SyncFailed(Ino),
    /// The names are durable.
    SyncFolder,
}

/// Numbers that look random, the same ones for the same seed.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The numbers of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ mixed >> 31) % bound.max(1)
    }
}
