//! The words of an entry: dtypes, encodings, layouts, byte orders.

use tet_format::DType;

/// The 13 dtypes of the format, in the order of its specification.
pub const DTYPES: [DType; 13] = [
    DType::Float64,
    DType::Float32,
    DType::Float16,
    DType::BFloat16,
    DType::Int64,
    DType::Int32,
    DType::Int16,
    DType::Int8,
    DType::UInt64,
    DType::UInt32,
    DType::UInt16,
    DType::UInt8,
    DType::Bool,
];

/// The dtype of a word, which is its NumPy name.
#[must_use]
pub fn dtype(word: &str) -> Option<DType> {
    of_word(DTYPES, DType::name, word.as_bytes())
}

/// The item of `all` with this word, compared as bytes, since a word need not be text.
pub(crate) fn of_word<T: Copy>(
    all: impl IntoIterator<Item = T>,
    word_of: impl Fn(T) -> &'static str,
    word: &[u8],
) -> Option<T> {
    all.into_iter().find(|it| word_of(*it).as_bytes() == word)
}

/// How the bytes of a tensor are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// As they are.
    Raw,
    /// As zstd frames.
    Zstd,
}

impl Encoding {
    pub(crate) const ALL: [Self; 2] = [Encoding::Raw, Encoding::Zstd];

    /// The word in the file.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Encoding::Raw => "raw",
            Encoding::Zstd => "zstd",
        }
    }

    /// The encoding of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        of_word(Self::ALL, Self::word, word.as_bytes())
    }
}

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The lowest byte first.
    #[default]
    Little,
    /// The highest byte first.
    Big,
}

impl ByteOrder {
    pub(crate) const ALL: [Self; 2] = [ByteOrder::Little, ByteOrder::Big];

    /// The word in the file.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            ByteOrder::Little => "little",
            ByteOrder::Big => "big",
        }
    }

    /// The byte order of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        of_word(Self::ALL, Self::word, word.as_bytes())
    }
}

/// Which elements of a tensor are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// All, in row-major order.
    #[default]
    Dense,
    /// Compressed sparse rows, under the name `sparsecsr`.
    SparseCsr,
    /// Coordinates, under the name `sparsecoo`.
    SparseCoo,
    /// `sparse` with the `sparse_format` `csr`.
    Csr,
    /// `sparse` with the `sparse_format` `coo`.
    Coo,
}

impl Layout {
    /// The layouts with their own word.
    pub(crate) const WORDED: [Self; 3] = [Layout::Dense, Layout::SparseCsr, Layout::SparseCoo];

    /// The word in the file.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Layout::Dense => "dense",
            Layout::SparseCsr => "sparsecsr",
            Layout::SparseCoo => "sparsecoo",
            Layout::Csr | Layout::Coo => "sparse",
        }
    }

    /// The word under `sparse_format`, if the layout has one.
    #[must_use]
    pub const fn sparse_format(self) -> Option<&'static str> {
        match self {
            Layout::Csr => Some("csr"),
            Layout::Coo => Some("coo"),
            _ => None,
        }
    }

    /// Whether only some elements are stored.
    #[must_use]
    pub const fn is_sparse(self) -> bool {
        !matches!(self, Layout::Dense)
    }

    /// Whether rows are compressed, in either layout.
    #[must_use]
    pub const fn is_csr(self) -> bool {
        matches!(self, Layout::SparseCsr | Layout::Csr)
    }
}
