//! One change of a file: what it does, why it is right, and what is lost by it.

use std::fmt;

use tet_format::ForeignRule;
use tet_report::Code;

use crate::rule;
use crate::tensor::Tensor;

/// One change of a file.
pub type Edit = tet_report::Edit<Action, Loss>;

/// An edit of bytes from an offset on, which corrects a broken rule.
pub(super) fn new_edit(rule: &'static ForeignRule, place: (u64, u64), action: Action) -> Edit {
    let region = match action {
        Action::RestoreMagic => "magic",
        Action::RestoreFooter => "footer",
        Action::FlipBlobBit { .. } => "blob",
        _ => "index",
    };
    Edit::new(Code::Foreign(rule), region, place.0, place.1, action)
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
    /// Rewrites the magic.
    RestoreMagic,
    /// Writes the length of a complete index after it.
    RestoreFooter,
    /// Truncates the file after an older index.
    CutToOlder,
    /// Builds an index from the entries that can be read.
    MakeIndex,
    /// Removes damaged tensors from the index.
    DropTensors,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Action::FlipIndexBit { bit } | Action::FlipBlobBit { bit } => {
                return write!(f, "flip bit {bit} back");
            }
            Action::RestoreMagic => "rewrite the magic",
            Action::RestoreFooter => "write the length of the index after it",
            Action::CutToOlder => "truncate the file after its older index",
            Action::MakeIndex => "build an index from the entries that can be read",
            Action::DropTensors => "remove damaged tensors from the index",
        })
    }
}

/// Something that the repaired file no longer has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// Bytes that could not be interpreted.
    Bytes {
        /// Their offset.
        offset: u64,
        /// Their number.
        len: u64,
    },
    /// Tensors that the index counts but whose entries are missing or unreadable.
    Entries {
        /// How many.
        count: u64,
    },
    /// A tensor of whose entry only the name can be read.
    Name {
        /// Its name as stored: escape it for printing.
        name: String,
    },
    /// A tensor.
    Tensor {
        /// Its position in the index, or among the recovered entries.
        position: usize,
        /// Its name as stored: escape it for printing.
        name: String,
        /// The rule that its entry or its blob breaks.
        rule: &'static ForeignRule,
    },
}

impl Loss {
    /// The loss of a tensor whose bytes do not match their checksum.
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
