//! One change of a file, and what is lost by it.

use std::fmt;

use tet_file::edit::{FooterEdit, with_footer};
use tet_format::{Limits, Region, Shape, Span};
use tet_io::{Image, Progress};
use tet_report::Code;

use crate::error::Result;

/// One change of a file.
pub type Edit = tet_report::Edit<Action, Loss, Vec<Change>>;

/// An edit of `len` bytes from an offset on.
pub(crate) fn new_edit(code: Code, region: Region, at: u64, len: u64, action: Action) -> Edit {
    Edit::new(code, region.name(), at, len, action)
}

/// An edit that writes bytes.
pub(crate) fn put_edit(code: Code, region: Region, at: u64, new: &[u8], action: Action) -> Edit {
    let edit = new_edit(code, region, at, new.len() as u64, action);
    edit.change(Change::Put(at, new.to_vec()))
}

/// Action of an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Flips one bit back.
    FlipBit {
        /// Its number in the byte, from the lowest.
        bit: u8,
    },
    /// Sets a field to the value that the rest of the file determines.
    SetField(&'static str),
    /// Sets a row of the index to the values that its position determines.
    SetRow {
        /// The number of the row.
        row: u64,
    },
    /// Sets a digest in the block to that of the proven bytes.
    SetDigest,
    /// Writes zeros.
    Clear,
    /// Truncates the file.
    CutOff,
    /// Rewrites the tail from the JSON.
    RestoreTail,
    /// Sets the flag of an existing footer.
    SetFlag,
    /// Clears the flag of a missing footer.
    ClearFlag,
    /// Builds a footer from the readable parts of the old one.
    MakeFooter,
    /// Computes digests of the current content.
    MakeDigests,
    /// Copies a payload from the other file.
    TakePayload,
    /// Fills lost elements.
    Fill,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::FlipBit { bit } => write!(f, "flip bit {bit} back"),
            Action::SetField(field) => {
                write!(f, "set {field} from the rest of the file")
            }
            Action::SetRow { row } => {
                write!(f, "set row {row} from its position")
            }
            Action::SetDigest => f.write_str("set a digest to that of the proven bytes"),
            Action::Clear => f.write_str("write zeros"),
            Action::CutOff => f.write_str("cut off what follows"),
            Action::RestoreTail => f.write_str("rewrite the tail"),
            Action::SetFlag => f.write_str("set the flag of the existing footer"),
            Action::ClearFlag => f.write_str("clear the flag of the missing footer"),
            Action::MakeFooter => f.write_str("build a footer from the readable parts"),
            Action::MakeDigests => f.write_str("compute digests of the current content"),
            Action::TakePayload => f.write_str("copy the payload from the other file"),
            Action::Fill => f.write_str("fill the lost elements"),
        }
    }
}

/// Something that the repaired file no longer has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// Bytes that belong to no structure.
    Bytes {
        /// Their offset.
        offset: u64,
        /// Their number.
        len: u64,
    },
    /// A part of the footer.
    Footer(&'static str),
    /// Old digests: earlier changes of the covered bytes can no longer be detected.
    Digests,
    /// Elements of a chunk.
    Chunk(Lost),
}

/// A chunk that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The position of its dataset in the catalog.
    pub dataset: u64,
    /// The dataset's name as stored: escape it for printing.
    pub name: String,
    /// Its coordinate in the grid.
    pub coord: Vec<u64>,
    /// The number of its decoded bytes that are lost.
    pub len: u64,
    /// Data that would recover or replace it.
    pub need: Need,
}

/// Data needed to recover or replace a lost chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// A value for lost integers.
    Fill,
    /// Trust in the other file, since this one has no digest of the chunk.
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
            Loss::Digests => f.write_str("the old digests"),
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

/// A change of bytes.
#[derive(Clone, Debug)]
pub enum Change {
    /// Writes these bytes at an offset.
    Put(u64, Vec<u8>),
    /// Writes zeros.
    Zero(Span),
    /// Truncates or extends the file to this length.
    Resize(u64),
    /// Replaces the footer.
    Footer(Option<FooterEdit>),
}

impl From<Lost> for Loss {
    fn from(lost: Lost) -> Self {
        Loss::Chunk(lost)
    }
}

/// The number of new bytes in an edit.
pub(crate) fn put_len(edit: &Edit) -> u64 {
    let len = |change: &Change| match change {
        Change::Put(_, bytes) => bytes.len() as u64,
        _ => 0,
    };
    edit.changes.iter().map(len).fold(0, u64::saturating_add)
}

/// Applies an edit to an image.
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
