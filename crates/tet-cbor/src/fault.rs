//! Faults of CBOR bytes.

use std::fmt;

/// Why bytes are not an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// They are truncated, or not well-formed.
    Syntax,
    /// Items nest deeper than allowed.
    Depth,
}

/// Bytes that are no item: a value, so that tests can compare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The reason.
    pub broken: Broken,
    /// Where in the file, in bytes from its start.
    pub at: u64,
    /// The byte, the number of available bytes, or the depth.
    pub found: u64,
    /// The number of needed bytes, or the maximum depth; 0 if the byte itself is wrong.
    pub wanted: u64,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { broken, at, found, wanted } = self;
        match broken {
            Broken::Syntax => write!(f, "no CBOR item at byte {at}"),
            Broken::Depth => {
                write!(f, "items nest too deep at byte {at}: found {found}, wanted {wanted}")
            }
        }
    }
}

impl std::error::Error for Fault {}
