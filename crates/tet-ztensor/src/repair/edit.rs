//! One change of a file: what it does, why it is right, and what is lost by it.

use std::fmt;

use tet_format::ForeignRule;
use tet_report::Code;

use crate::rule;
use crate::tensor::Tensor;

/// One change of a file.
pub type Edit = tet_report::Edit<Action, Loss>;

/// An edit of bytes from an offset on, which ends a breach of a rule.
pub(super) fn new_edit(rule: &'static ForeignRule, place: (u64, u64), action: Action) -> Edit {
    let region = match action {
        Action::RestoreMagic => "magic",
        Action::RestoreFooter => "footer",
        Action::FlipBlobBit { .. } => "blob",
        _ => "index",
    };
    Edit::new(Code::Foreign(rule), region, place, action)
}

/// What an edit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Flips one bit of the index back.
    FlipIndexBit {
        /// Its number in the byte, from the lowest.
        bit: u8,
    },
    /// Flips one bit of a blob back.
    FlipBlobBit {
        /// Its number in the byte, from the lowest.
        bit: u8,
    },
    /// Writes the magic anew.
    RestoreMagic,
    /// Writes the length of the index, which is all there, behind it.
    RestoreFooter,
    /// Ends the file behind an older index.
    CutToOlder,
    /// Makes an index of the entries that can be read.
    MakeIndex,
    /// Takes damaged tensors out of the index.
    DropTensors,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Action::FlipIndexBit { bit } | Action::FlipBlobBit { bit } => {
                return write!(f, "flip bit {bit} back");
            }
            Action::RestoreMagic => "write the magic anew",
            Action::RestoreFooter => "write the length of the index behind it",
            Action::CutToOlder => "end the file behind its older index",
            Action::MakeIndex => "make an index of the entries that can be read",
            Action::DropTensors => "take damaged tensors out of the index",
        })
    }
}

/// Something that a file had and has no longer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// Bytes that cannot be made sense of.
    Bytes {
        /// Where they start.
        offset: u64,
        /// How many there are.
        len: u64,
    },
    /// Tensors that the index counts, and whose entries are not there or cannot be read.
    Entries {
        /// How many.
        count: u64,
    },
    /// A tensor whose name is all that is left of its entry.
    Name {
        /// Its name, as it stands in the file: print it escaped.
        name: String,
    },
    /// A tensor.
    Tensor {
        /// Its position in the index, or among the entries that are left of it.
        position: usize,
        /// Its name, as it stands in the file: print it escaped.
        name: String,
        /// The rule that its entry or its blob breaks.
        rule: &'static ForeignRule,
    },
}

impl Loss {
    /// A tensor whose bytes do not match.
    pub(super) fn tensor(tensor: &Tensor<'_>) -> Self {
        let rule = tensor.fault().map_or(&rule::BLOB_CHECKSUM, |fault| fault.rule);
        Loss::by(tensor, rule)
    }

    pub(super) fn by(tensor: &Tensor<'_>, rule: &'static ForeignRule) -> Self {
        let (position, name) = (tensor.position(), tensor.name().to_owned());
        Loss::Tensor { position, name, rule }
    }
}

impl fmt::Display for Loss {
    /// One line. Names are escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::Bytes { offset, len } => {
                write!(f, "{len} bytes at byte {offset} that belong to no tensor")
            }
            Loss::Entries { count: 1 } => f.write_str("1 tensor without an entry that can be read"),
            Loss::Entries { count } => {
                write!(f, "{count} tensors without an entry that can be read")
            }
            Loss::Name { name } => write!(f, "tensor {name:?}, whose entry cannot be read"),
            Loss::Tensor { position, name, rule } => {
                write!(f, "tensor {position}, {name:?} ({})", rule.id)
            }
        }
    }
}
