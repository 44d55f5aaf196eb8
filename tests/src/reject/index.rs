//! Rules of the chunk index.

use tet_format::Rule;

use crate::accept::square;
use crate::assemble::{Assembled, Dataset, Sheet, Stored, put};
use crate::case::{Noticed, Reject};

/// The rejected files of this region.
#[must_use]
pub fn cases() -> Vec<Reject> {
    [header(), counts(), rows()].concat()
}

/// Four chunks of the same length.
fn quarters() -> Assembled {
    Sheet::new(&[Dataset::new("a", 2, 8, &[4, 4]).chunked(&[2, 2])]).assemble()
}

fn header() -> Vec<Reject> {
    let one = Sheet::new(&[square()]).assemble();
    let index = one.marks.index;
    vec![
        Reject::field(
            "an index without room for its header",
            one.with_u64(24, 31),
            Rule::IndexTruncated,
            24,
            &one.bytes,
        ),
        Reject::field(
            "an index of no bytes",
            one.with_u64(24, 0),
            Rule::IndexTruncated,
            24,
            &one.bytes,
        ),
        Reject::field(
            "another index magic",
            one.with(index + 3, b"Y"),
            Rule::IndexMagic,
            index,
            &one.bytes,
        ),
        Reject::field(
            "index version 2",
            one.with_u32(index + 4, 2),
            Rule::IndexVersion,
            index + 4,
            &one.bytes,
        ),
        Reject::field(
            "an index a byte too long",
            one.with_u64(24, 137),
            Rule::IndexLen,
            index + 8,
            &one.bytes,
        ),
        Reject::field(
            "a row more than the index holds",
            one.with_u64(index + 8, 2),
            Rule::IndexLen,
            index + 8,
            &one.bytes,
        ),
        Reject::field(
            "a row count that wraps",
            one.with_u64(index + 8, 0x276_2762_7627_6277),
            Rule::IndexLen,
            index + 8,
            &one.bytes,
        ),
    ]
}

fn counts() -> Vec<Reject> {
    let one = Sheet::new(&[square()]).assemble();
    let record = one.marks.records[0];
    let grown = one.with_u64(record + 24, 5);
    let vast = one.with(record + 24, &[1 << 60, 1, 1, 1].map(u64::to_le_bytes).concat());
    let quarters = quarters();
    let two = Sheet::new(&[square(), Dataset { name: b"b".to_vec(), ..square() }]).assemble();
    vec![
        Reject::field("a chunk too few", grown, Rule::RowCount, record, &one.bytes)
            .noticed(Noticed::Dataset),
        Reject::shape("2^60 chunks and one row", vast, Rule::RowCount, record, one.bytes.clone())
            .noticed(Noticed::Dataset),
        Reject::field(
            "a chunk too many",
            quarters.with_u64(quarters.marks.records[0] + 40, 4),
            Rule::RowCount,
            quarters.marks.records[0],
            &quarters.bytes,
        )
        .noticed(Noticed::Dataset),
        Reject::field(
            "a row of the other dataset",
            two.with_u64(two.marks.rows[1], 0),
            Rule::RowCount,
            two.marks.records[0],
            &two.bytes,
        )
        .noticed(Noticed::Dataset),
    ]
}

/// A file with a second row that names dataset `id`.
fn stray(id: u64) -> Vec<u8> {
    let halves = Sheet::new(&[Dataset::new("a", 2, 8, &[4, 3]).chunked(&[2, 3])]).assemble();
    let grown = halves.with_u64(halves.marks.records[0] + 24, 2);
    put(&grown, halves.marks.rows[1], &id.to_le_bytes())
}

fn rows() -> Vec<Reject> {
    let one = Sheet::new(&[square()]).assemble();
    let row = one.marks.rows[0];
    let four = quarters();
    let second = four.marks.rows[1];
    let other = Sheet::new(&[square().stored(Stored::Other(2))]).assemble();
    let (stray_at, good) = (row + 104, one.bytes.clone());
    let shorter = put(&one.with_u64(row + 80, 88), row + 88, &88_u64.to_le_bytes());
    vec![
        Reject::shape("a row of no dataset", stray(9), Rule::RowDataset, stray_at, good)
            .noticed(Noticed::Verify),
        Reject::field(
            "a coordinate outside the grid",
            one.with_u64(row + 8, 1),
            Rule::RowCoord,
            row + 8,
            &one.bytes,
        )
        .noticed(Noticed::Chunk),
        Reject::field(
            "a far coordinate",
            four.with_u64(second + 16, u64::MAX),
            Rule::RowCoord,
            second + 16,
            &four.bytes,
        )
        .noticed(Noticed::Chunk),
        Reject::field(
            "a chunk twice and one never",
            four.with_u64(second + 16, 0),
            Rule::RowUnique,
            second,
            &four.bytes,
        )
        .noticed(Noticed::Chunk),
        Reject::shape(
            "a row shorter than its chunk",
            shorter,
            Rule::RowRawLen,
            row + 80,
            one.bytes.clone(),
        )
        .noticed(Noticed::Chunk),
        Reject::shape(
            "codec 2",
            other.bytes.clone(),
            Rule::RowCodec,
            other.marks.rows[0] + 96,
            one.bytes.clone(),
        )
        .noticed(Noticed::Chunk),
        Reject::field(
            "fewer stored bytes than raw ones",
            one.with_u64(row + 88, 95),
            Rule::RowStoredLen,
            row + 88,
            &one.bytes,
        )
        .noticed(Noticed::Chunk),
    ]
}
