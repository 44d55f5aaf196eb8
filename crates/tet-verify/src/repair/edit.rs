//! One change of a file, and what it costs.

use std::fmt;

use tet_file::edit::{FooterEdit, with_footer};
use tet_format::{Limits, Region, Shape, Span};
use tet_io::{Image, Progress};
use tet_report::Code;

use crate::error::Result;

/// One change of a file.
pub type Edit = tet_report::Edit<Action, Loss, Vec<Change>>;

/// An edit of bytes from an offset on.
pub(crate) fn new_edit(code: Code, region: Region, place: (u64, u64), action: Action) -> Edit {
    Edit::new(code, region.name(), place, action)
}

/// An edit that writes bytes.
pub(crate) fn put_edit(code: Code, region: Region, at: u64, new: &[u8], action: Action) -> Edit {
    let edit = new_edit(code, region, (at, new.len() as u64), action);
    edit.change(Change::Put(at, new.to_vec()))
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
    /// Sets a row of the index to what its place says.
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
pub enum Change {
    /// They are these from an offset on.
    Put(u64, Vec<u8>),
    /// They are zeros.
    Zero(Span),
    /// The file ends at this byte.
    Resize(u64),
    /// The footer is this one.
    Footer(Option<FooterEdit>),
}

impl From<Lost> for Loss {
    fn from(lost: Lost) -> Self {
        Loss::Chunk(lost)
    }
}

/// How many new bytes an edit holds.
pub(crate) fn put_len(edit: &Edit) -> u64 {
    let len = |change: &Change| match change {
        Change::Put(_, bytes) => bytes.len() as u64,
        _ => 0,
    };
    edit.changes.iter().map(len).fold(0, u64::saturating_add)
}

/// Changes an image.
pub(crate) fn make(
    edit: &Edit,
    image: &mut Image,
    limits: &Limits,
    progress: &Progress,
) -> Result<()> {
    for change in &edit.changes {
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
