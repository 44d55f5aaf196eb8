//! The list of MUSTs, by id: the rows of the rule tables in `docs/ztensor.md`, word for word.

use std::fmt;

pub use tet_format::Severity;

/// The regions of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Region {
    /// The first 8 bytes.
    Magic,
    /// The stored bytes of a tensor.
    Blob,
    /// Bytes before the index that belong to no tensor.
    Gap,
    /// The CBOR array.
    Index,
    /// The last 8 bytes.
    Footer,
}

impl Region {
    /// The region's name, as printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Region::Magic => "magic",
            Region::Blob => "blob",
            Region::Gap => "gap",
            Region::Index => "index",
            Region::Footer => "footer",
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

macro_rules! rules {
    ($( $id:literal $name:ident $region:ident $severity:ident: $text:literal, $hint:literal; )*) => {
        /// A rule of `docs/ztensor.md`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Rule {
            $( #[doc = concat!($id, ": ", $text, ".")] $name, )*
        }

        impl Rule {
            /// Every rule, in the order of the document.
            pub const ALL: &'static [Rule] = &[ $( Rule::$name, )* ];

            /// The stable id, the same in the document, in cases and in findings.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $( Rule::$name => $id, )* }
            }

            /// What the rule asks for, in the words of the document.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $( Rule::$name => $text, )* }
            }

            /// What to do about a file that breaks it; empty when we know nothing better.
            #[must_use]
            pub const fn hint(self) -> &'static str {
                match self { $( Rule::$name => $hint, )* }
            }

            /// The region it is about.
            #[must_use]
            pub const fn region(self) -> Region {
                match self { $( Rule::$name => Region::$region, )* }
            }

            /// How bad it is to break it.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self { $( Rule::$name => Severity::$severity, )* }
            }
        }
    };
}

rules! {
    "ZT-C1" Truncated Magic Error:
        "a file must hold the magic and the 8 bytes of the footer",
        "the file is cut short: fetch or copy it again";
    "ZT-C2" Magic Magic Error:
        "the first 8 bytes must be `ZTEN0001`",
        "";
    "ZT-C3" OtherVersion Magic Error:
        "the file must be of version 0.1.0",
        "convert it with the program that wrote it";
    "ZT-C4" IndexLen Footer Error:
        "the index must lie between the magic and the footer",
        "the file is cut short or was appended to: `tet repair` looks for an index";
    "ZT-C5" IndexMissing Footer Error:
        "a footer of zero must end a file without an index and without tensors",
        "the index is lost: `tet repair` looks for an older one";
    "ZT-I1" IndexSyntax Index Error:
        "the index must be one well-formed CBOR item",
        "the index is damaged: `tet repair` looks for an older one";
    "ZT-I2" IndexArray Index Error:
        "the index must be an array",
        "";
    "ZT-I3" IndexTrailing Index Error:
        "no bytes may follow the array in the index",
        "";
    "ZT-I4" IndexDepth Index Error:
        "items may nest no deeper than the reader's limit",
        "";
    "ZT-L1" LimitIndex Index Error:
        "the index must be no longer than the reader's limit",
        "raise the limit if you trust the file";
    "ZT-L2" LimitEntries Index Error:
        "entries, and extents of all shapes, must be no more than the reader's limit",
        "raise the limit if you trust the file";
    "ZT-L3" LimitSparse Blob Error:
        "a sparse tensor must come to no more bytes than the reader's limit",
        "raise the limit if you trust the file";
    "ZT-L4" LimitItems Index Error:
        "custom fields must hold no more items than the reader's limit",
        "raise the limit if you trust the file";
    "ZT-T1" EntryMap Index Error:
        "an entry must be a map whose keys are text",
        "";
    "ZT-T2" KeyTwice Index Error:
        "a key must stand once in an entry",
        "";
    "ZT-T3" KeyMissing Index Error:
        "an entry must have name, offset, size, dtype, shape and encoding",
        "";
    "ZT-T4" KeyType Index Error:
        "a field must be of its type",
        "";
    "ZT-T5" NameText Index Error:
        "text must be UTF-8",
        "";
    "ZT-T6" DtypeKnown Index Error:
        "the dtype must be one of the 13",
        "a newer program may read this tensor";
    "ZT-T7" EncodingKnown Index Error:
        "the encoding must be raw or zstd",
        "a newer program may read this tensor";
    "ZT-T8" LayoutKnown Index Error:
        "the layout must be dense, sparse, sparsecsr or sparsecoo",
        "a newer program may read this tensor";
    "ZT-T9" FormatKnown Index Error:
        "the sparse_format must be csr or coo",
        "a newer program may read this tensor";
    "ZT-T10" ByteOrderKnown Index Error:
        "the data_endianness must be little or big",
        "";
    "ZT-T11" ShapeProduct Index Error:
        "elements and bytes of a tensor must count up to less than 2^63",
        "";
    "ZT-T12" ChecksumForm Index Error:
        "a checksum must be crc32c with up to 8 hexadecimal digits or sha256 with 64",
        "";
    "ZT-T13" NameTwice Index Error:
        "two tensors must not have one name",
        "ask for the tensor as #N, its position in the index";
    "ZT-B1" BlobAligned Blob Error:
        "a blob must start at a multiple of 64, past the magic",
        "";
    "ZT-B2" BlobBounds Blob Error:
        "a blob must end before the index begins",
        "the tensor's bytes are not all there: fetch or copy the file again";
    "ZT-B3" BlobLen Blob Error:
        "a raw dense blob must be as long as its elements",
        "";
    "ZT-B4" BlobChecksum Blob Error:
        "a blob must match its checksum",
        "the tensor's bytes changed: fetch or copy the file again";
    "ZT-B5" ZstdBound Blob Error:
        "a zstd blob must be long enough for its elements",
        "";
    "ZT-B6" ZstdFrames Blob Error:
        "a zstd blob must be whole frames, each within the limits of the decoder",
        "";
    "ZT-B7" ZstdLen Blob Error:
        "zstd frames must decode to exactly the bytes of the elements",
        "";
    "ZT-S1" SparseRank Blob Error:
        "a csr tensor must have two axes, a coo tensor at least one",
        "";
    "ZT-S2" SparseLen Blob Error:
        "the arrays of a sparse tensor must fit its shape and fill its blob exactly",
        "";
    "ZT-S3" SparseIndptr Blob Error:
        "indptr must start at 0 and not decrease",
        "";
    "ZT-S4" SparseRange Blob Error:
        "indices and coordinates must lie in the shape",
        "";
    "ZT-S5" SparseInline Index Error:
        "indptr and indices in an entry must be arrays of unsigned integers that belong together",
        "";
    "ZT-S6" PartFit Index Error:
        "the parts of a sparse tensor must be of the types and shapes that its own shape asks for",
        "the parts can be read by themselves";
    "ZT-S7" PartIndptr Blob Error:
        "indptr in a part must start at 0, not decrease, and end at the count of values",
        "the parts can be read by themselves";
    "ZT-S8" PartRange Blob Error:
        "indices and coordinates in a part must lie in the shape of the sparse tensor",
        "the parts can be read by themselves";
    "ZT-N1" Overlap Blob Warning:
        "two blobs overlap without being the same",
        "";
    "ZT-N2" ChecksumUnknown Index Warning:
        "the algorithm of the checksum is not known: the tensor is unverified",
        "";
    "ZT-N3" ByteOrderMoot Index Warning:
        "data_endianness is stated where it has no meaning",
        "";
    "ZT-N4" BoolByte Blob Warning:
        "a bool is neither 0 nor 1",
        "any byte but 0 counts as true";
    "ZT-N5" GapBytes Gap Warning:
        "bytes that belong to no tensor are not zero",
        "no reader looks at these bytes";
    "ZT-N6" NameEmpty Index Warning:
        "the name is empty",
        "ask for the tensor as #N, its position in the index";
    "ZT-N7" NameOdd Index Warning:
        "the name has characters that act on terminals or paths",
        "do not use the name as it is in a terminal or as a path";
    "ZT-N8" FooterZero Footer Warning:
        "the file has no index, as one of 16 bytes without tensors",
        "";
    "ZT-N9" LayoutMissing Index Note:
        "the entry has no layout and is dense",
        "";
    "ZT-N10" ZstdSkippable Blob Note:
        "the blob has skippable frames",
        "no reader looks at these bytes";
    "ZT-N11" CoordTwice Blob Warning:
        "two values of a sparse tensor have one place",
        "the last one counts";
    "ZT-N12" ByteOrderBig Index Note:
        "the numbers are big-endian, which later versions of zTensor ignore",
        "";
    "ZT-N13" BlobShared Blob Note:
        "two tensors share one blob",
        "";
    "ZT-N14" SeekTable Blob Warning:
        "the seek table does not state the frames of its blob",
        "no reader here relies on it, others may";
    "ZT-N15" PartMissing Index Warning:
        "parts of a sparse tensor are missing",
        "those that are there can be read by themselves";
}

impl Rule {
    /// The rule with this id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Rule> {
        Rule::ALL.iter().copied().find(|rule| rule.id() == id)
    }

    /// Whether it is about a sparse tensor in parts, which can be read by themselves all the same.
    pub(crate) const fn is_of_parts(self) -> bool {
        matches!(self, Rule::PartFit | Rule::PartIndptr | Rule::PartRange | Rule::PartMissing)
    }

    /// Whether a breach is told without numbers, since there are none to tell.
    #[must_use]
    pub const fn is_bare(self) -> bool {
        matches!(
            self,
            Rule::EntryMap
                | Rule::KeyTwice
                | Rule::KeyMissing
                | Rule::KeyType
                | Rule::NameText
                | Rule::DtypeKnown
                | Rule::EncodingKnown
                | Rule::LayoutKnown
                | Rule::FormatKnown
                | Rule::ByteOrderKnown
                | Rule::ChecksumForm
                | Rule::SparseInline
                | Rule::NameEmpty
                | Rule::NameOdd
                | Rule::ByteOrderMoot
                | Rule::ByteOrderBig
                | Rule::ChecksumUnknown
                | Rule::LayoutMissing
        )
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}
