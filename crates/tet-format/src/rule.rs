//! The rules of the format document, by their ids.
//!
//! The texts are the rows of the rule tables in `docs/spec/format.md`, word for word.

use crate::region::Region;
use core::fmt;

macro_rules! rules {
    ($( $id:literal $name:ident $region:ident: $text:literal, $hint:literal; )*) => {
        /// A rule of `docs/spec/format.md`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Rule {
            $( #[doc = concat!($id, ": ", $text, ".")] $name, )*
        }

        impl Rule {
            /// Every rule, in the order of the format document.
            pub const ALL: &'static [Rule] = &[ $( Rule::$name, )* ];

            /// The rule's stable id, the same in the document, in cases and in findings.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $( Rule::$name => $id, )* }
            }

            /// The requirement, in the words of the format document.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $( Rule::$name => $text, )* }
            }

            /// Advice about a file that breaks the rule; empty if unknown.
            #[must_use]
            pub const fn hint(self) -> &'static str {
                match self { $( Rule::$name => $hint, )* }
            }

            /// The region the rule is about.
            #[must_use]
            pub const fn region(self) -> Region {
                match self { $( Rule::$name => Region::$region, )* }
            }
        }
    };
}

rules! {
    "TET-S1" Truncated Superblock:
        "a file must hold the 32 bytes of the superblock",
        "the file is cut short: fetch or copy it again";
    "TET-S2" Magic Superblock:
        "the first four bytes must be `TETR`",
        "this is not a .tet file";
    "TET-S3" LayoutVersion Superblock:
        "`layout_version` must be 1",
        "read it with the program that wrote it, or a newer one";
    "TET-S4" IndexBounds Superblock:
        "the index must end inside the file",
        "the file is cut short: fetch or copy it again";
    "TET-S5" EmptyLayout Superblock:
        "without datasets, `index_offset` must be 32 and `index_len` must be 0",
        "";
    "TET-S6" DirectoryRoom Superblock:
        "with datasets, `index_offset` must be at least 40",
        "";
    "TET-D1" IndexOffset Directory:
        "`index_offset` must be `align8(40 + records_len)`",
        "";
    "TET-D2" RecordCount Directory:
        "`records_len` must hold at least 32 bytes for each of `dataset_count` records",
        "";
    "TET-D3" RecordBounds Directory:
        "a record must end inside the directory",
        "";
    "TET-D4" RecordsLen Directory:
        "the records must fill `records_len` exactly",
        "";
    "TET-D5" Rank Directory:
        "a record's `rank` must be from 1 to 8",
        "";
    "TET-D6" NameUtf8 Directory:
        "a dataset's name must be UTF-8",
        "";
    "TET-D7" ChunkExtent Directory:
        "every extent of a chunk shape must be at least 1",
        "";
    "TET-D8" ChunkCount Directory:
        "the number of chunks of a dataset must fit in 64 bits",
        "";
    "TET-D9" DatasetLen Directory:
        "the decoded length of a dataset must fit in 64 bits",
        "";
    "TET-D10" DTypeTag Directory:
        "a record's `dtype` must be a tag from 1 to 10",
        "read it with the program that wrote it, or a newer one";
    "TET-I1" IndexTruncated Index:
        "the index must hold its 32-byte header",
        "";
    "TET-I2" IndexMagic Index:
        "the index must start with `TIDX`",
        "";
    "TET-I3" IndexVersion Index:
        "`index_version` must be 1",
        "read it with the program that wrote it, or a newer one";
    "TET-I4" IndexLen Index:
        "`index_len` must be 32 + 104 * `row_count`",
        "";
    "TET-I5" RowCount Index:
        "a dataset must have as many rows as its grid has chunks",
        "chunks of this dataset are missing: write the file again from its source";
    "TET-I6" RowDataset Index:
        "a row's `dataset_id` must be below `dataset_count`",
        "";
    "TET-I7" RowCoord Index:
        "a row's `coord` must lie in the grid of its dataset",
        "";
    "TET-I8" RowUnique Index:
        "no two rows may name the same chunk",
        "";
    "TET-I9" RowRawLen Index:
        "a row's `raw_len` must be the elements of its chunk times their size",
        "";
    "TET-I10" RowCodec Index:
        "a row's `codec` must be 0 (raw) or 1 (zstd)",
        "read it with the program that wrote it, or a newer one";
    "TET-I11" RowStoredLen Index:
        "the `stored_len` of a raw chunk must equal its `raw_len`",
        "";
    "TET-P1" PayloadBounds Payload:
        "a payload must end at or before the payload end",
        "the file is cut short: fetch or copy it again";
    "TET-P2" PayloadStructure Payload:
        "a payload must not overlap the superblock, the directory or the index",
        "";
    "TET-P3" PayloadOverlap Payload:
        "two payloads must not overlap unless they are the same span",
        "";
    "TET-P4" ZstdBound Payload:
        "the `raw_len` of a zstd chunk must be at most (`stored_len` / 4 + 1) * 131072",
        "";
    "TET-P5" ZstdLen Payload:
        "a zstd payload must decode to exactly `raw_len` bytes",
        "";
    "TET-P6" ZstdFrames Payload:
        "a zstd payload must be whole, sound frames and nothing else",
        "the payload is damaged: restore it from a copy";
    "TET-P7" ZstdWindow Payload:
        "a zstd frame must need neither a dictionary nor a window over 2^27 bytes",
        "";
    "TET-P8" RawSum Payload:
        "the raw payloads of a file must together be no longer than the file",
        "many rows share few bytes: a small file that is read as a large one";
    "TET-H1" TailRoom Footer:
        "with the footer flag, the file must hold 16 bytes of tail after the index",
        "the file is cut short: fetch or copy it again";
    "TET-H2" TailMagic Footer:
        "with the footer flag, the last four bytes must be `THST`",
        "the end of the file is cut off or overwritten: --no-footer reads without it";
    "TET-H3" FooterVersion Footer:
        "`footer_version` must be 1 or 2",
        "--no-footer reads without the footer";
    "TET-H4" JsonBounds Footer:
        "the footer JSON must start at or after the end of the index",
        "--no-footer reads without the footer";
    "TET-H5" SpillBounds Footer:
        "a spill must lie between the end of the last payload and the JSON",
        "--no-footer reads without the footer";
    "TET-H6" SpillOverlap Footer:
        "two spills must not overlap",
        "--no-footer reads without the footer";
    "TET-M1" JsonSyntax Footer:
        "the footer JSON must be one UTF-8 JSON object",
        "--no-footer reads without the footer";
    "TET-M2" JsonKeyTwice Footer:
        "no JSON object may hold a key twice",
        "--no-footer reads without the footer";
    "TET-M3" JsonType Footer:
        "a known key of the footer JSON must hold its type",
        "--no-footer reads without the footer";
    "TET-M4" SpillRef Footer:
        "a spill reference must be an object of two unsigned integers, `offset` and `len`",
        "--no-footer reads without the footer";
    "TET-M5" MetadataTwice Footer:
        "`metadata` and `metadata_ref` must not both be present",
        "";
    "TET-M6" SpillJson Footer:
        "a metadata spill must be one UTF-8 JSON object",
        "--no-footer reads without the footer";
    "TET-M7" HistoryRow Footer:
        "a history row must be an object with the strings `op`, `source` and `at`, or an array of these three",
        "";
    "TET-M8" DimNames Footer:
        "`dim_names` must hold one name for each axis",
        "";
    "TET-M9" CoordAxis Footer:
        "a key of `coords` must name an axis of its dataset",
        "";
    "TET-M10" LabelCount Footer:
        "an axis must have as many labels as its extent",
        "";
    "TET-G1" IntegrityKey Footer:
        "`integrity` must be the last key of the footer JSON and hold the members of section 6.2, `self` last",
        "a program that does not know it wrote the footer: `tet edit repack --digests` protects the file anew";
    "TET-G2" SelfDigest Footer:
        "the footer JSON and the tail must match `self`",
        "the footer is damaged: restore the file from a copy, or `tet repair` it";
    "TET-G3" HeadDigest Superblock:
        "superblock, directory and index header must match `head`",
        "the file is damaged: restore it from a copy, or `tet repair` it";
    "TET-G4" PageDigest Index:
        "every page of 8192 rows must match its digest",
        "the index is damaged: restore the file from a copy, or `tet repair` it";
    "TET-G5" PagesDigest Footer:
        "the digests of the pages must match `index`",
        "the file is damaged: restore it from a copy, or `tet repair` it";
    "TET-G6" ChunkDigest Payload:
        "a payload must match its digest",
        "run `tet repair FILE` to see what can be recovered";
    "TET-G7" ChunksDigest Footer:
        "the rows and the digests of their payloads must match `chunks`",
        "the file is damaged: restore it from a copy, or `tet repair` it";
    "TET-G8" SpillDigest Footer:
        "`integrity` must list every spill, and each must match its digest",
        "the spill is damaged: restore the file from a copy, or `tet repair` it";
    "TET-G9" DigestBlock Footer:
        "the `TDIG` block must start where the last payload ends, and have a digest for every page and row",
        "the file is damaged: restore it from a copy, or `tet repair` it";
    "TET-G10" GapZero Gap:
        "with `integrity`, bytes that belong to no structure must be zero",
        "the bytes were changed or hidden there: `tet repair` clears them";
    "TET-G11" FlagCleared Superblock:
        "the footer flag must be set when the file ends in a footer that matches its `self`",
        "the flag is damaged: --no-footer reads on without the footer, `tet repair` sets it";
    "TET-Z1" StatisticsBlock Footer:
        "the `TSTA` block must have a record for every row of the index",
        "--stats never reads without them, `tet convert` to a new file writes them anew";
    "TET-Z2" StatisticsRecord Footer:
        "a record of the `TSTA` block must be that of the elements of its chunk",
        "the program that wrote them is wrong: --stats never reads without them, `tet convert` to a new file writes them anew";
    "TET-L1" LimitName Directory:
        "a name may be at most `name_len_max` bytes long",
        "raise the limit if you trust the file";
    "TET-L2" LimitDirectory Directory:
        "a directory may be at most `directory_len_max` bytes long",
        "raise the limit if you trust the file";
    "TET-L3" LimitJson Footer:
        "the footer JSON may be at most `json_len_max` bytes long",
        "raise the limit if you trust the file";
    "TET-L4" LimitSpill Footer:
        "a spill may be at most `spill_len_max` bytes long",
        "raise the limit if you trust the file";
    "TET-L5" LimitDepth Footer:
        "the footer JSON may nest at most `json_depth_max` levels deep",
        "raise the limit if you trust the file";
}

impl Rule {
    /// Whether this is a limit of the reader and not a rule of the format: the file may be valid,
    /// and a caller who trusts it can raise the limit.
    #[must_use]
    pub const fn is_limit(self) -> bool {
        matches!(
            self,
            Rule::LimitName
                | Rule::LimitDirectory
                | Rule::LimitJson
                | Rule::LimitSpill
                | Rule::LimitDepth
        )
    }

    /// Whether the rule is about digests, so that breaking it means changed bytes (section 6.2).
    #[must_use]
    pub const fn is_integrity(self) -> bool {
        matches!(
            self,
            Rule::IntegrityKey
                | Rule::SelfDigest
                | Rule::HeadDigest
                | Rule::PageDigest
                | Rule::PagesDigest
                | Rule::ChunkDigest
                | Rule::ChunksDigest
                | Rule::SpillDigest
                | Rule::DigestBlock
                | Rule::GapZero
                | Rule::FlagCleared
        )
    }

    /// Whether `found` and `wanted` are the bytes of a magic, best printed in hexadecimal.
    pub(crate) const fn is_magic(self) -> bool {
        matches!(self, Rule::Magic | Rule::IndexMagic | Rule::TailMagic)
    }

    /// Whether found and wanted are digests.
    #[must_use]
    pub const fn is_digest(self) -> bool {
        use Rule::{DigestBlock, FlagCleared, GapZero, IntegrityKey};
        let is_other = matches!(self, IntegrityKey | DigestBlock | GapZero | FlagCleared);
        self.is_integrity() && !is_other
    }

    /// The rule with this id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Rule> {
        Rule::ALL.iter().copied().find(|rule| rule.id() == id)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_are_unique_and_found_again() {
        let ids: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
        assert_eq!(ids.len(), Rule::ALL.len());
        for &rule in Rule::ALL {
            assert_eq!(Rule::from_id(rule.id()), Some(rule));
        }
        assert_eq!(Rule::from_id("TET-S99"), None);
    }

    #[test]
    fn kinds_of_rules_are_what_their_ids_say() {
        for rule in Rule::ALL {
            assert_eq!(rule.is_limit(), rule.id().starts_with("TET-L"), "{rule}");
            assert_eq!(rule.is_integrity(), rule.id().starts_with("TET-G"), "{rule}");
        }
    }

    #[test]
    fn texts_fit_a_table_row() {
        for rule in Rule::ALL {
            assert!(!rule.text().contains(['|', '\n']) && !rule.text().ends_with('.'), "{rule}");
        }
    }
}
