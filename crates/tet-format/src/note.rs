//! Notes: unusual things that break no rule, but that careful writers avoid.

use crate::region::Region;
use alloc::vec::Vec;
use core::fmt;

macro_rules! notes {
    ($( $id:literal $name:ident $region:ident: $text:literal; )*) => {
        /// The kind of a [`Note`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum NoteCode {
            $( #[doc = concat!($id, ": ", $text, ".")] $name, )*
        }

        impl NoteCode {
            /// Every code, in the order of the format document.
            pub const ALL: &'static [NoteCode] = &[ $( NoteCode::$name, )* ];

            /// The note's stable id.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $( NoteCode::$name => $id, )* }
            }

            /// The fact, in the words of the format document.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $( NoteCode::$name => $text, )* }
            }

            /// The region the note is about.
            #[must_use]
            pub const fn region(self) -> Region {
                match self { $( NoteCode::$name => Region::$region, )* }
            }
        }
    };
}

notes! {
    "TET-N1" UnknownFlags Superblock: "flag bits other than bit 0 are set";
    "TET-N2" UndeclaredTail Footer: "the file ends in a footer tail, but the footer flag is clear";
    "TET-N3" RecordReserved Directory: "the reserved field of a record is not zero";
    "TET-N4" NamePadding Directory: "the padding after a name is not zero";
    "TET-N5" NameEmpty Directory: "a dataset has an empty name";
    "TET-N6" NameTwice Directory: "two datasets have the same name";
    "TET-N7" NameUnprintable Directory: "a name holds control or bidirectional formatting characters";
    "TET-N8" NamePath Directory: "a name looks like a path that leaves its folder";
    "TET-N9" ExtentZero Directory: "a dataset has an extent of zero";
    "TET-N10" IndexReserved Index: "a reserved field of the index header is not zero";
    "TET-N11" RowReserved Index: "the reserved field of a row is not zero";
    "TET-N12" RowSlots Index: "a coordinate slot past the rank is not zero";
    "TET-N13" RowOrder Index: "the rows are not in dataset and row-major order";
    "TET-N14" PayloadShared Payload: "two rows share one payload";
    "TET-N15" BytesUnused Gap: "bytes that belong to no structure are not zero";
    "TET-N16" DigestsStale Footer: "the file has digests to which the footer does not refer";
    "TET-N17" DigestsUnknown Footer: "the digests are of a version that is not known here";
    "TET-N18" MemoryHint Index: "the memory hint of the index asks for more than all there is";
    "TET-N19" ZstdSkippable Payload: "a zstd payload holds skippable frames, which decode to nothing";
    "TET-N20" LabelTwice Footer: "an axis has the same label twice";
    "TET-N21" DimNameTwice Footer: "two axes of a dataset have the same name";
    "TET-N22" PayloadHole Payload: "the file system holds no bytes for a part of a payload, which reads as zeros";
    "TET-N23" StatisticsStale Footer: "the statistics are not of the payloads that the file has now, and are not used";
}

impl fmt::Display for NoteCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

/// A note about a file: readers ignore it, a verifier reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// The kind of note.
    pub code: NoteCode,
    /// The file offset.
    pub at: u64,
    /// The value in the file.
    pub found: u64,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Note { code, at, found } = self;
        write!(f, "{} [{}] at byte {at}: found {found}", code.text(), code.id())
    }
}

/// Adds a note if `found` is not zero.
pub(crate) fn note_nonzero(code: NoteCode, at: u64, found: u64, notes: &mut Vec<Note>) {
    if found != 0 {
        notes.push(Note { code, at, found });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_are_unique() {
        let ids: BTreeSet<&str> = NoteCode::ALL.iter().map(|code| code.id()).collect();
        assert_eq!(ids.len(), NoteCode::ALL.len());
    }
}
