//! Parts of a checkpoint, in a zip archive or in the older form.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use tet_format::{ForeignFault, Span};
use tet_io::Source;
use tet_query::Sealed;

use super::pickle::Pickle;
use tet_container::entry::ByteOrder;

/// No pickle is longer: what it holds in memory follows from its bytes.
pub(crate) const PICKLE_LEN_MAX: u64 = 32 << 20;

/// Why an archive cannot be read.
#[derive(Debug)]
pub(super) enum Stop {
    /// The archive cannot be read.
    Io(io::Error),
    /// The file cannot be read.
    Source(tet_io::Error),
    /// It breaks a rule.
    Fault(ForeignFault),
}

impl From<tet_io::Error> for Stop {
    fn from(error: tet_io::Error) -> Self {
        Stop::Source(error)
    }
}

/// A member.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Its bytes, where it is compressed in the archive.
    pub(super) unpacked: Option<Source>,
    /// Where they are, in the file of the archive unless they are unpacked.
    pub(super) span: Span,
    /// Its checksum, where it has one.
    pub(super) sealed: Option<Arc<Sealed>>,
}

/// A checkpoint.
#[derive(Debug)]
pub(super) struct Checkpoint {
    pub(super) pickle: Pickle,
    /// The offset of the pickle; 0 where it is compressed.
    pub(super) pickle_at: u64,
    pub(super) order: ByteOrder,
    /// The storages by their key; `None` for those that cannot be read in place.
    pub(super) storages: BTreeMap<String, Option<Member>>,
    /// The number of members with constants of TorchScript.
    pub(super) constant_count: usize,
    /// All members that can be read, for a check of their bytes.
    pub(super) members: Vec<Member>,
}
