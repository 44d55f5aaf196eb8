//! Fields of records that are wrong, or disagree with each other.

use tet_format::Rule;

use super::{Animal, Fate, animal};
use crate::accept::square;
use crate::assemble::{Assembled, Dataset, Sheet};

/// Records of a hostile hand.
pub(super) fn animals() -> Vec<Animal> {
    [heads(), rows()].concat()
}

fn file() -> Assembled {
    Sheet::new(&[square(), Dataset::new("b", 1, 4, &[3])]).assemble()
}

fn heads() -> Vec<Animal> {
    let file = file();
    let (record, index) = (file.marks.records[0], file.marks.index);
    let (row, payload) = (file.marks.rows[0], file.marks.payloads[0].0);
    let cut = |len: u64| file.bytes[..usize::try_from(len).unwrap()].to_vec();
    vec![
        animal("H21: no bytes at all", Vec::new(), Fate::Closed(Rule::Truncated)),
        animal("H21: a file of zeros", vec![0; 4096], Fate::Closed(Rule::Magic)),
        animal("H1: cut in the superblock", cut(31), Fate::Closed(Rule::Truncated)),
        animal("H1: cut in the directory", cut(record + 9), Fate::Closed(Rule::IndexBounds)),
        animal("H1: cut in the index", cut(row + 50), Fate::Closed(Rule::IndexBounds)),
        animal("H1: cut in a payload", cut(payload + 5), Fate::Unreadable(Rule::PayloadBounds)),
        animal("H12: layout version 2", file.with_u32(4, 2), Fate::Closed(Rule::LayoutVersion)),
        animal(
            "H12: index version 2",
            file.with_u32(index + 4, 2),
            Fate::Closed(Rule::IndexVersion),
        ),
        animal(
            "H1: no datasets and an index",
            file.with_u32(8, 0),
            Fate::Closed(Rule::EmptyLayout),
        ),
        animal(
            "H1: a dataset more than there are",
            file.with_u32(8, 3),
            Fate::Closed(Rule::RecordBounds),
        ),
        animal(
            "H1: a dataset fewer than there are",
            file.with_u32(8, 1),
            Fate::Closed(Rule::RecordsLen),
        ),
        animal("H1: rank 0", file.with_u32(record + 8, 0), Fate::Closed(Rule::Rank)),
        animal("H1: rank 9", file.with_u32(record + 8, 9), Fate::Closed(Rule::RecordBounds)),
        animal(
            "H2: a chunk without extent",
            file.with_u64(record + 40, 0),
            Fate::Closed(Rule::ChunkExtent),
        ),
        animal(
            "H12: element type 11",
            file.with_u32(record + 4, 11),
            Fate::Unreadable(Rule::DTypeTag),
        ),
    ]
}

fn rows() -> Vec<Animal> {
    let file = file();
    let (row, other) = (file.marks.rows[0], file.marks.rows[1]);
    let payload = file.marks.payloads[0].0;
    vec![
        animal("H12: codec 2", file.with_u32(row + 96, 2), Fate::Unreadable(Rule::RowCodec)),
        animal(
            "H12: codec 2^32 - 1",
            file.with_u32(row + 96, u32::MAX),
            Fate::Unreadable(Rule::RowCodec),
        ),
        animal("H4: a row of no dataset", file.with_u64(row, 7), Fate::Unreadable(Rule::RowCount)),
        animal(
            "H4: a row of another dataset",
            file.with_u64(row, 1),
            Fate::Unreadable(Rule::RowCount),
        ),
        animal(
            "H4: two rows of one dataset",
            file.with_u64(other, 0),
            Fate::Unreadable(Rule::RowCount),
        ),
        animal(
            "H5: a payload in the other",
            file.with_u64(other + 72, payload + 8),
            Fate::Harmless,
        ),
        animal(
            "H5: a payload in the directory",
            file.with_u64(row + 72, 40),
            Fate::Unreadable(Rule::PayloadStructure),
        ),
        animal(
            "H5: a payload at 2^64 - 1",
            file.with_u64(row + 72, u64::MAX),
            Fate::Unreadable(Rule::PayloadBounds),
        ),
        animal("H18: reserved fields of everything", reserved(&file), Fate::Harmless),
    ]
}

fn reserved(file: &Assembled) -> Vec<u8> {
    let mut bytes = file.with_u32(file.marks.records[0] + 12, u32::MAX);
    for row in &file.marks.rows {
        bytes = crate::assemble::put(&bytes, row + 100, &[0xff; 4]);
    }
    crate::assemble::put(&bytes, file.marks.index + 24, &[0xff; 8])
}
