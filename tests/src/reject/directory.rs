//! Rules of the dataset directory.

use tet_format::Rule;

use crate::accept::square;
use crate::assemble::{Dataset, Sheet};
use crate::case::{Noticed, Reject};

/// The rejected files of this region.
#[must_use]
pub fn cases() -> Vec<Reject> {
    [geometry(), records(), extents()].concat()
}

fn geometry() -> Vec<Reject> {
    let one = Sheet::new(&[square()]).assemble();
    let two = Sheet::new(&[square(), Dataset::new("none", 1, 4, &[0])]).assemble();
    vec![
        Reject::field(
            "an index that starts a byte late",
            one.with_u64(16, 97),
            Rule::IndexOffset,
            16,
            &one.bytes,
        ),
        Reject::field(
            "an index eight bytes late",
            one.with_u64(16, 104),
            Rule::IndexOffset,
            16,
            &one.bytes,
        ),
        Reject::field(
            "records that reach into the index",
            one.with_u64(32, 57),
            Rule::IndexOffset,
            16,
            &one.bytes,
        ),
        Reject::field(
            "a length of records that wraps",
            one.with_u64(32, u64::MAX - 8),
            Rule::IndexOffset,
            16,
            &one.bytes,
        ),
        Reject::field(
            "more records than there is room for",
            one.with_u32(8, 255),
            Rule::RecordCount,
            8,
            &one.bytes,
        ),
        Reject::field(
            "four billion records",
            one.with_u32(8, u32::MAX),
            Rule::RecordCount,
            8,
            &one.bytes,
        ),
        Reject::field("a record too few", two.with_u32(8, 1), Rule::RecordsLen, 32, &two.bytes),
    ]
}

fn records() -> Vec<Reject> {
    let one = Sheet::new(&[square()]).assemble();
    let long = Sheet::new(&[Dataset { name: b"name".to_vec(), ..square() }]).assemble();
    let record = one.marks.records[0];
    vec![
        Reject::field(
            "a name past the directory",
            one.with_u32(record, 200),
            Rule::RecordBounds,
            record,
            &one.bytes,
        ),
        Reject::field(
            "a name of nearly four gigabytes",
            one.with_u32(record, 0xffff_fff0),
            Rule::RecordBounds,
            record,
            &one.bytes,
        ),
        Reject::field(
            "a shape past the directory",
            one.with_u32(record + 8, 3),
            Rule::RecordBounds,
            record,
            &one.bytes,
        ),
        Reject::field("rank 0", one.with_u32(record + 8, 0), Rule::Rank, record + 8, &one.bytes),
        Reject::shape("rank 9", ranked(9), Rule::Rank, 48, ranked(8)),
        Reject::field(
            "rank of four billion",
            one.with_u32(record + 8, u32::MAX),
            Rule::RecordBounds,
            record,
            &one.bytes,
        ),
        Reject::field(
            "a name that is not UTF-8",
            long.with(record + 18, &[0xff]),
            Rule::NameUtf8,
            record + 18,
            &long.bytes,
        ),
        Reject::field(
            "a surrogate in a name",
            long.with(record + 16, &[0xed, 0xa0, 0x80]),
            Rule::NameUtf8,
            record + 16,
            &long.bytes,
        ),
        Reject::field(
            "element type 11",
            one.with_u32(record + 4, 11),
            Rule::DTypeTag,
            record + 4,
            &one.bytes,
        )
        .noticed(Noticed::Dataset),
        Reject::field(
            "element type 0",
            one.with_u32(record + 4, 0),
            Rule::DTypeTag,
            record + 4,
            &one.bytes,
        )
        .noticed(Noticed::Dataset),
    ]
}

fn ranked(rank: usize) -> Vec<u8> {
    Sheet::new(&[Dataset::new("a", 5, 1, &vec![1; rank])]).assemble().bytes
}

fn extents() -> Vec<Reject> {
    let one = Sheet::new(&[square()]).assemble();
    let shape = one.marks.records[0] + 24;
    let chunk = shape + 16;
    let many = [u64::MAX, 2].map(u64::to_le_bytes).concat();
    let ones = [1, 1].map(u64::to_le_bytes).concat();
    let vast = [1 << 62; 4].map(u64::to_le_bytes).concat();
    let wide = [1 << 62, 1, 1 << 62, 1].map(u64::to_le_bytes).concat();
    let overflow = one.with(shape, &[many, ones].concat());
    vec![
        Reject::field(
            "a chunk extent of zero",
            one.with_u64(chunk, 0),
            Rule::ChunkExtent,
            chunk,
            &one.bytes,
        ),
        Reject::field(
            "a last chunk extent of zero",
            one.with_u64(chunk + 8, 0),
            Rule::ChunkExtent,
            chunk + 8,
            &one.bytes,
        ),
        Reject::shape(
            "more chunks than numbers",
            overflow,
            Rule::ChunkCount,
            shape,
            one.bytes.clone(),
        ),
        Reject::shape(
            "more elements than numbers",
            one.with(shape, &vast),
            Rule::DatasetLen,
            shape,
            one.bytes.clone(),
        )
        .noticed(Noticed::Dataset),
        Reject::shape(
            "more bytes than numbers",
            one.with(shape, &wide),
            Rule::DatasetLen,
            shape,
            one.bytes.clone(),
        )
        .noticed(Noticed::Dataset),
    ]
}
