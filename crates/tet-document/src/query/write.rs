//! Where an array result is written.

/// Where an array result is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Write {
    /// In which form.
    pub target: WriteTarget,
    /// The file; by default a name is chosen.
    pub path: Option<String>,
    /// The base of a relative path.
    pub base: WriteBase,
    /// Whether a name that is made up holds the time of day it was made.
    pub timestamp: bool,
}

/// The form of an array result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WriteTarget {
    /// No file: the answer shows it.
    #[default]
    Memory,
    /// A NumPy file.
    Npy,
    /// The elements alone, little-endian, row-major.
    Raw,
    /// A `.tet` file.
    Tet,
}

impl WriteTarget {
    /// The word in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            WriteTarget::Memory => "ram",
            WriteTarget::Npy => "npy",
            WriteTarget::Raw => "raw",
            WriteTarget::Tet => "tet",
        }
    }
}

/// Base of a relative path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WriteBase {
    /// The working directory.
    #[default]
    Working,
    /// The folder of the file that is queried.
    File,
}
