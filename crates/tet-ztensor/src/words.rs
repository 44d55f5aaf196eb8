//! The words of an entry: element types, encodings, layouts, byte orders.

use tet_format::DType;

/// The 13 element types that a file may name, in the order of the format's text.
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

/// The element type of a word, which is NumPy's name of it.
#[must_use]
pub fn dtype(word: &str) -> Option<DType> {
    DType::from_name(word).filter(|dtype| DTYPES.contains(dtype))
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
    pub fn of(word: &str) -> Option<Self> {
        [Encoding::Raw, Encoding::Zstd].into_iter().find(|encoding| encoding.word() == word)
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
    pub fn of(word: &str) -> Option<Self> {
        [ByteOrder::Little, ByteOrder::Big].into_iter().find(|order| order.word() == word)
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

    /// The word under `sparse_format`, where the layout has one.
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

    /// Whether rows are compressed, under either name.
    #[must_use]
    pub const fn is_csr(self) -> bool {
        matches!(self, Layout::SparseCsr | Layout::Csr)
    }
}
