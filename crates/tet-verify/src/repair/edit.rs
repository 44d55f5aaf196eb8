//! One change of a file, and what it costs.

use std::fmt;

use tet_file::edit::{FooterEdit, Progress, with_footer};
use tet_format::{Limits, Region, Shape, Span};
use tet_io::Image;
use tet_report::Code;

use crate::error::Result;

/// One change of a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Edit {
    /// The rule that is broken, or the oddity, that it ends.
    pub code: Code,
    /// The region it changes.
    pub region: Region,
    /// Where it starts to change the file.
    pub offset: u64,
    /// How many bytes it is about.
    pub len: u64,
    /// What it does.
    pub action: Action,
    /// Why it is right.
    pub proof: Proof,
    /// What is lost by it, or was lost before and is not brought back.
    pub losses: Vec<Loss>,
    pub(crate) changes: Vec<Change>,
}

/// What an edit does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Flips one bit back.
    FlipBit {
        /// Its number in the byte, from the lowest.
        bit: u8,
    },
    /// Sets a field to what the rest of the file says.
    SetField(&'static str),
    /// Sets a row of the index to what its place and its neighbors say.
    SetRow {
        /// The number of the row.
        row: u64,
    },
    /// Sets a digest in the block to that of the bytes, which are proven.
    SetDigest,
    /// Writes zeros.
    Clear,
    /// Ends the file earlier.
    CutOff,
    /// Writes the tail that the JSON asks for.
    RestoreTail,
    /// Sets the flag of the footer that is there.
    SetFlag,
    /// Clears the flag of a footer that is not there.
    ClearFlag,
    /// Makes a footer of what is left of the old one.
    MakeFooter,
    /// Makes digests of what the file holds now.
    MakeDigests,
    /// Takes a payload from the other file.
    TakePayload,
    /// Fills elements that are lost.
    Fill,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::FlipBit { bit } => write!(f, "flip bit {bit} back"),
            Action::SetField(field) => write!(f, "set {field} to what the rest of the file says"),
            Action::SetRow { row } => write!(f, "set row {row} to what its place says"),
            Action::SetDigest => f.write_str("set a digest to that of the bytes, which are proven"),
            Action::Clear => f.write_str("write zeros"),
            Action::CutOff => f.write_str("cut off what follows"),
            Action::RestoreTail => f.write_str("write the tail anew"),
            Action::SetFlag => f.write_str("set the flag of the footer that is there"),
            Action::ClearFlag => f.write_str("clear the flag of the footer that is not there"),
            Action::MakeFooter => f.write_str("make a footer of what is left"),
            Action::MakeDigests => f.write_str("make digests of what the file holds now"),
            Action::TakePayload => f.write_str("take the payload from the other file"),
            Action::Fill => f.write_str("fill the elements that are lost"),
        }
    }
}

/// Why an edit is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Proof {
    /// The bytes match their digest afterwards: they are those that were written.
    Digest,
    /// They follow from the rest of the file.
    Rest,
    /// Nothing tells: it is what can be done.
    None,
}

impl Proof {
    /// The proof's name, as printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Proof::Digest => "digest",
            Proof::Rest => "rest",
            Proof::None => "none",
        }
    }
}

/// Something that a file had and has no longer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// Bytes that belong to no structure.
    Bytes {
        /// Where they start.
        offset: u64,
        /// How many there are.
        len: u64,
    },
    /// A part of the footer.
    Footer(&'static str),
    /// What the digests said of bytes: nothing tells any more whether these were changed before.
    Digests,
    /// Elements of a chunk.
    Chunk(Lost),
}

/// A chunk that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The position of its dataset in the catalog.
    pub dataset: u64,
    /// The dataset's name, as it stands in the file: print it escaped.
    pub name: String,
    /// Its place in the grid.
    pub coord: Vec<u64>,
    /// How many of its decoded bytes are lost.
    pub len: u64,
    /// What would bring it back, or replace it.
    pub need: Need,
}

/// What a chunk that is lost takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// A value for lost integers.
    Fill,
    /// Trust in the other file, as this one has no digest of the chunk.
    Trust,
    /// Permission to fill it, or the payload from another file.
    Salvage,
    /// The payload from another file.
    Copy,
}

impl fmt::Display for Loss {
    /// One line. Names are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::Bytes { offset, len } => {
                write!(f, "{len} bytes at byte {offset} that belong to no structure")
            }
            Loss::Footer(part) => write!(f, "{part} of the footer"),
            Loss::Digests => f.write_str("what the old digests said"),
            Loss::Chunk(lost) => lost.fmt(f),
        }
    }
}

impl fmt::Display for Lost {
    /// One line. Names are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lost { name, coord, len, .. } = self;
        write!(f, "{len} bytes of dataset {name:?}, chunk {}", Shape::from(coord.as_slice()))
    }
}

/// What happens to the bytes.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Put(u64, Vec<u8>),
    Zero(Span),
    Resize(u64),
    /// The footer is this one.
    Footer(Option<FooterEdit>),
}

impl Edit {
    pub(crate) fn new(code: Code, region: Region, offset: u64, len: u64, action: Action) -> Self {
        let (proof, losses, changes) = (Proof::Rest, Vec::new(), Vec::new());
        Edit { code, region, offset, len, action, proof, losses, changes }
    }

    /// An edit that writes bytes.
    pub(crate) fn put(code: Code, region: Region, at: u64, new: &[u8], action: Action) -> Self {
        let len = new.len() as u64;
        Edit::new(code, region, at, len, action).change(Change::Put(at, new.to_vec()))
    }

    /// Whether it loses something: what a digest proves to be what was written is no loss.
    #[must_use]
    pub fn is_lossy(&self) -> bool {
        !self.losses.is_empty() && self.proof != Proof::Digest
    }

    pub(crate) fn change(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }

    pub(crate) fn proof(mut self, proof: Proof) -> Self {
        self.proof = proof;
        self
    }

    /// How many new bytes it holds.
    pub(crate) fn put_len(&self) -> u64 {
        let len = |change: &Change| match change {
            Change::Put(_, bytes) => bytes.len() as u64,
            _ => 0,
        };
        self.changes.iter().map(len).fold(0, u64::saturating_add)
    }

    pub(crate) fn lose(mut self, loss: Loss) -> Self {
        self.losses.push(loss);
        self
    }

    /// Changes an image.
    pub(crate) fn apply(
        &self,
        image: &mut Image,
        limits: &Limits,
        progress: &mut Progress<'_>,
    ) -> Result<()> {
        for change in &self.changes {
            match change {
                Change::Put(at, bytes) => image.put(*at, bytes.as_slice()),
                Change::Zero(span) => image.zero(*span),
                Change::Resize(len) => image.resize(*len),
                Change::Footer(footer) => {
                    *image = with_footer(image, footer.as_ref(), limits, progress)?;
                }
            }
        }
        Ok(())
    }
}
