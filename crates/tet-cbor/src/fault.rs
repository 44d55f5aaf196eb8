//! What can be wrong with bytes that should hold items.

use std::fmt;

/// How bytes fail to be items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// They are cut short, or no well-formed item.
    Syntax,
    /// Items nest deeper than is allowed.
    Depth,
}

/// Bytes that are no item: a value, so that tests compare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is broken.
    pub broken: Broken,
    /// Where in the file, in bytes from its start.
    pub at: u64,
    /// The byte, the bytes that are there, or the depth.
    pub found: u64,
    /// The bytes that are needed, or the depth that is allowed; 0 where the byte itself is wrong.
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
