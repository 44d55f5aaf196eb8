//! Rules of the superblock.

use tet_format::Rule;

use crate::accept::square;
use crate::assemble::{Dataset, Sheet, put};
use crate::case::Reject;

/// The rejected files of this region.
#[must_use]
pub fn cases() -> Vec<Reject> {
    let empty = Sheet::default().assemble();
    let long = [empty.bytes.clone(), vec![0; 8]].concat();
    let one = Sheet::new(&[square()]).assemble();
    let none = Sheet::new(&[Dataset::new("none", 1, 4, &[0])]).assemble();
    let cut = none.bytes[..none.bytes.len() - 1].to_vec();
    vec![
        Reject::shape("nothing at all", Vec::new(), Rule::Truncated, 0, empty.bytes.clone()),
        Reject::shape(
            "a superblock of 31 bytes",
            empty.bytes[..31].to_vec(),
            Rule::Truncated,
            0,
            empty.bytes.clone(),
        ),
        Reject::field("another magic", one.with(0, b"U"), Rule::Magic, 0, &one.bytes),
        Reject::field("a magic in small letters", one.with(3, b"r"), Rule::Magic, 0, &one.bytes),
        Reject::field("layout 2", one.with_u32(4, 2), Rule::LayoutVersion, 4, &one.bytes),
        Reject::field("layout 0", one.with_u32(4, 0), Rule::LayoutVersion, 4, &one.bytes),
        Reject::field("layout 257", one.with(5, &[1]), Rule::LayoutVersion, 4, &one.bytes),
        Reject::shape("an index cut by a byte", cut, Rule::IndexBounds, 16, none.bytes.clone()),
        Reject::field(
            "an index past the end",
            none.with_u64(24, 33),
            Rule::IndexBounds,
            16,
            &none.bytes,
        ),
        Reject::field(
            "an index end that wraps",
            one.with_u64(24, u64::MAX),
            Rule::IndexBounds,
            16,
            &one.bytes,
        ),
        Reject::field(
            "an index that starts past the end",
            one.with_u64(16, u64::MAX - 7),
            Rule::IndexBounds,
            16,
            &one.bytes,
        ),
        Reject::field(
            "no datasets and an index elsewhere",
            put(&long, 16, &[40]),
            Rule::EmptyLayout,
            16,
            &long,
        ),
        Reject::field(
            "no datasets and an index",
            put(&long, 24, &[8]),
            Rule::EmptyLayout,
            24,
            &long,
        ),
        Reject::field(
            "an index in the superblock",
            one.with_u64(16, 32),
            Rule::DirectoryRoom,
            16,
            &one.bytes,
        ),
        Reject::field(
            "an index in the directory's length",
            one.with_u64(16, 39),
            Rule::DirectoryRoom,
            16,
            &one.bytes,
        ),
    ]
}
